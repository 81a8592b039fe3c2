"""What Prometheus reads, who may read it, and that the alert rules rest on what is really there."""

import re
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import yaml
from django.db import connection
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families
from pytest_django import Settings

from anchorgpu.env import METRICS_TOKEN_LENGTH
from anchorgpu.metrics import collector, work
from anchorgpu.metrics.gauges import RowGauge
from billing.models import PaymentRequest, PaymentView
from core import clock, decisions
from core.models import SweepRun
from fleet.models import Card
from orders.models import Order
from tests import scenario

ROOT = Path(__file__).resolve().parent.parent.parent
RULES = yaml.safe_load((ROOT / "docs/examples/alerts.yml").read_text(encoding="utf-8"))["groups"][0]["rules"]
# Words of the language of the expressions, and what Prometheus itself knows of a scrape.
NOT_OURS = {"up", "by", "on", "or", "sum", "rate", "le", "absent", "histogram_quantile", "job"}

pytestmark = pytest.mark.django_db


def scrape(client: Client | None = None, **headers: str) -> dict[str, dict[tuple[str, ...], float]]:
    """Sample name -> values of its labels, in the order of their names -> value."""
    answer = (client or Client()).get("/metrics", headers=headers)
    assert answer.status_code == 200, answer.content
    found: dict[str, dict[tuple[str, ...], float]] = {}
    for family in text_string_to_metric_families(answer.content.decode()):
        for sample in family.samples:
            found.setdefault(sample.name, {})[tuple(value for _, value in sorted(sample.labels.items()))] = (
                sample.value
            )
    return found


def names_in(expression: str) -> set[str]:
    """Metrics that an expression asks for: strings, label lists and numbers taken out."""
    bare = re.sub(r"\{[^}]*\}|\[[^\]]*\]|by \([^)]*\)|on \([^)]*\)|sum by \([^)]*\)", " ", expression)
    return set(re.findall(r"[a-z_][a-z_0-9]*", bare)) - NOT_OURS


def labels_in(expression: str) -> set[str]:
    selectors = re.findall(r"\{([^}]*)\}", expression)
    grouped = re.findall(r"(?:by|on) \(([^)]*)\)", expression)
    named = re.findall(r"([a-z_]+)\s*=~?", " ".join(selectors))
    return ({*named} | {name.strip() for group in grouped for name in group.split(",")}) - NOT_OURS


def test_closed_without_a_token_outside_the_demo(settings: Settings) -> None:
    settings.DEMO = False
    assert Client().get("/metrics").status_code == 404
    settings.METRICS_TOKEN = "t" * METRICS_TOKEN_LENGTH
    assert Client().get("/metrics").status_code == 404
    assert Client().get("/metrics", headers={"authorization": "Bearer wrong"}).status_code == 404
    assert Client().get("/metrics", headers={"authorization": "Bearer "}).status_code == 404
    right = {"authorization": f"Bearer {settings.METRICS_TOKEN}"}
    assert Client().get("/metrics", headers=right).status_code == 200
    assert Client().post("/metrics", headers=right).status_code == 405


def test_card_money_is_told_in_whole_units_of_its_currency() -> None:
    scenario.open_shop()
    scenario.offer_network("local", block=100)
    view = scenario.pay(scenario.order())
    PaymentView.objects.filter(pk=view.pk).update(card_minor=1500, received_units=0)
    PaymentRequest.objects.filter(pk=view.payment_id).update(currency="JPY")
    decisions.open_decision(
        kind="card_mismatch",
        subject=f"payment:{view.payment_id}",
        order_ref=view.payment.order.public_id,
        facts={},
    )
    assert scrape()["anchorgpu_money_under_decision"] == {("JPY", "bank_card"): 1500.0}


def test_gateways_are_no_sweeps() -> None:
    for name in ("gateway", "gateway:machine:2222", "backup"):
        SweepRun.objects.create(name=name, last_finished_at=clock.system_now())
    assert {name for (name,) in scrape()["anchorgpu_sweep_failing"]} == {"backup"}


