"""The texts themselves: complete in every language, with figures that are the program's own."""

import re
from collections.abc import Iterator

import pytest
from django.conf import settings
from django.utils import translation

from catalog.offers import LotSpecRow
from guides.figures import PLACEHOLDER, Figures
from guides.library import SLUGS, SOURCE_LANGUAGE, TEXTS, Guide, guide_in
from guides.pages import links_of
from guides.plans import PlanFigures
from guides.prose import rendered
from planner.advise import Plan
from shop.forms.plan import PlanForm

LANGUAGES = [code for code, _ in settings.LANGUAGES]

# Names that hold digits: models, cards, formats, standards, tools. What is left over are figures.
_NAMES = re.compile(
    r"\bLlama 3\b|\bQwen2\.5\b|\bRTX \d+\b|\bQ?LoRA\b|\b\d+B\b|[A-Za-z][A-Za-z]*-?\d+[A-Za-z0-9]*|\b0x\b|\bAdam W\b"
)
_SHOWN_AS_TYPED = re.compile(r"```.*?```|`[^`]*`|\]\([^)]*\)|\{#[^}]*\}", re.DOTALL)
_NUMBER = re.compile(r"\d+(?:[.,\u00a0\u202f]\d+)*")
_LIST_NUMBER = re.compile(r"^\s*\d+\. ", re.MULTILINE)


def texts() -> Iterator[Guide]:
    """Every file that there is."""
    for slug in SLUGS:
        for language in LANGUAGES:
            guide = guide_in(slug, language)
            if guide is not None and guide.language == language:
                yield guide


def typed_numbers(body: str) -> set[str]:
    """Numbers of a text that neither a placeholder nor a name nor an address holds."""
    rest = PLACEHOLDER.sub("", _SHOWN_AS_TYPED.sub("", body))
    return set(_NUMBER.findall(_NAMES.sub("", _LIST_NUMBER.sub("", rest))))


def test_every_guide_is_there_in_every_language() -> None:
    wanted = {f"{slug}/{language}.md" for slug in SLUGS for language in LANGUAGES}
    there = {str(path.relative_to(TEXTS)) for path in TEXTS.rglob("*") if path.is_file()}
    assert wanted - there == set(), "guides that are not translated yet"
    assert there - wanted == set(), "files that no guide belongs to"


def test_no_figure_of_ours_is_typed() -> None:
    """A number stands in a placeholder, or the head says that it is quoted or made up for the example."""
    typed = {
        f"{guide.slug}/{guide.language}": sorted(found)
        for guide in texts()
        if (found := typed_numbers(guide.body) - guide.head.quoted)
    }
    assert typed == {}
    for slug in SLUGS:
        source = guide_in(slug, SOURCE_LANGUAGE)
        assert source is not None
        assert source.head.quoted == typed_numbers(source.body), f"{slug} lists numbers that it does not hold"


def test_the_search_for_typed_figures_finds_them() -> None:
    body = "## A {#a1}\nThe H100 of 80 GB, Llama 3 8B: {{ plan.x.required }} or 75.5 GiB, in 1\u202f000 steps of bf16."
    assert typed_numbers(body) == {"80", "75.5", "1\u202f000"}


def test_languages_of_a_guide_have_the_same_figures_headings_and_links() -> None:
    for guide in texts():
        source = guide_in(guide.slug, SOURCE_LANGUAGE)
        assert source is not None
        assert set(re.findall(r"\]\(guide:([^)]*)\)", guide.body)) <= set(SLUGS), guide.slug
        for pattern in (PLACEHOLDER.pattern, r"\{#([a-z0-9-]+)\}", r"\]\(((?:plan|card|guide|page):[^)]*)\)"):
            found, wanted = (sorted(re.findall(pattern, each.body)) for each in (guide, source))
            assert found == wanted, (guide.slug, guide.language)


def test_a_guide_has_a_length_that_is_read_and_sources_that_lead_out() -> None:
    for guide in texts():
        assert 900 <= guide.words <= 1900, (guide.slug, guide.language, guide.words)
        assert len(guide.head.sources) >= 3, guide.slug
        assert all(source.url.startswith("https://") for source in guide.head.sources), guide.slug
        assert len(guide.head.read_next) == 3, guide.slug
        assert guide.slug not in guide.head.read_next
        assert set(guide.head.read_next) <= set(SLUGS), guide.slug


def test_an_example_is_what_the_page_of_the_planner_reads(lots: tuple[LotSpecRow, ...]) -> None:
    for slug in SLUGS:
        guide = guide_in(slug, SOURCE_LANGUAGE)
        assert guide is not None
        for name, example in guide.head.examples.items():
            form = PlanForm(dict(example.given), lots=lots)
            assert form.is_valid(), (slug, name, form.errors)
            assert form.plan_request == example.request, (slug, name)


def test_figures_and_claims_are_those_of_the_planner(lots: tuple[LotSpecRow, ...]) -> None:
    """Every placeholder resolves in every language, and what a text says in words holds."""
    for guide in texts():
        figures = Figures(guide.head.examples, lambda: lots)
        with translation.override(guide.language):
            body = figures.fill(guide.body)
            assert "not on sale" not in body, guide.slug
            html = rendered(body, links_of(guide, guide.language)).html
        assert not re.search(r"\{\{|\]\(|style=|<img|&lt;", html), (guide.slug, guide.language)
        found = {name: figures.plans.claim(name) for name in guide.head.claims}
        assert found == dict(guide.head.claims), guide.slug


def test_a_figure_is_the_one_that_the_planner_gives(lots: tuple[LotSpecRow, ...]) -> None:
    """Read past our own names: the plan's attributes against the text of a placeholder."""
    guide = guide_in("memory-of-a-training-run", "en")
    assert guide is not None
    plans = PlanFigures(guide.head.examples, lots)
    for name in guide.head.examples:
        found: Plan = plans.plan_of(name)
        assert plans.value(name, "required") == f"{found.required_gib:.1f}\u00a0GiB"
        for moment in found.budget.moments:
            assert plans.value(name, moment.code, "total") == f"{moment.total / 2**30:.1f}\u00a0GiB"


@pytest.mark.parametrize(
    ("language", "shown"),
    [("en", "75.5\u00a0GiB"), ("de", "75,5\u00a0"), ("fr", "75,5\u00a0"), ("ru", "75,5\u00a0")],
)
def test_figures_are_written_as_the_language_writes_them(
    lots: tuple[LotSpecRow, ...], language: str, shown: str
) -> None:
    guide = guide_in("memory-of-a-training-run", "en")
    assert guide is not None
    with translation.override(language):
        assert Figures(guide.head.examples, lambda: lots).value("plan.bf16.required").startswith(shown)
