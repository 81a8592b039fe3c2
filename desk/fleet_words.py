"""How the states of cards are named and drawn, in the picture of the fleet and in the table below it."""

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from django.utils.dateformat import format as format_date
from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext_lazy

from core.formats import current_locale, instant_text
from fleet.lifecycle import LeaseStatus
from fleet.occupancy import NodeRow, Stay, What
from fleet.spans import Span

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise


@dataclass(frozen=True)
class State:
    """`css` is the class of the bar, `label_css` that of its letters, `tone` and `icon` are those of the badge."""

    word: "_StrPromise"
    css: str
    label_css: str
    tone: str
    icon: str


# In the order of the legend.
STATES: dict[What, State] = {
    What.ACTIVE: State(pgettext_lazy("cards", "active"), "b-active", "onfill", "good", "check"),
    What.SOLD: State(pgettext_lazy("cards", "sold, not started"), "b-next", "onfill", "info", "half"),
    What.HELD: State(pgettext_lazy("cards", "held"), "b-held", "", "", "clock"),
    What.WIPE: State(pgettext_lazy("cards", "wipe"), "b-turn", "", "", "wipe"),
    What.UNHEALTHY: State(pgettext_lazy("cards", "unhealthy"), "b-bad", "", "bad", "stop"),
    What.OUT_OF_SERVICE: State(pgettext_lazy("cards", "out of service"), "b-off", "", "warn", "stop"),
    What.MAINTENANCE: State(pgettext_lazy("cards", "maintenance"), "b-window", "onfill", "warn", "clock"),
}
_NOTES: dict[str, "_StrPromise"] = {
    LeaseStatus.DEGRADED: pgettext_lazy("lease", "degraded"),
    LeaseStatus.SUSPENDED: pgettext_lazy("lease", "paused"),
    LeaseStatus.FAILED: pgettext_lazy("lease", "failed"),
}


def order_text(stay: Stay) -> str:
    """The order and, where there is one, its lease."""
    if stay.username:
        return _("%(order)s, lease %(lease)s") % {"order": stay.ref, "lease": stay.username}
    return stay.ref


def note_text(stay: Stay) -> str:
    """What is to be known beside the state: how the lease stands, or why cards are off sale."""
    return stay.reason or str(_NOTES.get(stay.lease_status, ""))


def time_text(stay: Stay) -> str:
    """From and until, in one line."""
    begins = instant_text(stay.begins, style="log")
    if stay.ends is None:
        return _("since %(begins)s") % {"begins": begins}
    return _("%(begins)s to %(ends)s") % {"begins": begins, "ends": instant_text(stay.ends, style="log")}


def days_text(window: Span) -> str:
    """Whole days in UTC, the last one included."""
    first, last = (
        format_date(day, current_locale().day) for day in (window[0], window[1] - timedelta(days=1))
    )
    return _("%(first)s to %(last)s, UTC") % {"first": first, "last": last}


def cards_text(node: NodeRow, stay: Stay) -> str:
    """Which cards of the node, by the index that its tools show: "cards 0, 1 of 8"."""
    if len(stay.lanes) == len(node.indexes):
        return ngettext("its %(count)s card", "all %(count)s cards", len(node.indexes)) % {
            "count": len(node.indexes)
        }
    names = ", ".join(str(node.indexes[lane]) for lane in stay.lanes)
    return ngettext("card %(names)s of %(count)s", "cards %(names)s of %(count)s", len(stay.lanes)) % {
        "names": names,
        "count": len(node.indexes),
    }
