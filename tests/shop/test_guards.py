"""Odd requests: the right answer and never a 500; what must not leak does not."""

import hashlib
import re
from datetime import timedelta

import pytest
from django.test import Client, RequestFactory
from pytest_django import Settings

from billing.models import AddressCheck
from core import clock, outbox
from core.client_address import client_address
from core.models import OutgoingMail, SweepRun
from orders.models import Order
from orders.verify_quote import Saved, verify
from tests import scenario
from tests.shop.conftest import configure

pytestmark = pytest.mark.django_db

NOBODY = "a" * 43


def _without_ids(body: bytes) -> str:
    """A page without what differs at each request."""
    return re.sub(r"<time.*?</time>|[0-9a-f]{32}|aaaa+|[A-Za-z0-9_-]{43}", "", body.decode())


def test_s37_none_and_not_yours_look_alike(buyer: Client) -> None:
    order = scenario.order()
    almost = order.token[:-1] + ("A" if order.token[-1] != "A" else "B")
    parts = ("", "live/", "problem/")
    for part in parts:
        answers = [buyer.get(f"/en/orders/{token}/{part}") for token in (NOBODY, almost, order.public_id)]
        assert [answer.status_code for answer in answers] == [404, 404, 404]
        assert len({_without_ids(answer.content) for answer in answers[:2]}) == 1
    for action in ("claim/", "cancel/", "demo-pay/", "problem/"):
        assert buyer.post(f"/en/orders/{NOBODY}/{action}").status_code == 404
    order.refresh_from_db()
    assert order.status == "awaiting_payment"


@pytest.mark.parametrize(
    "target",
    [
        "/en/orders/%00/",
        "/en/orders/x%00y/",
        "/en/catalog/%00/",
        "/en/catalog/?vendor=%00",
        "/en/catalog/?stack=%ED%A0%80",
        "/en/catalog/%ED%A0%80/",
        "/en/catalog/%ff%fe/",
        "/en/quotes/%00/",
        "/en/guides/%00/",
        "/%00/",
        "/en/catalog/?min_memory_gb=%F0%9F%92%A9",
        "/demo/mail/99999999999999999999999/",
        "/en/catalog/" + "a" * 5000 + "/",
        "/" + "x" * 1000 + "/",
    ],
)
def test_s26_text_that_nothing_can_hold_is_a_plain_no(buyer: Client, target: str) -> None:
    assert buyer.get(target).status_code in (400, 404)


def test_a_cookie_with_nul_is_refused(buyer: Client) -> None:
    buyer.cookies["sessionid"] = "aaaaaaaaaa\x00"
    assert buyer.get("/en/").status_code == 400


def test_the_theme_is_kept_and_leads_back(buyer: Client) -> None:
    answer = buyer.post("/theme/", {"theme": "dark", "next": "/en/catalog/?stack=CUDA"})
    assert answer["Location"] == "/en/catalog/?stack=CUDA"
    assert 'data-theme="dark"' in buyer.get("/en/").content.decode()
    assert "theme" not in Client().post("/theme/", {"theme": "neon", "next": "/"}).cookies


def test_a_false_host_is_refused_and_mails_name_the_configured_site(
    buyer: Client, settings: Settings
) -> None:
    assert buyer.get("/en/", headers={"host": "evil.example"}).status_code == 400
    quoted = buyer.post("/en/catalog/b200-180/", configure(), headers={"x-forwarded-host": "evil.example"})
    assert quoted["Location"].startswith("/en/quotes/")
    scenario.order()
    outbox.drain()
    (mail,) = OutgoingMail.objects.all()
    assert settings.SITE_URL in mail.text
    assert "evil" not in mail.text


def test_a_large_body_is_refused_before_it_is_read(buyer: Client) -> None:
    answer = buyer.post("/en/catalog/b200-180/", configure(lot="x" * 300_000))
    assert answer.status_code == 413
    assert "more than we accept" in answer.content.decode()


def test_many_fields_are_refused(buyer: Client) -> None:
    answer = buyer.post("/en/catalog/b200-180/", configure(**{f"f{n}": "" for n in range(2000)}))
    assert answer.status_code in (400, 413)


def test_a_form_from_another_page_is_refused() -> None:
    strict = Client(enforce_csrf_checks=True)
    answer = strict.post("/theme/", {"theme": "dark", "next": "/"})
    assert answer.status_code == 403


def test_every_answer_has_an_id_of_our_own(buyer: Client) -> None:
    answer = buyer.get("/en/", headers={"x-request-id": "mine"})
    assert re.fullmatch(r"[0-9a-f]{32}", answer["X-Request-ID"])
    missing = buyer.get("/en/nothing-here/")
    assert missing["X-Request-ID"] in missing.content.decode()


def test_private_pages_are_not_kept_indexed_or_passed_on(buyer: Client) -> None:
    order = scenario.order()
    for target in (
        f"/en/orders/{order.token}/",
        f"/en/orders/{order.token}/live/",
        f"/en/orders/{order.token}/problem/",
        f"/en/quotes/{order.quote.public_id}/",
        f"/en/quotes/{order.quote.public_id}/document.json",
    ):
        answer = buyer.get(target)
        # The look for news names nobody: a browser keeps it, to ask whether it is still true.
        assert answer["Cache-Control"] == ("private, no-cache" if "/live/" in target else "private, no-store")
        assert answer["Referrer-Policy"] == "same-origin"
        assert "noindex" in answer["X-Robots-Tag"]


