"""From frozen data to the strings that the template sets: every word and figure in the document's language."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from django.utils import translation

from billing.invoices.words import counted, word
from billing.models import Invoice, Rail
from catalog import tax
from core.formats import NO_BREAK, amount_text, instant_text, percent_text

_VAT_RULES = (tax.DOMESTIC, tax.DESTINATION, tax.REVERSE_CHARGE, tax.OUTSIDE_SCOPE)
_NOTES = (tax.DEMO, tax.DESTINATION, tax.REVERSE_CHARGE, tax.OUTSIDE_SCOPE)


def layout(invoice: Invoice) -> dict[str, Any]:
    """Strings only, in the order in which they are read."""
    with translation.override(invoice.language):
        return _Sheet(invoice).strings()


class _Sheet:
    """One document. The active language is that of the document."""

    def __init__(self, invoice: Invoice) -> None:
        self.invoice = invoice
        self.data: dict[str, Any] = invoice.data
        self.language = invoice.language
        self.currency: str = self.data["currency"]

    def strings(self) -> dict[str, Any]:
        issued = self.invoice.issued_at.astimezone(UTC)
        title = self.word(self.invoice.kind)
        return {
            "lang": self.language,
            "title": title,
            "heading": f"{title} {self.invoice}",
            "banner": self.banner(),
            "parties": [
                {"label": self.word("seller"), "lines": self.seller()},
                {"label": self.word("buyer"), "lines": self.buyer()},
            ],
            "meta": self.meta(),
            "head": [self.word(key) for key in ("line", "quantity", "unit_amount")]
            + [f"{self.word('amount')}, {self.currency}"],
            "rows": self.rows(),
            "sums": self.sums(),
            "payment_title": self.word("payment"),
            "payment": self.payment(),
            "notes": self.notes(),
            "page": self.word("page", n="\x01", total="\x02").replace("\x01", "{n}").replace("\x02", "{t}"),
            "date": [issued.year, issued.month, issued.day, issued.hour, issued.minute, issued.second],
        }

    def word(self, key: str, **values: str) -> str:
        return word(self.language, key, **values)

    def money(self, text: str) -> str:
        return f"{amount_text(Decimal(text))}{NO_BREAK}{self.currency}"

    def banner(self) -> list[str]:
        lines = [self.word("simulated")] if self.data["simulated"] else []
        return [*lines, self.word("sample_seller")] if self.data["seller"]["sample"] else lines

    def seller(self) -> list[str]:
        who = self.data["seller"]
        lines = [who["name"], *who["lines"], _country(who["country"])]
        return [*lines, self.word("vat_id", number=who["vat_id"])] if who["vat_id"] else lines

    def buyer(self) -> list[str]:
        who = self.data["buyer"]
        lines = [who["company"], who["name"], *who["address"].split("\n"), _country(who["country"])]
        lines = [line for line in [*lines, who["email"]] if line]
        return [*lines, self.word("vat_id", number=who["vat_id"])] if who["vat_id"] else lines

    def meta(self) -> list[list[str]]:
        order, supply = self.data["order"], self.data["supply"]
        rows = [
            ["number", str(self.invoice)],
            ["issued_at", instant_text(self.invoice.issued_at)],
            ["order", order["id"]],
            ["extends", order["extends"]],
            ["placed_at", self.when(order["placed_at"])],
            ["term", self.word("term_text", days=counted(self.language, "days", supply["days"]))],
            ["start", self.when(supply["starts_at"]) or self.word("start_ready")],
        ]
        return [[self.word(key), value] for key, value in rows if value]

    def when(self, text: str | None) -> str:
        return instant_text(datetime.fromisoformat(text)) if text else ""

    def rows(self) -> list[dict[str, str]]:
        """Lines as they were signed; those of a cancellation with their sign turned."""
        return [
            {
                "label": line["label"],
                "detail": line["detail"],
                "quantity": line["quantity"],
                "unit_amount": amount_text(Decimal(line["unit_amount"])) if line["unit_amount"] else "",
                "amount": amount_text(Decimal(line["amount"])),
            }
            for line in self.data["lines"]
        ]

    def sums(self) -> list[dict[str, Any]]:
        total_word = {
            Invoice.Kind.RECEIPT.value: "received",
            Invoice.Kind.CREDIT_NOTE.value: "credited",
            Invoice.Kind.CANCELLATION.value: "cancelled_total",
        }.get(self.invoice.kind, "total")
        total = {"label": self.word(total_word), "amount": self.money(self.data["total"]), "strong": True}
        if not self.data["taxes"]:
            return [total]
        taxes = [self.tax_row(row) for row in self.data["taxes"]]
        net = {"label": self.word("subtotal"), "amount": self.money(self.data["subtotal"]), "strong": False}
        # Where prices contain the tax, the lines lead to the total and the rest says what it is made of.
        contained = any(row["included"] for row in self.data["taxes"])
        return [total, net, *taxes] if contained else [net, *taxes, total]

    def tax_row(self, row: dict[str, Any]) -> dict[str, Any]:
        rate = percent_text(Decimal(row["rate"]))
        kind = (
            "demo" if row["treatment"] == tax.DEMO else "vat" if row["treatment"] in _VAT_RULES else "other"
        )
        label = self.word(f"tax_{kind}", rate=rate, country=row["country"])
        if row["included"]:
            label = self.word("contained", tax=label)
        return {"label": label, "amount": self.money(row["tax"]), "strong": False}

    def payment(self) -> list[dict[str, Any]]:
        paid = self.data["payment"]
        if paid is None:
            return []
        if paid["rail"] == Rail.CRYPTO:
            way = self.word("crypto", asset=paid["asset"], network=paid["network"])
            marks = [("transaction", text, True) for text in paid["transactions"]]
        else:
            way = self.word("bank_card")
            marks = [("reference", paid["reference"], True)]
        amount = f"{amount_text(Decimal(paid['amount']), places=None)}{NO_BREAK}{paid['asset']}"
        rows = [
            ("paid_by", f"{way}, {self.word('by_hand')}" if paid["by_hand"] else way, False),
            ("paid_amount", amount, False),
            ("settled_at", self.when(paid["settled_at"]), False),
            *marks,
        ]
        return [{"label": self.word(key), "value": value, "code": code} for key, value, code in rows if value]

    def notes(self) -> list[str]:
        notes = []
        refers = self.data["refers_to"]
        if refers:
            day = instant_text(datetime.fromisoformat(refers["issued_at"]), style="day").removesuffix(" UTC")
            notes.append(self.word(refers["kind"], number=refers["number"], day=day))
        if self.invoice.kind == Invoice.Kind.CANCELLATION:
            notes.append(self.word(self.data["reason"] or "new_invoice"))
        if self.invoice.kind == Invoice.Kind.INVOICE and self.data["payment"]:
            notes.append(self.word("paid_in_full"))
        notes += [
            self.word(f"note_{row['treatment']}", country=_country(row["country"]))
            for row in self.data["taxes"]
            if row["treatment"] in _NOTES
        ]
        return [f"{note}." if not note.endswith(".") else note for note in notes]


def _country(code: str) -> str:
    """The English name of the country table with its code, as letters between countries are addressed."""
    name = tax.tax_table().names.get(code)
    return f"{name} ({code})" if name else code
