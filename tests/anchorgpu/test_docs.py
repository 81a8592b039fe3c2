"""Every setting is described, with the default it has."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from anchorgpu import policy
from anchorgpu.env import read_env
from billing.networks import load_networks, parse_networks
from tests.environment import production_settings

ROOT = Path(__file__).resolve().parent.parent.parent
# No settings of an installation: the demo sets them.
DEMO = {"ANCHORGPU_DEMO", "STRIPE_TRANSPORT"}


class Asked(dict[str, str]):
    """Settings that remember which of them were asked for."""

    def __init__(self, values: Mapping[str, str]) -> None:
        super().__init__(values)
        self.names: set[str] = set()

    def get(self, name: str, default: Any = None) -> Any:
        self.names.add(name)
        return super().get(name, default)

    def __getitem__(self, name: str) -> str:
        self.names.add(name)
        return super().__getitem__(name)


@pytest.fixture
def names(tmp_path: Path) -> set[str]:
    """Every setting that is read."""
    asked = Asked(production_settings(tmp_path))
    read_env(asked)
    assert len(asked.names) > 60
    return asked.names - DEMO


@pytest.mark.parametrize("place", ["docs/operations.md", ".env.example"])
def test_each_setting_is_described(place: str, names: set[str]) -> None:
    text = (ROOT / place).read_text(encoding="utf-8")
    missing = [name for name in sorted(names) if not re.search(rf"\b{name}\b", text)]
    assert missing == []
    for name, default in policy.DEFAULTS.items():
        assert re.search(rf"`?{name}`?( \| |=){default}\b", text), name


def test_the_example_has_no_setting_that_is_not_read(names: set[str]) -> None:
    text = (ROOT / ".env.example").read_text(encoding="utf-8")
    shown = set(re.findall(r"^(?:# )?([A-Z][A-Z0-9_]+)=", text, re.MULTILINE))
    assert names <= shown
    # Read where PROVIDER asks for them.
    assert {name for name in shown - names if not name.startswith("SLURM_")} == set()


def test_no_remark_follows_a_value_of_the_example() -> None:
    """systemd would take it for the value: a token of /metrics that everybody can read here."""
    text = (ROOT / ".env.example").read_text(encoding="utf-8")
    assert re.findall(r"^(?:# )?[A-Z][A-Z0-9_]+='[^']*'(?!$).*", text, re.MULTILINE) == []


def test_the_networks_of_the_documentation_can_be_used(tmp_path: Path) -> None:
    """A key that stands below the wrong table is refused at the start of whoever copies it."""
    text = (ROOT / "docs/operations.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```toml\n(.*?)```", text, re.DOTALL)
    assert parse_networks(example)
    assert load_networks(ROOT / "docs/examples/networks.toml")


def test_no_app_reads_a_setting_past_the_checked_ones() -> None:
    """Only management commands may: the demo's own are handed to them that way."""
    apps = ("core", "catalog", "planner", "fleet", "orders", "billing", "shop", "partners", "guides", "desk")
    readers = [
        str(file.relative_to(ROOT))
        for app in apps
        for file in (ROOT / app).rglob("*.py")
        if "management" not in file.parts
        and re.search(r"os\.(environ|getenv)", file.read_text(encoding="utf-8"))
    ]
    assert readers == []


def test_every_link_of_the_documents_leads_somewhere() -> None:
    broken = []
    for file in (
        ROOT / "README.md",
        ROOT / "CHANGELOG.md",
        *(ROOT / "docs").rglob("*.md"),
        *(ROOT / "bench").glob("*.md"),
    ):
        for target in re.findall(r"\]\(([^)\s]+)\)", file.read_text(encoding="utf-8")):
            path = target.partition("#")[0]
            if path and "://" not in path and not (file.parent / path).exists():
                broken.append(f"{file.relative_to(ROOT)}: {target}")
    assert broken == []
