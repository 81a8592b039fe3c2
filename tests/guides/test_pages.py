"""Pages of the guides: what they show, what they cost, and what Markdown may not do."""

import re
from pathlib import Path

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from catalog.models import Lot
from catalog.offers import LotSpecRow
from guides import library
from guides.figures import Figures, UnknownFigure
from guides.front_matter import GuideFileError, split
from guides.library import SLUGS
from guides.prose import Links, rendered, rendered_line

LINKS = Links("en", (("full", "model=llama-3-8b"),))


def test_a_guide_shows_its_text_prices_sources_and_contents(lots: tuple[LotSpecRow, ...]) -> None:
    client = Client()
    for slug in SLUGS:
        with CaptureQueriesContext(connection) as queries:
            answer = client.get(f"/en/guides/{slug}/")
        page = answer.content.decode()
        assert answer.status_code == 200
        assert len(queries) <= 1, (slug, queries.captured_queries)
        anchors = re.findall(r'<a href="#([a-z0-9-]+)"', page)
        assert len(anchors) > 5
        assert set(anchors) - {"main"} <= set(re.findall(r' id="([a-z0-9-]+)"', page))
        assert page.count('itemprop="citation"') >= 3
        assert not re.search(r"<script(?! src)|style=|\{\{|itemprop=\"headline\"[^>]*></h1>", page)
    assert (
        '<a class="btn" href="/en/plan/?model=qwen2.5-32b'
        in client.get("/en/guides/two-b200-test-the-split/").content.decode()
    )
    assert (
        '/en/catalog/b200-180/?lot=b200-180x2&amp;lots=1&amp;days=7">2,028.00'
        in client.get("/en/guides/two-b200-test-the-split/").content.decode()
    )


def test_the_list_shows_every_guide_without_a_query(lots: tuple[LotSpecRow, ...]) -> None:
    with CaptureQueriesContext(connection) as queries:
        page = Client().get("/de/guides/").content.decode()
    assert len(queries) == 0
    assert all(f"/de/guides/{slug}/" in page for slug in SLUGS)


def test_a_lot_that_is_withdrawn_leaves_the_page_standing(lots: tuple[LotSpecRow, ...]) -> None:
    Lot.objects.update(on_sale=False)
    for slug in SLUGS:
        answer = Client().get(f"/en/guides/{slug}/")
        assert answer.status_code == 200, slug
    assert "not on sale" in Client().get("/en/guides/two-b200-test-the-split/").content.decode()


def test_a_missing_translation_is_the_english_text_and_says_so(
    db: None, settings: Settings, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    folder = tmp_path / SLUGS[4]
    folder.mkdir()
    source = library.TEXTS / SLUGS[4] / "en.md"
    (folder / "en.md").write_text(source.read_text(encoding="utf-8"), encoding="utf-8")
    monkeypatch.setattr(library, "TEXTS", tmp_path)
    monkeypatch.setattr("guides.library.SLUGS", (SLUGS[4],))
    page = Client().get(f"/fr/guides/{SLUGS[4]}/").content.decode()
    assert '<div class="prose wide mt" itemprop="articleBody" lang="en">' in page
    assert '<h1 itemprop="headline" lang="en">' in page


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        '<a href="https://x.example" onclick="x()">x</a>',
        "[x](javascript:alert(1))",
        "[x](data:text/html;base64,AAAA)",
        "[x](//x.example)",
        "[x](/en/orders/)",
        "![x](https://x.example/x.png)",
        "[x]: javascript:alert(1)\n\n[x]",
    ],
)
def test_markdown_lets_nothing_through(text: str) -> None:
    html = rendered(text, LINKS).html
    assert not re.search(r"<(script|img|a(?! href=\"https://x\.example/x\.png\"))\b", html), html


def test_links_go_out_marked_and_inside_by_name() -> None:
    html = rendered(
        "[a](https://x.example/) [b](plan:full) [c](guide:the-last-day) [d](card:b200-180)", LINKS
    ).html
    assert '<a href="https://x.example/" rel="noopener">' in html
    for address in ("/plan/?model=llama-3-8b", "/guides/the-last-day/", "/catalog/b200-180/"):
        assert address in html
    for lost in ("[a](plan:none)", "[a](page:none)"):
        with pytest.raises(ValueError, match="leads nowhere"):
            rendered_line(lost, LINKS)


def test_a_table_names_its_rows_and_columns_without_inline_style() -> None:
    table = "## Head {#head}\n\n| A | B | C |\n|---|---:|---|\n| a | 1 | **c** |\n"
    html = rendered(table, LINKS).html
    assert 'aria-label="Head"><table role="table" class="data cards pairs">' in html
    assert '<th scope="row" role="rowheader">a</th>' in html
    assert '<td data-l="B" role="cell" class="n">1</td>' in html
    assert "style" not in html


@pytest.mark.parametrize(
    "name",
    ["policy.secret", "policy.SECRET_KEY", "plan.none.required", "price.x", "settings.hold", "spec.a.b.c"],
)
def test_only_names_of_the_whitelist_are_figures(name: str) -> None:
    with pytest.raises(UnknownFigure):
        Figures({}, lambda: ()).value(name)


@pytest.mark.parametrize("text", ["no head", "+++\ntitle = 1", "+++\n= 3\n+++\nbody"])
def test_a_head_that_cannot_be_read_is_named(text: str) -> None:
    with pytest.raises(GuideFileError):
        split(text)
