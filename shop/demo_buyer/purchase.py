"""The steps of a purchase, read from the pages as a buyer reads them."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from urllib.parse import quote as quoted
from urllib.parse import urlsplit

from shop.demo_buyer.browser import Browser, Page, PageError
from shop.demo_buyer.login import Target

# The local chain is final after about four seconds; preparation takes some more.
FINAL_SECONDS, READY_SECONDS = 120, 300
# A worker opens the payment page within seconds.
CARD_SECONDS = 60
# "Payment is unavailable": a chain is read every few seconds.
UNAVAILABLE, UNAVAILABLE_SECONDS = 503, 30
CRYPTO, CARD = "crypto", "card"
POLL_SECONDS = 0.5


@dataclass(frozen=True)
class Wish:
    """What is bought; without `lot` the cheapest that is free for the term."""

    lot: str | None
    lots: int
    days: int


@dataclass(frozen=True)
class Found:
    """A lot of the catalogue and its price as shown."""

    lot: str
    accelerator: str
    amount: Decimal


def find_lot(browser: Browser, wish: Wish) -> Found:
    """The wished lot, or the cheapest of which enough is free. Raises PageError where there is none."""
    page = browser.get(f"/en/catalog/?days={wish.days}")
    if page.status != 400:  # a term that is not on offer
        _next(page, "/catalog/")
    offers = _cheapest_offers(page, wish.days)
    if not offers:
        raise PageError(f"The catalogue has no price for a term of {wish.days} days.")
    if wish.lot is not None:
        return _named_lot(browser, wish.lot)
    for offer in offers:
        if _free(browser, offer, wish.days) >= wish.lots:
            return offer
    raise PageError(f"{wish.lots} lots of no accelerator are free for {wish.days} days.")


def _named_lot(browser: Browser, lot: str) -> Found:
    """The lot of that name. Raises PageError where the shop sells none."""
    slug = quoted(lot.rpartition("x")[0], safe="")
    page = browser.get(f"/en/catalog/{slug}/")
    sold = {node.attributes.get("value") for node in page.nodes if node.attributes.get("name") == "lot"}
    if page.status in (200, 404) and lot not in sold:
        raise PageError(f"There is no lot {lot}.")
    return Found(lot=lot, accelerator=slug, amount=Decimal(0))


def _cheapest_offers(page: Page, days: int) -> list[Found]:
    offers = [
        Found(
            lot=node.attributes["data-lot"],
            accelerator=node.attributes["data-lot"].rpartition("x")[0],
            amount=Decimal(node.attributes["data-amount"]),
        )
        for node in page.with_attribute("data-amount")
        if node.attributes.get("data-days") == str(days)
    ]
    return sorted(offers, key=lambda offer: offer.amount)


def _free(browser: Browser, offer: Found, days: int) -> int:
    page = browser.get(f"/en/catalog/{offer.accelerator}/?days={days}")
    for node in page.with_attribute("data-free"):
        if node.attributes.get("data-free-lot") == offer.lot:
            return int(node.attributes["data-free"])
    return 0


def make_quote(browser: Browser, wish: Wish, found: Found) -> Page:
    """The page of the frozen quote."""
    page = browser.get(f"/en/catalog/{found.accelerator}/?days={wish.days}&lot={found.lot}")
    form = page.form_to(f"/catalog/{found.accelerator}/")
    return _next(
        browser.submit(page, form, lot=found.lot, lots=str(wish.lots), days=str(wish.days)), "/quotes/"
    )


def place_order(browser: Browser, quote: Page, public_key: str, pay_with: str = CRYPTO) -> Page:
    """The order page. `pay_with` is CRYPTO, the first way that is offered on a chain, or CARD."""
    form = quote.form_to("/order/")
    ways = [
        node.attributes.get("value", "") for node in quote.nodes if node.attributes.get("name") == "pay_with"
    ]
    way = next((value for value in ways if (value == CARD) == (pay_with == CARD)), None)
    if way is None:
        raise PageError(f"The shop does not offer to pay by {pay_with} now.")
    contact = {"name": "Demo Buyer", "email": "demo-buyer@example.com", "ssh_keys": public_key}
    deadline = time.monotonic() + UNAVAILABLE_SECONDS
    answer = browser.submit(quote, form, **contact, pay_with=way, accept_terms="on")
    while answer.status == UNAVAILABLE and time.monotonic() < deadline:
        # Nothing is held then and the shop says "try again": a chain that could not be read is read again soon.
        time.sleep(POLL_SECONDS)
        answer = browser.submit(quote, form, **contact, pay_with=way, accept_terms="on")
    return _next(answer, "/orders/")


def pay(browser: Browser, order: Page) -> Page:
    """Let the demo wallet send what is due."""
    return _next(browser.submit(order, order.form_to("/demo-pay/")), "/orders/")


def pay_by_card(browser: Browser, order: Page) -> Page:
    """Wait for the link to the payment page, and pay there with a card that is accepted."""
    page = _wait(browser, order, lambda found: bool(_card_page(found)), CARD_SECONDS, "the payment page")
    card = browser.get(_card_page(page))
    return _next(browser.submit(card, card.form_to(urlsplit(card.url).path), choice="success"), "/orders/")


def claim(browser: Browser, order: Page) -> Page:
    """Press "I have paid". Once the money was seen the button is gone and nothing is left to do."""
    page = browser.get(order.url)
    try:
        form = page.form_to("/claim/")
    except PageError:
        return page
    return _next(browser.submit(page, form), "/orders/")


def wait_until_final(browser: Browser, order: Page) -> Page:
    """Until the page shows that the payment is final."""
    return _wait(browser, order, _is_final, FINAL_SECONDS, "the payment to be final")


def wait_until_ready(browser: Browser, order: Page) -> Page:
    """Until the page shows the login."""
    return _wait(browser, order, lambda page: bool(_user(page)), READY_SECONDS, "access")


def target_of(page: Page) -> Target:
    """The login as the page shows it."""
    values = {
        node.attributes["data-access"]: node.text.strip() for node in page.with_attribute("data-access")
    }
    return Target(
        host=values["host"],
        port=int(values["port"]),
        user=values["user"],
        known_hosts_line=page.by_id("known-hosts"),
    )


def _is_final(page: Page) -> bool:
    """The step "final" of the progress bar is done."""
    return any(
        (node.attributes["data-step"], node.attributes.get("data-state")) == ("final", "done")
        for node in page.with_attribute("data-step")
    )


def _card_page(page: Page) -> str:
    return next((node.attributes.get("href", "") for node in page.with_attribute("data-card-page")), "")


def _user(page: Page) -> str:
    return next(
        (n.text.strip() for n in page.with_attribute("data-access") if n.attributes["data-access"] == "user"),
        "",
    )


def _wait(browser: Browser, order: Page, done: Callable[[Page], bool], seconds: int, what: str) -> Page:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        page = browser.get(order.url)
        if page.status == 200 and done(page):
            return page
        time.sleep(POLL_SECONDS)
    raise PageError(f"Waited {seconds} s for {what} in vain: {order.url}")


def _next(page: Page, part: str) -> Page:
    """The page that a step leads to. Raises PageError with what the shop said instead."""
    if page.status != 200 or part not in urlsplit(page.url).path:
        raise PageError(f"The shop answered {page.status}: {page.said()}")
    return page
