"""What partners' tables keep of a buyer, and of a person who acts for a partner under the same address."""

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from core.person import Kept, Person
from partners.models import IdempotentRequest, Member, Partner, PartnerOrder


def answers_of(person: Person) -> QuerySet[IdempotentRequest]:
    """Answers kept for a day that name the buyer."""
    return IdempotentRequest.objects.filter(body__icontains=person.address)


def kept(person: Person) -> Kept:
    orders = PartnerOrder.objects.filter(order__in=person.order_ids).order_by("pk")
    members = Member.objects.filter(mail__iexact=person.address).order_by("pk")
    return {
        "partner_orders": list(orders.values("order__public_id", "partner__name", "metadata")),
        "members": list(
            members.values("partner__name", "name", "mail", "language", "active", "last_login_at")
        ),
    }


def open_matters(person: Person) -> list[str]:
    found = [
        _("The address is that of partner %(partner)s. Change it there first.") % {"partner": name}
        for name in Partner.objects.filter(mail__iexact=person.address).values_list("name", flat=True)
    ]
    members = Member.objects.filter(mail__iexact=person.address, active=True).select_related("partner")
    return found + [
        _("The address is that of an active member of partner %(partner)s. End that first.")
        % {"partner": member.partner.name}
        for member in members
    ]