def test_a_small_shop_in_numbers() -> None:
    scenario.open_shop(b200_nodes=1, cards_per_node=8)
    scenario.offer_network("local", block=100)
    paid = scenario.order()
    scenario.pay(paid)
    partial = scenario.order()
    view = scenario.pay(partial, units=5_000_000)
    decisions.open_decision(
        kind="payment_partial",
        subject=f"payment:{view.payment_id}",
        order_ref=partial.public_id,
        due_at=clock.now() - timedelta(minutes=1),
    )
    SweepRun.objects.create(name="outbox", last_finished_at=clock.system_now() - timedelta(seconds=7))

    found = scrape()

    assert sum(found["anchorgpu_orders"].values()) == Order.objects.count() == 2
    assert sum(found["anchorgpu_payments"].values()) == PaymentView.objects.count()
    assert found["anchorgpu_payments"][("settled",)] == 1
    assert found["anchorgpu_decisions_open"][("payment_partial",)] == 1
    assert found["anchorgpu_decisions_overdue"][()] == 1
    assert found["anchorgpu_money_under_decision"] == {("USDC", "local"): 5.0}
    assert sum(found["anchorgpu_cards"].values()) == Card.objects.count()
    assert found["anchorgpu_cards"][("leased",)] == found["anchorgpu_cards"][("held",)] == 2
    assert 7 <= found["anchorgpu_sweep_age_seconds"][("outbox",)] < 60
    assert found["anchorgpu_chain_offered"] == {("local",): 1.0}
    assert "anchorgpu_unreadable" not in found


def test_requests_are_counted_by_the_name_of_their_view() -> None:
    client = Client()
    counter = "anchorgpu_http_request_duration_seconds_count"
    before = scrape(client).get(counter, {})
    client.get("/")
    client.get("/en/orders/" + "x" * 43 + "/")
    client.generic("PROPFIND", "/en/")
    after = scrape(client)[counter]
    roots = [labels for labels in after if labels[2].endswith("site.root")]
    assert roots
    assert sum(after[labels] - before.get(labels, 0) for labels in roots) == 1
    assert all("x" * 43 not in "".join(labels) for labels in after)
    assert {labels[0] for labels in after} <= {"GET", "POST", "HEAD", "other"}


def test_what_cannot_be_read_is_named_and_leaves_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken() -> Any:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1 / 0")

    gauges = (RowGauge("broken", "Broken.", (), broken), *work.GAUGES)
    monkeypatch.setattr(collector, "GAUGES", gauges)
    found = scrape()
    assert found["anchorgpu_unreadable"] == {("broken",): 1.0}
    assert "anchorgpu_broken" not in found
    assert "anchorgpu_decisions_open" in found


def test_no_gauge_has_a_second_meaning_or_no_words() -> None:
    names = [gauge.name for gauge in collector.GAUGES]
    assert len(names) == len(set(names))
    assert all(gauge.text.endswith(".") for gauge in collector.GAUGES)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: str(rule["alert"]))
def test_each_rule_rests_on_metrics_that_exist(rule: dict[str, Any]) -> None:
    known = {
        f"{collector.PREFIX}{gauge.name}{'_total' if gauge.is_counter else ''}" for gauge in collector.GAUGES
    }
    known |= {
        f"{collector.PREFIX}http_request_duration_seconds_{part}" for part in ("bucket", "count", "sum")
    }
    known |= {f"{collector.PREFIX}unreadable"}
    labels = {label for gauge in collector.GAUGES for label in gauge.labels}
    labels |= {"gauge", "view", "method", "status"}
    assert names_in(rule["expr"]) <= known
    assert labels_in(rule["expr"]) <= labels
    assert rule["labels"]["severity"] in {"page", "warn"}
    assert rule["annotations"]["summary"].endswith(".")
    headings = {
        line.removeprefix("### ").strip().casefold()
        for line in (ROOT / "docs/watching.md").read_text(encoding="utf-8").splitlines()
        if line.startswith("### ")
    }
    assert rule["annotations"]["runbook"] == f"docs/watching.md#{rule['alert'].casefold()}"
    assert rule["alert"].casefold() in headings


def test_the_check_of_rules_sees_a_metric_that_nobody_has() -> None:
    assert names_in('sum by (a) (rate(anchorgpu_nothing{x="y"}[5m])) > 3') == {"anchorgpu_nothing"}
    assert labels_in('sum by (a, b) (m{x="y", z=~"q"})') == {"a", "b", "x", "z"}


def test_readyz_shows_the_last_run_of_every_sweep() -> None:
    moment = clock.system_now() - timedelta(hours=1)
    SweepRun.objects.create(name="outbox", last_finished_at=moment)
    SweepRun.objects.create(name="by_hand", last_started_at=moment, last_error="ValueError: x")
    sweeps = {run["name"]: run for run in Client().get("/readyz").json()["sweeps"]}
    assert sweeps["outbox"]["late"]
    assert sweeps["outbox"]["limit_seconds"] == 120
    assert sweeps["outbox"]["age_seconds"] >= 3600
    assert sweeps["by_hand"]["limit_seconds"] is None
    assert sweeps["by_hand"]["error"] == "ValueError: x"
