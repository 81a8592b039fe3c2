"""A machine comes into the fleet whole or not at all."""

from typing import Any

import pytest
from django.core.management import CommandError, call_command

from core.errors import Conflict, Invalid, NotFound, Refusal
from core.models import AuditEntry
from fleet.models import Card, Node
from fleet.services.add_node import add_node
from tests.factories.catalog import AcceleratorFactory

pytestmark = pytest.mark.django_db


def add(**changes: Any) -> Node:
    AcceleratorFactory.create(slug="h100")
    values = {
        "name": "node-1",
        "site": "fra",
        "accelerator": "h100",
        "host_arch": "x86_64",
        "driver_version": "580.95.05",
        "serials": ["s1", "s2"],
        "actor": "anna",
    }
    return add_node(**values | changes)


def test_a_node_has_its_cards_in_order() -> None:
    node = add()
    assert list(node.cards.order_by("index").values_list("index", "serial")) == [(0, "s1"), (1, "s2")]
    assert AuditEntry.objects.get().actor == "anna"


@pytest.mark.parametrize(
    ("changes", "error", "code"),
    [
        ({"name": "Node 1"}, Invalid, "invalid_text"),
        ({"name": ""}, Invalid, "invalid_text"),
        ({"name": "a\x00"}, Invalid, "invalid_text"),
        ({"name": "x" * 61}, Invalid, "invalid_text"),
        ({"site": " "}, Invalid, "required"),
        ({"accelerator": "none"}, NotFound, "not_found"),
        ({"host_arch": "aarch64"}, Invalid, "host_arch_differs"),
        ({"driver_version": "latest"}, Invalid, "invalid_version"),
        ({"serials": []}, Invalid, "card_count"),
        ({"serials": [f"s{number}" for number in range(73)]}, Invalid, "card_count"),
        ({"serials": ["s1", "s1"]}, Invalid, "serial_twice"),
        ({"serials": ["s1", ""]}, Invalid, "required"),
        ({"serials": ["s\x00"]}, Invalid, "invalid_text"),
    ],
)
def test_what_cannot_be_is_refused_and_leaves_nothing(
    changes: dict[str, Any], error: type[Refusal], code: str
) -> None:
    with pytest.raises(error) as caught:
        add(**changes)
    assert caught.value.code == code
    assert not Node.objects.exists()
    assert not Card.objects.exists()


def test_a_name_or_a_card_comes_once() -> None:
    add()
    for changes in ({}, {"name": "node-2"}, {"serials": ["s3"]}):
        with pytest.raises(Conflict, match="already_done"):
            add(**changes)
    assert add(name="node-2", serials=["s3"]).cards.count() == 1


def test_the_command_adds_it_or_says_why_not() -> None:
    AcceleratorFactory.create(slug="h100")
    line = ["node-1", "--site=fra", "--accelerator=h100", "--driver=580.95.05", "--serials", "s1", "s2"]
    call_command("add_node", *line, "--out-of-service")
    node = Node.objects.get(name="node-1", in_service=False, host_arch="x86_64")
    assert list(node.cards.order_by("index").values_list("serial", flat=True)) == ["s1", "s2"]
    assert AuditEntry.objects.get().actor == "add_node"
    with pytest.raises(CommandError, match="already_done"):
        call_command("add_node", *line)
    assert Card.objects.count() == 2
