"""What staff can decide: decision kind -> permission and the services that resolve it (dotted paths)."""

from typing import TYPE_CHECKING, NotRequired, TypedDict

from django.utils.translation import gettext_lazy as _

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise


class Kind(TypedDict):
    """`permission` is needed to act; `actions` maps a button's name to a service(decision, actor, reason).

    `permissions` names what an action needs instead of it, where it differs (core.decision_kinds.permission_of).
    `inputs` names what a button asks for beside the reason: action -> keyword of its service -> label.
    """

    permission: str
    actions: dict[str, str]
    permissions: NotRequired[dict[str, str]]
    inputs: NotRequired[dict[str, "dict[str, str | _StrPromise]"]]


# Who answers: one permission for each kind of work. Who moves money is not who operates machines (anchorgpu.roles).
_PROBLEMS = "core.change_decision"
_MAILS = "core.change_outgoingmail"
_OUTBOX = "core.change_outboxrow"
_SWEEPS = "core.change_sweeprun"
_LEASES = "fleet.change_lease"
_NODES = "fleet.change_node"
_CARDS = "fleet.change_card"
_PAYMENTS = "billing.change_paymentrequest"
_REFUNDS = "billing.change_refund"
_NEW_REFUND = "billing.add_refund"
_INVOICES = "billing.change_invoice"
_CHAINS = "billing.change_chainstate"
_WEBHOOKS = "partners.change_webhookendpoint"

_NOTE = {"note": "core.services.close.close_with_note"}
_MONEY = "billing.services.money_decisions."
_ACCEPT = {"accept": "billing.services.accept.accept_as_full"}
_REFUND = {"refund": _MONEY + "refund_what_arrived"}
_OFFER = {"offer": "billing.services.offer_again.offer_lot"}
# What each answer to money needs; the others need what a note needs.
_OF_MONEY = {
    "accept": "billing.add_acceptance",
    "refund": _NEW_REFUND,
    "refund_excess": _NEW_REFUND,
    "clear": "billing.add_screeningverdict",
}


def _noted(permission: str, *kinds: str) -> dict[str, Kind]:
    """Kinds that settle themselves or outside: staff can only close them with a note."""
    return {kind: {"permission": permission, "actions": dict(_NOTE)} for kind in kinds}


def _about_money(*actions: dict[str, str]) -> Kind:
    """Questions about money that came: the two or three answers that make sense, and a note."""
    found: dict[str, str] = {}
    for action in actions:
        found |= action
    return {
        "permission": _PAYMENTS,
        "permissions": {name: _OF_MONEY[name] for name in found if name in _OF_MONEY},
        "actions": found | _NOTE,
    }


_TRY_AGAIN = {"try_again": "core.services.try_again.try_again"}
_LEASE = "fleet.services.lease_decisions."
_PREPARE_AGAIN = {"prepare_again": _LEASE + "prepare_by_decision"}
_OTHER_CARDS = {"take_other_cards": _LEASE + "other_cards_by_decision"}
_TEAR_DOWN = {"tear_down": _LEASE + "tear_down_by_decision"}

KINDS: dict[str, Kind] = (
    _noted(_PROBLEMS, "problem_reported")
    | _noted(
        _PAYMENTS,
        "payment_disagree",
        "payment_unreadable",
        "payment_reversed",
        "payment_after_backup",
        "card_payment_after_backup",
        "card_dispute",
        "card_refunded_elsewhere",
        "card_session_failed",
        "card_event_unknown",
    )
    | _noted(_REFUNDS, "refund_unverified")
    | _noted(_INVOICES, "invoice_failing", "seller_missing")
    | _noted(
        _CHAINS,
        "network_missing",
        "network_not_offered",
        "endpoints_disagree",
        "price_unusable",
        "address_with_history",
    )
    | _noted(
        _LEASES,
        "machine_missing",
        "machine_differs",
        "access_sync_failing",
        "extension_failing",
        "lease_failed",
        "lease_end_differs",
    )
    | _noted(_NODES, "node_away", "node_drained", "provider_silent")
    | _noted(_SWEEPS, "sweep_late", "backup_restored")
    | {
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
            "permission": _REFUNDS,
            "actions": {"sent": "billing.services.send_refund.resolve_sent"} | _NOTE,
            "inputs": {"sent": {"transaction_hash": _("Transaction hash")}},
        },
        "card_refund_failed": {
            "permission": _REFUNDS,
            "actions": {"send_again": "billing.services.card_refund.send_again"} | _NOTE,
        },
        "lease_degraded": {
            "permission": _LEASES,
            "actions": {"move_to_whole_cards": "fleet.services.repair.move_by_decision"} | _NOTE,
        },
        "card_unsound": {
            "permission": _CARDS,
            "actions": {"card_is_sound": "fleet.services.repair.sound_by_decision"} | _NOTE,
        },
        "webhook_paused": {
            "permission": _WEBHOOKS,
            "actions": {"resume": "partners.services.pause_endpoint.resume_by_decision"} | _NOTE,
        },
        "outbox_parked": {"permission": _OUTBOX, "actions": _TRY_AGAIN | _NOTE},
        "lease_late": {
            "permission": _LEASES,
            "permissions": {"refund_now": _NEW_REFUND},
            "actions": _OTHER_CARDS | {"refund_now": "fleet.services.give_up.refund_now"} | _NOTE,
        },
        "lease_failing": {
            "permission": _LEASES,
            "actions": _PREPARE_AGAIN | _OTHER_CARDS | _NOTE,
        },
        "delivery_mismatch": {
            "permission": _LEASES,
            "actions": _OTHER_CARDS | _PREPARE_AGAIN | _NOTE,
        },
        "wipe_failed": {"permission": _LEASES, "actions": _TEAR_DOWN | _NOTE},
        "end_failing": {"permission": _LEASES, "actions": _TEAR_DOWN | _NOTE},
        "orphan_machine": {
            "permission": _LEASES,
            "actions": {"take_down": "fleet.services.orphans.take_down_by_decision"} | _NOTE,
        },
        "mails_held": {
            "permission": _MAILS,
            "actions": {"send_mails": "core.services.send_held_mails.send_held_mails"} | _NOTE,
        },
        "mail_failed": {
            "permission": _PROBLEMS,
            "permissions": {"send_mail": _MAILS},
            "actions": {"send_mail": "core.services.send_mail_again.send_mail_again"} | _NOTE,
        },
    }
)
