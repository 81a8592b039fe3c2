"""`POST plans`: what it answers, from nothing but the body and the catalogue."""

import json
import time
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client

from catalog.selectors import lots_on_sale
from catalog.services.seed import seed_catalog
from partners.api.plans_request import PlanRequestSerializer
from planner.texts import TEXTS
from tests.partners.answers import problem
from tests.partners.plans import CONFIG, PATH, PRESET, by_lot, no_number, planned, post

pytestmark = pytest.mark.django_db


@pytest.fixture
def catalogue(db: None) -> None:
    seed_catalog()


needs_catalogue = pytest.mark.usefixtures("catalogue")


# what is answered


@needs_catalogue
def test_a_known_model_alone_is_judged_on_every_lot_on_sale(client: Client) -> None:
    plan = planned(client)
    assert plan["model"]["params"] == 8_030_261_248
    assert plan["lots"]
    assert set(by_lot(plan)) == {lot.code for lot in lots_on_sale()}
    assert [moment["moment"] for moment in plan["memory"]["moments"]] == ["start", "end", "step"]
    totals = {moment["moment"]: moment["total_gib"] for moment in plan["memory"]["moments"]}
    assert plan["memory"]["binding"] == max(totals, key=lambda name: totals[name])
    assert all(term["finish"] == "unknown" for lot in plan["lots"] for term in lot["terms"])


def test_a_config_as_object_and_as_text_is_the_same_model(client: Client) -> None:
    as_object = planned(client, model={"config": CONFIG})
    as_text = planned(client, model={"config": json.dumps(CONFIG)})
    assert as_object == as_text
    assert as_object["model"]["certain"] is True
    assert as_object["model"]["params"] == pytest.approx(8_030_261_248, rel=0.001)


@pytest.mark.parametrize("size", ["8e9", "8B", 8_000_000_000, 8e9])
def test_a_size_alone_has_a_wide_range(client: Client, size: object) -> None:
    guessed, known = planned(client, model={"params": size}), planned(client)
    assert guessed["model"]["certain"] is False
    assert guessed["memory"]["tensors_gib"]["high"] > known["memory"]["tensors_gib"]["high"]
    assert "guessed_shape" in {note["code"] for note in guessed["assumptions"]}


@needs_catalogue
def test_time_and_cost_are_told_for_each_term_and_money_is_text(client: Client) -> None:
    plan = planned(client, method="lora", seq_len=4096, tokens="100M", lots=["b200-180x2"])
    (lot,) = plan["lots"]
    assert lot["verdict"] == "comfortable"
    assert lot["hours"]["low"] < lot["hours"]["typical"] < lot["hours"]["high"]
    assert [term["days"] for term in lot["terms"]] == [3, 7, 30]
    for term in lot["terms"]:
        exact = Decimal(term["price"]) / (term["runs"] * Decimal("0.8"))
        assert abs(Decimal(term["per_success"]) - exact) <= Decimal("0.005")
        assert isinstance(term["price"], str)
        assert term["price"][-3] == "."


@needs_catalogue
def test_half_the_chance_is_twice_the_cost(client: Client) -> None:
    def cost(chance: float) -> Decimal:
        (lot,) = planned(client, tokens=10**8, method="lora", chance=chance, lots=["b200-180x2"])["lots"]
        return Decimal(lot["terms"][1]["per_success"])

    assert abs(cost(0.4) - 2 * cost(0.8)) <= Decimal("0.01")


@needs_catalogue
def test_no_whole_run_is_no_run_and_has_no_cost(client: Client) -> None:
    (lot,) = planned(client, tokens="100T", method="lora", lots=["b200-180x2"])["lots"]
    for term in lot["terms"]:
        assert (term["finish"], term["runs"], term["per_success"]) == ("no", 0, None)
        assert 0 < term["largest_tokens"] < 10**14


def test_the_rule_of_thumb_stands_beside_with_its_reasons(client: Client) -> None:
    rules = planned(client)["rules_of_thumb"]
    assert rules["rule_gb"] == pytest.approx(16 * 8.03, rel=0.01)
    assert (rules["table_row"], rules["reasons"] != []) == ("full_fp16", True)


@needs_catalogue
def test_every_note_has_its_sentence(client: Client) -> None:
    plan = planned(client, method="qlora", tokens=10**8)
    notes = [*plan["notes"], *plan["assumptions"], *plan["rules_of_thumb"]["reasons"]]
    notes += [note for lot in plan["lots"] for note in lot["cautions"]]
    assert len(notes) > 10
    for note in notes:
        assert note["text"]
        assert "%(" not in note["text"]
        assert note["code"] in TEXTS


