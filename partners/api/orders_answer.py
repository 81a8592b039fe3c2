"""Answers about quotes and orders, from rows that selectors read. No query is made here."""

from typing import Any

from django.conf import settings

from billing.early_end_amount import EarlyEnd
from billing.selectors import PaymentState
from fleet.models import Lease
from fleet.selectors import Access, last_safe_export_at
from orders.models import Order, Quote
from orders.selectors import quote_status
from orders.services.quote import instant
from partners.selectors import OrderState


def quote_answer(quote: Quote) -> dict[str, Any]:
    """Lot and image were read with it."""
    return {
        "id": quote.public_id,
        "status": quote_status(quote),
        "lot": quote.lot.code,
        "lots": quote.lots,
        "days": quote.days,
        "image": quote.image.code,
        "options": quote.options,
        "starts_at": instant(quote.starts_at),
        "bill_to": quote.bill_to,
        "lines": quote.lines,
        "subtotal": f"{quote.subtotal:.2f}",
        "tax": f"{quote.tax:.2f}",
        "total": f"{quote.total:.2f}",
        "currency": quote.currency,
        "price_version": quote.price_version,
        "created_at": instant(quote.created_at),
        "expires_at": instant(quote.expires_at),
        "document": quote.document,
        "signature": quote.signature,
        "key_id": quote.key_id,
    }


def order_answer(state: OrderState, *, may_act: bool = True) -> dict[str, Any]:
    """`may_act`: whether the caller may write; the address of the page is as good as that."""
    order, quote = state.order, state.order.quote
    return {
        "id": order.public_id,
        "status": order.status,
        "quote": quote.public_id,
        "extends": order.extends.public_id if order.extends is not None else None,
        "lot": quote.lot.code,
        "lots": quote.lots,
        "days": quote.days,
        "image": quote.image.code,
        "options": quote.options,
        "starts_at": instant(quote.starts_at),
        "total": f"{quote.total:.2f}",
        "currency": quote.currency,
        "bill_to": quote.bill_to,
        "contact": {
            "name": order.contact_name,
            "email": order.contact_email,
            "company": order.contact_company,
            "language": order.contact_language,
        },
        "notify": order.notify,
        "ssh_key_fingerprints": [key["fingerprint"] for key in order.ssh_keys],
        "metadata": state.owned.metadata,
        "placed_at": instant(order.placed_at),
        "payment": payment_answer(state.payment) if state.payment is not None else None,
        "lease": _lease(state.lease) if state.lease is not None else None,
        "refunds": [
            {
                "status": refund.status,
                "amount": refund.amount,
                "asset": refund.asset,
                "network": refund.network,
                "reason": refund.reason,
                "transaction_hash": refund.transaction_hash,
            }
            for refund in state.refunds
        ],
        "url": settings.SITE_URL + order.get_absolute_url() if may_act else "",
    }


def payment_answer(payment: PaymentState) -> dict[str, Any]:
    return {
        "rail": payment.rail,
        "status": payment.status,
        "flags": list(payment.flags),
        "network": payment.network,
        "chain_id": payment.chain_id,
        "asset": payment.asset,
        "contract": payment.asset_contract,
        "address": payment.address,
        "amount": f"{payment.amount:f}",
        "amount_units": payment.amount_units,
        "received": f"{payment.received:f}",
        "settled": f"{payment.settled:f}",
        "due": f"{payment.still_due:f}",
        "expires_at": instant(payment.expires_at),
        "still_checking": payment.still_checking,
        "last_block": payment.last_block,
        "checked_at": instant(payment.checked_at),
    }


def access_answer(access: Access) -> dict[str, Any]:
    return {
        "host": access.host,
        "port": access.port,
        "user": access.user,
        "host_key": access.known_hosts_line,
        "host_key_fingerprint": access.host_key_fingerprint,
        "ssh_key_fingerprints": list(access.key_fingerprints),
        "cards": [
            {
                "node": card.node,
                "index": card.index,
                "serial": card.serial,
                "accelerator": card.accelerator,
            }
            for card in access.cards
        ],
        "starts_at": instant(access.starts_at),
        "ends_at": instant(access.ends_at),
    }


def early_end_answer(order: Order, end: EarlyEnd) -> dict[str, Any]:
    return {
        "order": order.public_id,
        "ended_at": instant(end.ended_at),
        "unused_days": end.unused_days,
        "amount": f"{end.amount:.2f}",
        "currency": end.currency,
        "parts": [
            {"order": part.order_id, "days": part.days, "amount": f"{part.amount:.2f}"} for part in end.parts
        ],
    }


def _lease(lease: Lease) -> dict[str, Any]:
    return {
        "status": lease.status,
        "ready_by": instant(lease.ready_by),
        "starts_at": instant(lease.ready_at),
        "ends_at": instant(lease.ends_at),
        "last_safe_export_at": instant(last_safe_export_at(lease)),
    }
