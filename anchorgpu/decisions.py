"""What staff can decide: decision kind -> permission and the services that resolve it (dotted paths)."""

from typing import TYPE_CHECKING, NotRequired, TypedDict

from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise


class Kind(TypedDict):
    """`permission` is needed to act; `actions` maps a button's name to a service(decision, actor, reason).

    `inputs` names what a button asks for beside the reason: action -> keyword of its service -> label.
    """

    permission: str
    actions: dict[str, str]
    inputs: NotRequired[dict[str, "dict[str, str | _StrPromise]"]]


_NOTE = {"note": "core.services.close.close_with_note"}


def _noted(permission: str = "core.change_decision") -> Kind:
    return {"permission": permission, "actions": dict(_NOTE)}


_MONEY = "billing.services.money_decisions."
_ACCEPT = {"accept": "billing.services.accept.accept_as_full"}
_REFUND = {"refund": _MONEY + "refund_what_arrived"}
_OFFER = {"offer": "billing.services.offer_again.offer_lot"}


def _about_money(*actions: dict[str, str]) -> Kind:
    """Questions about money that came: the two or three answers that make sense, and a note."""
    found: dict[str, str] = {}
    for action in actions:
        found |= action
    return {"permission": "core.change_decision", "actions": found | _NOTE}


_TRY_AGAIN = {"try_again": "core.services.try_again.try_again"}

KINDS: dict[str, Kind] = {
    kind: _noted()
    for kind in (
        "mail_failed",
        "lease_failing",
        "delivery_mismatch",
        "wipe_failed",
        "end_failing",
        "payment_disagree",
        "payment_unreadable",
        "network_missing",
        "payment_reversed",
        "address_with_history",
        "network_not_offered",
        "endpoints_disagree",
        "price_unusable",
        "problem_reported",
        "orphan_machine",
        "machine_missing",
        "machine_differs",
        "access_sync_failing",
        "node_away",
        "provider_silent",
        "sweep_late",
        "card_dispute",
        "card_refunded_elsewhere",
        "card_session_failed",
        "card_event_unknown",
        "invoice_failing",
        "seller_missing",
        "extension_failing",
    )
} | {
    "payment_partial": _about_money(_ACCEPT, _REFUND),
    "payment_over": _about_money({"refund_excess": _MONEY + "refund_excess"}),
    "payment_late": _about_money(_OFFER, _REFUND),
    "payment_wrong_asset": _about_money(_ACCEPT, _REFUND),
    "payment_wrong_network": _about_money(_ACCEPT, _REFUND),
    "payment_screening": _about_money({"clear": _MONEY + "clear_screening"}, _REFUND),
    "order_no_capacity": _about_money(_OFFER, _REFUND),
    "paid_after_cancel": _about_money(_REFUND),
    "card_mismatch": _about_money(_REFUND),
    "refund_due": {
        "permission": "core.change_decision",
        "actions": {"sent": "billing.services.send_refund.resolve_sent"} | _NOTE,
        "inputs": {"sent": {"transaction_hash": _("Transaction hash")}},
    },
    "card_refund_failed": {
        "permission": "core.change_decision",
        "actions": {"send_again": "billing.services.card_refund.send_again"} | _NOTE,
    },
    "lease_degraded": {
        "permission": "core.change_decision",
        "actions": {"move_to_whole_cards": "fleet.services.repair.move_by_decision"} | _NOTE,
    },
    "card_unsound": {
        "permission": "core.change_decision",
        "actions": {"card_is_sound": "fleet.services.repair.sound_by_decision"} | _NOTE,
    },
    "webhook_paused": {
        "permission": "core.change_decision",
        "actions": {"resume": "partners.services.pause_endpoint.resume_by_decision"} | _NOTE,
    },
    "outbox_parked": {"permission": "core.change_decision", "actions": _TRY_AGAIN | _NOTE},
    "lease_late": {
        "permission": "core.change_decision",
        "actions": {"refund_now": "fleet.services.give_up.refund_now"} | _NOTE,
    },
}
