"""Cross-site requests: every address that takes a form refuses one without its token, and those that take none are
known by name and believe no cookie."""

from collections.abc import Iterator
from http import HTTPStatus

import pytest
from django.http import HttpResponse
from django.test import Client, RequestFactory
from django.urls import URLPattern, get_resolver
from pytest_django import Settings

from shop.views.stripe_webhook import stripe_webhook
from tests.core.desk import staff
from tests.security.test_foreign_things import patterns
from tests.security.world import World

# They are asked by programs, which show a key or a signature in place of a cookie.
BY_KEY, BY_SIGNATURE = "/api/", "/webhooks/stripe/"


def exempt() -> Iterator[URLPattern]:
    for pattern in patterns(get_resolver().url_patterns):
        if getattr(pattern.callback, "csrf_exempt", False):
            yield pattern


def test_who_needs_no_token_is_known_by_name() -> None:
    names = {str(pattern.name) for pattern in exempt()}
    assert "stripe_webhook" in names
    assert {name for name in names if not name.startswith("api-")} == {"stripe_webhook"}


def test_every_form_without_its_token_is_refused(world: World) -> None:
    """With every session that there is: a member of staff who may do everything, and a partner's member."""
    client = world.mine.member(staff("chief", superuser=True))
    client.handler.enforce_csrf_checks = True
    walked = 0
    for target in world.addresses():
        if target.startswith((BY_KEY, BY_SIGNATURE)):
            continue
        answer = client.post(target, {"reason": "because"})
        assert answer.status_code == HTTPStatus.FORBIDDEN, (target, answer.status_code)
        walked += 1
    assert walked > 300


def test_a_token_of_the_same_browser_is_taken(world: World) -> None:
    """Control: what is refused above is refused for the token alone."""
    client = Client(enforce_csrf_checks=True)
    token = "a" * 32
    client.cookies["csrftoken"] = token
    path = f"/en/orders/{world.mine.order.token}/claim/"
    assert client.post(path, {}).status_code == HTTPStatus.FORBIDDEN
    answer = client.post(path, {"csrfmiddlewaretoken": token})
    assert answer.status_code == HTTPStatus.SEE_OTHER


def test_the_api_believes_no_cookie(world: World) -> None:
    """A page of another site can make a browser send its cookies; no call that needs a key is answered for them."""
    client = world.mine.member(staff("chief", superuser=True))
    for path in ("orders", "webhook-endpoints", "events"):
        assert client.get(f"/api/v1/{path}").status_code == HTTPStatus.UNAUTHORIZED, path
    for path in ("orders", "webhook-endpoints", f"orders/{world.mine.order.public_id}/cancel"):
        answer = client.post(f"/api/v1/{path}", {}, content_type="application/json")
        assert answer.status_code == HTTPStatus.UNAUTHORIZED, path


def test_the_processors_address_believes_its_signature_alone(rf: RequestFactory, settings: Settings) -> None:
    settings.STRIPE_SECRET_KEY, settings.STRIPE_WEBHOOK_SECRET = "sk_test_demo", "whsec_test_one"
    settings.STRIPE_TRANSPORT = "demo"
    request = rf.post("/webhooks/stripe/", b"{}", content_type="application/json")
    answer = stripe_webhook(request)
    assert isinstance(answer, HttpResponse)
    assert answer.status_code == HTTPStatus.BAD_REQUEST


@pytest.mark.parametrize("header", ["x-csrftoken", "x-requested-with"])
def test_a_header_alone_is_no_token(db: None, header: str) -> None:
    client = Client(enforce_csrf_checks=True)
    assert client.post("/theme/", {"theme": "dark"}, headers={header: "a" * 32}).status_code == 403
