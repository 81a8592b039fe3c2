"""A partner with a key, a fresh rate limit, and static files without a manifest."""

from collections.abc import Iterator

import pytest
from django.core.cache import cache
from pytest_django import Settings

from partners.api.throttle import local_counter
from partners.models import Partner
from partners.services.make_key import make_key
from partners.services.make_partner import make_partner


@pytest.fixture(autouse=True)
def _fresh_limits(settings: Settings) -> Iterator[None]:
    local_counter.clear()
    cache.clear()
    yield
    local_counter.clear()


@pytest.fixture
def partner(db: None) -> Partner:
    return make_partner(name="Acme", slug="acme", mail="api@acme.example", actor="test")


@pytest.fixture
def key_text(partner: Partner) -> str:
    return make_key(partner_id=partner.pk, actor="test")[1]
