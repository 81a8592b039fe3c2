"""The lines of an order's timeline about money that goes back."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

from django.utils.translation import gettext as _

from core.formats import amount_text, token_text

Payload = dict[str, Any]


def _sum(payload: Payload) -> dict[str, str]:
    value = payload.get("amount")
    return {
        "amount": token_text(Decimal(str(value))) if value is not None else "",
        "asset": str(payload.get("asset", "")),
    }


def _due(payload: Payload) -> tuple[str, str]:
    return _("Refund due"), _("%(amount)s %(asset)s are sent next.") % _sum(payload)


def _address_needed(payload: Payload) -> tuple[str, str]:
    return _("Refund due"), _("%(amount)s %(asset)s wait for your address.") % _sum(payload)


def _sent(payload: Payload) -> tuple[str, str]:
    return _("Refund sent"), _("%(amount)s %(asset)s are on their way.") % _sum(payload)


def _verified(payload: Payload) -> tuple[str, str]:
    return _("Refund arrived"), _("%(amount)s %(asset)s.") % _sum(payload)


def _failed(payload: Payload) -> tuple[str, str]:
    return _("Refund did not arrive"), _(
        "%(amount)s %(asset)s are still due to you and are sent again."
    ) % _sum(payload)


def _credit(payload: Payload) -> tuple[str, str]:
    value = payload.get("amount")
    amount = amount_text(Decimal(str(value))) if value is not None else ""
    return _("Credit"), _("%(amount)s %(currency)s for time without your cards.") % {
        "amount": amount,
        "currency": payload.get("currency", ""),
    }


MONEY_WORDS: dict[str, Callable[[Payload], tuple[str, str]]] = {
    "refund.address_needed": _address_needed,
    "refund.due": _due,
    "refund.sent": _sent,
    "refund.verified": _verified,
    "refund.failed": _failed,
    "credit.due": _credit,
    "order.no_capacity": lambda _payload: (
        _("Money arrived, the cards are gone"),
        _("We look for another lot at the same price; you may take all of it back."),
    ),
}
