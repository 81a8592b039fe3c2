"""An import writes exactly what it has shown, deletes nothing, and answers each broken file in words."""

import io
import json
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from catalog.data_files import DATA_DIR
from catalog.figures import ACCELERATOR, OPTION
from catalog.import_file import FileRefused
from catalog.import_plan import ImportPlan, InUse
from catalog.import_rows import IMAGE
from catalog.models import Accelerator, Image, Lot, Option, PriceDraft, PriceVersion, Term
from catalog.selectors.draft import open_draft
from catalog.services.import_catalog import apply_import, preview_import
from catalog.services.seed import Seeded
from core.errors import Conflict
from core.models import AuditEntry
from tests import scenario
from tests.factories.catalog import OptionFactory

pytestmark = pytest.mark.django_db

IN_USE = InUse(
    {
        ACCELERATOR: frozenset({"b200-180"}),
        IMAGE: frozenset({"pt-cu128"}),
        OPTION: frozenset({"nvme-extra"}),
    }
)


def nothing_in_use() -> InUse:
    return InUse({})


def in_use() -> InUse:
    return IN_USE


def content(document: object) -> bytes:
    return json.dumps(document).encode()


def look(document: object) -> ImportPlan:
    return preview_import(content=content(document), in_use=nothing_in_use).plan


def write(document: object) -> ImportPlan:
    file = content(document)
    digest = preview_import(content=file, in_use=nothing_in_use).digest
    return apply_import(content=file, digest=digest, actor="ada", in_use=nothing_in_use)


def errors(file: bytes, uses: Any = nothing_in_use) -> list[str]:
    with pytest.raises(FileRefused) as refused:
        preview_import(content=file, in_use=uses)
    return [str(error) for error in refused.value.errors]


NEW_CARD = {
    "slug": "x100-64",
    "name": "Vendor X100",
    "vendor": "Vendor",
    "architecture": "X",
    "memory_gb": 64,
    "stack": "CUDA",
    "target": "sm_100",
    "host_arch": "x86_64",
    "grade": "V",
    "sources": ["a data sheet"],
    "cards_per_lot": [1, 4],
    "card_hour_amount": "1.50",
}


def test_new_rows_are_added_and_not_on_sale_before_the_draft_is_published(seeded: Seeded) -> None:
    host = {"vcpu": 8, "ram_gb": 64, "nvme_gb": 500, "uplink_gbit_s": 10, "specs_are_demo": False}
    plan = write(
        {
            "currency": "USD",
            "accelerators": [NEW_CARD],
            "hosts": {"x100-64": host},
            "terms": [{"days": 14, "discount": "0.10", "meant_for": "two weeks"}],
            "options": [
                {
                    "code": "backup",
                    "name": "Backup",
                    "unit": "TB",
                    "unit_amount": "3",
                    "accelerators": ["x100-64"],
                }
            ],
            "images": [
                {
                    "code": "x-image",
                    "name": "X",
                    "targets": ["sm_100"],
                    "host_archs": ["x86_64"],
                    "stack": "CUDA",
                    "stack_version": "13.0",
                }
            ],
        }
    )
    assert [(diff.kind, diff.code, diff.added) for diff in plan.diffs] == [
        ("term", "14", True),
        ("accelerator", "x100-64", True),
        ("lot", "x100-64x1", True),
        ("lot", "x100-64x4", True),
        ("option", "backup", True),
        ("image", "x-image", True),
    ]
    lot = Lot.objects.get(code="x100-64x4")
    assert (lot.cards, lot.vcpu, lot.uplink_gbit_s, lot.specs_are_demo) == (4, 32, 10, False)
    assert sorted(lot.code for lot in Option.objects.get(code="backup").lots.all()) == [
        "x100-64x1",
        "x100-64x4",
    ]
    assert Accelerator.objects.get(slug="x100-64").card_hour_amount is None
    assert Term.objects.get(days=14).discount == 0
    draft = open_draft()
    assert draft is not None
    assert draft.figures == {
        "accelerator": {"x100-64": "1.50"},
        "option": {"backup": "3.00"},
        "term": {"14": "0.10"},
    }
    assert PriceVersion.objects.count() == 1


def test_a_row_says_what_it_names_and_the_rest_stays(seeded: Seeded) -> None:
    Lot.objects.filter(code="b200-180x2").update(on_sale=False)
    plan = write(
        {"accelerators": [{"slug": "b200-180", "board_power_w": 1100}], "hosts": {"b200-180": {"vcpu": 30}}}
    )
    assert [(diff.code, dict(diff.old), dict(diff.new)) for diff in plan.diffs] == [
        ("b200-180", {"board_power_w": 1000}, {"board_power_w": 1100}),
        ("b200-180x2", {"vcpu": 56}, {"vcpu": 60}),
    ]
    lot = Lot.objects.get(code="b200-180x2")
    assert (lot.on_sale, lot.ram_gb, lot.specs_are_demo) == (False, 560, True)
    assert Accelerator.objects.get(slug="b200-180").card_hour_amount == Decimal("6.49")


def test_host_figures_count_as_examples_until_the_file_says_otherwise(seeded: Seeded) -> None:
    write({"accelerators": [NEW_CARD], "hosts": {"x100-64": {"vcpu": 8}}})
    assert Lot.objects.get(code="x100-64x1").specs_are_demo


def test_what_the_file_does_not_name_is_said_and_stays(seeded: Seeded) -> None:
    plan = write(
        {"images": [{"code": "pt-cu128"}], "accelerators": [{"slug": "a100-sxm-80", "cards_per_lot": [1]}]}
    )
    assert ("image", "pt-rocm70") in plan.staying
    assert ("lot", "a100-sxm-80x8") in plan.staying
    assert ("accelerator", "b200-180") in plan.staying
    assert not any(kind in ("option", "term") for kind, _code in plan.staying)
    assert (plan.is_empty, Image.objects.count(), Lot.objects.count()) == (True, 8, 42)


