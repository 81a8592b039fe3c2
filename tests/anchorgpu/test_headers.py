"""Every answer of every address has the headers that protect it, and no page loads anything of others."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

import pytest
from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.db import OperationalError
from django.http import HttpRequest, HttpResponse
from django.test import Client
from django.urls import path
from django.views.decorators.http import require_POST
from pytest_django import Settings

from anchorgpu import csp, urls
from core import clock
from core.errors import TooMany
from partners import session as member_session
from partners.models import Partner
from partners.services.change_endpoint import add_endpoint
from partners.services.change_member import add_member
from partners.services.make_key import make_key
from partners.services.make_partner import make_partner
from shop.views.errors import shows_refusals
from tests import scenario
from tests.anchorgpu.addresses import addresses
from tests.anchorgpu.loads import Loads
from tests.core.desk import staff
from tests.environment import production_settings

ROOT = Path(__file__).resolve().parents[2]
SITE = "https://testserver"
# What a script of ours sets too; it holds a word.
OPEN_COOKIES = {"theme", "language"}
LOGIN = "/admin/login/"
QUOTE_KEYS = "/.well-known/anchorgpu/quote-keys.json"
# The bodies that are pages.
HTML = "text/html"


@pytest.fixture(autouse=True)
def https(settings: Settings) -> None:
    """As behind a proxy that ends TLS; static files without a manifest."""
    settings.SECURE_SSL_REDIRECT = True
    settings.SECURE_HSTS_SECONDS = 365 * 86400
    settings.SESSION_COOKIE_SECURE = settings.CSRF_COOKIE_SECURE = True
    settings.SITE_URL = SITE
    settings.CSRF_TRUSTED_ORIGINS = [SITE]


@pytest.fixture
def partner(db: None) -> Partner:
    return make_partner(name="Acme", slug="acme", mail="api@acme.example", actor="test")


@pytest.fixture
def values(db: None, partner: Partner) -> Mapping[str, str]:
    """Of rows that exist, so that pages are drawn and not only refused."""
    scenario.open_shop()
    order = scenario.order()
    key, _text = make_key(partner_id=partner.pk, actor="test")
    endpoint = add_endpoint(partner_id=partner.pk, url="https://hooks.example/x", actor="test")
    return {
        "token": order.token,
        "invoice": "a" * 43,
        "text": "a" * 43,
        "quote_id": order.quote.public_id,
        "order_id": order.public_id,
        "key_id": str(key.pk),
        "endpoint_id": endpoint.public_id,
        "delivery_id": "whd_" + "0" * 24,
        "session_id": "cs_test_" + "0" * 32,
        "slug": "b200-180",
        "en/guides/slug": "paying-in-crypto",
        "en/legal/slug": "terms",
    }


@pytest.fixture
def member(partner: Partner) -> Client:
    row = add_member(partner_id=partner.pk, name="Ada", mail="ada@acme.example", actor="test", language="en")
    client = Client()
    session = client.session
    session[member_session._MEMBER] = row.pk
    session[member_session._SINCE] = clock.system_now().isoformat()
    session.save()
    return client


def wrong(answer: Any, address: str, *, is_stock: bool) -> list[str]:
    """What is missing or too much, one line each."""
    found = [
        f"{name}: {answer.get(name)}"
        for name, value in (
            ("X-Content-Type-Options", "nosniff"),
            ("X-Frame-Options", "DENY"),
            ("Referrer-Policy", "same-origin"),
            ("Cross-Origin-Opener-Policy", "same-origin"),
            ("Strict-Transport-Security", "max-age=31536000"),
        )
        if answer.get(name) != value
    ]
    policy = dict(rule.strip().partition(" ")[::2] for rule in answer["Content-Security-Policy"].split(";"))
    wanted = csp.ADMIN if is_stock else csp.SHOP
    if policy != {name: " ".join(values) for name, values in wanted.items()}:
        found.append(f"policy {policy}")
    found += [f"{name} is there" for name in ("Server", "X-Powered-By", "Via") if name in answer]
    if "Access-Control-Allow-Origin" in answer and address != QUOTE_KEYS:
        found.append("open to other origins")
    found += _wrong_cookies(answer)
    if answer.get("Content-Type", "").startswith(HTML):
        loads = Loads(answer.content.decode(), site=SITE)
        found += loads.foreign + ([] if is_stock else loads.inline)
    return [f"{address} ({answer.status_code}): {line}" for line in found]


def _wrong_cookies(answer: Any) -> list[str]:
    return [
        f"cookie {name}"
        for name, cookie in answer.cookies.items()
        if not (cookie["secure"] and cookie["samesite"] and (cookie["httponly"] or name in OPEN_COOKIES))
        and cookie.value
    ]


def _is_stock(answer: Any, address: str) -> bool:
    """Pages of Django's admin with its theme; the login is drawn by the shop's own templates."""
    match = answer.wsgi_request.resolver_match
    return address.startswith("/admin/") and address != LOGIN and "desk" not in match.namespaces


def _faults(client: Client, targets: list[str]) -> tuple[list[str], set[int]]:
    found, statuses = [], set()
    for target in targets:
        answer = client.get(target, secure=True)
        statuses.add(answer.status_code)
        found += wrong(answer, target, is_stock=_is_stock(answer, target))
    return found, statuses


def test_all_that_visitors_and_members_reach(values: Mapping[str, str], member: Client) -> None:
    everything = [target for target in addresses(values) if not target.startswith("/admin/")]
    assert len(everything) > 100
    found, statuses = _faults(member, everything)
    assert found == []
    assert {200, 302, 401, 404, 405} <= statuses


@pytest.mark.parametrize("is_all", [False, pytest.param(True, marks=pytest.mark.full)], ids=["desk", "all"])
def test_all_that_staff_reach(values: Mapping[str, str], is_all: bool) -> None:
    """The stock tables are alike: those of the catalogue stand for all, and a long run asks all."""
    everything = [target for target in addresses(values) if target.startswith("/admin/")]
    desk = re.compile(r"/admin/(?:\w*/?|desk/.*|catalog/.*)")
    found, statuses = _faults(
        staff("chief", superuser=True),
        [target for target in everything if is_all or desk.fullmatch(target)],
    )
    assert found == []
    assert {200, 302} <= statuses


def test_forms_that_nobody_was_given(values: Mapping[str, str], member: Client) -> None:
    """Each address that takes a form refuses one from elsewhere, with all headers."""
    member.handler.enforce_csrf_checks = True
    outside = ("/admin/", "/api/", "/webhooks/")
    for target in addresses(values):
        if not target.startswith(outside):
            answer = member.post(target, {}, secure=True)
            assert answer.status_code in (301, 302, 403, 404, 405), target
            assert wrong(answer, target, is_stock=False) == []


def _raise(error: Exception) -> NoReturn:
    raise error


@require_POST
def only_post(request: HttpRequest) -> HttpResponse:
    return HttpResponse()


FAILURES = {
    "400": SuspiciousOperation(),
    "403": PermissionDenied(),
    "429": TooMany(code="rate_limited", message="Slowly.", retry_after_seconds=9),
    "500": KeyError("x"),
    "503": OperationalError(),
}
urlpatterns = [
    *(
        path(f"{root}{status}/", shows_refusals(lambda request, error=error: _raise(error)))
        for status, error in FAILURES.items()
        for root in ("fails/", "api/v1/fails/")
    ),
    path("fails/405/", only_post),
    path("api/v1/fails/405/", only_post),
    *urls.urlpatterns,
]
handler400, handler403 = urls.handler400, urls.handler403
handler404, handler500 = urls.handler404, urls.handler500


@pytest.mark.parametrize("root", ["/fails/", "/api/v1/fails/"])
def test_errors_are_protected_alike(settings: Settings, db: None, root: str) -> None:
    settings.ROOT_URLCONF = __name__
    client = Client(raise_request_exception=False)
    answers = {
        int(status): client.get(f"{root}{status}/", secure=True) for status in (*FAILURES, "404", "405")
    }
    answers[413] = client.post(f"{root}405/", b"x" * 300_000, content_type="text/plain", secure=True)
    if root == "/fails/":
        refused = client.post("/admin/", b"x" * 300_000, content_type="text/plain", secure=True)
        assert wrong(refused, "/admin/", is_stock=False) == []
        assert client.get("/en/", headers={"host": "evil.example"}, secure=True).status_code == 400
    for status, answer in answers.items():
        assert answer.status_code == status
        assert wrong(answer, f"{root}{status}", is_stock=False) == []
        assert answer["X-Request-ID"] in answer.content.decode()


def test_static_files_are_protected(settings: Settings, db: None, tmp_path: Path) -> None:
    (tmp_path / "site.js").write_text("1", encoding="utf-8")
    settings.STATIC_ROOT = str(tmp_path)
    answer = Client().get("/static/site.js", secure=True)
    answer.close()
    assert answer.status_code == 200
    assert wrong(answer, "/static/site.js", is_stock=False) == []


def test_plain_http_leads_to_https_but_for_machines(db: None) -> None:
    answer = Client().get("/en/catalog/?a=1")
    assert (answer.status_code, answer["Location"]) == (301, f"{SITE}/en/catalog/?a=1")
    assert Client().get("/healthz").status_code == 200


def test_no_header_changes_which_site_this_is(values: Mapping[str, str]) -> None:
    told = {
        "x-forwarded-host": "evil.example",
        "x-forwarded-server": "evil.example",
        "forwarded": "host=evil.example",
    }
    for target in ("/en/", "/sitemap.xml", "/robots.txt", f"/en/orders/{values['token']}/"):
        answer = Client().get(target, headers=told, secure=True)
        assert answer.status_code == 200
        assert "evil.example" not in answer.content.decode()
    for host in ("evil.example", "testserver.evil.example", "evil.example:443", "a b", ""):
        assert Client().get("/en/", headers={"host": host}, secure=True).status_code == 400


@pytest.mark.parametrize(
    ("told", "status"),
    [
        ({"origin": SITE}, 303),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": f"{SITE}.evil.example"}, 403),
        ({"referer": f"{SITE}/en/"}, 303),
        ({"referer": "https://evil.example/en/"}, 403),
        ({}, 403),
    ],
)
def test_a_form_comes_from_a_page_of_ours(db: None, told: dict[str, str], status: int) -> None:
    """With the right token, as a page of a neighbouring host that can set cookies would send it."""
    token = "a" * 32
    client = Client(enforce_csrf_checks=True)
    client.cookies["csrftoken"] = token
    form = {"theme": "dark", "next": "/en/", "csrfmiddlewaretoken": token}
    assert client.post("/theme/", form, headers=told, secure=True).status_code == status


SHOWN = """
import json
from django.conf import settings
names = %r
print(json.dumps({name: getattr(settings, name) for name in names}))
"""
WANTED = {
    "DEBUG": False,
    "SECURE_SSL_REDIRECT": True,
    "SECURE_HSTS_SECONDS": 31536000,
    "SECURE_CONTENT_TYPE_NOSNIFF": True,
    "SESSION_COOKIE_SECURE": True,
    "SESSION_COOKIE_HTTPONLY": True,
    "SESSION_COOKIE_SAMESITE": "Lax",
    "CSRF_COOKIE_SECURE": True,
    "CSRF_COOKIE_HTTPONLY": True,
    "CSRF_TRUSTED_ORIGINS": ["https://gpu.example"],
    "USE_X_FORWARDED_HOST": False,
    "USE_X_FORWARDED_PORT": False,
    "SECURE_PROXY_SSL_HEADER": None,
}


def test_a_true_installation_has_what_is_tested_here(tmp_path: Path) -> None:
    environment = {"PATH": os.environ["PATH"], "DJANGO_SETTINGS_MODULE": "anchorgpu.settings"}
    done = subprocess.run(
        [sys.executable, "-c", SHOWN % list(WANTED)],
        cwd=ROOT,
        env=environment | production_settings(tmp_path),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert json.loads(done.stdout) == WANTED, done.stderr
