"""Marked text in every column that can hold any, and a reader that tells text from markup."""

from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any

from django.apps import apps
from django.db import connection, models
from django.db.models import F, Value
from django.db.models.functions import Cast, Concat

# Columns whose text is ours alone: codes, states and names that programs compare, digests, addresses of chains.
# A column that is not named here is marked, a new one too.
OURS = {
    "admin.LogEntry": "object_id",
    "auth.User": "password username email",
    "billing.AcceptedXpub": "*",
    "billing.AddressCheck": "*",
    "billing.BalanceReading": "*",
    "billing.CardSession": "session_id language currency",
    "billing.ChainState": "network head_hash settled_hash cursor_hash",
    "billing.Claim": "transaction_hash",
    "billing.Credit": "*",
    "billing.DemoCardEvent": "*",
    "billing.DemoCardRecord": "*",
    "billing.DemoTransfer": "tx_hash",
    "billing.DepositAddress": "*",
    "billing.Invoice": "series key token language",
    "billing.InvoiceSeries": "*",
    "billing.LedgerEntry": "*",
    "billing.LedgerTransaction": "*",
    "billing.PaymentRequest": "network asset asset_contract currency",
    "billing.PaymentView": "flags",
    "billing.PriceReading": "network symbol",
    "billing.Refund": "key network asset asset_contract destination tx_hash payment_intent card_refund_id",
    "billing.RefundMovement": "*",
    "billing.Transfer": "*",
    "catalog.Accelerator": "slug stack_minimum driver_minimum target",
    "catalog.Image": "code targets host_archs stack_version driver_minimum",
    "catalog.Lot": "code",
    "catalog.Option": "code",
    "catalog.PriceVersion": "currency",
    "catalog.SeededRow": "*",
    "core.AuditEntry": "",
    "core.Decision": "kind subject order_ref action",
    "core.Event": "*",
    "core.LoginAttempt": "*",
    "core.OutboxRow": "*",
    "core.OutgoingMail": "key language order_ref",
    "core.Restoration": "*",
    "core.RestorationStep": "*",
    "core.SweepRun": "name",
    "fleet.AccessKey": "algorithm data fingerprint",
    "fleet.Hold": "ref owner driver_minimum",
    "fleet.Lease": "order_ref username image end_reason",
    "fleet.Node": "host_arch driver_version stack_version",
    "fleet.SimulatedFault": "verb",
    "fleet.SimulatedMachine": "*",
    "fleet.SlurmMachine": "*",
    "orders.Order": "public_id token owner contact_language mail_language mail_to contact_email terms_version",
    "orders.Quote": "*",
    "partners.ApiKey": "hash scopes prefix",
    "partners.IdempotentRequest": "*",
    "partners.LoginLink": "*",
    "partners.Member": "mail language",
    "partners.Partner": "slug mail mail_language",
    "partners.WebhookDelivery": "public_id event_name message_id subject body",
    "partners.WebhookEndpoint": "public_id events secret former_secret url",
}
NOT_OURS = {
    "auth.Permission",
    "auth.Group",
    "contenttypes.ContentType",
    "sessions.Session",
    "otp_totp.TOTPDevice",
} | {
    "otp_static.StaticDevice",
    "otp_static.StaticToken",
}
_LONGEST = 24


def mark(number: int) -> str:
    """Breaks out of an attribute and opens an element, in as few signs as a short column holds."""
    return f"'\"><xm {number}>"


def columns() -> "Iterator[tuple[type[models.Model], models.Field[Any, Any]]]":
    """Each column that is filled, in an order that stays."""
    for model in sorted(apps.get_models(), key=lambda one: one._meta.label):
        label = model._meta.label
        ours = OURS.get(label, "")
        if ours == "*" or label in NOT_OURS:
            continue
        for field in model._meta.concrete_fields:
            is_text = isinstance(field, models.CharField | models.TextField) and not field.choices
            if is_text and field.name not in ours.split() and (field.max_length or _LONGEST) >= _LONGEST - 4:
                yield model, field


def fill() -> dict[int, str]:
    """Write the marks. Which number stands in which column that has rows."""
    found = {}
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = replica")  # rows that only grow are changed here too
    for number, (model, field) in enumerate(columns(), start=10):
        text: Any = Value(mark(number))
        if field.unique or any(field.name in getattr(one, "fields", ()) for one in model._meta.constraints):
            text = Concat(text, Cast(F("pk"), models.CharField()))
        if model._base_manager.update(**{field.name: text}):
            found[number] = f"{model._meta.label}.{field.name}"
    with connection.cursor() as cursor:
        cursor.execute("SET session_replication_role = DEFAULT")
    return found


def marked(value: Any, number: int) -> Any:
    """The same structure with every text in it replaced."""
    if isinstance(value, dict):
        return {name: marked(one, number) for name, one in value.items()}
    if isinstance(value, list):
        return [marked(one, number) for one in value]
    return mark(number) if isinstance(value, str) else value


class Reader(HTMLParser):
    """`broken`: where a mark became markup or stands in a script. `seen`: numbers of marks that are plain text."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.broken: list[str] = []
        self.text: list[str] = []
        self._inside = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "xm" or any(name == "xm" for name, _value in attrs):
            self.broken.append(f"<{tag}> at {self.getpos()}")
        for name, value in attrs:
            self.text.append(value or "")
            if name in ("href", "src", "action", "formaction") and (value or "").lower().strip().startswith(
                "javascript:"
            ):
                self.broken.append(f"<{tag} {name}={value}>")
            if name.startswith("on") and "<xm" in (value or ""):
                self.broken.append(f"<{tag} {name}>")
        self._inside = tag if tag in ("script", "style") else ""

    def handle_endtag(self, tag: str) -> None:
        self._inside = ""

    def handle_data(self, data: str) -> None:
        if self._inside and "<xm" in data:
            self.broken.append(f"a mark in <{self._inside}>")
        self.text.append(data)

    def seen(self, numbers: set[int]) -> set[int]:
        whole = "\n".join(self.text)
        return {number for number in numbers if f"<xm {number}>" in whole}
