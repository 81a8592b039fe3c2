"""The OpenAPI document: valid, complete, the same file that the viewer and partners read."""

import json
from pathlib import Path

import pytest
from django.core.management import call_command
from django.test import Client

from partners.api.problems import CODES_BY_STATUS, DETAILS

pytestmark = pytest.mark.django_db
CALLS = {"/api/v1", "/api/v1/accelerators", "/api/v1/accelerators/{slug}", "/api/v1/lots"}


def test_the_document_is_valid_and_without_warnings(tmp_path: Path) -> None:
    file = tmp_path / "schema.json"
    call_command("spectacular", validate=True, fail_on_warn=True, file=str(file), format="openapi-json")
    assert json.loads(file.read_text())["openapi"] == "3.1.0"


def test_each_call_is_described_once_with_example_and_errors(client: Client) -> None:
    document = client.get("/api/v1/openapi.json").json()
    assert set(document["paths"]) >= CALLS
    assert not [path for path in document["paths"] if path.endswith("/")]
    for path in CALLS:
        answers = document["paths"][path]["get"]["responses"]
        assert answers["200"]["content"]["application/json"]["examples"]
        assert {"400", "401", "406", "429"} <= set(answers)
        assert "application/problem+json" in answers["400"]["content"]


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


def test_every_general_code_has_its_sentence_and_its_place_on_the_page(client: Client) -> None:
    page = client.get("/api/docs/errors/").content.decode()
    for code in CODES_BY_STATUS.values():
        assert DETAILS[code]
        assert f'id="{code}"' in page
