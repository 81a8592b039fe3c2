"""`POST plans`: what no plan can use is refused with its field, and nothing that is sent breaks it."""

import json
from typing import Any

import pytest
from django.test import Client
from hypothesis import HealthCheck, given
from hypothesis import settings as hyp_settings
from hypothesis import strategies as st

from catalog.models import Lot
from catalog.services.seed import seed_catalog
from partners.api.plans_request import PlanRequestSerializer
from tests.partners.answers import problem
from tests.partners.plans import CONFIG, PATH, PRESET, no_number, post

pytestmark = pytest.mark.django_db


@pytest.fixture
def catalogue(db: None) -> None:
    seed_catalog()


needs_catalogue = pytest.mark.usefixtures("catalogue")


@needs_catalogue
@pytest.mark.parametrize("code", ["no-such-lot", "b200-180x2"])
def test_a_lot_that_is_not_on_sale_is_named(client: Client, code: str) -> None:
    Lot.objects.filter(code="b200-180x2").update(on_sale=False)
    body = problem(post(client, {**PRESET, "lots": [code]}), 422, "not_on_sale", "lots")
    assert code in body["detail"]
    asked = {**PRESET, "pilot": {"lot": code, "peak_gib": 10}}
    problem(post(client, asked), 422, "not_on_sale", "pilot.lot")


@pytest.mark.parametrize(
    ("fields", "code", "field"),
    [
        ({"model": None}, "not_object", "model"),
        ({"model": []}, "not_object", "model"),
        ({"model": "llama-3-8b"}, "not_object", "model"),
        ({"model": {}}, "one_model", "model"),
        ({"model": {"preset": "llama-3-8b", "params": "8e9"}}, "one_model", "model"),
        ({"model": {"preset": "gpt-9"}}, "unknown_preset", "model.preset"),
        ({"model": {"preset": 8}}, "not_a_text", "model.preset"),
        ({"model": {"name": "llama-3-8b"}}, "unknown_field", "model.name"),
        ({"model": {"params": "many"}}, "not_a_number", "model.params"),
        ({"model": {"params": True}}, "not_a_number", "model.params"),
        ({"model": {"params": [8]}}, "not_a_number", "model.params"),
        ({"model": {"params": 0}}, "out_of_range", "model.params"),
        ({"model": {"params": -8_000_000_000}}, "out_of_range", "model.params"),
        ({"model": {"params": 10**30}}, "out_of_range", "model.params"),
        ({"model": {"params": "1e39"}}, "out_of_range", "model.params"),
        ({"model": {"params": "1e9999"}}, "out_of_range", "model.params"),
        ({"model": {"config": "{"}}, "config_not_json", "model.config"),
        ({"model": {"config": "[]"}}, "not_object", "model.config"),
        ({"model": {"config": 7}}, "not_object", "model.config"),
        ({"model": {"config": '{"num_hidden_layers": NaN}'}}, "config_not_finite", "model.config"),
        ({"model": {"config": "[" * 20_000 + "]" * 20_000}}, "config_too_deep", "model.config"),
        ({"model": {"config": '{"a": ' + "9" * 60_000 + "}"}}, "config_number_too_long", "model.config"),
        ({"model": {"config": {}}}, "config_missing", "model.config.num_hidden_layers"),
        ({"method": "magic"}, "unknown_choice", "method"),
        ({"method": 1}, "not_a_text", "method"),
        ({"weights": "nf4"}, "weights_not_trainable", "weights"),
        ({"method": "qlora", "weights": "bf16"}, "qlora_needs_quantised", "weights"),
        ({"method": "lora", "lora_targets": "knees"}, "unknown_targets", "lora_targets"),
        ({"method": "lora", "lora_targets": []}, "unknown_targets", "lora_targets"),
        ({"method": "lora", "lora_targets": 5}, "not_a_text", "lora_targets"),
        ({"method": "lora", "lora_targets": [5]}, "not_a_text", "lora_targets"),
        ({"lora_targets": "q," * 200}, "unknown_targets", "lora_targets"),
        ({"lora_targets": ["q"] * 2000}, "unknown_targets", "lora_targets"),
        ({"seq_len": True}, "not_a_number", "seq_len"),
        ({"seq_len": "4096"}, "not_a_number", "seq_len"),
        ({"seq_len": 4096.5}, "not_whole", "seq_len"),
        ({"seq_len": {}}, "not_a_number", "seq_len"),
        ({"flash": 1}, "not_boolean", "flash"),
        ({"flash": "true"}, "not_boolean", "flash"),
        ({"rocm_ready": 0}, "not_boolean", "rocm_ready"),
        ({"tokens": 0}, "out_of_range", "tokens"),
        ({"tokens": -1}, "out_of_range", "tokens"),
        ({"tokens": "lots"}, "not_a_number", "tokens"),
        ({"tokens": 1.5}, "not_whole", "tokens"),
        ({"tokens": 10**70}, "out_of_range", "tokens"),
        ({"epochs": 0}, "out_of_range", "epochs"),
        ({"chance": 0}, "out_of_range", "chance"),
        ({"chance": 1.01}, "out_of_range", "chance"),
        ({"chance": "0.5"}, "not_a_number", "chance"),
        ({"chance": True}, "not_a_number", "chance"),
        ({"lots": "b200-180x2"}, "not_a_list", "lots"),
        ({"lots": [1]}, "not_a_list", "lots"),
        ({"lots": ["B200 180"]}, "not_a_code", "lots"),
        ({"lots": ["b200-180x2"] * 501}, "not_a_list", "lots"),
        ({"pilot": []}, "not_object", "pilot"),
        ({"pilot": {"peak_gib": 10}}, "not_a_code", "pilot.lot"),
        ({"pilot": {"lot": "b200-180x2", "peak_gib": False}}, "not_a_number", "pilot.peak_gib"),
        ({"pilot": {"lot": "b200-180x2", "speed": 1}}, "unknown_field", "pilot.speed"),
        ({"cards": 2}, "unknown_field", "cards"),
        ({"model": {"preset": "llama\x00"}}, "invalid_text", "model.preset"),
        ({"model": {"config": {"model_type": "\ud800"}}}, "invalid_text", "model.config.model_type"),
        ({"lots": ["ok", "\x00"]}, "invalid_text", "lots.1"),
    ],
)
def test_what_no_plan_can_use_is_refused_with_its_field(
    client: Client, fields: dict[str, Any], code: str, field: str
) -> None:
    problem(post(client, {**PRESET, **fields}), 400, code, field)


