"""Sessions of staff: short, revocable, and open only after the second factor. One row each; no signal, no middleware.

The row's number lies in Django's session, which lies in PostgreSQL. A session without a living row lets nobody in.
"""

from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.auth import BACKEND_SESSION_KEY, HASH_SESSION_KEY, SESSION_KEY
from django.contrib.auth.models import AnonymousUser, User
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.middleware.csrf import rotate_token

from core import audit, clock
from core.client_address import client_address, network_prefix
from core.models import StaffSession
from core.staff_browser import browser_and_system

ROW_KEY = "core.staff_session"
# The last sign of life is written at most so often: it is shown in minutes and judged in minutes.
TOUCH_EVERY = timedelta(seconds=60)
KEPT = timedelta(days=30)
_READ = "_staff_session"


def begin(request: HttpRequest, user: User) -> StaffSession:
    """A new row under a new session key, right after the password: a key that was known before is worth nothing."""
    _end(_rows_of(request))
    row = start(user, network=network_prefix(client_address(request)), browser=browser_and_system(request))
    request.session[ROW_KEY] = row.pk
    request.session.cycle_key()
    rotate_token(request)
    setattr(request, _READ, row)
    return row


def start(user: User, *, network: str, browser: tuple[str, str] = ("", "")) -> StaffSession:
    """The row alone."""
    now = clock.system_now()
    return StaffSession.objects.create(
        user=user, started_at=now, seen_at=now, network=network, browser=browser[0], system=browser[1]
    )


def current(request: HttpRequest) -> StaffSession | None:
    """The living session of this request. One query, once per request; a write at most once a minute."""
    if not hasattr(request, _READ):
        row = _rows_of(request).filter(_living()).first()
        if row is not None:
            _touch(request, row)
        setattr(request, _READ, row)
    found: StaffSession | None = getattr(request, _READ)
    return found


def is_let_in(request: HttpRequest) -> bool:
    """Whether nothing is owed any more: a living session, and the second factor where it is due."""
    row = current(request)
    return row is not None and (row.verified_at is not None or not settings.STAFF_SECOND_FACTOR)


def owes_factor(request: HttpRequest) -> bool:
    """Whether the password was right and the second factor is still to be shown."""
    return bool(
        request.user.is_active and request.user.is_staff and current(request) and not is_let_in(request)
    )


def was_ended(request: HttpRequest) -> bool:
    """Whether this browser was signed in, and its session is over by time or was ended elsewhere."""
    return ROW_KEY in request.session and current(request) is None


def verify(request: HttpRequest) -> None:
    """The second factor was right: the session is open from now on, under a new key."""
    row = current(request)
    if row is not None:
        row.verified_at = clock.system_now()
        row.save(update_fields=["verified_at"])
        request.session.cycle_key()
        rotate_token(request)


def living(user: User | None = None) -> QuerySet[StaffSession]:
    """Those that are not over, of one person or of all, the latest sign of life first."""
    rows = StaffSession.objects.filter(_living()).select_related("user")
    return rows if user is None else rows.filter(user=user)


def end_own(request: HttpRequest) -> None:
    """Sign out. What else is in the session, such as a partner's member, stays under a new key."""
    _end(_rows_of(request))
    for name in (ROW_KEY, SESSION_KEY, BACKEND_SESSION_KEY, HASH_SESSION_KEY):
        request.session.pop(name, None)
    request.session.cycle_key()
    rotate_token(request)
    setattr(request, _READ, None)
    request.user = AnonymousUser()


def end_others(request: HttpRequest, *, reason: str = "") -> int:
    """End the other sessions of who asks. How many there were."""
    own = current(request)
    user = request.user
    assert isinstance(user, User)  # noqa: S101  # for the types
    rows = living(user).exclude(pk=own.pk) if own else living(user)
    return _end_and_record(rows, user=user, actor=user.get_username(), reason=reason)


def end_all(user: User, *, actor: str, reason: str = "") -> int:
    """End every session of somebody. How many there were."""
    return _end_and_record(living(user), user=user, actor=actor, reason=reason)


def end_one(row: StaffSession, *, actor: str) -> bool:
    """End one; it takes effect at its next request. False where it was over already."""
    return bool(_end_and_record(living().filter(pk=row.pk), user=row.user, actor=actor))


def forget_old() -> None:
    """Remove rows that are long over."""
    StaffSession.objects.filter(seen_at__lte=clock.system_now() - KEPT).delete()


def _rows_of(request: HttpRequest) -> QuerySet[StaffSession]:
    """The row that the session names, if it is of the very person who is logged in by it."""
    number, user_id = request.session.get(ROW_KEY), request.user.pk
    if number is None or user_id is None:
        return StaffSession.objects.none()
    return StaffSession.objects.filter(pk=number, user_id=user_id)


def _living() -> Q:
    now = clock.system_now()
    return Q(
        ended_at__isnull=True,
        started_at__gt=now - timedelta(seconds=settings.STAFF_SESSION_SECONDS),
        seen_at__gt=now - timedelta(seconds=settings.STAFF_IDLE_SECONDS),
    )


def _touch(request: HttpRequest, row: StaffSession) -> None:
    """A page that asks for itself anew (htmx) is no sign of a person: an open queue would never be idle."""
    now: datetime = clock.system_now()
    if "HX-Request" in request.headers and request.method in ("GET", "HEAD"):
        return
    if now - row.seen_at >= TOUCH_EVERY:
        StaffSession.objects.filter(pk=row.pk, ended_at=None).update(seen_at=now)


def _end(rows: QuerySet[StaffSession]) -> int:
    return rows.filter(ended_at=None).update(ended_at=clock.system_now())


def _end_and_record(rows: QuerySet[StaffSession], *, user: User, actor: str, reason: str = "") -> int:
    number = _end(rows)
    if number:
        audit.record(
            actor=actor,
            action="session.end",
            subject=f"staff:{user.get_username()}"[:80],
            reason=reason,
            after={"ended": number},
        )
    return number
