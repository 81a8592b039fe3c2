"""The only wiring between apps: which tasks hear which event (DESIGN, "The way through the house")."""

# One handler for what may follow each other: order is kept per handler and subject.
_LEASE = ["orders.on_lease"]
_LEASE_AND_MONEY = [*_LEASE, "billing.on_lease"]
_ORDER = ["billing.on_order"]
_PAYMENT = ["orders.on_payment"]

_ACTED_UPON: dict[str, list[str]] = {
    "payment.settled": _PAYMENT,
    "payment.expired": _PAYMENT,
    "payment.reversed": _PAYMENT,
    "order.placed": ["orders.on_order", *_ORDER],
    "order.paid": _ORDER,
    "order.active": _ORDER,
    "order.ended": _ORDER,
    "order.expired": _ORDER,
    "order.cancelled": _ORDER,
    "order.failed": _ORDER,
    "order.no_capacity": _ORDER,
    "lease.preparing": _LEASE,
    "lease.ready": _LEASE_AND_MONEY,
    "lease.late": _LEASE,
    "lease.degraded": _LEASE,
    "lease.repaired": _LEASE_AND_MONEY,
    "lease.moved": _LEASE,
    "lease.suspended": _LEASE,
    "lease.resumed": _LEASE,
    "lease.extended": _LEASE_AND_MONEY,
    "lease.ending": _LEASE_AND_MONEY,
    "lease.closed": _LEASE_AND_MONEY,
    "lease.failed": _LEASE_AND_MONEY,
    "lease.reminder": _LEASE,
    "lease.export_window": _LEASE,
} | {
    # Facts that no lower app acts upon; each is in the log all the same.
    name: []
    for name in (
        "quote.accepted",
        "quote.expired",
        "order.provisioning",
        "payment.claimed",
        "payment.seen",
        "payment.partial",
        "payment.over",
        "payment.late",
        "payment.wrong_asset",
        "payment.wrong_network",
        "payment.dropped",
        "lease.reserved",
        "lease.testing",
        "lease.shortened",
        "lease.login",
        "lease.key_added",
        "lease.key_removed",
        "lease.wiping",
        "credit.due",
        "refund.address_needed",
        "refund.due",
        "refund.sent",
        "refund.verified",
        "refund.failed",
    )
}

# For the order's own page; no handler hears them.
_TIMELINE_ONLY = frozenset({"lease.shortened", "lease.login", "lease.key_added", "lease.key_removed"})

# A partner is told of every public event of his orders.
HANDLERS: dict[str, list[str]] = {
    name: handlers if name in _TIMELINE_ONLY else [*handlers, "partners.on_event"]
    for name, handlers in _ACTED_UPON.items()
}
