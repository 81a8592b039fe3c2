"""Everything that the page of an order shows, in one frozen value."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from hashlib import sha256

from django.utils.translation import gettext as _

from billing import selectors as billing
from billing.card_selectors import CardState, card_state
from billing.issued import Issued, documents_of
from billing.lifecycle import PaymentStatus
from billing.selectors import PaymentState, TransferSeen
from billing.services.demo_pay import demo_pay_offered
from core import clock
from fleet import selectors as fleet
from fleet.models import Lease
from fleet.selectors import Access
from orders.lifecycle import BEFORE_START
from orders.models import Order
from shop.pages.card_words import card_sentence, with_card
from shop.pages.money_words import with_money
from shop.pages.notices import Notice, notices_for
from shop.pages.order_access import (
    ExportPart,
    MembersPart,
    export_part,
    members_part,
    ssh_command,
    ssh_config,
    wipe_method,
)
from shop.pages.order_degraded import DegradedPart, degraded_part
from shop.pages.order_extension import ExtensionPart, extension_part, steps_of_extension, words_of_order
from shop.pages.order_money import MoneyPart, money_part
from shop.pages.phase import MOVING, OPEN_TO_MONEY, SLOW, Phase, phase_of
from shop.pages.settling import final_when
from shop.pages.timeline import Entry, timeline_of
from shop.pages.wording import Situation, Words, live_sentence, words_for
from shop.qr import qr_path

FAST_SECONDS, SLOW_SECONDS = 5, 30
# Money may be on its way that the buyer can point us to.
MAY_HAVE_SENT = OPEN_TO_MONEY | {Phase.CHECKING, Phase.EXPIRED, Phase.CANCELLED}


@dataclass(frozen=True)
class Step:
    """One step of the progress bar; `state` is done, current or ahead."""

    name: str
    title: str
    note: str
    at: datetime | None
    state: str


@dataclass(frozen=True)
class OrderPage:
    """`mark` changes when more than the live part must be drawn anew; `poll_seconds` 0: it stays."""

    order: Order
    payment: PaymentState | None
    card: CardState | None
    lease: Lease | None
    access: Access | None
    phase: Phase
    words: Words
    sentence: str
    steps: list[Step]
    notices: list[Notice]
    transfers: tuple[TransferSeen, ...]
    timeline: list[Entry]
    members: MembersPart | None
    export: ExportPart | None
    degraded: DegradedPart | None
    extension: ExtensionPart | None
    money: MoneyPart | None
    documents: tuple[Issued, ...]
    seconds_left: int
    term_left: timedelta
    mark: str
    poll_seconds: int
    qr: str
    qr_size: int
    asks_for_money: bool
    may_claim: bool
    may_change: bool
    may_cancel: bool
    demo_pay: bool

    @property
    def ssh_command(self) -> str:
        """What is typed to log in."""
        return ssh_command(self.access) if self.access else ""

    @property
    def ssh_config(self) -> str:
        """A block for ~/.ssh/config; the host key is pinned by the known_hosts line beside it."""
        return ssh_config(self.access, self.members.members) if self.access and self.members else ""

    @property
    def final_when(self) -> str:
        """When a transfer counts for good on the chosen network."""
        rule = self.payment.settle if self.payment else None
        return final_when(rule) if rule is not None else ""

    @cached_property
    def uri_code(self) -> tuple[str, int]:
        """The payment link as a QR code, beside the bare address (C37)."""
        return qr_path(self.payment.uri) if self.payment and self.payment.uri else ("", 0)

    @property
    def wipe_method(self) -> str:
        """How the disks were wiped, in words."""
        return wipe_method(self.lease)


def order_page(order: Order) -> OrderPage:
    """Compose the page. Two dozen queries at most, drawn in full, whatever the order's state."""
    payment = billing.payment_state(order)
    card = card_state(order)
    lease = fleet.lease_of_order(order.public_id)
    phase = phase_of(order, payment, lease)
    access = fleet.access_of_order(order.public_id) if phase == Phase.ACTIVE else None
    asks = phase in OPEN_TO_MONEY
    path, side = qr_path(payment.address) if payment is not None and asks and payment.address else ("", 0)
    moment = clock.now()
    ends_at = lease.ends_at if lease else None
    money = money_part(order, payment)
    extension = extension_part(order, lease)
    words = with_card(
        words_of_order(words_for(phase, Situation(order, payment, lease)), order, phase), phase, card
    )
    return OrderPage(
        order=order,
        payment=payment,
        card=card,
        lease=lease,
        access=access,
        phase=phase,
        # The words of an extension that failed say what holds of the lease itself.
        words=words
        if order.extends_id and phase == Phase.FAILED
        else with_money(words, phase, payment, money),
        sentence=card_sentence(live_sentence(phase, payment), phase, card) if payment else "",
        steps=_steps(order, payment, lease, phase),
        notices=notices_for(payment, phase, money),
        transfers=billing.transfers_seen(order) if payment and _has_money(payment) else (),
        timeline=timeline_of(order.public_id),
        members=members_part(lease, moment),
        export=export_part(order, lease, moment),
        degraded=degraded_part(lease),
        extension=extension,
        money=money,
        documents=documents_of(order) if order.paid_at else (),
        seconds_left=max(0, int((order.hold_expires_at - moment).total_seconds())),
        term_left=max(ends_at - moment, timedelta(0)) if ends_at else timedelta(0),
        mark=_mark(
            order,
            payment,
            lease,
            phase,
            "|".join(part.mark if part else "" for part in (money, card, extension)),
        ),
        poll_seconds=_poll_seconds(phase),
        qr=path,
        qr_size=side,
        asks_for_money=asks,
        may_claim=phase in MAY_HAVE_SENT and payment is not None and _may_claim(payment),
        may_change=asks and payment is not None and not _has_money(payment) and order.extends_id is None,
        # A late delivery has a choice of its own.
        may_cancel=order.status in BEFORE_START and phase not in (Phase.SEEN, Phase.FINAL, Phase.LATE),
        demo_pay=asks and payment is not None and demo_pay_offered(payment.chain_id),
    )


