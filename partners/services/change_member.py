"""The people of a partner: added by staff, switched off and on. There is no password: who reads the mail logs in."""

from django.conf import settings
from django.db import transaction
from django.utils.translation import gettext_lazy as _

from core import audit, clock
from core.errors import Conflict, Invalid
from core.text import clean_line
from orders.contact import clean_email
from partners import locks
from partners.models import Member


def add_member(
    *, partner_id: int, name: str, mail: str, actor: str, language: str = "en", reason: str = ""
) -> Member:
    """Locks the partner. Raises Invalid for a name, address or language that cannot be, Conflict(member_exists)."""
    address = clean_email(mail, field="mail")
    shown = clean_line(name, field="name", max_length=120, required=True)
    if language not in dict(settings.LANGUAGES):
        raise Invalid(code="invalid_language", message=_("This language is not offered."), field="language")
    with transaction.atomic():
        partner = locks.partner_for_update(partner_id)
        if Member.objects.filter(partner=partner, mail__iexact=address).exists():
            raise Conflict(
                code="member_exists", message=_("This partner has a member with this address."), field="mail"
            )
        member = Member.objects.create(
            partner=partner,
            name=shown,
            mail=address,
            language=language,
            created_at=clock.now(),
        )
        audit.record(
            actor=actor,
            action="member.add",
            subject=f"member:{member.pk}",
            reason=reason,
            after={"partner": partner.slug},
        )
        return member


def switch_member(*, member_id: int, active: bool, actor: str, reason: str) -> Member:
    """Off: no link logs in and open sessions are over at their next page. Locks the member.

    Raises Conflict(already_done) for a second click.
    """
    with transaction.atomic():
        member = locks.member_for_update(member_id)
        if member.active == active:
            raise Conflict(code="already_done", message=_("This is already done."))
        member.active = active
        member.save(update_fields=["active"])
        verb = "on" if active else "off"
        audit.record(
            actor=actor,
            action=f"member.{verb}",
            subject=f"member:{member.pk}",
            reason=reason,
            before={"active": not active},
            after={"active": active},
        )
        return member
