"""One open decision of each kind, with the facts that its service keeps, about one order and one lease."""

from datetime import timedelta
from typing import Any

from core import clock, decisions
from core.models import Decision
from fleet.models import Lease
from orders.models import Order

OTHERS = [
    {
        "network": "local",
        "chain_id": 31337,
        "asset": "USDC.e",
        "contract": "0x" + "33" * 20,
        "decimals": 6,
        "units": "500000000",
        "settled_units": "500000000",
        "amount": "500.00",
        "is_final": True,
        "is_here": True,
    }
]
PAYMENT: dict[str, Any] = {
    "rail": "crypto",
    "amount": "2028.00",
    "currency": "USD",
    "flags": [],
    "asset": "USDC",
    "network": "local",
    "received": "2052",
    "on_time": "0",
    "late": "2052",
    "asked": "2028",
    "still_due": "0",
    "over": "24",
    "others": OTHERS,
}
REFUND = {
    "reason": "late_money",
    "amount": "4112",
    "asset": "USDC",
    "network": "local",
    "destination": "0x8ba1f109551bD432803012645Ac136ddd64DBA72",
    "problem": "",
}
CARD = {
    "reference": "dp_1",
    "status": "needs_response",
    "amount_minor": "202800",
    "currency": "USD",
    "reason": "lost card",
}
TRIED = {"state": "preparing", "attempts": 5, "last_error": "the node did not boot"}