def _may_claim(payment: PaymentState) -> bool:
    """A transfer can be pointed to where there is an address and the sum is not there yet."""
    return payment.takes_crypto and payment.status != PaymentStatus.SETTLED and payment.still_due > 0


def _has_money(payment: PaymentState) -> bool:
    return bool(payment.received) or bool(payment.flags)


def _mark(order: Order, payment: PaymentState | None, lease: Lease | None, phase: Phase, money: str) -> str:
    """Of what changes the page as a whole. The newest block is not in it: the live part shows that."""
    parts: list[object] = [
        phase,
        order.status,
        lease.status if lease else "",
        lease and lease.moving_at,
        money,
    ]
    if payment is not None:
        parts += [payment.status, payment.flags, payment.received_units, payment.settled]
        parts.append(payment.chain_silent_since is None)
    return sha256("|".join(str(part) for part in parts).encode()).hexdigest()[:16]


def _poll_seconds(phase: Phase) -> int:
    if phase in MOVING:
        return FAST_SECONDS
    return SLOW_SECONDS if phase in SLOW else 0


def _steps(order: Order, payment: PaymentState | None, lease: Lease | None, phase: Phase) -> list[Step]:
    """The way of an order that goes well. What ended otherwise shows the steps that it reached."""
    ready_at = lease.ready_at if lease else None
    preparing_at = (lease.preparing_at or lease.reserved_at) if lease else None
    on_chain = payment is None or payment.takes_crypto
    unseen = _("no transfer seen") if on_chain else _("no payment yet")
    not_final = _("block can no longer change") if on_chain else _("confirmed by your bank")
    reached = [
        ("ordered", _("Ordered"), "", order.placed_at),
        ("seen", _("Seen"), unseen, payment.first_seen_at if payment else None),
        ("final", _("Final"), not_final, payment.settled_at if payment else None),
    ]
    if order.extends_id is None:
        reached += [
            ("preparing", _("Preparing"), _("your cards are tested"), preparing_at),
            ("access", _("Access"), _("the term starts"), ready_at),
            ("end", _("End"), _("disks are wiped"), lease.wiped_at if lease else None),
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
