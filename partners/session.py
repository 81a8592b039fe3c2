"""Which member a browser's session belongs to. The session itself lies in PostgreSQL."""

from datetime import datetime, timedelta

from django.http import HttpRequest
from django.middleware.csrf import rotate_token

from core import clock
from partners.models import Member

# A working day. Who needs longer asks for another link.
LIFE = timedelta(hours=12)
_MEMBER, _SINCE = "partners.member", "partners.member_since"


def begin(request: HttpRequest, member: Member) -> None:
    """Bind the session to this member, under a new key: one that was known before is worth nothing afterwards."""
    request.session.cycle_key()
    request.session[_MEMBER] = member.pk
    request.session[_SINCE] = clock.system_now().isoformat()
    rotate_token(request)


def end(request: HttpRequest) -> None:
    """Forget the member; what else is in the session, such as a member of staff, stays under a new key."""
    for name in (_MEMBER, _SINCE):
        request.session.pop(name, None)
    request.session.cycle_key()


def member_of(request: HttpRequest) -> Member | None:
    """The member, if he may still act. 1 query, none without a session."""
    found, since = request.session.get(_MEMBER), request.session.get(_SINCE)
    if found is None or since is None or clock.system_now() - datetime.fromisoformat(since) > LIFE:
        return None
    return (
        Member.objects.select_related("partner").filter(pk=found, active=True, partner__active=True).first()
    )
