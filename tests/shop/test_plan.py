"""The planner's page: verdicts tied to lots and terms, state in the address, refusals beside their field."""

import html as entities
import re
from collections.abc import Mapping
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import translation

from catalog.models import LotPrice
from catalog.services.seed import seed_catalog
from orders.models import Quote

pytestmark = pytest.mark.django_db

NOTICE = "Demo: delivery is simulated"


@pytest.fixture
def buyer(db: None) -> Client:
    """A browser at a shop that has its catalogue; the planner needs nothing else."""
    seed_catalog()
    return Client()


def page(buyer: Client, status: int = 200, language: str = "en", **given: Any) -> str:
    with translation.override("en"):  # a request leaves its language active; the next test must not find it
        answer = buyer.get(f"/{language}/plan/", given)
    assert answer.status_code == status, answer.content.decode()[:2000]
    return text_of(answer)


def text_of(answer: Any) -> str:
    return entities.unescape(str(answer.content.decode()))


def headline(html: str) -> str:
    found = re.search(r'<div id="result">.*?<h2>(.*?)</h2>', html, re.DOTALL)
    assert found, html
    return found.group(1)


def row_of(html: str, lot: str) -> str:
    """The row of a lot in the tables of verdicts, without tags."""
    for row in re.findall(r'<tr role="row"(?: class="on")?><th.*?</tr>', html, re.DOTALL):
        if f"lot={lot}&" in row:
            return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", row)).strip()
    raise AssertionError(f"{lot} has no row")


def test_an_empty_address_is_the_worked_example(buyer: Client) -> None:
    html = page(buyer)
    assert headline(html) == "One NVIDIA H200 SXM carries this run with room to spare"
    assert "323.28\xa0<span" in html.replace("&nbsp;", "\xa0")
    assert NOTICE in html
    assert "The optimizer step decides: a smaller batch changes nothing, a leaner recipe does." in html
    assert "A fused AdamW step: the need becomes" in html
    assert "What the rule of thumb says" in html


def test_every_lot_on_sale_is_judged_once_in_the_tables(buyer: Client) -> None:
    html = page(buyer)
    rows = re.findall(r'<tr role="row"(?: class="on")?><th[^>]*><a href="[^"]*\?lot=([^&"]+)&', html)
    on_sale = set(LotPrice.objects.values_list("lot__code", flat=True))
    judged = [code for code in rows if f'id="lot-{code}"' in html]
    assert set(judged) == on_sale
    tables = re.findall(r'role="region" aria-label="(?:One lot|More lots).*?</table>', html, re.DOTALL)
    listed = re.findall(r"\?lot=([^&]+)&", "".join(tables))
    assert sorted(listed) == sorted(on_sale)


def test_one_card_comes_first_and_unknown_is_said_as_unknown(buyer: Client) -> None:
    html = page(buyer)
    table = re.search(r'aria-label="One lot of each.*?</table>', html, re.DOTALL)
    assert table
    first = re.search(r"\?lot=([^&]+)&", table.group())
    assert first
    assert first.group(1) == "h200-sxm-141x1"
    assert "not estimated" in row_of(html, "h100-nvl-94x2")
    assert "not known" in row_of(html, "h100-nvl-94x2")
    assert "Does not fit" in row_of(html, "rtx-4090-24x1")
    assert "if your code runs on ROCm" in row_of(html, "mi300x-192x1")


def test_one_click_leads_to_the_configurator_with_lot_and_term(buyer: Client) -> None:
    html = page(buyer)
    target = re.search(r'<a href="([^"]+)">Configure this lot', html)
    assert target
    answer = buyer.get(target.group(1))
    assert answer.status_code == 200
    chosen = re.findall(r'name="(lot|days)" value="([^"]+)" required checked', answer.content.decode())
    assert chosen == [("lot", "h200-sxm-141x1"), ("days", "3")]


def test_the_term_that_is_offered_is_the_shortest_that_finishes(buyer: Client) -> None:
    """Longer terms cost less per result and are listed; nobody is led to more days than the run needs."""
    assert "results in 3 days" in page(buyer, billion_tokens="0.5")
    assert "results in 7 days" in page(buyer, billion_tokens="2")


