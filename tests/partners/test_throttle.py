"""Rate limits: per address and per key, with headers, and still there when the cache is gone."""

from uuid import uuid4

import pytest
from django.core.cache import caches
from django.test import Client
from pytest_django import Settings

from core.cache import FailOpenRedisCache, count
from partners.models import Partner
from partners.services.make_key import make_key
from tests.partners.answers import problem

pytestmark = pytest.mark.django_db
PATH = "/api/v1/"


@pytest.fixture(autouse=True)
def _limits(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.API_REQUESTS_PER_MINUTE_ADDRESS = 3
    settings.API_REQUESTS_PER_MINUTE_KEY = 5
    # A minute that ends between two requests of a test would let one more pass.
    monkeypatch.setattr("partners.api.throttle.WINDOW_SECONDS", 10**9)


def test_headers_count_down_and_then_the_caller_must_wait(client: Client) -> None:
    remaining = [client.get(PATH)["RateLimit"].split(";")[1] for _ in range(3)]
    assert remaining == ["r=2", "r=1", "r=0"]
    refused = client.get(PATH)
    problem(refused, 429, "rate_limited")
    assert int(refused["Retry-After"]) > 0
    assert "q=3" in refused["RateLimit-Policy"]


def test_another_address_is_another_caller_and_one_ipv6_network_is_one(client: Client) -> None:
    for _ in range(4):
        client.get(PATH, REMOTE_ADDR="192.0.2.1")
    assert client.get(PATH, REMOTE_ADDR="192.0.2.1").status_code == 429
    assert client.get(PATH, REMOTE_ADDR="192.0.2.2").status_code == 200
    for host in range(1, 5):
        client.get(PATH, REMOTE_ADDR=f"2001:db8::{host}")
    assert client.get(PATH, REMOTE_ADDR="2001:db8::99").status_code == 429
    assert client.get(PATH, REMOTE_ADDR="2001:db8:0:1::1").status_code == 200
    # A listener on both names IPv4 so: still one address each, and the same as without the mark.
    assert client.get(PATH, REMOTE_ADDR="::ffff:192.0.2.1").status_code == 429
    assert client.get(PATH, REMOTE_ADDR="::ffff:192.0.2.3").status_code == 200


def test_who_is_refused_is_counted_too(client: Client, partner: Partner) -> None:
    """A key without the scope, and no key where one is needed."""
    _key, text = make_key(partner_id=partner.pk, actor="test", scopes=["access:read"])
    for headers, limit, status in (({"authorization": f"Bearer {text}"}, 5, 403), ({}, 3, 401)):
        answers = [client.get("/api/v1/orders", headers=headers) for _ in range(limit + 1)]
        assert [answer.status_code for answer in answers] == [status] * limit + [429]
        assert "r=0" in answers[-2]["RateLimit"]


def test_a_header_of_the_caller_makes_no_new_address(client: Client) -> None:
    statuses = [
        client.get(PATH, headers={"x-forwarded-for": f"198.51.100.{number}"}).status_code
        for number in range(4)
    ]
    assert statuses == [200, 200, 200, 429]


def test_behind_a_trusted_proxy_the_forwarded_address_counts(client: Client, settings: Settings) -> None:
    settings.TRUSTED_PROXIES = ("127.0.0.1",)
    for number in range(4):
        # What the caller wrote stands first, what our proxy added stands last.
        headers = {"x-forwarded-for": f"10.9.9.{number}, 198.51.100.7"}
        status = client.get(PATH, headers=headers).status_code
    assert status == 429
    assert client.get(PATH, headers={"x-forwarded-for": "198.51.100.8"}).status_code == 200


def test_a_key_has_its_own_and_larger_bucket(client: Client, key_text: str) -> None:
    for _ in range(4):
        client.get(PATH)
    headers = {"authorization": f"Bearer {key_text}"}
    assert [client.get(PATH, headers=headers).status_code for _ in range(6)] == [200] * 5 + [429]


def test_trying_keys_is_counted(client: Client) -> None:
    headers = {"authorization": "Bearer agk_test_" + "A" * 43}
    assert [client.get(PATH, headers=headers).status_code for _ in range(4)] == [401, 401, 401, 429]


def test_a_counter_leaves_the_cache_by_itself() -> None:
    key, store = uuid4().hex, caches["default"]
    assert isinstance(store, FailOpenRedisCache)
    assert [count(key, seconds=60) for _ in range(3)] == [1, 2, 3]
    assert 0 < store._cache.get_client().ttl(store.make_key(key)) <= 60


def test_without_the_cache_each_process_still_counts(client: Client, settings: Settings) -> None:
    settings.CACHES = {
        "default": {
            "BACKEND": "core.cache.FailOpenRedisCache",
            "LOCATION": "redis://127.0.0.1:9/0",
            "OPTIONS": {"socket_timeout": 1, "socket_connect_timeout": 1},
        }
    }
    assert [client.get(PATH).status_code for _ in range(4)] == [200, 200, 200, 429]
