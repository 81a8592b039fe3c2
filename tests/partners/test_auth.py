"""API keys: who is let in, who is refused with which code, and that no text is stored."""

from datetime import timedelta

import pytest
from django.test import Client
from django.urls import path
from pytest_django import Settings
from rest_framework.request import Request
from rest_framework.response import Response

from anchorgpu import urls as real_urls
from core import clock
from core.errors import Conflict, Invalid
from core.models import AuditEntry
from partners import key_text as texts
from partners.api.base import ApiView
from partners.models import ApiKey, Partner
from partners.services.make_key import make_key
from partners.services.revoke_key import revoke_key
from tests.partners.answers import problem


class OrdersView(ApiView):
    """A call that needs a scope, as later ones do."""

    required_scope = "orders:read"

    def get(self, request: Request) -> Response:
        assert isinstance(request.auth, ApiKey)
        return Response({"partner": request.auth.partner.slug})


urlpatterns = [path("api/v1/test-orders", OrdersView.as_view()), *real_urls.urlpatterns]
handler404 = real_urls.handler404
handler500 = real_urls.handler500
pytestmark = [pytest.mark.django_db, pytest.mark.urls(__name__)]
PATH = "/api/v1/test-orders"


def bearer(text: str) -> dict[str, str]:
    return {"authorization": f"Bearer {text}"}


def test_a_key_opens_a_call_that_needs_its_scope(client: Client, key_text: str) -> None:
    response = client.get(PATH, headers=bearer(key_text))
    assert response.status_code == 200
    assert response.json() == {"partner": "acme"}
    assert ApiKey.objects.get().last_used_at is not None


def test_the_word_bearer_may_be_written_in_any_case(client: Client, key_text: str) -> None:
    assert client.get(PATH, headers={"authorization": f"bearer  {key_text}"}).status_code == 200


def test_without_a_key_the_call_is_refused_and_says_how_to_come_back(client: Client) -> None:
    response = client.get(PATH)
    problem(response, 401, "unauthorized")
    assert response["WWW-Authenticate"].startswith("Bearer")


@pytest.mark.parametrize(
    "header",
    [
        "Bearer",
        "Bearer ",
        "Bearer agk_test_short",
        "Bearer agk_test_" + "A" * 43,
        "Bearer agk_test_" + "A" * 42 + "\x00",
        "Bearer " + "x" * 5000,
        "Bearer agk_test_" + "é" * 43,
        "Basic dXNlcjpwYXNz",
        "agk_test_" + "A" * 43,
    ],
)
@pytest.mark.parametrize("path_", [PATH, "/api/v1/lots", "/api/v1/"])
def test_a_wrong_key_is_refused_even_where_none_is_needed(client: Client, header: str, path_: str) -> None:
    problem(client.get(path_, headers={"authorization": header}), 401, "unauthorized")


def test_a_key_of_the_other_mode_is_told_so(client: Client, settings: Settings, partner: Partner) -> None:
    settings.PROVIDER = "real"
    live = make_key(partner_id=partner.pk, actor="test")[1]
    assert live.startswith("agk_live_")
    settings.PROVIDER = "simulated"
    problem(client.get(PATH, headers=bearer(live)), 401, "key_of_other_mode")


def test_an_expired_key_is_told_so(client: Client, partner: Partner) -> None:
    key, text = make_key(partner_id=partner.pk, actor="test", expires_at=clock.now() + timedelta(seconds=60))
    assert client.get(PATH, headers=bearer(text)).status_code == 200
    ApiKey.objects.filter(pk=key.pk).update(
        created_at=clock.now() - timedelta(days=2), expires_at=clock.now() - timedelta(days=1)
    )
    problem(client.get(PATH, headers=bearer(text)), 401, "key_expired")


def test_a_revoked_key_is_told_so_and_revoking_twice_is_already_done(
    client: Client, partner: Partner, key_text: str
) -> None:
    key = ApiKey.objects.get()
    revoke_key(key_id=key.pk, actor="anna", reason="leaked")
    problem(client.get(PATH, headers=bearer(key_text)), 401, "key_revoked")
    with pytest.raises(Conflict, match="already_done"):
        revoke_key(key_id=key.pk, actor="ben", reason="again")
    assert AuditEntry.objects.filter(action="api_key.revoke").count() == 1


def test_a_key_without_the_scope_is_refused(client: Client, partner: Partner) -> None:
    text = make_key(partner_id=partner.pk, actor="test", scopes=["webhooks"])[1]
    problem(client.get(PATH, headers=bearer(text)), 403, "scope_missing")
    assert client.get("/api/v1/lots", headers=bearer(text)).status_code == 200


def test_no_key_of_a_partner_that_was_switched_off_works(
    client: Client, partner: Partner, key_text: str
) -> None:
    Partner.objects.update(active=False)
    problem(client.get(PATH, headers=bearer(key_text)), 401, "unauthorized")
    with pytest.raises(Conflict, match="partner_inactive"):
        make_key(partner_id=partner.pk, actor="test")


def test_the_text_of_a_key_is_stored_nowhere(partner: Partner, key_text: str) -> None:
    rows = [list(ApiKey.objects.values()), list(AuditEntry.objects.values())]
    assert len(key_text) == len("agk_test_") + 43
    assert key_text.removeprefix("agk_test_") not in repr(rows)
    assert ApiKey.objects.get().hash == texts.digest(key_text)


def test_a_key_needs_scopes_that_there_are_and_an_end_that_lies_ahead(partner: Partner) -> None:
    for scopes in ([], ["orders:read", "everything"]):
        with pytest.raises(Invalid, match="unknown_scope"):
            make_key(partner_id=partner.pk, actor="test", scopes=scopes)
    with pytest.raises(Invalid, match="expiry_in_past"):
        make_key(partner_id=partner.pk, actor="test", expires_at=clock.now())
    assert not ApiKey.objects.exists()


def test_last_use_is_written_once_a_minute(client: Client, key_text: str) -> None:
    client.get(PATH, headers=bearer(key_text))
    first = ApiKey.objects.get().last_used_at
    client.get(PATH, headers=bearer(key_text))
    assert ApiKey.objects.get().last_used_at == first
    assert first is not None
    ApiKey.objects.update(last_used_at=first - timedelta(minutes=2))
    client.get(PATH, headers=bearer(key_text))
    assert ApiKey.objects.get().last_used_at != first - timedelta(minutes=2)
