"""Where the fleet stands: what is on its cards and when, how much of it is sold, and what that earns."""

from collections.abc import Mapping
from http import HTTPStatus
from urllib.parse import urlencode

from django.conf import settings
from django.core.paginator import Page, Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from catalog.models import Accelerator
from core import clock
from desk.fleet_chart import chart
from desk.fleet_figures import money_tables, periods, use_tables
from desk.fleet_form import FleetForm
from desk.fleet_table import table
from desk.fleet_words import STATES
from desk.links import may_see
from desk.page import desk_page
from fleet.models import Node
from fleet.occupancy import NodeRow, Stay, nodes_for, occupancy

NODES_ON_A_PAGE = 40
SEES_MONEY = "billing.view_ledgerentry"


@require_safe
@desk_page("fleet.view_node")
def fleet(request: HttpRequest) -> HttpResponse:
    """Refused values are named and answered with 400; the page then shows the usual time and all nodes."""
    now = clock.now()
    form = FleetForm(request.GET.dict(), today=now.date(), accelerators=_accelerators())
    is_asked = form.is_valid()
    asked = form.cleaned_data if is_asked else {}
    window = form.window()
    page = Paginator(
        nodes_for(name=asked.get("node", ""), accelerator=asked.get("accelerator", "")), NODES_ON_A_PAGE
    ).get_page(request.GET.get("page"))
    nodes = occupancy(list(page.object_list), begins=window[0], ends=window[1])
    links = _links(request, nodes)
    both = periods(now.date())
    context = {
        "form": form,
        "now": now,
        "page": page,
        "window": window,
        "states": STATES,
        "chart": chart(nodes, window=window, now=now, links=links),
        "table": table(nodes, links=links),
        "has_nodes": Node.objects.exists(),
        "uses": use_tables(both),
        "money": money_tables(both) if request.user.has_perm(SEES_MONEY) else None,
        "currency": settings.CURRENCY,
        **_ways(form, page, is_asked=is_asked),
    }
    return render(
        request, "desk/fleet.html", context, status=HTTPStatus.OK if is_asked else HTTPStatus.BAD_REQUEST
    )


def _accelerators() -> list[tuple[str, str]]:
    """Those of which the fleet has a node."""
    keys = Node.objects.order_by().values("accelerator")
    return list(Accelerator.objects.filter(pk__in=keys).values_list("slug", "name"))


def _links(request: HttpRequest, nodes: list[NodeRow]) -> Mapping[Stay, str]:
    """To the page of the lease, or of the hold, as far as this member of staff may see it."""
    sees = {model: may_see(request.user, f"fleet.{model}") for model in ("lease", "hold")}
    found = {}
    for stay in (stay for node in nodes for stay in node.stays):
        model, key = ("lease", stay.lease_id) if stay.lease_id else ("hold", stay.hold_id)
        if key is not None and sees[model]:
            found[stay] = reverse(f"admin:fleet_{model}_change", args=[key])
    return found


def _ways(form: FleetForm, page: Page[Node], *, is_asked: bool) -> dict[str, str]:
    """Queries of the pages beside this one: other nodes, and the time before and after."""
    begins, ends = form.window()
    kept = {name: str(value) for name, value in form.data.items() if name in form.fields} if is_asked else {}
    times = {"earlier": begins - (ends - begins), "later": ends}
    ways = {
        name: urlencode(kept | {"from": first.date().isoformat()})
        for name, first in times.items()
        if form.is_near(first.date())
    }
    if page.has_previous():
        ways["nodes_before"] = urlencode(kept | {"page": str(page.previous_page_number())})
    if page.has_next():
        ways["nodes_after"] = urlencode(kept | {"page": str(page.next_page_number())})
    return ways