@pytest.mark.parametrize("name", ["accelerators.json", "offer.toml"])
def test_the_shipped_files_are_in_this_form(seeded: Seeded, name: str) -> None:
    plan = preview_import(content=Path(DATA_DIR, name).read_bytes(), in_use=in_use).plan
    assert (plan.is_empty, plan.staying) == (True, ())
    assert plan.unchanged > 10


def test_the_shipped_files_fill_an_empty_shop(db: None) -> None:
    for name in ("accelerators.json", "offer.toml"):
        file = Path(DATA_DIR, name).read_bytes()
        found = preview_import(content=file, in_use=nothing_in_use)
        apply_import(content=file, digest=found.digest, actor="ada", in_use=nothing_in_use)
    counts = [model.objects.count() for model in (Accelerator, Lot, Term, Option, Image)]
    assert counts == [17, 42, 3, 4, 8]
    assert Lot.objects.get(code="b200-180x2").specs_are_demo
    assert not PriceVersion.objects.exists()


def test_a_price_joins_the_figures_of_an_open_draft(seeded: Seeded) -> None:
    write({"options": [{"code": "nvme-extra", "unit_amount": 2}]})
    plan = write(
        {
            "accelerators": [{"slug": "b200-180", "demo_price_card_hour": None}],
            "options": [{"code": "nvme-extra", "unit_amount": "2.00"}],
        }
    )
    (figure,) = plan.figures
    assert (figure.code, figure.old, figure.new) == ("b200-180", Decimal("6.49"), None)
    assert PriceDraft.objects.get().figures == {
        "accelerator": {"b200-180": None},
        "option": {"nvme-extra": "2.00"},
    }


def test_what_open_orders_stand_on_keeps_its_meaning(seeded: Seeded) -> None:
    file = content(
        {
            "accelerators": [
                {"slug": "b200-180", "memory_gb": 192, "board_power_w": 1},
                {"slug": "b300-288", "memory_gb": 300},
            ],
            "options": [{"code": "nvme-extra", "recurring": False}],
            "images": [{"code": "pt-cu128", "stack_version": "12.9"}],
        }
    )
    assert errors(file, in_use) == [
        "accelerators[1] b200-180.memory_gb: 192: Open orders stand on this row, so it must stay as it is: 180.",
        "options[1] nvme-extra.recurring: false: Open orders stand on this row, so it must stay as it is: true.",
        "images[1] pt-cu128.stack_version: 12.9: Open orders stand on this row, so it must stay as it is: 12.8.",
    ]
    assert preview_import(content=file, in_use=nothing_in_use).plan.diffs


def test_a_file_or_a_catalogue_that_changed_since_is_not_written(seeded: Seeded) -> None:
    file = content({"options": [{"code": "nvme-extra", "max_quantity": 12}]})
    digest = preview_import(content=file, in_use=nothing_in_use).digest
    other = content({"options": [{"code": "nvme-extra", "max_quantity": 13}]})
    with pytest.raises(Conflict):
        apply_import(content=other, digest=digest, actor="ada", in_use=nothing_in_use)
    Option.objects.filter(code="nvme-extra").update(max_quantity=7)
    with pytest.raises(Conflict):
        apply_import(content=file, digest=digest, actor="ada", in_use=nothing_in_use)
    assert Option.objects.get(code="nvme-extra").max_quantity == 7
    assert not AuditEntry.objects.filter(action="catalogue.import").exists()


def run(path: Path, *flags: str) -> str:
    out = io.StringIO()
    call_command("import_catalog", str(path), *flags, stdout=out)
    return out.getvalue()


def test_the_command_shows_and_with_apply_writes(seeded: Seeded, tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_text('[[options]]\ncode = "nvme-extra"\nmax_quantity = 12\nunit_amount = "2.00"\n')
    shown = run(path)
    assert "~ option nvme-extra\n    max_quantity: 30 -> 12\n" in shown
    assert "~ option nvme-extra, price into the draft: 1.20 -> 2.00" in shown
    assert "= option priority-support: not in the file, stays" in shown
    assert shown.endswith("Nothing was written; --apply writes it.\n")
    assert Option.objects.get(code="nvme-extra").max_quantity == 30
    assert "Written.\n" in run(path, "--apply")
    assert Option.objects.get(code="nvme-extra").max_quantity == 12
    assert AuditEntry.objects.get(action="catalogue.import").actor == "import_catalog"
    assert run(path, "--apply").endswith("The file changes nothing.\n")


def test_the_command_knows_of_open_orders(db: None, tmp_path: Path) -> None:
    scenario.open_shop()
    scenario.order()
    path = tmp_path / "mine.json"
    path.write_bytes(content({"accelerators": [{"slug": "b200-180", "memory_gb": 192}]}))
    with pytest.raises(
        CommandError, match=r"mine.json: accelerators\[1\] b200-180.memory_gb: 192: Open orders"
    ):
        run(path, "--apply")
    with pytest.raises(CommandError, match="No such file"):
        run(tmp_path / "none.json")


def test_an_option_for_all_lots_can_be_narrowed(seeded: Seeded) -> None:
    OptionFactory.create(code="wide")
    plan = write({"options": [{"code": "wide", "accelerators": ["b200-180"]}]})
    assert dict(plan.diffs[0].new) == {"for_all_lots": False, "lots": ["b200-180x2"]}
    assert [lot.code for lot in Option.objects.get(code="wide").lots.all()] == ["b200-180x2"]
