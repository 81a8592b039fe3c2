"""Every code that a plan can carry has a sentence of the site, with the placeholders of the planner's own."""

import re

import pytest
from django.utils import translation

from core import units
from planner import texts
from planner.moments import COMPONENTS
from planner.notes import Note
from planner.run import (
    CKPT,
    ENGINES,
    FRAMEWORKS,
    KV_DTYPES,
    LOSS_KERNELS,
    METHODS,
    OPTIMIZERS,
    PARAM_DTYPES,
    SHARDING,
    WEIGHTS,
)
from shop.forms import plan_fields as fields
from shop.forms.plan import model_name
from shop.pages import plan_words as words
from shop.pages.plan_bars import FILLS

_PLACEHOLDER = re.compile(r"%\((\w+)\)s")

PAIRS = {
    "notes": (texts.TEXTS, words.NOTES),
    "shapes": (texts.SHAPES, words.SHAPES),
    "verdicts": (texts.VERDICTS, words.VERDICTS),
    "moments": (texts.MOMENTS, words.MOMENTS),
    "components": (texts.COMPONENTS, words.COMPONENTS),
    "levers": (texts.LEVERS, words.LEVERS),
    "speeds": (texts.SPEEDS, words.SPEEDS),
    "table rows": (texts.TABLE_ROWS, words.TABLE_ROWS),
    "finish": (texts.FINISH, words.FINISH),
}


@pytest.mark.parametrize("kind", list(PAIRS))
def test_the_site_has_words_for_every_code(kind: str) -> None:
    planner, site = PAIRS[kind]
    assert set(site) == set(planner)
    for code, text in planner.items():
        assert set(_PLACEHOLDER.findall(str(site[code]))) <= set(_PLACEHOLDER.findall(text)), code


@pytest.mark.parametrize("code", list(texts.TEXTS))
def test_every_sentence_is_filled_whole(code: str) -> None:
    names = _PLACEHOLDER.findall(texts.TEXTS[code])
    with translation.override("en"):
        text = words.sentence(Note(code, dict.fromkeys(names, 12.5)))
    assert "%" not in text.replace("12%", "").replace("13%", "")
    assert not names or "12" in text or "13" in text


def test_the_form_offers_every_choice_of_the_planner() -> None:
    offered = {
        METHODS: fields.METHODS,
        PARAM_DTYPES: fields.PARAM_DTYPES,
        OPTIMIZERS: fields.OPTIMIZERS,
        CKPT: fields.CKPT,
        LOSS_KERNELS: fields.LOSS_KERNELS,
        FRAMEWORKS: fields.FRAMEWORKS,
        ENGINES: fields.ENGINES,
        KV_DTYPES: fields.KV_DTYPES,
        SHARDING: fields.SHARDING,
        WEIGHTS: fields.WEIGHTS,
    }
    for known, choices in offered.items():
        assert set(known) == set(choices) - {""}


def test_every_component_has_a_fill() -> None:
    assert set(FILLS) == set(COMPONENTS)
    assert len(set(FILLS.values())) == len(FILLS)


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("en", ["75.8\xa0GiB", "42%", "22.6 to 27.1\xa0h", "0.04\xa0billion", "2,048", "0.004"]),
        ("de", ["75,8\xa0GiB", "42\xa0%", "22,6 to 27,1\xa0h", "0,04\xa0billion", "2.048", "0,004"]),
    ],
)
def test_figures_follow_the_language(language: str, expected: list[str]) -> None:
    """Units and the words between figures come from the catalogue of the language; figures never do."""
    with translation.override(language):
        found = [
            units.gib(75.84),
            units.share(0.4249),
            units.hours_range(22.61, 27.1),
            units.billions(40_000_000),
            units.whole_or_one(2048),
            units.figure(0.004),
        ]
    digits = [re.sub(r"[^\d.,]", "", text) for text in found]
    assert digits == [re.sub(r"[^\d.,]", "", text) for text in expected]
    if language == "en":
        assert found == expected


def test_models_are_named_as_their_makers_write_them() -> None:
    assert model_name("llama-3-8b") == "Llama 3 8B"
    assert model_name("mixtral-8x7b") == "Mixtral 8x7B"
    assert model_name("smollm2-135m") == "SmolLM2 135M"
    assert model_name("deepseek-v2-lite") == "DeepSeek V2 Lite"
