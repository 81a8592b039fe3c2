"""Stripe: checkout sessions, refunds, disputes. One client class over any transport; worker and commands only.

Every call is network I/O and must stay outside a database transaction.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any

import stripe

from billing.rails.card_seen import CardRailError, DisputeSeen, RefundSeen, SessionOrder, SessionSeen

# Stripe answers within a second or two; a worker's claim (60 s) outlives three calls with all of this spent.
TIMEOUT_SECONDS = 15.0
# Languages that Stripe's page knows and we have; any other shows the browser's.
LANGUAGES = frozenset(["en", "de", "fr", "ru"])
_PAGE = 100
# States of a payment in which no money is on its way.
_DEAD_INTENTS = frozenset(["requires_payment_method", "canceled"])


class CardRail:
    """Asks the processor. Raises CardRailError and nothing else. `address` is where its API is, where not at Stripe."""

    def __init__(
        self, api_key: str, *, http_client: stripe.HTTPClient | None = None, address: str | None = None
    ) -> None:
        self._client = stripe.StripeClient(
            api_key,
            http_client=http_client or stripe.RequestsClient(timeout=TIMEOUT_SECONDS),
            base_addresses={"api": address} if address else None,
            # The row is tried again by a sweep, with the same key.
            max_network_retries=0,
        )

    def open_session(self, order: SessionOrder) -> SessionSeen:
        """A session for one amount, cards only, that ends by itself. Repeated with the same key it is the same."""
        with _errors():
            row = self._client.v1.checkout.sessions.create(
                {
                    "mode": "payment",
                    "allowed_payment_method_types": ["card"],
                    # The buyer is charged in the currency that was shown.
                    "adaptive_pricing": {"enabled": False},
                    "line_items": [
                        {
                            "quantity": 1,
                            "price_data": {
                                "currency": order.currency.lower(),
                                "unit_amount": order.amount_minor,
                                "product_data": {"name": order.name},
                            },
                        }
                    ],
                    "client_reference_id": order.reference,
                    "metadata": dict(order.metadata),
                    "payment_intent_data": {"metadata": dict(order.metadata)},
                    "customer_email": order.email,
                    "locale": order.language if order.language in LANGUAGES else "auto",
                    "expires_at": int(order.expires_at.timestamp()),
                    "success_url": order.return_url,
                    "cancel_url": order.return_url,
                },
                {"idempotency_key": order.key},
            )
        return _session(row)

    def session(self, session_id: str) -> SessionSeen:
        with _errors():
            return _session(
                self._client.v1.checkout.sessions.retrieve(session_id, {"expand": ["payment_intent"]})
            )

    def expire_session(self, session_id: str) -> SessionSeen:
        """End an open session. Final refusal where it is complete or expired already: read it."""
        with _errors():
            return _session(self._client.v1.checkout.sessions.expire(session_id))

    def sessions(self, *, since: datetime) -> Iterator[SessionSeen]:
        """All sessions made since then, newest first."""
        with _errors():
            pages = self._client.v1.checkout.sessions.list(
                {"created": {"gte": int(since.timestamp())}, "limit": _PAGE}
            )
            for row in pages.auto_paging_iter():
                yield _session(row)

    def refund(
        self, *, payment_intent: str, amount_minor: int, key: str, metadata: Mapping[str, str]
    ) -> RefundSeen:
        """Send money back to the card. Repeated with the same key it is the same refund."""
        with _errors():
            row = self._client.v1.refunds.create(
                {"payment_intent": payment_intent, "amount": amount_minor, "metadata": dict(metadata)},
                {"idempotency_key": key},
            )
        return _refund(row)

    def refund_by_id(self, refund_id: str) -> RefundSeen:
        with _errors():
            return _refund(self._client.v1.refunds.retrieve(refund_id))

    def refunds(self, payment_intent: str) -> list[RefundSeen]:
        """All refunds of one payment, whoever made them."""
        with _errors():
            pages = self._client.v1.refunds.list({"payment_intent": payment_intent, "limit": _PAGE})
            return [_refund(row) for row in pages.auto_paging_iter()]

    def disputes(self, payment_intent: str) -> list[DisputeSeen]:
        """All disputes of one payment."""
        with _errors():
            pages = self._client.v1.disputes.list({"payment_intent": payment_intent, "limit": _PAGE})
            return [_dispute(row) for row in pages.auto_paging_iter()]


@contextmanager
def _errors() -> Iterator[None]:
    """Stripe's errors in two kinds: asking again may help, or it will not."""
    try:
        yield
    except stripe.StripeError as error:
        status = error.http_status or 0
        # 409: the same key is being worked on. 429: too many calls. 401, 403: a key that an operator can mend.
        is_final = 400 <= status < 500 and status not in (401, 403, 409, 429)
        raise CardRailError(
            error.user_message or type(error).__name__, code=error.code or "", is_final=is_final
        ) from error
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise CardRailError(f"an answer that cannot be read: {type(error).__name__}") from error


def _session(row: Any) -> SessionSeen:
    return SessionSeen(
        session_id=row.id,
        url=row.url or "",
        status=row.status or "",
        payment_status=_payment_status(row),
        amount_minor=int(row.amount_total or 0),
        currency=(row.currency or "").upper(),
        reference=row.client_reference_id or "",
        payment_intent=_id(row.payment_intent),
        livemode=bool(row.livemode),
        metadata=_texts(row.metadata),
    )


def _payment_status(row: Any) -> str:
    """A session stays complete and unpaid when its delayed payment fails; only the payment itself tells (expanded)."""
    intent = row.payment_intent
    if row.status == "complete" and row.payment_status == "unpaid" and not isinstance(intent, str | None):
        return "failed" if intent.status in _DEAD_INTENTS else str(row.payment_status)
    return str(row.payment_status)


def _refund(row: Any) -> RefundSeen:
    return RefundSeen(
        refund_id=row.id,
        payment_intent=_id(row.payment_intent),
        status=row.status or "",
        amount_minor=int(row.amount),
        currency=row.currency.upper(),
        metadata=_texts(row.metadata),
        reason=getattr(row, "failure_reason", None) or "",
    )


def _dispute(row: Any) -> DisputeSeen:
    return DisputeSeen(
        dispute_id=row.id,
        payment_intent=_id(row.payment_intent),
        status=row.status,
        amount_minor=int(row.amount),
        currency=row.currency.upper(),
        livemode=bool(row.livemode),
    )


def _id(value: Any) -> str:
    """An id, whether or not the object was expanded."""
    return str(value if isinstance(value, str) else value.id) if value else ""


def _texts(metadata: Any) -> dict[str, str]:
    return {str(name): str(value) for name, value in metadata.to_dict().items()} if metadata else {}