def test_a_lot_that_costs_less_in_all_is_named_with_its_link(buyer: Client) -> None:
    """The smallest card may need a term so long that a faster one is cheaper."""
    html = page(buyer)
    found = re.search(r'<a href="([^"]+)">Less to pay for one result: (.*?)</a>', html)
    assert found
    assert found.group(2) == "NVIDIA A100 PCIe × 2 for 3 days, 228.96\xa0USD."
    assert "lot=a100-pcie-80x2&lots=1&days=3" in found.group(1)


def test_cards_that_need_more_than_a_lot_has_are_not_judged(buyer: Client) -> None:
    html = page(buyer, sharding="fsdp", n_cards="8")
    assert "Too few cards not judged" in row_of(html, "h200-sxm-141x1")


def test_tensor_parallelism_is_explained_where_it_is_asked_for(buyer: Client) -> None:
    html = page(buyer, sharding="tp", n_cards="2")
    assert "2 cards exchange hidden states inside every layer: an NVLink-class link is needed." in html
    assert "Speed is assumed: 75% of all cards’ rate by NVLink, 40% by PCIe." in html
    assert "Tensor parallelism: every matrix is divided over the cards" in html
    assert "NVLink-class" not in page(buyer)


def test_what_no_term_finishes_is_said_with_the_largest_run_that_fits(buyer: Client) -> None:
    html = page(buyer, billion_tokens="500", sharding="none")
    assert "No term finishes the whole run" in html
    assert re.search(r"The largest run that surely fits 30 days on it has [\d.]+\xa0billion tokens\.", html)
    assert "no result" in html


def test_half_the_chance_doubles_the_cost_on_the_page(buyer: Client) -> None:
    full = re.search(r"([\d.,]+) per successful result", page(buyer, chance_percent="80"))
    half = re.search(r"([\d.,]+) per successful result", page(buyer, chance_percent="40"))
    assert full
    assert half
    assert float(half.group(1)) == pytest.approx(2 * float(full.group(1)))


def test_a_small_run_is_told_that_it_may_not_need_us(buyer: Client) -> None:
    html = page(buyer, model="llama-3.2-1b", method="qlora")
    assert "You may not need us" in html
    assert "A card with 24\xa0GB carries this run; you may not need us." in html


def test_a_model_beyond_one_card_is_shared_with_the_words_for_it(buyer: Client) -> None:
    html = page(buyer, model="llama-3-70b", method="full", billion_tokens="0.1")
    assert "carry this run together" in headline(html)
    assert re.search(r"The \d+ cards are separate memories of [\d.]+\xa0GiB; they are not one pool\.", html)
    assert "FSDP: the state is divided over the cards" in html


def test_nothing_fits_is_said_plainly(buyer: Client) -> None:
    html = page(buyer, model="deepseek-v3", param_dtype="fp32")
    assert headline(html) == "No lot on sale carries this run as it stands"
    assert "Configure this lot" not in html


def test_memory_only_without_tokens(buyer: Client) -> None:
    html = page(buyer, billion_tokens="")
    assert "carries this run" in headline(html)
    assert "Per success" not in html


def test_serving_has_one_moment_and_no_hours(buyer: Client) -> None:
    html = page(buyer, method="infer", engine="vllm", micro_batch="8")
    assert "Memory at its fullest moment" in html
    assert "Serving, caches full" in html
    assert "<span>for one run</span>" not in html


def test_a_size_alone_gets_a_wide_range(buyer: Client) -> None:
    html = page(buyer, model="size", billion_params="13", method="qlora")
    assert "Only the size is known" in html
    assert "is assumed, and the range is wide." in html


@pytest.mark.parametrize("written", ["0.5", "0,5", " 0,50 "])
def test_a_decimal_comma_is_read(buyer: Client, written: str) -> None:
    assert headline(page(buyer, billion_tokens=written)) == headline(page(buyer))


def test_a_comma_that_may_mean_thousands_is_asked_back(buyer: Client) -> None:
    assert "Tokens of one epoch: Enter a number." in page(buyer, 400, billion_tokens="1,000")


def test_pilot_numbers_replace_the_estimate(buyer: Client) -> None:
    given: dict[str, Any] = {
        "pilot_lot": "h200-sxm-141x1",
        "pilot_step_seconds": "0.05",
        "pilot_peak_gib": "70",
    }
    before, after = page(buyer), page(buyer, **given)
    assert row_of(before, "h200-sxm-141x1") != row_of(after, "h200-sxm-141x1")
    assert ">pilot<" not in after  # a code is no word
    assert "Pace from your pilot." in after