# Kind -> first word of its subject, facts. "lease", "order" and "payment" are those of the order.
FACTS: dict[str, tuple[str, dict[str, Any]]] = {
    "payment_partial": ("payment", PAYMENT | {"received": "1500.5", "still_due": "527.5", "over": "0"}),
    "payment_over": ("payment", PAYMENT),
    "payment_late": ("payment", PAYMENT),
    "payment_wrong_asset": ("payment", PAYMENT | {"received": "0"}),
    "payment_wrong_network": ("payment", PAYMENT | {"received": "0"}),
    "payment_screening": (
        "payment",
        {"received_units": "2028000000", "asset": "USDC", "others": [], "senders": ["0x" + "11" * 20]},
    ),
    "payment_reversed": ("payment", PAYMENT),
    "payment_disagree": ("payment", PAYMENT),
    "payment_unreadable": ("payment", {"error": "ValueError: odd"}),
    "order_no_capacity": ("order", {"total": "2028.00", "currency": "USD", "why": "late_money"}),
    "paid_after_cancel": ("order", {"total": "2028.00", "currency": "USD"}),
    "refund_due": ("refund", REFUND),
    "refund_unverified": (
        "refund",
        REFUND | {"transaction_hash": "0x" + "ab" * 32, "problem": "not in a block yet"},
    ),
    "card_mismatch": ("payment", {"why": "another amount", "paid": "202700 usd", "asked": "202800 usd"}),
    "card_refund_failed": ("refund", CARD | {"payment_intent": "pi_1"}),
    "card_dispute": ("card", CARD),
    "card_refunded_elsewhere": ("card", CARD | {"reference": "re_1"}),
    "card_session_failed": ("card_session", CARD),
    "card_event_unknown": ("card_event", {"event": "evt_1", "kind": "payout.paid", "why": "no such session"}),
    "invoice_failing": ("invoice", {"number": "INV-000012", "error": "no such letter"}),
    "seller_missing": ("seller", {"setting": "IMPRINT_FILE"}),
    "network_missing": ("network", {"network": "base", "contract": "0x" + "44" * 20}),
    "address_with_history": (
        "address",
        {"address": "0x" + "55" * 20, "index": 12, "network": "local", "nonce": 3},
    ),
    "network_not_offered": ("network", {"reason": "chain id 5, not 1"}),
    "endpoints_disagree": ("network", {"reason": "block 18391 has two hashes"}),
    "price_unusable": ("price", {"feed": "2431.10", "coins.example": "too old"}),
    "lease_late": ("lease", {"last_error": "one card missing"}),
    "lease_failed": ("lease", {"last_error": "one card missing", "state": "testing"}),
    "lease_failing": ("lease", TRIED),
    "delivery_mismatch": (
        "lease",
        {"differences": [{"serial": "b200-n00-1", "problem": "missing", "found": None}]},
    ),
    "lease_degraded": (
        "lease",
        {
            "cards": [{"serial": "b200-n00-1", "node": "b200-n00", "problem": "missing"}],
            "since": "2026-12-01T15:00:00+00:00",
        },
    ),
    "wipe_failed": ("lease", TRIED),
    "end_failing": ("lease", TRIED),
    "access_sync_failing": ("lease", TRIED),
    "extension_failing": ("lease", TRIED),
    "machine_missing": ("lease", {"differences": [{"problem": "missing"}]}),
    "machine_differs": ("lease", {"differences": [{"problem": "members"}]}),
    "orphan_machine": ("machine", {"lease": 4711}),
    "node_away": ("node", {"node": "h100-n00"}),
    "node_drained": ("node", {"node": "h100-n00", "why": "fans", "leases": ["l-1", "l-2"]}),
    "provider_silent": (
        "provider",
        {"since": "2026-12-01T15:00:00+00:00", "looks": 4, "last_error": "no route"},
    ),
    "card_unsound": ("card", {"serial": "b200-n00-1", "node": "b200-n00", "problem": "missing"}),
    "mail_failed": ("mail", {"to": "ada@example.com", "subject": "Your order", "error": "550 no such user"}),
    "mails_held": ("restoration", {"mails": 3, "why": "held back"}),
    "backup_restored": (
        "restoration",
        {"backup_at": "2026-12-01T03:00:00+00:00", "nodes_waiting": 2, "mails_held": 3},
    ),
    "payment_after_backup": ("address", {"address": "0x" + "66" * 20, "index": 40, "network": "local"}),
    "card_payment_after_backup": (
        "card_session",
        {"session": "cs_1", "amount_minor": "9900", "currency": "usd"},
    ),
    "lease_end_differs": (
        "lease",
        {"ours": "2026-12-04T15:00:00+00:00", "at_the_provider": "2026-12-11T15:00:00+00:00"},
    ),
    "webhook_paused": (
        "webhook",
        {"partner": "acme", "url": "https://acme.example/hook", "failing_since": "2026-11-28T15:00:00+00:00"},
    ),
    "sweep_late": (
        "sweep",
        {"sweep": "due_leases", "last_finished_at": "2026-12-01T10:00:00+00:00", "limit_seconds": 120},
    ),
    "outbox_parked": (
        "outbox",
        {"handler": "billing.on_order_paid", "event": "order.paid", "error": "KeyError: 'x'"},
    ),
    "problem_reported": ("report", {"text": "The second card is slow.", "order_status": "active"}),
}
# Who has a deadline, in minutes from now.
DUE = {"lease_late": 88, "order_no_capacity": 1500, "refund_due": 2800}
# Kinds that are about no order.
ALONE = frozenset(
    {
        "seller_missing",
        "network_missing",
        "address_with_history",
        "network_not_offered",
        "endpoints_disagree",
        "price_unusable",
        "orphan_machine",
        "node_away",
        "node_drained",
        "provider_silent",
        "webhook_paused",
        "sweep_late",
        "card_event_unknown",
        "mails_held",
        "backup_restored",
        "payment_after_backup",
    }
)


def open_one(kind: str, order: Order, lease: Lease) -> Decision:
    """As the service of this kind opens it."""
    word, facts = FACTS[kind]
    names = {
        "payment": order.payment.pk,
        "order": order.pk,
        "lease": lease.pk,
        "node": "h100-n00",
        "sweep": "due_leases",
        "price": "local:ETH",
        "network": "local",
        "seller": "seller",
        "provider": "provider",
        "machine": 4711,
    }
    name = "b200-n00-1" if kind == "card_unsound" else names.get(word, 7)
    minutes = DUE.get(kind)
    return decisions.open_decision(
        kind=kind,
        subject=f"{word}:{name}",
        order_ref="" if kind in ALONE else order.public_id,
        facts=facts,
        due_at=clock.now() + timedelta(minutes=minutes, seconds=30) if minutes else None,
    )
