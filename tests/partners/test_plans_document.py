"""`POST plans` as the document describes it, held to what the planner takes and gives."""

from typing import Any

import pytest
from django.test import Client
from rest_framework import serializers

from catalog.services.seed import seed_catalog
from partners.api.plans_answer import PlanRunSerializer, PlanSerializer
from partners.api.plans_example import ANSWER, BODIES
from partners.api.plans_request import PlanModelSerializer, PlanPilotSerializer, PlanRequestSerializer
from planner.run import RUN_FIELDS
from tests.partners.answers import problem
from tests.partners.plans import PRESET, planned, post

pytestmark = pytest.mark.django_db


@pytest.fixture
def catalogue(db: None) -> None:
    seed_catalog()


needs_catalogue = pytest.mark.usefixtures("catalogue")


def test_the_document_names_the_fields_that_the_planner_takes() -> None:
    own = {"model", "tokens", "epochs", "chance", "rocm_ready", "pilot", "lots"}
    assert set(PlanRequestSerializer().fields) == own | set(RUN_FIELDS)
    assert set(PlanRunSerializer().fields) == set(RUN_FIELDS)
    assert set(PlanPilotSerializer().fields) == {"lot", "step_seconds", "peak_gib", "restore_minutes"}
    assert set(PlanModelSerializer().fields) == {"preset", "config", "params"}


BOUNDED = [
    (name, field.min_value, field.max_value)
    for name, field in PlanRequestSerializer().fields.items()
    if isinstance(field, serializers.IntegerField | serializers.FloatField)
]


@pytest.mark.parametrize(("name", "low", "high"), BOUNDED)
def test_the_documented_bounds_are_those_of_the_planner(
    client: Client, name: str, low: float, high: float
) -> None:
    for inside in (low, high):
        assert post(client, {**PRESET, name: inside}).status_code == 200
    for outside in (low - (1 if isinstance(low, int) else low / 2), high + 1):
        problem(post(client, {**PRESET, name: outside}), 400, "out_of_range", name)


@pytest.mark.parametrize(
    ("name", "choices"),
    [
        (name, list(field.choices))
        for name, field in PlanRequestSerializer().fields.items()
        if isinstance(field, serializers.ChoiceField)
    ],
)
def test_each_documented_word_is_known(client: Client, name: str, choices: list[str]) -> None:
    for word in choices:
        cards = {"n_cards": 2} if word == "tp" else {}  # it is a word for several cards only
        response = post(client, {**PRESET, **cards, "method": "lora", name: word})
        # A word may not go with the method, but it is a word.
        assert response.status_code == 200 or response.json()["code"] == "weights_not_trainable"


@needs_catalogue
@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"tokens": 10**9, "method": "lora"},
        {"method": "infer"},
        {"model": {"params": "70B"}, "n_cards": 2},
    ],
)
def test_an_answer_has_the_documented_shape(client: Client, fields: dict[str, Any]) -> None:
    has_shape(planned(client, **fields), PlanSerializer(), "")


@needs_catalogue
def test_the_example_is_a_true_answer(client: Client) -> None:
    (body,) = BODIES.values()
    answer = post(client, body).json()
    has_shape(ANSWER, PlanSerializer(), "")
    assert {name: ANSWER[name] for name in ("model", "run", "recommended")} == {
        name: answer[name] for name in ("model", "run", "recommended")
    }


def has_shape(value: Any, serializer: serializers.BaseSerializer[Any], path: str) -> None:
    """Exactly the fields of the serializer, null only where it says so, all the way down."""
    if isinstance(serializer, serializers.ListSerializer):
        for row in value:
            assert isinstance(serializer.child, serializers.Serializer)
            has_shape(row, serializer.child, f"{path}[]")
        return
    assert isinstance(serializer, serializers.Serializer)
    assert set(value) == set(serializer.fields), path
    for name, field in serializer.fields.items():
        inner = value[name]
        if inner is None:
            assert field.allow_null, f"{path}.{name}"
        elif isinstance(field, serializers.BaseSerializer):
            has_shape(inner, field, f"{path}.{name}")
        elif isinstance(field, serializers.ChoiceField):
            assert inner in field.choices, f"{path}.{name}"
        elif isinstance(field, serializers.CharField):
            assert isinstance(inner, str), f"{path}.{name}"


def test_the_call_is_described_with_examples_and_its_refusals(client: Client) -> None:
    document = client.get("/api/v1/openapi.json").json()
    call = document["paths"]["/api/v1/plans"]["post"]
    assert {"200", "400", "401", "406", "413", "415", "422", "429"} <= set(call["responses"])
    assert call["requestBody"]["content"]["application/json"]["examples"]
    assert call["responses"]["200"]["content"]["application/json"]["examples"]
    parts = document["components"]["schemas"]
    request = next(part for name, part in parts.items() if name.startswith("PlanRequest"))
    assert request["additionalProperties"] is False
    assert request["required"] == ["model"]
