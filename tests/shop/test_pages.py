"""What every page and mail promises: the notice, nothing inline, a bound on queries."""

import re
from collections.abc import Callable

import pytest
from django.conf import settings as django_settings
from django.db import connection
from django.template.loader import render_to_string
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone, translation
from pytest_django import Settings

from billing.services import notify as money_mails
from core import outbox
from core.mail_html import html_of
from core.models import OutgoingMail
from fleet.models import Lease
from orders.contact import clean_contact
from orders.models import Order
from orders.services import notify as order_mails
from tests import scenario
from tests.shop.states import active, ended

pytestmark = pytest.mark.django_db

NOTICES = {
    "en": "Demo: delivery is simulated",
}


def _pages(order: Order) -> dict[str, int]:
    """Every page of the shop and the most queries that it may make."""
    return {
        "/en/": 6,
        "/en/catalog/": 6,
        "/en/catalog/b200-180/": 6,
        "/en/catalog/h100-sxm-80/": 6,
        "/en/catalog/mi355x-288/": 6,
        "/en/plan/": 6,
        "/en/simulated/": 0,
        "/en/legal/terms/": 0,
        "/en/legal/privacy/": 0,
        "/en/legal/imprint/": 0,
        "/en/orders/": 0,
        "/en/guides/": 0,
        "/en/guides/paying-in-crypto/": 0,
        f"/en/quotes/{order.quote.public_id}/": 5,
        f"/en/orders/{order.token}/": 24,
        f"/en/orders/{order.token}/problem/": 3,
        "/demo/mail/": 3,
    }


def _states() -> dict[str, Callable[[Order], object]]:
    return {
        "waiting": lambda order: None,
        "paid": scenario.pay,
        "active": lambda order: (scenario.pay(order), active(order)),
        "ended": lambda order: (scenario.pay(order), ended(order)),
    }


@pytest.mark.parametrize("state", list(_states()))
def test_every_page_says_that_delivery_is_simulated(buyer: Client, state: str) -> None:
    order = scenario.order()
    _states()[state](order)
    for target in _pages(order):
        answer = buyer.get(target)
        assert answer.status_code == 200, target
        assert NOTICES["en"] in answer.content.decode(), target


def test_the_notice_is_on_the_answers_that_refuse_too(buyer: Client) -> None:
    order = scenario.order()
    answers = [
        buyer.get("/en/nothing/"),
        buyer.post("/en/catalog/b200-180/", {}),
        buyer.post(f"/en/orders/{order.token}/claim/", {"transaction_hash": "x"}),
        buyer.post(f"/en/quotes/{order.quote.public_id}/order/", {}),
    ]
    assert all(answer.status_code >= 400 for answer in answers)
    assert all(NOTICES["en"] in answer.content.decode() for answer in answers)


def test_the_notice_goes_where_delivery_is_real(buyer: Client, settings: Settings) -> None:
    order = scenario.order()
    settings.PROVIDER = "rack"
    html = buyer.get(f"/en/orders/{order.token}/").content.decode()
    assert "simulated" not in html.lower()


def _mails_of(order: Order) -> None:
    """One of every mail that the shop can write."""
    scenario.pay(order)
    lease = active(order)
    lease.suspended_at = lease.wiped_at = timezone.now()
    order_mails.ready(order, lease)
    order_mails.late(order, lease, until=timezone.now())
    order_mails.expired(order)
    order_mails.no_capacity(order)
    order_mails.cancelled(order, paid=True)
    order_mails.suspended(order, lease)
    order_mails.resumed(order, lease)
    order_mails.ended(order, lease)
    order_mails.failed(order)
    for name in ("partial", "over", "late", "wrong_asset"):
        money_mails.flag(order, order.payment.view, name)


