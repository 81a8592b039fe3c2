"""What staff can decide: decision kind -> permission and the services that resolve it (dotted paths)."""

from typing import TypedDict


class Kind(TypedDict):
    """`permission` is needed to act; `actions` maps a button's name to a service(decision, actor, reason)."""

    permission: str
    actions: dict[str, str]


_NOTE = {"note": "core.services.close.close_with_note"}


def _noted(permission: str = "core.change_decision") -> Kind:
    return {"permission": permission, "actions": dict(_NOTE)}


_TRY_AGAIN = {"try_again": "core.services.try_again.try_again"}

KINDS: dict[str, Kind] = {
    kind: _noted()
    for kind in (
        "mail_failed",
        "lease_failing",
        "delivery_mismatch",
        "lease_late",
        "wipe_failed",
        "end_failing",
        "order_no_capacity",
        "paid_after_cancel",
        "refund_due",
        "payment_partial",
        "payment_over",
        "payment_late",
        "payment_wrong_asset",
        "payment_disagree",
        "payment_unreadable",
        "network_missing",
        "payment_reversed",
        "address_with_history",
        "network_not_offered",
        "problem_reported",
        "orphan_machine",
    )
} | {"outbox_parked": {"permission": "core.change_decision", "actions": _TRY_AGAIN | _NOTE}}
