"""Erase a buyer from what partners' programs told us of his orders, and a former member of a partner."""

import json

from core.append_only import MARKER
from core.person import Person, blanked
from partners.models import Member, PartnerOrder
from partners.person import answers_of


def erase(person: Person) -> dict[str, int]:
    """Must run in the transaction of the erasure. May be repeated.

    `metadata` is the partner's own and may say anything: all of it goes. An answer that a repeated request gets
    keeps its shape.
    """
    orders = PartnerOrder.objects.filter(order__in=person.order_ids).exclude(metadata={}).update(metadata={})
    answers = 0
    for row in answers_of(person):
        row.body = json.dumps(blanked(json.loads(row.body), person=person, keys=("contact", "metadata")))
        row.save(update_fields=["body"])
        answers += 1
    members = 0
    for member in Member.objects.filter(mail__iexact=person.address, active=False):
        # `.invalid` is nobody's (RFC 2606); members of one partner differ by address.
        member.name, member.mail = MARKER, f"erased-{member.pk}@erased.invalid"
        member.save(update_fields=["name", "mail"])
        member.login_links.all().delete()
        members += 1
    return {"partner_orders": orders, "api_answers": answers, "members": members}