@pytest.mark.parametrize("language", [code for code, _name in django_settings.LANGUAGES])
def test_every_mail_has_the_notice_the_link_and_plain_text(shop: None, language: str) -> None:
    order = scenario.order(
        contact=clean_contact(name="Ada", email="ada@example.com", company="", language=language),
        mail_language=language,
    )
    _mails_of(order)
    mails = list(OutgoingMail.objects.filter(order_ref=order.public_id))
    assert len(mails) == 15
    with translation.override(language):
        notice = translation.gettext("Demo: delivery is simulated on this installation.")
    for mail in mails:
        assert notice in mail.text, mail.key
        html = html_of(subject=mail.subject, text=mail.text, language=language)
        assert notice in html
        assert f'href="{django_settings.SITE_URL}/{language}/orders/{order.token}/"' in html
        assert f'<html lang="{language}">' in html
        assert f"{django_settings.SITE_URL}/{language}/orders/{order.token}/" in mail.text
        assert "&" not in mail.text.replace("&quot", "&"), mail.key
        assert "%(" not in mail.text + mail.subject
        assert "None" not in mail.text
        assert order.public_id in mail.subject


def test_a_mail_of_a_real_delivery_has_no_notice(shop: None, settings: Settings) -> None:
    settings.PROVIDER = "rack"
    order = scenario.order()
    outbox.drain()
    assert "simulated" not in OutgoingMail.objects.get(order_ref=order.public_id).text


def test_mails_are_not_escaped(shop: None) -> None:
    order = scenario.order()
    lease = Lease(ends_at=timezone.now())
    context = {
        "order": order,
        "quote": order.quote,
        "url": "http://x/?a=1&b=2",
        "simulated": True,
        "lease": lease,
    }
    assert "http://x/?a=1&b=2" in render_to_string("mail/order_ready.txt", context)


@pytest.mark.parametrize("state", list(_states()))
def test_nothing_is_inline_on_any_page(buyer: Client, state: str) -> None:
    order = scenario.order()
    _states()[state](order)
    for target in _pages(order):
        html = buyer.get(target).content.decode()
        assert not re.search(r"<style\b|\sstyle=|javascript:", html), target
        assert not re.search(r"<script\b(?![^>]*\bsrc=)", html), target
        assert not re.search(r"<[a-z][^>]*\son[a-z]+=", html), target
        assert html.count("<h1") == 1, target
        ids = re.findall(r'\sid="([^"]+)"', html)
        assert len(ids) == len(set(ids)), (target, [i for i in ids if ids.count(i) > 1])


@pytest.mark.parametrize("state", list(_states()))
def test_no_page_asks_more_than_its_bound(buyer: Client, state: str) -> None:
    order = scenario.order()
    _states()[state](order)
    for target, bound in _pages(order).items():
        with CaptureQueriesContext(
            connection,
        ) as queries:
            assert buyer.get(target).status_code == 200
        asked = [query["sql"] for query in queries if "clockoffset" not in query["sql"]]
        assert len(asked) <= bound, (target, len(asked), asked)


def test_the_content_policy_is_strict(buyer: Client) -> None:
    policy = buyer.get("/en/")["Content-Security-Policy"]
    rules = dict(rule.strip().partition(" ")[::2] for rule in policy.split(";") if rule.strip())
    assert rules["default-src"] in ("'none'", "'self'")
    for name in ("script-src", "style-src"):
        assert "unsafe" not in rules.get(name, rules["default-src"])
        assert "*" not in rules.get(name, rules["default-src"])
    assert rules["frame-ancestors"] == "'none'"
    assert rules["form-action"] == "'self'"


def test_figures_that_are_copied_are_the_same_in_every_language(buyer: Client) -> None:
    order = scenario.order(scenario.quote(days=7))
    for code, shown in (
        ("en", "2,028.00"),
        ("de", "2.028,00"),
        ("fr", "2\u202f028,00"),
        ("ru", "2\xa0028,00"),
    ):
        html = buyer.get(f"/{code}/orders/{order.token}/").content.decode()
        assert 'data-copy="2028.00"' in html
        assert shown in html
        assert f'data-copy="{order.payment.crypto.address}"' in html
        assert "31337" in html
        assert "31,337" not in html
