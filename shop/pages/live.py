"""The part of an order's page that looks for news every few seconds, and the marks by which nothing is drawn twice."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256

from django.conf import settings
from django.utils.translation import get_language, pgettext
from django.utils.translation import gettext as _

from billing.card_selectors import CardState, card_of_rows
from billing.lifecycle import PaymentStatus
from billing.order_rows import OrderRows
from billing.selectors import PaymentState, state_of_view
from core import clock
from core.version import VERSION
from fleet.lifecycle import OPEN_STATES
from fleet.models import Lease
from orders.models import Order
from shop.pages.card_words import card_sentence
from shop.pages.order_extension import steps_of_extension
from shop.pages.phase import MOVING, SLOW, Phase, phase_of
from shop.pages.wording import live_sentence

FAST_SECONDS, SLOW_SECONDS = 5, 30


@dataclass(frozen=True)
class Step:
    """One step of the progress bar; `state` is done, current or ahead."""

    name: str
    title: str
    note: str
    at: datetime | None
    state: str


@dataclass(frozen=True)
class LivePart:
    """`mark` changes when more than this part must be drawn anew, `etag` when this part looks otherwise.
    `poll_seconds` 0: nothing will change by itself."""

    order: Order
    payment: PaymentState | None
    card: CardState | None
    lease: Lease | None
    phase: Phase
    mark: str
    poll_seconds: int

    @property
    def is_watched(self) -> bool:
        """Whether the newest block is worth a look."""
        return self.payment is not None and self.poll_seconds == FAST_SECONDS

    @property
    def sentence(self) -> str:
        """What is known of the money now."""
        if self.payment is None:
            return ""
        return card_sentence(live_sentence(self.phase, self.payment), self.phase, self.card)

    @property
    def steps(self) -> list[Step]:
        return _steps(self.order, self.payment, self.lease, self.phase)

    @property
    def etag(self) -> str:
        """Of all that is drawn here, in this language, by this version of the code."""
        shown: list[object] = [VERSION, get_language(), self.mark]
        if self.payment is not None and self.is_watched:
            # An instant of today is written without its date.
            shown += [self.payment.last_block, self.payment.last_block_at, clock.now().date()]
        return f'W/"{_digest(shown)}"'


def live_part(rows: OrderRows, lease: Lease | None) -> LivePart:
    """From rows that were read before. No query."""
    order = rows.order
    payment = state_of_view(rows.view, rows.chain) if rows.view is not None else None
    card = card_of_rows(order, rows.view, rows.sessions, rows.facts) if rows.view is not None else None
    phase = phase_of(order, payment, lease)
    return LivePart(
        order=order,
        payment=payment,
        card=card,
        lease=lease,
        phase=phase,
        mark=_mark(rows, payment, card, lease, phase),
        poll_seconds=_poll_seconds(phase),
    )


def _mark(
    rows: OrderRows,
    payment: PaymentState | None,
    card: CardState | None,
    lease: Lease | None,
    phase: Phase,
) -> str:
    """Of what changes the page as a whole. The newest block is not in it: the live part shows that."""
    order, moment = rows.order, clock.now()
    parts: list[object] = [
        phase,
        rows.newest_event,
        rows.extension_states,
        order.status,
        order.offered_until is not None and moment < order.offered_until,
        card.mark if card is not None else "",
    ]
    if lease is not None:
        parts += [lease.status, lease.moving_at, lease.ends_at, _may_be_extended(lease, moment)]
    if payment is not None:
        parts += [payment.status, payment.flags, payment.received_units, payment.settled]
        parts.append(payment.chain_silent_since is None)
    return _digest(parts)


def _may_be_extended(lease: Lease, moment: datetime) -> bool:
    """As far as only time decides it (fleet.extensions.require_extendable)."""
    lead = timedelta(seconds=settings.EXTEND_LEAD_SECONDS)
    return lease.status in OPEN_STATES and lease.ends_at is not None and moment <= lease.ends_at - lead


def _digest(parts: list[object]) -> str:
    return sha256("|".join(str(part) for part in parts).encode()).hexdigest()[:16]


def _poll_seconds(phase: Phase) -> int:
    if phase in MOVING:
        return FAST_SECONDS
    return SLOW_SECONDS if phase in SLOW else 0


def _final_at(payment: PaymentState | None) -> datetime | None:
    """Money that the network took back is no longer final, whatever the row remembers."""
    if payment is None or payment.status == PaymentStatus.REVERSED:
        return None
    return payment.settled_at


def _steps(order: Order, payment: PaymentState | None, lease: Lease | None, phase: Phase) -> list[Step]:
    """The way of an order that goes well. What ended otherwise shows the steps that it reached."""
    ready_at = lease.ready_at if lease else None
    preparing_at = (lease.preparing_at or lease.reserved_at) if lease else None
    on_chain = payment is None or payment.takes_crypto
    unseen = _("no transfer seen") if on_chain else _("no payment yet")
    not_final = _("block can no longer change") if on_chain else _("confirmed by your bank")
    reached = [
        ("ordered", pgettext("step", "Ordered"), "", order.placed_at),
        ("seen", pgettext("step", "Seen"), unseen, payment.first_seen_at if payment else None),
        ("final", pgettext("step", "Final"), not_final, _final_at(payment)),
    ]
    if order.extends_id is None:
        reached += [
            ("preparing", pgettext("step", "Preparing"), _("your cards are tested"), preparing_at),
            ("access", pgettext("step", "Access"), _("the term starts"), ready_at),
            ("end", pgettext("step", "End"), _("disks are wiped"), lease.wiped_at if lease else None),
        ]
    else:
        reached += steps_of_extension(order)
    done = [row[3] is not None for row in reached]
    if order.extends_id is None:
        # Preparing is done when access is there; before that it is what happens now.
        done[3] = ready_at is not None
    goes_on = phase in MOVING or phase in (Phase.ACTIVE, Phase.ENDING, Phase.SUSPENDED)
    current = done.index(False) if goes_on and False in done else -1
    return [
        Step(
            name=name,
            title=title,
            note=note,
            at=at if done[number] else None,
            state="done" if done[number] else "current" if number == current else "ahead",
        )
        for number, (name, title, note, at) in enumerate(reached)
    ]
