"""Cancel an invoice and issue it anew with corrected data of the buyer: an issued document is never edited."""

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from billing.invoice_data import Buyer, reference_to
from billing.models import Invoice
from billing.services.issue_invoice import invoice_again, issue, standing_invoice
from core import audit
from core.errors import Conflict, Invalid, NotFound
from core.text import clean_block, clean_line
from orders.locks import order_for_update
from orders.models import Order

# The chain took the money back: no new invoice comes. A key of the words.
MONEY_GONE = "money_gone"


def clean_buyer(*, name: str, company: str, address: str) -> Buyer:
    """The corrected data as they may be printed. Raises Invalid with the field."""
    return Buyer(
        name=clean_line(name, field="name", max_length=200, required=True),
        company=clean_line(company, field="company", max_length=200),
        address=clean_block(address, field="address", max_length=600),
    )


@transaction.atomic
def cancel_invoice(*, invoice_id: int, buyer: Buyer, actor: str, reason: str) -> Invoice:
    """A cancellation with the amounts turned, and a new invoice with `buyer`; returns the new one.

    Locks the order, then the series CAN and INV. Raises NotFound, Invalid(not_an_invoice, nothing_changes) and
    Conflict(already_done) for an invoice that is cancelled already.
    """
    order_id = Invoice.objects.filter(pk=invoice_id).values_list("order__public_id", flat=True).first()
    order = order_for_update(order_id) if order_id else None
    if order is None:
        raise NotFound(code="not_found", message=_("There is no such document."))
    old = Invoice.objects.get(pk=invoice_id)
    if old.kind != Invoice.Kind.INVOICE:
        raise Invalid(code="not_an_invoice", message=_("Only an invoice is cancelled and issued anew."))
    if Invoice.objects.filter(cancels=old).exists():
        raise Conflict(code="already_done", message=_("This is already done."))
    before = {key: old.data["buyer"][key] for key in ("name", "company", "address")}
    after = {"name": buyer.name, "company": buyer.company, "address": buyer.address}
    if before == after:
        raise Invalid(
            code="nothing_changes", message=_("The new invoice would be the same."), field="company"
        )
    cancellation = _cancel(order, old)
    new = issue(
        order,
        kind=Invoice.Kind.INVOICE,
        key=f"invoice:{old.pk}",
        data=invoice_again(buyer=buyer, replaces=old),
    )
    audit.record(
        actor=actor,
        action="invoice.cancel",
        subject=f"invoice:{old}",
        reason=reason,
        before=before,
        after=after | {"cancellation": str(cancellation), "invoice": str(new)},
    )
    return new


def cancel_unpaid(order_id: str) -> Invoice | None:
    """The chain has taken the money of an order back for good: its invoice is cancelled, and none takes its place.

    Locks the order, then the series CAN. Must run in a transaction. Repeatable: None where no invoice stands.
    """
    order = order_for_update(order_id)
    invoice = standing_invoice(order) if order is not None else None
    if order is None or invoice is None:
        return None
    return _cancel(order, invoice, reason=MONEY_GONE)


def _cancel(order: Order, old: Invoice, *, reason: str = "") -> Invoice:
    return issue(
        order,
        kind=Invoice.Kind.CANCELLATION,
        key=f"cancellation:{old.pk}",
        data=_turned(old) | {"reason": reason},
        cancels=old,
    )


def _turned(old: Invoice) -> dict[str, object]:
    """The same document with every amount turned round."""
    data = old.data
    return {
        **data,
        "lines": [line | {"unit_amount": "", "amount": _negative(line["amount"])} for line in data["lines"]],
        "taxes": [
            row | {"net": _negative(row["net"]), "tax": _negative(row["tax"])} for row in data["taxes"]
        ],
        "subtotal": _negative(data["subtotal"]),
        "tax": _negative(data["tax"]),
        "total": _negative(data["total"]),
        "payment": None,
        "refers_to": reference_to(str(old), old.issued_at, "cancels"),
    }


def _negative(amount: str) -> str:
    return amount.removeprefix("-") if amount.startswith("-") or not amount.strip("0.") else f"-{amount}"