def test_the_owner_cookie_is_random_signed_and_closed_to_scripts(buyer: Client) -> None:
    buyer.post("/en/catalog/b200-180/", configure())
    cookie = buyer.cookies["anchorgpu_owner"]
    assert re.match(r"[0-9a-f]{32}:", cookie.value)
    assert cookie["httponly"]
    assert cookie["samesite"] == "Lax"
    assert int(cookie["max-age"]) == 365 * 86400
    first = cookie.value.partition(":")[0]
    buyer.post("/en/catalog/b200-180/", configure())
    assert buyer.cookies["anchorgpu_owner"].value.startswith(first + ":")
    forged = Client()
    forged.cookies["anchorgpu_owner"] = f"{first}:x:y"
    forged.post("/en/catalog/b200-180/", configure())
    assert not forged.cookies["anchorgpu_owner"].value.startswith(first)


@pytest.mark.parametrize(
    ("proxies", "remote", "forwarded", "address"),
    [
        ((), "10.0.0.1", "203.0.113.9", "10.0.0.1"),
        (("10.0.0.0/8",), "10.0.0.1", "203.0.113.9", "203.0.113.9"),
        (("10.0.0.0/8",), "10.0.0.1", "6.6.6.6, 203.0.113.9, 10.0.0.2", "203.0.113.9"),
        (("10.0.0.0/8",), "198.51.100.1", "203.0.113.9", "198.51.100.1"),
        (("10.0.0.0/8",), "10.0.0.1", "", "10.0.0.1"),
        (("10.0.0.0/8",), "10.0.0.1", "nonsense", "nonsense"),
    ],
)
def test_a_forwarded_address_counts_only_from_a_trusted_proxy(
    rf: RequestFactory,
    settings: Settings,
    proxies: tuple[str, ...],
    remote: str,
    forwarded: str,
    address: str,
) -> None:
    settings.TRUSTED_PROXIES = proxies
    request = rf.get("/", REMOTE_ADDR=remote, HTTP_X_FORWARDED_FOR=forwarded)
    assert client_address(request) == address


def test_the_published_keys_verify_a_downloaded_quote(buyer: Client) -> None:
    quote = scenario.quote()
    keys = buyer.get("/.well-known/anchorgpu/quote-keys.json").json()
    assert all("d" not in key for key in keys["keys"])
    document = buyer.get(f"/en/quotes/{quote.public_id}/document.json").content.decode()
    saved = Saved(document=document, signature=quote.signature, key_id=quote.key_id, told={})
    assert verify(saved, keys["keys"])[0]["total"] == "934.56"
    assert (
        hashlib.sha256(document.encode()).hexdigest() == hashlib.sha256(quote.document.encode()).hexdigest()
    )


def programs_live() -> None:
    """Worker and gateway have just said so."""
    moment = clock.system_now()
    for name in ("outbox", "gateway"):
        SweepRun.objects.create(name=name, last_started_at=moment, last_finished_at=moment)


def test_ready_names_what_is_missing(buyer: Client, settings: Settings) -> None:
    assert buyer.get("/healthz").content == b"ok\n"
    answer = buyer.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["failing"] == ["worker", "gateway"]
    programs_live()
    answer = buyer.get("/readyz")
    assert (answer.status_code, answer.json()["status"]) == (200, "ready")
    settings.REDIS_URL = "redis://127.0.0.1:9/0"
    answer = buyer.get("/readyz")
    assert (answer.status_code, answer.json()["status"]) == (200, "degraded")
    assert answer.json()["failing"] == ["redis"]


def test_ready_is_red_without_an_address_or_a_chain(buyer: Client) -> None:
    programs_live()
    AddressCheck.objects.all().delete()
    answer = buyer.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["failing"] == ["network:local", "crypto"]


@pytest.mark.parametrize(("age", "status"), [(30, 200), (60, 503)])
def test_ready_is_red_without_a_gateway(buyer: Client, age: int, status: int) -> None:
    programs_live()
    seen = clock.system_now() - timedelta(seconds=age)
    SweepRun.objects.filter(name="gateway").update(last_started_at=seen, last_finished_at=seen)
    answer = buyer.get("/readyz")
    assert answer.status_code == status
    assert answer.json()["failing"] == ([] if status == 200 else ["gateway"])


def test_a_failing_sweep_is_named(buyer: Client) -> None:
    moment = clock.system_now()
    programs_live()
    SweepRun.objects.create(name="leases", last_started_at=moment, last_error="KeyError: x")
    answer = buyer.get("/readyz").json()
    assert (answer["status"], answer["failing"]) == ("degraded", ["sweep:leases"])


def test_the_mails_of_the_demo_are_for_the_demo_only(buyer: Client, settings: Settings) -> None:
    scenario.order()
    outbox.drain()
    mail = OutgoingMail.objects.get()
    assert mail.subject in buyer.get("/demo/mail/").content.decode()
    assert mail.to in buyer.get(f"/demo/mail/{mail.pk}/").content.decode()
    settings.DEMO = False
    assert buyer.get("/demo/mail/").status_code == 404
    assert buyer.get(f"/demo/mail/{mail.pk}/").status_code == 404


def test_outside_the_demo_its_wallet_is_not_there(buyer: Client, settings: Settings) -> None:
    order = scenario.order()
    settings.DEMO = False
    assert "demo wallet" not in buyer.get(f"/en/orders/{order.token}/").content.decode()
    assert buyer.post(f"/en/orders/{order.token}/demo-pay/").status_code == 403
    assert not order.payment.demo_transfers.exists()


def test_text_of_a_buyer_is_never_markup(buyer: Client) -> None:
    order = scenario.order()
    Order.objects.filter(pk=order.pk).update(contact_name="<script>x</script>")
    answer = buyer.post(f"/en/orders/{order.token}/claim/", {"transaction_hash": "<script>alert(1)</script>"})
    assert answer.status_code == 400
    assert "<script>alert" not in answer.content.decode()
