"""Every setting is described, with the default it has."""

import re
from pathlib import Path

import pytest

from anchorgpu import policy
from billing.networks import load_networks, parse_networks
from tests.environment import production_settings

ROOT = Path(__file__).resolve().parent.parent.parent
OTHERS = (
    "STRIPE_SECRET_KEY",
    "STRIPE_WEBHOOK_SECRET",
    "PROVIDER",
    "EMAIL_URL",
    "MAIL_FROM",
    "TRUSTED_PROXIES",
    "CURRENCY",
    "SHOP_COUNTRY",
    "TAX_TABLE",
    "PRICES_INCLUDE_TAX",
    "SELLER_VAT_ID",
    "SCREENING_FILE",
    "SCREENING_UNKNOWN",
    "WEBHOOK_LOOPBACK",
    "WEB_LISTEN",
    "WEB_WORKERS",
    "WEB_THREADS",
)


@pytest.mark.parametrize("place", ["docs/operations.md", ".env.example"])
def test_each_setting_is_described(place: str, tmp_path: Path) -> None:
    text = (ROOT / place).read_text(encoding="utf-8")
    names = {*production_settings(tmp_path), *OTHERS} - {"ANCHORGPU_DEMO"}
    missing = [name for name in sorted(names) if not re.search(rf"\b{name}\b", text)]
    assert missing == []
    for name, default in policy.DEFAULTS.items():
        assert re.search(rf"`?{name}`?( \| |=){default}\b", text), name


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
