"""A config.json on the planner's page: pasted or uploaded, in the address where it fits, refused where it is none."""

import html as entities
import json
import re
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from catalog.services.seed import seed_catalog
from planner.config_json import architecture_from_text
from shop.forms.plan import MAX_ADDRESS
from shop.forms.plan_config import MAX_KEPT, short_config
from shop.forms.plan_errors import ERRORS
from tests.shop.test_plan import headline

pytestmark = pytest.mark.django_db

CONFIG: dict[str, Any] = {
    "architectures": ["LlamaForCausalLM"],
    "_name_or_path": "acme/tiny-8b",
    "model_type": "llama",
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_attention_heads": 32,
    "num_hidden_layers": 32,
    "num_key_value_heads": 8,
    "rope_scaling": {"factor": 8.0, "rope_type": "llama3", "original_max_position_embeddings": 8192},
    "rope_theta": 500000.0,
    "tie_word_embeddings": False,
    "pretraining_tp": 1,
    "quantization_config": {"skip": ["lm_head"] * 50},
    "transformers_version": "4.43.0",
    "vocab_size": 128256,
}


@pytest.fixture
def buyer(db: None) -> Client:
    seed_catalog()
    return Client()


def give(buyer: Client, *, file: bytes | None = None, **given: Any) -> Any:
    data = {"use_config": "1", **given}
    if file is not None:
        data["config_file"] = SimpleUploadedFile("config.json", file, "application/json")
    return buyer.post("/en/plan/", data)


def large_config() -> str:
    """Valid, and with more numbers than an address holds."""
    return json.dumps(CONFIG | {f"task_specific_number_{n}": n for n in range(300)})


def test_a_pasted_config_becomes_an_address_that_can_be_shared(buyer: Client) -> None:
    answer = give(buyer, config_text=json.dumps(CONFIG, indent=2), seq_len="4096", method="lora")
    assert answer.status_code == 303
    target = answer["Location"]
    assert len(target) < 1500
    state = parse_qs(urlsplit(target).query)
    assert state["model"] == ["config"]
    assert state["seq_len"] == ["4096"]
    assert state["method"] == ["lora"]
    assert architecture_from_text(state["config"][0]) == architecture_from_text(json.dumps(CONFIG))
    shown = buyer.get(target)
    assert shown.status_code == 200
    html = entities.unescape(shown.content.decode())
    assert "carries this run" in headline(html)
    assert 'value="config" selected' in html


def test_an_uploaded_file_does_the_same(buyer: Client) -> None:
    pasted = give(buyer, config_text=json.dumps(CONFIG))
    uploaded = give(buyer, file=b"\xef\xbb\xbf" + json.dumps(CONFIG).encode())
    assert uploaded.status_code == 303
    assert uploaded["Location"] == pasted["Location"]


def test_a_large_config_is_planned_and_said_to_have_no_address(buyer: Client) -> None:
    answer = give(buyer, config_text=large_config(), seq_len="4096")
    assert answer.status_code == 200
    html = entities.unescape(answer.content.decode())
    assert "This plan has no address" in html
    assert "carries this run" in headline(html)
    form = re.search(r'<form class="card flow" id="plan-form".*?</form>', html, re.DOTALL)
    assert form
    assert 'method="post"' in form.group()
    assert "csrfmiddlewaretoken" in form.group()
    assert 'name="seq_len" value="4096"' in form.group()
    again = buyer.post("/en/plan/", {"model": "config", "config": short_config(large_config())})
    assert again.status_code == 200
    assert "This plan has no address" in again.content.decode()


def test_the_form_of_a_plan_with_an_address_carries_no_token(buyer: Client) -> None:
    html = buyer.get("/en/plan/").content.decode()
    form = re.search(r'<form class="card flow" id="plan-form".*?</form>', html, re.DOTALL)
    assert form
    assert 'method="get"' in form.group()
    assert "csrfmiddlewaretoken" not in form.group()


