"""What a decision is about, gathered for a whole page of decisions with a fixed number of queries."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any

from django.db.models import Q
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _

from billing.card_amounts import to_amount
from core import clock
from core.formats import amount_text, duration_text, instant_text, token_text
from core.models import Decision
from fleet.models import Lease
from orders.models import Order


@dataclass(frozen=True, kw_only=True)
class About:
    """A decision with its order and lease. Facts are read forgivingly: an older row may lack one."""

    decision: Decision
    order: Order | None = None
    lease: Lease | None = None

    def has(self, *names: str) -> bool:
        return all(self.decision.facts.get(name) not in (None, "") for name in names)

    def fact(self, name: str) -> str:
        """A fact as text, "" where it is not there."""
        value = self.decision.facts.get(name)
        return "" if value is None or isinstance(value, dict | list) else str(value)

    def rows(self, name: str) -> list[dict[str, Any]]:
        """A fact that is a list of records."""
        value = self.decision.facts.get(name)
        return [row for row in value if isinstance(row, dict)] if isinstance(value, list) else []

    def token(self, name: str) -> str:
        """An amount of an asset, as it is read."""
        return token_of(self.decision.facts.get(name)) or self.fact(name)

    def money(self, name: str, currency: str = "currency") -> str:
        """An amount of a currency, with it."""
        number = _number(self.decision.facts.get(name))
        text = amount_text(number) if number is not None else self.fact(name)
        return f"{text} {self.fact(currency).upper()}".strip()

    def minor(self, name: str = "amount_minor") -> str:
        """An amount in the card processor's minor units, with its currency."""
        number, currency = _number(self.decision.facts.get(name)), self.fact("currency").upper()
        if number is None or number != number.to_integral_value() or not currency:
            return f"{self.fact(name)} {currency}".strip()
        return f"{amount_text(to_amount(int(number), currency), places=None)} {currency}"

    def when(self, name: str) -> str:
        """An instant in words, "" where it is not known."""
        found = self.instant(name)
        return instant_text(found, style="sentence") if found is not None else ""

    def instant(self, name: str) -> datetime | None:
        try:
            found = parse_datetime(self.fact(name))
        except ValueError:
            return None
        return found if found is not None and found.tzinfo is not None else None

    @property
    def left(self) -> timedelta | None:
        """Until the deadline, by the product's clock; negative once it has passed."""
        due = self.decision.due_at
        return due - clock.now() if due is not None else None

    @property
    def left_text(self) -> str:
        """How long the deadline leaves, "" without one or where it has passed."""
        return duration_text(self.left) if self.left is not None and self.left > timedelta(0) else ""

    @property
    def buyer(self) -> str:
        """Whom the order is for, in the words he gave."""
        if self.order is None:
            return _("an unknown buyer")
        return self.order.contact_company or self.order.contact_name

    @property
    def machine(self) -> str:
        """What was rented: "8 × NVIDIA B200"."""
        if self.lease is None:
            return _("A lease")
        hold = self.lease.hold
        return f"{hold.card_count} × {hold.lot.accelerator.name}"

    @property
    def name(self) -> str:
        """The name of the thing, without its kind: "l1043" of a lease, "b200-n00" of "node:b200-n00"."""
        if self.lease is not None and self.decision.subject.startswith("lease:"):
            return self.lease.username
        return self.decision.subject.partition(":")[2] or self.decision.subject


def about_all(decisions: Sequence[Decision]) -> list[About]:
    """The same order; two queries, however many there are."""
    refs = {row.order_ref for row in decisions if row.order_ref}
    lease_ids = {number for row in decisions if (number := _lease_id(row)) is not None}
    orders = {
        row.public_id: row
        for row in Order.objects.filter(public_id__in=refs).select_related("quote__lot__accelerator")
    }
    leases = list(
        Lease.objects.filter(Q(pk__in=lease_ids) | Q(order_ref__in=refs)).select_related(
            "hold__lot__accelerator"
        )
    )
    by_id = {row.pk: row for row in leases}
    by_ref = {row.order_ref: row for row in leases}
    return [
        About(
            decision=row,
            order=orders.get(row.order_ref),
            lease=by_id.get(_lease_id(row) or 0) or (by_ref.get(row.order_ref) if row.order_ref else None),
        )
        for row in decisions
    ]


def _lease_id(decision: Decision) -> int | None:
    kind, _colon, number = decision.subject.partition(":")
    return int(number) if kind == "lease" and number.isascii() and number.isdigit() else None


def token_of(value: object) -> str:
    """An amount of an asset, as it is read; "" where it is none."""
    number = _number(value)
    return token_text(number) if number is not None else ""


def _number(value: object) -> Decimal | None:
    try:
        number = Decimal(str(value))
    except InvalidOperation:
        return None
    return number if number.is_finite() else None
