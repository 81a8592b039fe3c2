"""Open a partner's account."""

from django.db import transaction

from core import audit, clock
from core.text import clean_line
from partners.models import Partner


def make_partner(*, name: str, slug: str, mail: str, actor: str, mail_language: str = "en") -> Partner:
    """The partner, made where it is missing. Raises Invalid or ValidationError for what the row cannot hold.

    May be repeated: an account of that slug stays as it is.
    """
    with transaction.atomic():
        found = Partner.objects.filter(slug=slug).first()
        if found is not None:
            return found
        partner = Partner(
            name=clean_line(name, field="name", max_length=120, required=True),
            slug=slug,
            mail=mail,
            mail_language=mail_language,
            created_at=clock.now(),
        )
        partner.full_clean()
        partner.save()
        audit.record(actor=actor, action="partner.make", subject=f"partner:{partner.pk}")
        return partner
