"""The only wiring between apps: which tasks hear which event (DESIGN, "The way through the house")."""

_LEASE = ["orders.on_lease"]

HANDLERS: dict[str, list[str]] = {
    "payment.settled": ["orders.on_payment_settled"],
    "payment.expired": ["orders.on_payment_expired"],
    "payment.reversed": ["orders.on_payment_reversed"],
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
