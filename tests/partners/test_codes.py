"""One list of codes: nothing that the API can say is missing from it, and the pages are made from it."""

import ast
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings
from django.test import Client

from partners.api import codes
from partners.api.codes import CODES
from partners.api.problems import CODES_BY_STATUS, DETAILS

ROOT = Path(settings.BASE_DIR)
OURS = {"core", "catalog", "planner", "fleet", "orders", "billing", "partners"}
# Imported on the way, and never called by the API: bank cards, staff's refunds and decisions, filters of pages.
OUT_OF_REACH = {
    "billing.addresses",
    "billing.card_offer",
    "billing.services.refund",
    "billing.services.want_card_session",
    "catalog.models.lot",
    "catalog.validators",
    "core.decisions",
}
# Of pages alone; told as not_on_sale by the API.
NEVER_SAID = {"unknown_stack", "unknown_lot"}
# Where among their arguments the code stands.
BY_PLACE = {"_refuse": 2, "FieldError": 1, "_require": 1, "_refused": 0}


def reached() -> dict[str, ast.Module]:
    """Every module of ours that the addresses of the API import, directly or not."""
    found: dict[str, ast.Module] = {}
    waiting = ["partners.api.urls", "partners.api.auth", "partners.api.errors", "partners.api.parsers"]
    while waiting:
        name = waiting.pop()
        file = ROOT / Path(*name.split("."))
        file = file / "__init__.py" if file.is_dir() else file.with_suffix(".py")
        if name in found or name.partition(".")[0] not in OURS or not file.exists():
            continue
        found[name] = ast.parse(file.read_text(encoding="utf-8"))
        waiting += imported(found[name])
    return found


def imported(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def told(tree: ast.Module) -> Iterator[str]:
    """Codes that a module raises: `code="..."` of a call, and those that go by place."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        values = [keyword.value for keyword in node.keywords if keyword.arg == "code"]
        place = BY_PLACE.get(getattr(node.func, "id", ""))
        if place is not None and place < len(node.args):
            values.append(node.args[place])
        yield from (v.value for v in values if isinstance(v, ast.Constant) and isinstance(v.value, str))


def test_every_code_that_can_reach_the_api_is_in_the_list_and_nothing_else() -> None:
    modules = reached()
    assert {"orders.services.place", "fleet.services.hold", "catalog.tax", "planner.checks"} <= set(modules)
    assert set(modules) >= OUT_OF_REACH
    found = {
        code for name, tree in modules.items() if name not in OUT_OF_REACH for code in told(tree)
    } - NEVER_SAID
    assert found - set(CODES) == set()
    assert set(CODES) - found - set(CODES_BY_STATUS.values()) == set()


def test_the_general_codes_have_their_status_and_a_sentence_in_every_language() -> None:
    for status, code in CODES_BY_STATUS.items():
        assert status in CODES[code].statuses
        assert DETAILS[code]
    assert all(found.meaning.endswith(".") for found in CODES.values())


def test_the_reference_shows_the_list_as_it_is() -> None:
    page = (ROOT / "docs" / "api.md").read_text(encoding="utf-8")
    assert codes.with_table(page) == page, "Run: python -m partners.api.codes"
    assert page.count("| `quote_accepted` |") == 1


def test_every_problem_leads_to_its_place_on_the_page(client: Client, db: None) -> None:
    page = client.get("/api/docs/errors/").content.decode()
    assert all(f'id="{code}"' in page for code in CODES)
