"""How much of the time that could be sold was or is sold, by accelerator and by term.

Sold are the hours of a card in the term of a paid order: from the opening of access, or from the planned start of a
term ahead, to its end, whether that came early or late. Holds, preparation and wipes are not sold. Sellable are all
hours of the cards in the fleet, without those in which a card was unfit and not sold.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from decimal import Decimal
from typing import NamedTuple

from django.db.backends.postgresql.psycopg_any import DateTimeTZRange
from django.db.models import F, QuerySet
from django.db.models.functions import Coalesce

from core import clock
from fleet.lifecycle import ReservationStatus
from fleet.models import Card, Hold, Node, Reservation
from fleet.periods import DAY_SECONDS, term_begins
from fleet.spans import Span, common, common_of, length, merged
from fleet.unfit import Records, read_records

HOUR = timedelta(hours=1)


@dataclass
class Use:
    """Of the cards of one accelerator: time that could be sold, and time that was, by days of the term."""

    cards: int = 0
    sellable: timedelta = timedelta()
    sold: dict[int, timedelta] = field(default_factory=lambda: defaultdict(timedelta))

    @property
    def sold_in_all(self) -> timedelta:
        return sum(self.sold.values(), timedelta())

    def share(self, days: int | None = None) -> Decimal | None:
        """Of the time that could be sold, in terms of so many days or in all; None where none could be."""
        sold = self.sold_in_all if days is None else self.sold.get(days, timedelta())
        if not self.sellable:
            return None
        return Decimal(sold // timedelta(microseconds=1)) / (self.sellable // timedelta(microseconds=1))

    def add(self, other: "Use") -> None:
        self.cards += other.cards
        self.sellable += other.sellable
        for days, time in other.sold.items():
            self.sold[days] += time


@dataclass(frozen=True)
class Sold:
    """A card in the term of an order."""

    card_id: int
    days: int
    span: Span


def utilisation(windows: Sequence[Span]) -> list[dict[int, Use]]:
    """For each of these half-open times: accelerator key -> use. Eight queries, however many windows and cards."""
    whole = (min(begins for begins, _ends in windows), max(ends for _begins, ends in windows))
    nodes = list(Node.objects.order_by("pk"))
    cards = list(Card.objects.order_by("pk"))
    records = read_records(nodes=nodes, cards=cards, begins=whole[0], ends=whole[1])
    sold = sold_times(whole)
    return [_use(window, nodes, cards, records, sold) for window in windows]


def sold_times(window: Span) -> list[Sold]:
    """Every card in the term of a paid order in this time. Three queries, of plain values: there are many of them."""
    now = clock.now()
    rows = [*_of_leases(window), *_of_extensions(window)]
    extensions = _joined({lease.pk for _card, _here, lease in rows})
    terms: dict[int, list[tuple[int, Span]]] = {}
    found = []
    for card_id, here, lease in rows:
        if lease.pk not in terms:
            terms[lease.pk] = _terms(lease, extensions.get(lease.pk, ()), now)
        for days, term in terms[lease.pk]:
            span = common(here, term)
            if span is not None and (span := common(span, window)) is not None:
                found.append(Sold(card_id, days, span))
    return found


class _Lease(NamedTuple):
    """What its term is made of."""

    pk: int
    ready_at: datetime | None
    starts_at: datetime | None
    term_seconds: int
    ending_at: datetime | None
    failed_at: datetime | None


_Row = tuple[int, Span, _Lease]


def _of_leases(window: Span) -> list[_Row]:
    """Cards of leases, also of those that are over."""
    rows = Reservation.objects.filter(hold__lease__isnull=False).exclude(status=ReservationStatus.HELD)
    return _rows(rows, window, "hold__lease", "hold")


def _of_extensions(window: Span) -> list[_Row]:
    """Cards of extensions that are paid and not part of the term yet."""
    rows = Reservation.objects.filter(hold__extends__isnull=False, status=ReservationStatus.COMMITTED)
    return _rows(rows, window, "hold__extends", "hold__extends__hold")


def _rows(rows: QuerySet[Reservation], window: Span, lease: str, hold: str) -> list[_Row]:
    values = (
        rows.filter(period__overlap=DateTimeTZRange(*window, "[)"))
        .order_by("pk")
        .values_list(
            "card_id",
            "period__startswith",
            Coalesce("left_at", F("period__endswith")),
            f"{lease}__pk",
            f"{lease}__ready_at",
            f"{hold}__starts_at",
            f"{hold}__term_seconds",
            f"{lease}__ending_at",
            f"{lease}__failed_at",
        )
    )
    return [(card_id, (begins, ends), _Lease(*rest)) for card_id, begins, ends, *rest in values]


def _joined(lease_ids: Iterable[int]) -> Mapping[int, list[tuple[datetime, int]]]:
    """Begin and seconds of paid extensions that were not let go, by their lease."""
    found: dict[int, list[tuple[datetime, int]]] = defaultdict(list)
    rows = Hold.objects.filter(
        extends_id__in=lease_ids, committed_at__isnull=False, released_at=None, starts_at__isnull=False
    )
    for lease_id, begins, seconds in rows.order_by("pk").values_list(
        "extends_id", "starts_at", "term_seconds"
    ):
        if begins is not None:
            found[lease_id].append((begins, seconds))
    return found


def _terms(
    lease: _Lease, extensions: Iterable[tuple[datetime, int]], now: datetime
) -> list[tuple[int, Span]]:
    """Days and time of the lease's own term and of each extension, as far as it is or will be delivered."""
    over = [moment for moment in (lease.ending_at, lease.failed_at) if moment is not None]
    begins = term_begins(ready_at=lease.ready_at, starts_at=lease.starts_at, is_over=bool(over), now=now)
    if begins is None:
        return []
    terms = []
    for first, seconds in [(begins, lease.term_seconds), *extensions]:
        ends = min([first + timedelta(seconds=seconds), *over])
        if first < ends:
            terms.append((seconds // DAY_SECONDS, (first, ends)))
    return terms


def _use(
    window: Span, nodes: Sequence[Node], cards: Sequence[Card], records: Records, sold: Sequence[Sold]
) -> dict[int, Use]:
    accelerator = {node.pk: node.accelerator_id for node in nodes}
    by_card: dict[int, list[Sold]] = defaultdict(list)
    for time in sold:
        by_card[time.card_id].append(time)
    unfit = _unfit_by_card(records, cards, window)
    found: dict[int, Use] = defaultdict(Use)
    for card in cards:
        use = found[accelerator[card.node_id]]
        use.cards += 1
        here = common(window, (records.added_at.get(card.node_id, window[0]), window[1]))
        times = common_of((time.span for time in by_card[card.pk]), window)
        for time in by_card[card.pk]:
            span = common(time.span, window)
            if span is not None:
                use.sold[time.days] += span[1] - span[0]
        if here is not None:
            use.sellable += _sellable(here, unfit.get(card.pk, ()), times)
    return dict(found)


def _sellable(here: Span, unfit: Iterable[Span], sold: Sequence[Span]) -> timedelta:
    """What was sold could be sold, whatever happened to the card in it."""
    lost = merged(common_of(unfit, here))
    kept = sum((length(common_of(merged(sold), span)) for span in lost), timedelta())
    return here[1] - here[0] - length(lost) + kept


def _unfit_by_card(records: Records, cards: Sequence[Card], window: Span) -> Mapping[int, list[Span]]:
    of_node: dict[int, list[int]] = defaultdict(list)
    for card in cards:
        of_node[card.node_id].append(card.pk)
    found: dict[int, list[Span]] = defaultdict(list)
    for row in records.unfit:
        span = (row.begins, row.ends or window[1])
        for card_id in of_node[row.node_id] if row.card_id is None else (row.card_id,):
            found[card_id].append(span)
    return found
