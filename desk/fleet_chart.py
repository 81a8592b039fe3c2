"""The picture of the fleet: nodes one below the other, a lane for each card, time from left to right.

Geometry is in per cent across and in CSS pixels down, so that the picture narrows and its letters do not.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils.translation import gettext as _

from core import units
from core.formats import instant_text
from desk.fleet_words import STATES, cards_text, days_text, order_text, time_text
from fleet.occupancy import NodeRow, Stay, What
from fleet.spans import Span, common

DAY = timedelta(days=1)
# Lines for every third day as long as their dates fit beside each other, then for every week.
CLOSE_STEP, CLOSE_UP_TO, FAR_STEP = 3, timedelta(weeks=4), 7
TOP, GAP, BELOW = 30, 14, 40
LEAST_BAR, LANE = 20, 8
# Names stand in a column of their own, in two lines.
NAMES, LINE = 22, 13
# At its least width the picture has so many pixels for one per cent (46rem); a capital takes so many at most, and a
# letter of a name.
PIXELS, SIGN, LETTER, PADDING = 7.36, 7.6, 6.4, 12
# Lower than this no letters fit in.
LEAST_LABEL = 14
SHORT_REF = 10
# What is left out of the name of a card: its maker is known.
LEFT_OUT = ("NVIDIA ", "AMD Instinct ", "GeForce ")


@dataclass(frozen=True)
class Tick:
    x: str
    label: str


@dataclass(frozen=True)
class Bar:
    """`words` say all that the bar shows; `label` is what fits into it; `url` where staff may open what it is."""

    css: str
    x: str
    width: str
    y: float
    height: float
    words: str
    label: str
    label_css: str
    label_y: float
    url: str


@dataclass(frozen=True)
class Row:
    name: str
    about: str
    name_y: float
    about_y: float
    line_y: float
    bars: tuple[Bar, ...]


@dataclass(frozen=True)
class Chart:
    """`now_x` is empty where now lies outside; `now_side` is the class that keeps its words inside."""

    title: str
    height: float
    bottom: float
    dates_y: float
    now_y: float
    ticks: tuple[Tick, ...]
    rows: tuple[Row, ...]
    now_x: str
    now_side: str
    now_label: str


def chart(nodes: Sequence[NodeRow], *, window: Span, now: datetime, links: Mapping[Stay, str]) -> Chart:
    """Of these nodes in their order. What lies outside the window is cut at its edge."""
    rows = []
    y: float = TOP
    for node in nodes:
        height = max(LEAST_BAR, 2 * LINE, LANE * len(node.indexes))
        rows.append(_row(node, y, height, window, now, links))
        y += height + GAP
    here = common(window, (now, now + timedelta(microseconds=1)))
    share = (now - window[0]) / (window[1] - window[0])
    return Chart(
        title=_("Occupancy, %(days)s") % {"days": days_text(window)},
        height=y + BELOW,
        bottom=y,
        dates_y=y + 34,
        now_y=y + 13,
        ticks=tuple(_ticks(window)),
        rows=tuple(rows),
        now_x=_percent(now, window) if here else "",
        now_side="end" if share > 0.7 else "",
        now_label=_("now, %(time)s") % {"time": instant_text(now, style="log")},
    )


def _row(
    node: NodeRow, y: float, height: float, window: Span, now: datetime, links: Mapping[Stay, str]
) -> Row:
    bars: list[Bar] = []
    # What is off sale for as long as nobody knows lies behind what is booked; what was found so far lies before it.
    for is_front in (False, True):
        for stay in node.stays:
            for part in _parts(stay, window, now, is_front=is_front):
                bars += _bars(node, stay, part, (y, height), window, links)
    return Row(
        name=_cut(node.node.name, ""),
        about=_cut(_short(node.node.accelerator.name), f" × {len(node.indexes)}"),
        name_y=y + LINE - 2,
        about_y=y + 2 * LINE - 1,
        line_y=y + height + GAP / 2,
        bars=tuple(bars),
    )


def _parts(stay: Stay, window: Span, now: datetime, *, is_front: bool) -> list[Span]:
    whole = (stay.begins, stay.ends or window[1])
    if stay.what == What.OUT_OF_SERVICE:
        pieces = [] if is_front else [whole]
    elif stay.what == What.UNHEALTHY:
        split = min(max(now, whole[0]), whole[1])
        pieces = [(whole[0], split)] if is_front else [(split, whole[1])]
    else:
        pieces = [whole] if is_front else []
    return [found for piece in pieces if (found := common(piece, window)) is not None]


def _bars(
    node: NodeRow, stay: Stay, part: Span, place: tuple[float, float], window: Span, links: Mapping[Stay, str]
) -> Iterator[Bar]:
    """One for each run of lanes side by side; the widest of them is labelled."""
    top, height = place
    lane = height / max(1, len(node.indexes))
    runs = list(_runs(stay.lanes))
    labelled = max(runs, key=lambda run: run[1])
    words = ". ".join(
        text
        for text in (
            order_text(stay),
            _("%(state)s: %(time)s") % {"state": STATES[stay.what].word, "time": time_text(stay)},
            f"{node.node.name}, {cards_text(node, stay)}",
        )
        if text
    )
    share = (part[1] - part[0]) / (window[1] - window[0]) * (100 - NAMES)
    for run in runs:
        bar_height = lane * run[1] - (1 if len(node.indexes) > 1 else 0)
        y = top + lane * run[0]
        yield Bar(
            css=STATES[stay.what].css,
            x=_percent(part[0], window),
            width=f"{share:.3f}%",
            y=round(y, 2),
            height=round(bar_height, 2),
            words=words,
            label=_label(stay, share) if run == labelled and bar_height >= LEAST_LABEL else "",
            label_css=STATES[stay.what].label_css,
            label_y=round(y + bar_height / 2 + 4, 2),
            url=links.get(stay, ""),
        )


def _runs(lanes: Iterable[int]) -> Iterator[tuple[int, int]]:
    """First lane and number of lanes of each run without a gap."""
    first: int | None = None
    count = 0
    for lane in sorted(lanes):
        if first is not None and lane == first + count:
            count += 1
            continue
        if first is not None:
            yield first, count
        first, count = lane, 1
    if first is not None:
        yield first, count


def _label(stay: Stay, share: float) -> str:
    """The order where it fits, else its beginning, else its lease, else nothing: title and table have it in full."""
    room = (share * PIXELS - PADDING) / SIGN
    texts = (
        (stay.ref, f"{stay.ref[:SHORT_REF]}…", stay.username) if stay.ref else (str(STATES[stay.what].word),)
    )
    return next((text for text in texts if len(text) <= room), "")


def _short(name: str) -> str:
    for words in LEFT_OUT:
        name = name.replace(words, "")
    return name


def _cut(text: str, end: str) -> str:
    """As much as the column of names has room for; the table has it in full."""
    room = int((NAMES * PIXELS - PADDING) / LETTER) - len(end)
    return (text if len(text) <= room else f"{text[: room - 1]}…") + end


def _ticks(window: Span) -> Iterator[Tick]:
    step = CLOSE_STEP if window[1] - window[0] <= CLOSE_UP_TO else FAR_STEP
    day = window[0]
    while day < window[1]:
        yield Tick(x=_percent(day, window), label=units.day_short(day.date()))
        day += step * DAY


def _percent(moment: datetime, window: Span) -> str:
    """Across, to the right of the names."""
    share = (moment - window[0]) / (window[1] - window[0])
    return f"{NAMES + share * (100 - NAMES):.3f}%"
