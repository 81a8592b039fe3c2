"""The OpenAPI document: valid, complete, the same file that the viewer and partners read."""

import json
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client

pytestmark = pytest.mark.django_db
CALLS = {
    "/api/v1", "/api/v1/accelerators", "/api/v1/accelerators/{slug}", "/api/v1/lots", "/api/v1/availability",
    "/api/v1/plans", "/api/v1/quotes", "/api/v1/quotes/{quote_id}", "/api/v1/orders", "/api/v1/orders/{order_id}",
    "/api/v1/orders/{order_id}/payment-claims", "/api/v1/orders/{order_id}/cancel",
    "/api/v1/orders/{order_id}/early-end", "/api/v1/orders/{order_id}/extensions",
    "/api/v1/orders/{order_id}/access", "/api/v1/orders/{order_id}/events", "/api/v1/events",
}  # fmt: skip


def test_the_document_is_valid_and_without_warnings(tmp_path: Path) -> None:
    file = tmp_path / "schema.json"
    call_command("spectacular", validate=True, fail_on_warn=True, file=str(file), format="openapi-json")
    assert json.loads(file.read_text())["openapi"] == "3.1.0"


def test_each_call_is_described_once_with_examples_and_errors(client: Client) -> None:
    document = client.get("/api/v1/openapi.json").json()
    assert set(document["paths"]) >= CALLS
    assert not [path for path in document["paths"] if path.endswith("/")]
    for path, calls in document["paths"].items():
        for method, call in calls.items():
            answers = call["responses"]
            good = [answer for status, answer in answers.items() if status.startswith("2")]
            assert good, path
            for answer in good:
                shown = [kind.get("examples") for kind in answer.get("content", {}).values()]
                assert all(shown) or len(good) > 1 or "204" in answers, (method, path)
            assert {"400", "401", "406", "429"} <= set(answers), (method, path)
            assert "application/problem+json" in answers["400"]["content"]
            is_open = {} in call["security"]
            assert is_open != ("403" in answers), (method, path)
            names = {row["name"] for row in call.get("parameters", ())}
            if method == "post" and path != "/api/v1/plans":
                assert "Idempotency-Key" in names, path


def test_a_body_is_closed_in_the_document_as_it_is_in_fact(client: Client) -> None:
    schemas = client.get("/api/v1/openapi.json").json()["components"]["schemas"]
    bodies = {name: schema for name, schema in schemas.items() if "Body" in name}
    assert len(bodies) >= 7
    for name, schema in bodies.items():
        assert schema["additionalProperties"] is False, name


def test_the_viewer_needs_no_inline_script_and_says_what_is_simulated(client: Client) -> None:
    response = client.get("/api/docs/")
    assert response.status_code == 200
    page = response.content.decode()
    assert "<style" not in page
    assert " style=" not in page
    assert "<script>" not in page
    assert "simulated" in page
    policy = response["Content-Security-Policy"]
    assert "unsafe" not in policy
    script = client.get("/api/docs/?script=")
    assert script["Content-Type"].startswith("application/javascript")
    assert b"/api/v1/openapi.json" in script.content
