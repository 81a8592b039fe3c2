"""Every page of the shop by name, and every state of an order's page: what the rules of access are held against and
what is put into pictures."""

from django.urls import reverse
from django.utils import translation

from fleet.selectors import members_of
from orders.models import Order
from tests import cards, scenario
from tests.order_states import all_orders
from tests.order_states.money_back import refund_of
from tests.terms import lease_of

PLAIN = {
    "home": "/en/",
    "catalogue": "/en/catalog/",
    "accelerator": "/en/catalog/h100-sxm-80/",
    "not-on-sale": "/en/catalog/mi355x-288/",
    "planner": "/en/plan/",
    "planner-adapters": "/en/plan/?model=llama-3-70b&method=lora_emb&billion_tokens=2",
    "planner-refused": "/en/plan/?seq_len=long&pilot_step_seconds=x&flash=9",
    "find-orders": "/en/orders/",
    "simulated": "/en/simulated/",
    "terms": "/en/legal/terms/",
    "privacy": "/en/legal/privacy/",
    "imprint": "/en/legal/imprint/",
    "guides": "/en/guides/",
    "no-such-page": "/en/nothing-here/",
    "mail": "/demo/mail/",
}


def all_pages(*only: str) -> dict[str, str]:
    """Addresses of English pages by name, or of those named, made in the open shop (open_shop_for_states)."""
    orders = all_orders(*(name.removeprefix("order-") for name in only))
    found = PLAIN | {f"order-{name}": address_of(row) for name, row in orders.items()}
    with translation.override("en"):
        found |= _beside(orders)
        if not only or "quote" in only:
            quote = scenario.quote(options=[("nvme-extra", 2)])
            found["quote"] = reverse("shop:quote", kwargs={"quote_id": quote.public_id})
    return {name: address for name, address in found.items() if not only or name in only}


def address_of(order: Order, name: str = "order", **more: object) -> str:
    with translation.override("en"):
        return reverse(f"shop:{name}", kwargs={"token": order.token} | more)


def _beside(orders: dict[str, Order]) -> dict[str, str]:
    """Pages beside that of the order, from an order that has them."""
    found = {}
    if row := orders.get("degraded"):
        key = members_of(lease_of(row))[0]
        found["keys"] = address_of(row, "order_members")
        found["key"] = address_of(row, "order_member", key_id=key.key_id)
        found["export"] = address_of(row, "order_export")
        found["end-early"] = address_of(row, "order_end_early")
        found["problem"] = address_of(row, "order_problem")
    if row := orders.get("refund_needs_address"):
        found["refund-address"] = address_of(row, "order_refund", refund_id=refund_of(row).pk)
    if row := orders.get("card_open"):
        session = cards.session_of(row).session_id
        found["test-card"] = reverse("shop:demo_card", kwargs={"session_id": session})
    return found
