"""One odd payment must not stop the others: staff are told once, its facts are read again in the next round (C31)."""

from collections.abc import Iterator
from contextlib import contextmanager

import structlog

from billing.models import PaymentRequest
from billing.rails.errors import ChainMoved
from core import decisions

log = structlog.get_logger(__name__)


@contextmanager
def report_odd(payment: PaymentRequest) -> Iterator[None]:
    """Turn what goes wrong with one payment into a decision. A chain that moved is nobody's fault: passed on."""
    try:
        yield
    except ChainMoved:
        raise
    except Exception as error:
        report(payment, error)


def report(payment: PaymentRequest, error: Exception) -> None:
    """Tell staff, once. Safe to repeat."""
    log.error("payment_not_applied", payment=payment.pk, exc_info=error)
    decisions.open_decision(
        kind="payment_unreadable",
        subject=_subject(payment),
        order_ref=payment.order.public_id,
        facts={"error": f"{type(error).__name__}: {error}"[:500]},
    )


def close_odd(payment: PaymentRequest) -> None:
    """It could be written again. In the caller's transaction."""
    decisions.close_open(kind="payment_unreadable", subject=_subject(payment), reason="it could be written")


def _subject(payment: PaymentRequest) -> str:
    return f"payment:{payment.pk}"