REFUSED: dict[str, tuple[Mapping[str, str], str]] = {
    "preset": ({"model": "gpt-9"}, "Model: Select a valid choice"),
    "no size": ({"model": "size"}, "Parameters, in billions: Enter the number of parameters."),
    "huge size": ({"model": "size", "billion_params": "1e30"}, "Parameters, in billions: Ensure"),
    "nan": ({"model": "size", "billion_params": "NaN"}, "Parameters, in billions: Enter a number."),
    "infinite": ({"billion_tokens": "Infinity"}, "Tokens of one epoch: Enter a number."),
    "exponent": ({"billion_tokens": "1e999999"}, "Tokens of one epoch: Ensure"),
    "sequence": ({"seq_len": "1e30"}, "Longest sequence: Enter a number from 1 to 20000000."),
    "word": ({"seq_len": "long"}, "Longest sequence: Enter a number."),
    "half": ({"micro_batch": "1.5"}, "Micro-batch per card: Enter a whole number."),
    "zero": ({"micro_batch": "0"}, "Micro-batch per card: Enter a number from 1 to 100000."),
    "digits": ({"seq_len": "9" * 5000}, "Longest sequence: Ensure"),
    "chance": ({"chance_percent": "0"}, "How sure is a run to succeed?: Ensure"),
    "targets": ({"method": "lora", "lora_targets": "brain"}, "LoRA targets: Name the targets"),
    "rank": ({"method": "lora", "lora_rank": "0"}, "LoRA rank: Enter a number from 1 to 65536."),
    "frozen": ({"method": "lora", "weights": "nf4"}, "Quantised weights are trained with QLoRA only."),
    "not frozen": ({"method": "qlora", "weights": "bf16"}, "QLoRA trains beside quantised weights."),
    "cards": ({"sharding": "fsdp"}, "Cards that work together: Say how many cards work together."),
    "one card": (
        {"sharding": "tp", "n_cards": "1"},
        "Cards that work together: Enter a number from 2 to 8.",
    ),
    "heads": (
        {"sharding": "tp", "n_cards": "3"},
        "Cards that work together: Tensor parallelism cannot divide the attention heads evenly (heads: 32, cards: 3).",
    ),
    "pilot lot": ({"pilot_peak_gib": "70"}, "Lot of the pilot: Choose a lot from the list."),
    "foreign lot": ({"pilot_lot": "x9"}, "Lot of the pilot: Select a valid choice"),
    "config": ({"model": "config", "config": "{"}, "This is not valid JSON."),
    "zero layers": (
        {"model": "config", "config": '{"num_hidden_layers": 0}'},
        "num_hidden_layers in the config.json: Enter a number from 1 to 2000.",
    ),
    "surrogate": ({"lora_targets": "q\ud83d", "method": "lora"}, "LoRA targets"),
}


@pytest.mark.parametrize("name", list(REFUSED))
def test_refused_with_the_field_named(buyer: Client, name: str) -> None:
    given, words = REFUSED[name]
    if name == "surrogate":
        answer = buyer.get("/en/plan/?method=lora&lora_targets=q%ED%A0%BD")
        assert answer.status_code == 400
        html = text_of(answer)
    else:
        html = page(buyer, 400, **given)
    assert words in html
    assert "error-summary" in html
    assert 'class="held"' not in html
    assert NOTICE in html


def test_what_was_typed_stays(buyer: Client) -> None:
    html = page(buyer, 400, seq_len="long", method="lora", lora_rank="64", billion_tokens="1,5")
    assert 'name="seq_len" value="long"' in html
    assert 'name="lora_rank" value="64"' in html
    assert re.search(r'value="lora"[^>]*checked', html)


def test_a_link_that_pulls_a_lever_keeps_the_rest(buyer: Client) -> None:
    html = page(buyer, seq_len="4096", lora_rank="64")
    target = re.search(r'<a href="([^"]+)">LoRA instead of all parameters', html)
    assert target
    assert "seq_len=4096" in target.group(1)
    after = text_of(buyer.get(target.group(1)))
    assert re.search(r'value="lora"[^>]*checked', after)
    assert 'name="lora_rank" value="64"' in after


def test_the_lots_are_read_once_for_many_plans(buyer: Client) -> None:
    asked = []
    for target in ("", "?method=lora", "", "?method=lora"):
        with CaptureQueriesContext(connection) as queries:
            assert buyer.get(f"/en/plan/{target}").status_code == 200
        asked.append(len(queries))
    assert asked[0] <= 4
    assert asked[2:] == [1, 1]


