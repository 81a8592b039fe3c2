"""Every state that the page of an order can be in: one table for the tests and pictures of these pages.

What a service or a worker's step does, they do here; what only time does is set as rows, so that the clock of all the
other orders stays. `open_shop_for_states` makes room for all of them in one shop."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from django.conf import settings

from billing import selectors
from orders.models import Order
from tests import cards, scenario
from tests.order_states import before, money_back, term
from tests.terms import take_logins_for_good


def open_shop_for_states(patch: pytest.MonkeyPatch) -> None:
    """Room for an order in each state at once, bank cards, and logins that succeed."""
    take_logins_for_good(patch)
    patch.setattr(settings, "STRIPE_SECRET_KEY", "sk_test_demo")
    patch.setattr(settings, "STRIPE_WEBHOOK_SECRET", cards.SECRET)
    patch.setattr(settings, "STRIPE_TRANSPORT", "demo")
    # The pictures take minutes, in which no worker reads the chain; one state alone is about that.
    patch.setattr(selectors, "SILENT_AFTER", timedelta(days=1))
    scenario.open_shop(b200_nodes=16)


_MAKERS: tuple[Callable[[], Order], ...] = (
    before.awaiting,
    before.claimed,
    before.card_opening,
    before.card_open,
    before.card_pending,
    before.chain_silent,
    before.seen,
    before.dropped,
    before.partial,
    before.wrong_asset,
    before.wrong_network,
    before.checking,
    before.expired,
    before.cancelled,
    before.late_offered,
    before.no_capacity,
    term.paid,
    term.paid_by_card,
    term.over,
    term.preparing,
    term.testing,
    term.late_delivery,
    term.suspended,
    term.active,
    term.degraded,
    term.moving,
    term.repaired,
    term.export_window,
    term.past_last_safe_start,
    term.extension_open,
    term.extension_joined,
    term.extension_failed,
    term.ending,
    term.wiping,
    term.ended_early,
    term.ended,
    money_back.refund_needs_address,
    money_back.refund_due,
    money_back.refund_sent,
    money_back.refund_verified,
    money_back.refund_failed,
    money_back.cancelled_after_payment,
    money_back.reversed_for_good,
)
ORDER_STATES: dict[str, Callable[[], Order]] = {make.__name__: make for make in _MAKERS}


def all_orders(*only: str) -> dict[str, Order]:
    """An order in each state, or in those named; an extension has a page of its own."""
    found = {name: make() for name, make in ORDER_STATES.items() if not only or name in only}
    for name in ("extension_open", "extension_joined"):
        if name in found:
            found[f"{name}_page"] = found[name].extensions.get()
    return found
