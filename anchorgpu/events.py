"""The only wiring between apps: which tasks hear which event (DESIGN, "The way through the house")."""

# One handler for what may follow each other: order is kept per handler and subject.
_LEASE = ["orders.on_lease"]
_PAYMENT = ["orders.on_payment"]

HANDLERS: dict[str, list[str]] = {
    "payment.settled": _PAYMENT,
    "payment.expired": _PAYMENT,
    "payment.reversed": _PAYMENT,
    "order.cancelled": ["billing.on_order_cancelled"],
    "lease.preparing": _LEASE,
    "lease.ready": _LEASE,
    "lease.late": _LEASE,
    "lease.suspended": _LEASE,
    "lease.resumed": _LEASE,
    "lease.ending": _LEASE,
    "lease.closed": _LEASE,
    "lease.failed": _LEASE,
} | {
    # Facts that nobody acts upon yet; each is in the log all the same.
    name: []
    for name in (
        "quote.accepted",
        "quote.expired",
        "order.placed",
        "order.paid",
        "order.provisioning",
        "order.active",
        "order.ended",
        "order.expired",
        "order.failed",
        "order.no_capacity",
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
        "lease.degraded",
        "lease.repaired",
        "lease.extended",
        "lease.export_window",
        "lease.login",
        "lease.wiping",
        "credit.due",
        "refund.address_needed",
        "refund.due",
        "refund.sent",
        "refund.verified",
        "refund.failed",
    )
}