def test_a_shop_without_lots_still_plans(db: None) -> None:
    answer = Client().get("/en/plan/")
    assert answer.status_code == 200
    html = text_of(answer)
    assert "No lot is on sale." in html
    assert "Memory at 3 moments" in html


def test_bars_carry_the_same_figures_as_the_table(buyer: Client) -> None:
    html = page(buyer)
    bars = re.findall(r'<svg class="bar"[^>]* role="img" aria-label="([^"]+)"', html)
    assert len(bars) == 3
    table = re.search(r'aria-label="Memory by item and moment">(.*?)</table>', html, re.DOTALL)
    assert table
    figures = re.findall(r'<td class="n">([\d.,]+)</td>', table.group(1))
    for bar in bars:
        for figure in re.findall(r" ([\d.]+)(?=,|$)", bar):
            assert figure in figures
    for x, width in re.findall(r'<rect class="f-\w+" x="([\d.]+)%" y="0" width="([\d.]+)%"', html):
        assert 0 <= float(x) <= float(x) + float(width) <= 100


def test_svg_geometry_has_no_decimal_comma(buyer: Client) -> None:
    html = page(buyer, language="de")
    assert re.search(r'x="\d+\.\d\d%"', html)
    assert not re.search(r'(?:x|width)="[\d]+,', html)
    assert "19,3" in html


def test_the_fragment_says_which_address_it_is(buyer: Client) -> None:
    answer = buyer.get("/en/plan/", {"method": "lora", "seq_len": "2048"}, headers={"HX-Request": "true"})
    assert answer.status_code == 200
    assert answer["HX-Replace-Url"] == "/en/plan/?method=lora"
    assert "HX-Request" in answer["Vary"]
    assert "HX-Reswap" not in answer
    html = text_of(answer)
    assert "<html" not in html
    assert 'id="langs" hx-swap-oob="true"' in html
    assert '<input type="hidden" name="method" value="lora">' in html
    pressed = buyer.get("/en/plan/", {"show": "1"}, headers={"HX-Request": "true"})
    assert pressed["HX-Replace-Url"] == "/en/plan/"
    assert pressed["HX-Reswap"] == "innerHTML show:#result:top"


def test_the_fragment_of_a_refusal_is_shown_and_changes_no_address(buyer: Client) -> None:
    answer = buyer.get("/en/plan/", {"seq_len": "long"}, headers={"HX-Request": "true"})
    assert answer.status_code == 200
    assert "HX-Replace-Url" not in answer
    assert "Longest sequence: Enter a number." in text_of(answer)
    assert "autofocus" not in text_of(answer)  # somebody is typing


@pytest.mark.parametrize(
    "query", ["", "?seq_len=long", "?model=size&billion_params=70&sharding=fsdp&n_cards=2"]
)
def test_nothing_is_inline_and_ids_are_single(buyer: Client, query: str) -> None:
    html = buyer.get(f"/en/plan/{query}").content.decode()
    assert not re.search(r"<style\b|\sstyle=|javascript:", html)
    assert not re.search(r"<script\b(?![^>]*\bsrc=)", html)
    assert html.count("<h1") == 1
    ids = re.findall(r'\sid="([^"]+)"', html)
    assert len(ids) == len(set(ids)), [i for i in ids if ids.count(i) > 1]


def test_what_may_be_sent_to_the_page(buyer: Client) -> None:
    """POST without the button of the config is the plan itself."""
    answer = buyer.post("/en/plan/", {"method": "qlora"})
    assert answer.status_code == 200
    assert buyer.put("/en/plan/").status_code == 405
    assert buyer.head("/en/plan/").status_code == 200


def test_one_click_leads_from_the_verdict_to_a_quote(buyer: Client) -> None:
    page = buyer.get("/en/plan/?preset=llama-3-8b&method=lora").content.decode()
    form = re.search(r'<form class="row" method="post" action="([^"]+)">(.*?)</form>', page, re.DOTALL)
    assert form is not None
    fields = dict(re.findall(r'name="([a-z]+)" value="([^"]*)"', form[2]))
    answer = buyer.post(form[1], fields)
    assert answer.status_code == 303
    quote = Quote.objects.get()
    assert answer["Location"] == f"/en/quotes/{quote.public_id}/"
    assert (quote.lot.code, quote.days, quote.lots) == (fields["lot"], int(fields["days"]), 1)
