"""Make the PDF of a document once, in the worker: this is the only module that loads typst."""

import json
import re
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import structlog
import typst
from django.db import transaction

from billing.invoices.layout import layout
from billing.models import Invoice
from core import clock, decisions

log = structlog.get_logger(__name__)

TEMPLATE = (Path(__file__).parent.parent / "invoices" / "document.typ").read_bytes()
# For keeping: fonts inside, no outside references.
STANDARD: Final = "a-2b"
# typst names one text at a time that it has no glyph for. A name and an address have at most 1,000 characters.
MAX_SPELLED = 1_000
_UNDRAWABLE = re.compile(r'the text `"(.+?)"` could not be displayed', re.DOTALL)
# What binds emoji together would bind to the bracket that is put in their place.
_GLUE = "[\\u200c\\u200d\\u20e3\\ufe00-\\ufe0f\\U0001f3fb-\\U0001f3ff\\U000e0020-\\U000e007f]"
_ESCAPED = re.compile(r"\\u\{([0-9a-f]+)\}")
# A document takes some 10 ms; what failed five times over about two minutes will not mend itself.
ATTEMPTS_BEFORE_DECISION = 5
BATCH = 50


def render_invoice(invoice_id: int) -> bool:
    """Render and store the PDF. True if the document has one afterwards.

    Locks nothing while it renders; the first stored PDF stays (the database refuses another). May be repeated. A
    failure is kept on the row with a growing pause and becomes a decision.
    """
    invoice = Invoice.objects.filter(pk=invoice_id).first()
    if invoice is None or invoice.pdf is not None:
        return invoice is not None
    try:
        pdf = pdf_of(layout(invoice), number=str(invoice))
    except Exception as error:
        log.exception("invoice_not_rendered", invoice=str(invoice))
        _record_failure(invoice, error)
        return False
    with transaction.atomic():
        Invoice.objects.filter(pk=invoice.pk, pdf__isnull=True).update(
            pdf=pdf, rendered_at=clock.now(), last_error=""
        )
        decisions.close_open(kind="invoice_failing", subject=f"invoice:{invoice.pk}", reason="It was made.")
    return True


def pdf_of(strings: dict[str, Any], *, number: str) -> bytes:
    """The bytes. What no installed font can draw is spelled out by code point: a name is never a row of boxes."""
    for _ in range(MAX_SPELLED):
        try:
            return _compile(strings)
        except typst.TypstError as error:
            missing = _UNDRAWABLE.search(str(error))
            if missing is None:
                raise
            characters = _ESCAPED.sub(lambda found: chr(int(found[1], 16)), missing[1])
            if characters.isascii():
                raise
            log.warning("invoice_font_missing", invoice=number, characters=ascii(characters))
            strings = _spelled(strings, re.compile(f"{re.escape(characters)}|{_GLUE}"))
    return _compile(strings)


def load_fonts() -> None:
    """What the first document of a process loads, some 20 MB: a worker that does it at its start has the size then that
    it keeps."""
    typst.compile(b"A", format="pdf", pdf_standards=[STANDARD])


def render_due() -> None:
    """All documents that wait for their PDF and whose time has come, oldest first."""
    due = Invoice.objects.filter(pdf__isnull=True, next_at__lte=clock.system_now()).order_by("id")
    for invoice_id in due.values_list("pk", flat=True)[:BATCH]:
        render_invoice(invoice_id)


def _compile(strings: dict[str, Any]) -> bytes:
    return typst.compile(
        TEMPLATE, format="pdf", sys_inputs={"data": json.dumps(strings)}, pdf_standards=[STANDARD]
    )


def _spelled(value: Any, what: re.Pattern[str]) -> Any:
    if isinstance(value, str):
        return what.sub(lambda found: "[" + " ".join(f"U+{ord(c):04X}" for c in found[0]) + "]", value)
    if isinstance(value, dict):
        return {key: _spelled(part, what) for key, part in value.items()}
    return [_spelled(part, what) for part in value] if isinstance(value, list) else value


def _record_failure(invoice: Invoice, error: Exception) -> None:
    attempts = invoice.attempts + 1
    text = f"{type(error).__name__}: {error}"[:300].replace("\x00", "")
    with transaction.atomic():
        Invoice.objects.filter(pk=invoice.pk, pdf__isnull=True).update(
            attempts=attempts,
            last_error=text,
            next_at=clock.system_now() + timedelta(seconds=min(3600, 4 * 2**attempts)),
        )
        if attempts >= ATTEMPTS_BEFORE_DECISION:
            decisions.open_decision(
                kind="invoice_failing",
                subject=f"invoice:{invoice.pk}",
                order_ref=invoice.order.public_id,
                facts={"number": str(invoice), "error": text},
            )