HOSTILE = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**12), 10**40),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(
        ["", "1e9", "8B", "-1", "1e-40", "NaN", "all", "b200-180x2", "\u202e", "١", "%(low)s", "a.b"]
    ),
    st.just([]),
    st.just({}),
    st.lists(st.sampled_from(["q", "b200-180x2", "", 1, None]), max_size=3),
)
WORDS = st.sampled_from(
    sorted(
        {word for field in PlanRequestSerializer().fields.values() for word in getattr(field, "choices", ())}
    )
)
FIELDS = sorted(set(PlanRequestSerializer().fields) - {"model", "pilot"})
MODELS = st.one_of(
    st.just({"preset": "mixtral-8x7b"}),
    st.just({"preset": "smollm2-135m"}),
    st.builds(lambda size: {"params": size}, HOSTILE),
    st.builds(
        lambda name, value: {"config": {**CONFIG, name: value}}, st.sampled_from(sorted(CONFIG)), HOSTILE
    ),
)
PILOTS = st.one_of(
    st.none(),
    st.builds(
        lambda lot, name, value: {"lot": lot, name: value},
        st.sampled_from(["b200-180x2", "none"]),
        st.sampled_from(["step_seconds", "peak_gib", "restore_minutes"]),
        HOSTILE,
    ),
)


@needs_catalogue
@hyp_settings(
    max_examples=150,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    model=MODELS,
    pilot=PILOTS,
    fields=st.dictionaries(
        st.sampled_from(FIELDS), st.one_of(HOSTILE, WORDS, st.integers(1, 1000)), max_size=3
    ),
)
def test_nothing_that_is_sent_breaks_it(
    client: Client, settings: Any, model: Any, pilot: Any, fields: dict[str, Any]
) -> None:
    settings.API_REQUESTS_PER_MINUTE_ADDRESS = 10**6
    response = post(client, {**fields, "model": model, "pilot": pilot})
    if response.status_code == 200:
        json.loads(response.content, parse_constant=no_number)
    else:
        assert response.status_code in {400, 422}, response.content
        body = problem(response, response.status_code, response.json()["code"])
        # The parser refuses a number of 80 digits before it is any field's.
        fields_at_fault = {error["field"].partition(".")[0] for error in body["errors"]}
        assert body["code"] == "invalid_number" or len(fields_at_fault & {*FIELDS, "model", "pilot"}) == 1


@pytest.mark.parametrize("value", [-1, 0, 10**30, True, "8", 1.5, None])
@pytest.mark.parametrize("name", ["num_hidden_layers", "hidden_size", "vocab_size", "num_attention_heads"])
def test_an_absurd_size_in_a_config_names_its_key(client: Client, name: str, value: object) -> None:
    response = post(client, {"model": {"config": {**CONFIG, name: value}}})
    if value == "8":
        # A config that was written by hand holds numbers as text; they say what they mean.
        assert response.status_code == 200
    else:
        problem(response, 400, response.json()["code"], f"model.config.{name}")


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        ("{", 400, "invalid_json"),
        ("[]", 400, "not_an_object"),
        ('{"model": {"preset": "llama-3-8b"}, "tokens": NaN}', 400, "invalid_number"),
        ('{"model": {"preset": "llama-3-8b"}, "tokens": 1e999999}', 400, "invalid_number"),
        ('{"model": {"preset": "llama-3-8b"}, "tokens": ' + "9" * 5000 + "}", 400, "invalid_number"),
        ('{"model": {"preset": "a", "preset": "b"}}', 400, "duplicate_name"),
        ('{"model": {"config": ' + '{"a": ' * 30 + "1" + "}" * 30 + "}}", 400, "too_deep"),
        ('{"model": {"config": ' + "[" * 20_000 + "]" * 20_000 + "}}", 400, "too_deep"),
        (json.dumps({"model": {"config": {**CONFIG, "vocab": "x" * 70_000}}}), 413, "too_large"),
        (json.dumps({"model": {"config": "x" * 3_000_000}}), 413, "too_large"),
    ],
)
def test_a_body_that_cannot_be_read_is_refused(client: Client, body: str, status: int, code: str) -> None:
    problem(post(client, body), status, code)


def test_an_empty_body_lacks_its_model(client: Client) -> None:
    problem(post(client, {}), 400, "not_object", "model")


def test_only_json_is_taken(client: Client) -> None:
    problem(client.post(PATH, data={"model": "x"}), 415, "unsupported_media_type")
    problem(
        client.post(f"{PATH}?lots=x", data="{}", content_type="application/json"), 400, "unknown_parameter"
    )