def test_a_token_is_needed_to_post(db: None) -> None:
    strict = Client(enforce_csrf_checks=True)
    assert strict.post("/en/plan/", {"use_config": "1", "config_text": "{}"}).status_code == 403


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "Paste the text of a config.json or choose the file."),
        ("{", "This is not valid JSON."),
        ("[]", "Enter an object with named fields."),
        ("[" * 20_000 + "]" * 20_000, "This config is nested deeper than any real one."),
        ('{"a":' * 20_000 + "1" + "}" * 20_000, "This config is nested deeper than any real one."),
        (json.dumps(CONFIG | {"hidden_size": float("nan")}), "NaN and Infinity are not numbers"),
        (json.dumps(CONFIG | {"num_hidden_layers": 0}), "num_hidden_layers in the config.json: Enter a"),
        (json.dumps(CONFIG | {"vocab_size": True}), "vocab_size in the config.json: Enter a number."),
        (json.dumps(CONFIG | {"vocab_size": 10**30}), "vocab_size in the config.json: Enter a number from"),
        ('{"vocab_size": ' + "9" * 5000 + "}", "A number in this config is longer than any real one."),
        ('{"model_type": "bert"}', "num_hidden_layers in the config.json: The config lacks this number."),
        (json.dumps(CONFIG | {f"key_{n}": "x" * 100 for n in range(700)}), "more text than a model needs"),
    ],
    ids=lambda value: str(value)[:20],
)
def test_what_is_no_config_is_refused_beside_its_field(buyer: Client, text: str, words: str) -> None:
    answer = give(buyer, config_text=text, seq_len="4096")
    assert answer.status_code == 400
    html = entities.unescape(answer.content.decode())
    assert words in html
    assert "carries this run" in headline(html)  # the plan before it still stands
    assert 'name="seq_len" value="4096"' in html


def test_a_file_that_is_no_text_and_both_at_once_are_refused(buyer: Client) -> None:
    assert b"This file cannot be read as text." in give(buyer, file=b"\xff\xfe\x00\x01").content
    both = give(buyer, file=b"{}", config_text="{}")
    assert both.status_code == 400
    assert b"Give the text or the file, not both." in both.content


def test_fifty_megabytes_are_refused_before_they_are_read(buyer: Client) -> None:
    answer = buyer.post(
        "/en/plan/", b"x", content_type="multipart/form-data; boundary=b", CONTENT_LENGTH=50 * 1024 * 1024
    )
    assert answer.status_code == 413
    answer = give(buyer, file=b" " * 300_000)
    assert answer.status_code == 413


def test_a_config_of_any_size_that_comes_by_hand_is_bounded(buyer: Client) -> None:
    answer = buyer.post("/en/plan/", {"model": "config", "config": " " * (MAX_KEPT + 1) + "{}"})
    assert answer.status_code == 400


def test_short_form_keeps_what_decides_and_leaves_valid_text_alone() -> None:
    short = short_config(json.dumps(CONFIG))
    assert len(short) < 500
    assert "rope_scaling" not in short
    nested = json.dumps({"text_config": CONFIG, "vision_config": {"hidden_size": 9}})
    assert architecture_from_text(short_config(nested)) == architecture_from_text(nested)
    assert "vision_config" not in short_config(nested)
    assert MAX_ADDRESS < 4094  # the longest request line that the web server reads


def test_every_refusal_of_the_planner_has_words_here(pytestconfig: pytest.Config) -> None:
    """The codes stand in the planner's source; those of lots from a file and of measurements reach no form."""
    found: set[str] = set()
    for source in (pytestconfig.rootpath / "planner").glob("*.py"):
        if source.name not in {"measurements.py", "scoring.py", "lots.py", "options.py", "__main__.py"}:
            text = source.read_text(encoding="utf-8")
            found |= set(re.findall(r'PlanError\(\s*code="(\w+)"', text))
            found |= set(re.findall(r'_refused\(\s*"(\w+)"', text))
    assert len(found) > 15
    assert found - set(ERRORS) == {"out_of_range"}
