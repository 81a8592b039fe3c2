"""A real browser plans a run: live with scripts, whole without, and the address always says what is shown."""

import json
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from catalog.services.seed import seed_catalog
from tests.browser.looking import overflow
from tests.browser.test_buying import any_page
from tests.shop.test_plan_config import CONFIG, large_config

__all__ = ["any_page"]  # a fixture

pytestmark = [pytest.mark.browser, pytest.mark.django_db(transaction=True)]


def _state(page: Page) -> dict[str, Any]:
    return parse_qs(urlsplit(str(page.url)).query)


def test_a_run_is_planned_and_leads_to_its_lot(any_page: Page, page_errors: list[str]) -> None:
    """Wide and narrow, with scripts and without."""
    seed_catalog()
    page = any_page
    page.goto("/en/plan/")
    assert page.locator("#result h2").first.inner_text().startswith("One NVIDIA H200 SXM carries")
    page.get_by_label("QLoRA, quantised weights").check()
    page.get_by_label("Longest sequence").fill("4096")
    page.get_by_role("button", name="Work it out").click()
    page.get_by_role("heading", name="You may not need us").wait_for()
    # htmx scrolls once the new content has settled.
    stand_in: Any = page
    stand_in.in_thread(lambda real: expect(real.locator("#result h2").first).to_be_in_viewport())
    page.wait_for_url("**/plan/?*method=qlora*")
    assert _state(page)["seq_len"] == ["4096"]
    assert overflow(page) <= 0
    page.reload()
    assert page.get_by_label("Longest sequence").input_value() == "4096"
    page.get_by_role("heading", name="You may not need us").wait_for()
    offered = page.locator(".held").inner_text()
    page.get_by_role("link", name="Configure this lot").click()
    assert page.locator('input[name="lot"]:checked').count() == 1
    days = page.locator('input[name="days"]:checked').input_value()
    assert f"{days} days" in offered
    assert page_errors == []


def test_the_result_follows_each_change_and_so_does_the_address(page: Page, page_errors: list[str]) -> None:
    seed_catalog()
    page.goto("/en/plan/")
    page.evaluate("window.stays = true")
    page.get_by_label("LoRA", exact=True).check()
    page.locator("#result", has_text="Gradients and optimizer state exist for").wait_for()
    page.get_by_label("LoRA rank").fill("64")
    page.wait_for_url("**lora_rank=64")
    assert _state(page) == {"method": ["lora"], "lora_rank": ["64"]}
    assert "lora_rank=64" in page.locator("#langs input[name=next]").input_value()
    assert page.locator('#plan-state input[name="lora_rank"]').input_value() == "64"
    assert "carries this run" in page.locator("#said").inner_text()
    page.get_by_label("LoRA rank").fill("many")
    page.locator("#result", has_text="LoRA rank: Enter a number.").wait_for()
    assert page.evaluate("document.activeElement.id") == "id_lora_rank"
    assert page.evaluate("window.stays") is True
    assert page_errors == []


def test_fields_that_a_choice_makes_pointless_step_aside(any_page: Page) -> None:
    seed_catalog()
    page = any_page
    page.goto("/en/plan/")
    assert not page.get_by_label("LoRA rank").is_visible()
    assert not page.get_by_label("Parameters, in billions").is_visible()
    page.get_by_label("LoRA", exact=True).check()
    assert page.get_by_label("LoRA rank").is_visible()
    page.get_by_label("Model", exact=True).select_option("size")
    assert page.get_by_label("Parameters, in billions").is_visible()
    page.goto("/en/plan/?method=full&lora_rank=x&lora_targets=brain")
    assert page.get_by_label("LoRA targets").is_visible()  # a field with an error is never hidden


def test_a_config_file_is_planned(any_page: Page, page_errors: list[str], tmp_path: Any) -> None:
    seed_catalog()
    page = any_page
    file = tmp_path / "config.json"
    file.write_text(json.dumps(CONFIG, indent=2), encoding="utf-8")
    page.goto("/en/plan/?seq_len=4096")
    page.get_by_text("Use a config.json").click()
    page.get_by_label("Or the file").set_input_files(str(file))
    page.get_by_role("button", name="Use this config").click()
    page.wait_for_url("**model=config*")
    assert _state(page)["seq_len"] == ["4096"]
    assert page.get_by_label("Model", exact=True).input_value() == "config"
    file.write_text(large_config(), encoding="utf-8")
    page.get_by_text("Use a config.json").click()
    page.get_by_label("Or the file").set_input_files(str(file))
    page.get_by_role("button", name="Use this config").click()
    page.get_by_text("This plan has no address").wait_for()
    page.get_by_label("Longest sequence").fill("8192")
    page.get_by_role("button", name="Work it out").click()
    page.locator("#result", has_text="sequences of 8,192 tokens").wait_for(state="attached")
    assert page.get_by_text("This plan has no address").is_visible()
    assert page_errors == []
