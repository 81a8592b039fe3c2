"""Take a machine and its cards into the fleet."""

import re
from collections.abc import Sequence

from django.db import transaction
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from catalog.models import Accelerator
from catalog.stack import parse_version
from core import audit
from core.errors import Conflict, Invalid, NotFound
from core.text import clean_line
from fleet.models import Card, Node
from fleet.whole_nodes import check_size

# A chassis of today has up to 8 cards, a rack that works as one node up to 72.
MAX_CARDS = 72
_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,58}[a-z0-9])?")


def add_node(
    *,
    name: str,
    site: str,
    accelerator: str,
    host_arch: str,
    driver_version: str,
    serials: Sequence[str],
    actor: str,
    topology: str = "",
    stack_version: str = "",
    in_service: bool = True,
) -> Node:
    """The node with one card for each serial, in that order.

    Raises Invalid naming the field, NotFound for an unknown accelerator, Conflict(already_done) where name
    or a serial is there already, and what fleet.whole_nodes.check_size refuses. Not repeatable: the second call
    hears the conflict.
    """
    _check(name=name, driver_version=driver_version, serials=serials)
    with transaction.atomic():
        card = Accelerator.objects.filter(slug=accelerator).first()
        if card is None:
            raise NotFound(code="not_found", message=_("There is no such accelerator."), field="accelerator")
        if host_arch != card.host_arch:
            raise Invalid(
                code="host_arch_differs",
                message=_("This accelerator sits in hosts of the architecture %(host_arch)s."),
                field="host_arch",
                params={"host_arch": card.host_arch},
            )
        check_size(accelerator=card, cards=len(serials))
        if Node.objects.filter(name=name).exists() or Card.objects.filter(serial__in=serials).exists():
            raise Conflict(code="already_done", message=_("This node or one of its cards is already there."))
        node = Node.objects.create(
            name=name,
            site=clean_line(site, field="site", max_length=60, required=True),
            accelerator=card,
            host_arch=host_arch,
            driver_version=driver_version,
            topology=clean_line(topology, field="topology", max_length=80),
            stack_version=clean_line(stack_version, field="stack_version", max_length=40),
            in_service=in_service,
        )
        Card.objects.bulk_create(
            Card(node=node, index=index, serial=serial) for index, serial in enumerate(serials)
        )
        audit.record(actor=actor, action="node.add", subject=f"node:{name}", after={"serials": list(serials)})
        return node


def _check(*, name: str, driver_version: str, serials: Sequence[str]) -> None:
    if _NAME.fullmatch(name) is None:
        raise Invalid(
            code="invalid_text",
            message=_("A node's name has lower-case letters, digits and hyphens."),
            field="name",
        )
    try:
        parse_version(driver_version)
    except ValueError as error:
        raise Invalid(
            code="invalid_version",
            message=_("A driver version is numbers with points."),
            field="driver_version",
        ) from error
    if not 1 <= len(serials) <= MAX_CARDS:
        raise Invalid(
            code="card_count",
            message=ngettext_lazy(
                "A node has from 1 to %(maximum)s card.", "A node has from 1 to %(maximum)s cards.", "maximum"
            ),
            field="serials",
            params={"maximum": MAX_CARDS},
        )
    if len(set(serials)) != len(serials):
        raise Invalid(code="serial_twice", message=_("A serial number stands twice."), field="serials")
    for serial in serials:
        clean_line(serial, field="serials", max_length=60, required=True)