@needs_catalogue
def test_a_pilot_replaces_the_estimate(client: Client) -> None:
    asked = {"method": "lora", "tokens": 10**8, "lots": ["b200-180x2"]}
    (before,) = planned(client, **asked)["lots"]
    (after,) = planned(client, **asked, pilot={"lot": "b200-180x2", "step_seconds": 9, "peak_gib": 100.5})[
        "lots"
    ]
    assert (before["measured"], after["measured"]) == (False, True)
    assert after["hours_source"] == "pilot"
    assert after["required_gib"] > before["required_gib"]


@needs_catalogue
def test_serving_has_a_moment_of_its_own_and_no_training_time(client: Client) -> None:
    plan = planned(client, method="infer", weights="gptq4", engine="vllm", micro_batch=8)
    assert plan["memory"]["binding"] == "decode"
    assert all(lot["hours"] is None for lot in plan["lots"])


def test_adapter_targets_may_be_a_list(client: Client) -> None:
    as_text = planned(client, method="lora", lora_targets="q_proj,v_proj")
    assert planned(client, method="lora", lora_targets=["q_proj", "v_proj"]) == as_text
    assert as_text != planned(client, method="lora", lora_targets="all")


def test_null_counts_as_left_out(client: Client) -> None:
    empty = dict.fromkeys(PlanRequestSerializer().fields)
    assert planned(client, **{**empty, **PRESET}) == planned(client)


@needs_catalogue
def test_only_named_lots_are_judged(client: Client) -> None:
    codes = sorted(lot.code for lot in lots_on_sale())[:2]
    assert sorted(by_lot(planned(client, lots=codes))) == codes
    assert len(planned(client, lots=[])["lots"]) > 2


# manners


@needs_catalogue
def test_the_same_body_gets_the_same_bytes(client: Client) -> None:
    body = {**PRESET, "tokens": 10**9, "method": "qlora", "chance": 0.7}
    assert post(client, body).content == post(client, body).content


@needs_catalogue
def test_one_query_and_nothing_is_written(client: Client, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(1) as captured:
        post(client, {**PRESET, "tokens": 10**9})
    assert captured[0]["sql"].startswith("SELECT")


def test_what_is_refused_by_itself_needs_no_query(client: Client, django_assert_num_queries: Any) -> None:
    with django_assert_num_queries(0):
        post(client, {"model": {"params": "many"}})


@needs_catalogue
@pytest.mark.parametrize(
    "fields",
    [
        {"tokens": 10**15, "epochs": 10_000, "micro_batch": 100_000, "seq_len": 20_000_000, "flash": False},
        {"model": {"params": 10**14}, "tokens": 1, "n_cards": 1024, "sharding": "fsdp"},
        {"model": {"config": {**CONFIG, "num_hidden_layers": 1000, "filler": ["x" * 100] * 500}}},
        {"model": {"config": json.dumps({**CONFIG, "filler": "[" * 60_000})}},
        {"lots": ["b200-180x2"] * 500},
        {"tokens": 1, "pilot": {"lot": "b200-180x2", "step_seconds": 1e6, "peak_gib": 10_000}},
    ],
)
def test_the_work_is_bounded_whatever_is_asked(client: Client, fields: dict[str, Any]) -> None:
    started = time.process_time()
    response = post(client, {**PRESET, **fields})
    # Ten times what a plan needs on a slow machine, and a thousandth of what unbounded work would take.
    assert time.process_time() - started < 0.5
    assert response.status_code == 200
    json.loads(response.content, parse_constant=no_number)


def test_no_key_is_needed_and_a_wrong_one_is_refused(client: Client, key_text: str) -> None:
    assert post(client, PRESET, authorization=f"Bearer {key_text}").status_code == 200
    problem(post(client, PRESET, authorization="Bearer agk_test_" + "A" * 43), 401, "unauthorized")


def test_it_counts_towards_the_limit(client: Client, settings: Any) -> None:
    settings.API_REQUESTS_PER_MINUTE_ADDRESS = 0
    response = post(client, PRESET)
    problem(response, 429, "rate_limited")
    assert int(response["Retry-After"]) > 0


@pytest.mark.parametrize("method", ["get", "put", "patch", "delete"])
@pytest.mark.parametrize("slash", ["", "/"])
def test_there_is_nothing_to_read_or_change(client: Client, method: str, slash: str) -> None:
    response = getattr(client, method)(PATH + slash)
    problem(response, 405, "method_not_allowed")
    assert set(response["Allow"].split(", ")) == {"POST", "OPTIONS"}


def test_the_trailing_slash_makes_no_difference(client: Client) -> None:
    with_slash = client.post(f"{PATH}/", data=json.dumps(PRESET), content_type="application/json")
    assert with_slash.content == post(client, PRESET).content
