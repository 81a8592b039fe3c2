"""Heading, badge and first sentence of an order page, by phase: what holds, what comes, who acts next."""

from collections.abc import Callable
from dataclasses import dataclass

from django.utils.translation import gettext as _
from django.utils.translation import ngettext, pgettext

from billing.lifecycle import PaymentFlag, PaymentStatus
from billing.selectors import PaymentState
from core.formats import instant_text, token_text
from fleet.models import Lease
from fleet.services.deadlines import reversed_until
from orders.models import Order
from shop.pages.phase import Phase


@dataclass(frozen=True)
class Situation:
    """What the sentences are made from."""

    order: Order
    payment: PaymentState | None
    lease: Lease | None

    @property
    def cards(self) -> int:
        return self.order.quote.lots * self.order.quote.lot.cards

    @property
    def accelerator(self) -> str:
        return self.order.quote.lot.accelerator.name

    @property
    def hold_end(self) -> str:
        return instant_text(self.order.hold_expires_at, style="sentence")


@dataclass(frozen=True)
class Words:
    """`tone` and `icon` dress the badge."""

    heading: str
    badge: str
    tone: str
    icon: str
    lede: str


def words_for(phase: Phase, situation: Situation) -> Words:
    """The words of a phase in the active language."""
    return _MAKERS[phase](situation)


def _amount(situation: Situation) -> dict[str, str]:
    payment = situation.payment
    if payment is None:
        return {"amount": "", "asset": "", "due": "", "received": ""}
    return {
        "amount": token_text(payment.amount),
        "due": token_text(payment.still_due),
        "received": token_text(payment.received),
        "asset": payment.asset,
    }


def _cards_held(situation: Situation) -> str:
    return ngettext(
        "%(count)d %(name)s card is off sale for you until %(time)s.",
        "%(count)d %(name)s cards are off sale for you until %(time)s.",
        situation.cards,
    ) % {"count": situation.cards, "name": situation.accelerator, "time": situation.hold_end}


def _paying(situation: Situation) -> Words:
    payment = situation.payment
    if payment is not None and PaymentFlag.DROPPED in payment.flags:
        # To ask for the whole sum in large letters would have it sent twice; a notice says what happened.
        return Words(
            heading=_("Your transfer is out of the chain"),
            badge=_("Waiting for its return"),
            tone="warn",
            icon="clock",
            lede=_cards_held(situation),
        )
    return Words(
        heading=_("Pay %(amount)s %(asset)s") % _amount(situation),
        badge=_("Waiting for your transfer"),
        tone="info",
        icon="clock",
        lede=_cards_held(situation),
    )


def _partial(situation: Situation) -> Words:
    return Words(
        heading=_("%(due)s %(asset)s are still missing") % _amount(situation),
        badge=_("Paid in part"),
        tone="warn",
        icon="warn",
        lede=_("What you sent has arrived and is yours. The cards stay held until %(time)s.")
        % {"time": situation.hold_end},
    )


def _seen(situation: Situation) -> Words:
    return Words(
        heading=_("Your transfer is seen"),
        badge=_("Seen, not final"),
        tone="info",
        icon="half",
        lede=_("%(received)s %(asset)s are in a block that can still change. Nothing is left for you to do.")
        % _amount(situation),
    )


def _final(situation: Situation) -> Words:
    return Words(
        heading=_("Payment final"),
        badge=pgettext("payment", "Final"),
        tone="good",
        icon="check",
        lede=_("%(received)s %(asset)s have arrived for good. Your cards are prepared next.")
        % _amount(situation),
    )


def _checking(situation: Situation) -> Words:
    return Words(
        heading=_("The time to pay is up"),
        badge=_("Time is up"),
        tone="warn",
        icon="clock",
        lede=_(
            "We still look for money that was sent by %(time)s. If your transfer is on its way, "
            "it will appear here."
        )
        % {"time": situation.hold_end},
    )


def _preparing(situation: Situation) -> Words:
    ready_by = instant_text(situation.lease.ready_by, style="sentence") if situation.lease else ""
    return Words(
        heading=_("Your cards are being prepared"),
        badge=pgettext("order", "Preparing"),
        tone="info",
        icon="half",
        lede=_(
            "The payment is final. Access works by %(time)s at the latest; otherwise a full refund is due."
        )
        % {"time": ready_by},
    )


def _late(situation: Situation) -> Words:
    promised = instant_text(situation.lease.ready_by, style="sentence") if situation.lease else ""
    return Words(
        heading=_("Your cards are not ready yet"),
        badge=pgettext("order", "Late"),
        tone="warn",
        icon="clock",
        lede=_(
            "They were promised for %(time)s. We go on preparing them; you may wait or take all of it back."
        )
        % {"time": promised},
    )


def _suspended(situation: Situation) -> Words:
    until = reversed_until(situation.lease) if situation.lease else None
    kept_until = instant_text(until, style="sentence") if until else ""
    return Words(
        heading=_("Your access is paused"),
        badge=_("Payment reversed"),
        tone="bad",
        icon="refund",
        lede=_(
            "The network took back the block with your transfer. It usually returns by itself. "
            "Your cards and data are kept until %(time)s. Do not pay twice."
        )
        % {"time": kept_until},
    )


def _active(situation: Situation) -> Words:
    lease = situation.lease
    ends_at = lease.ends_at if lease else None
    if lease is not None and lease.status == "degraded":
        return _degraded(
            moving=lease.moving_at is not None,
            ends_at=instant_text(ends_at, style="sentence") if ends_at else "",
        )
    return Words(
        heading=_("Access ready, term started"),
        badge=pgettext("order", "Active"),
        tone="good",
        icon="check",
        lede=_("Your access works until %(time)s.")
        % {"time": instant_text(ends_at, style="sentence") if ends_at else ""},
    )


def _degraded(*, moving: bool, ends_at: str) -> Words:
    if moving:
        return Words(
            heading=_("Your lease moves to other cards"),
            badge=pgettext("lease", "Moving"),
            tone="warn",
            icon="clock",
            lede=_("Access opens again when the new machine has passed its test. The term ends on %(time)s.")
            % {"time": ends_at},
        )
    return Words(
        heading=_("Access open, a card has a problem"),
        badge=_("Card missing"),
        tone="warn",
        icon="warn",
        lede=_("Your access works until %(time)s. What is missing is credited.") % {"time": ends_at},
    )


def _ending(situation: Situation) -> Words:
    lease = situation.lease
    # Ended early it closed before the end that the term had.
    moments = [moment for moment in (lease.ends_at, lease.ending_at) if moment] if lease else []
    ends_at = min(moments, default=None)
    return Words(
        heading=_("The term has ended"),
        badge=_("Being wiped"),
        tone="info",
        icon="wipe",
        lede=_("Access ended on %(time)s. The disks are being wiped; we confirm it here.")
        % {"time": instant_text(ends_at, style="sentence") if ends_at else ""},
    )


def _ended(situation: Situation) -> Words:
    wiped_at = situation.lease.wiped_at if situation.lease else None
    lede = (
        _("Wiped on %(time)s. Nothing of yours remains on these machines.")
        % {"time": instant_text(wiped_at, style="sentence")}
        if wiped_at
        else _("Access is closed.")
    )
    return Words(
        heading=_("The term has ended"), badge=pgettext("order", "Ended"), tone="", icon="ring", lede=lede
    )


def _expired(situation: Situation) -> Words:
    payment = situation.payment
    if payment is not None and payment.received:
        lede = _(
            "%(received)s %(asset)s arrived and are yours. A person decides with you what happens with them."
        ) % _amount(situation)
    else:
        lede = _("Nothing was charged. If your transfer is on its way, it will appear here.")
    return Words(
        heading=_("The hold ended on %(time)s") % {"time": situation.hold_end},
        badge=pgettext("order", "Expired"),
        tone="",
        icon="ring",
        lede=lede,
    )


def _no_capacity(situation: Situation) -> Words:
    return Words(
        heading=_("Your money arrived, the cards are gone"),
        badge=_("Your choice is needed"),
        tone="warn",
        icon="warn",
        lede=_(
            "%(received)s %(asset)s arrived and are yours: another lot at the same price, or all of it back. "
            "What is possible now is below."
        )
        % _amount(situation),
    )


def _cancelled(situation: Situation) -> Words:
    payment = situation.payment
    if payment is not None and payment.received:
        lede = _("%(received)s %(asset)s are due back to you. Each step is shown on this page.") % _amount(
            situation
        )
    else:
        lede = _("Nothing was charged and the cards are on sale again.")
    return Words(
        heading=_("Order cancelled"), badge=pgettext("order", "Cancelled"), tone="", icon="ring", lede=lede
    )


def _failed(situation: Situation) -> Words:
    payment = situation.payment
    if payment is not None and payment.status == PaymentStatus.REVERSED:
        return Words(
            heading=_("The order is closed"),
            badge=_("Payment reversed"),
            tone="bad",
            icon="refund",
            lede=_("Your payment was taken back and did not return in time. The cards are on sale again."),
        )
    return Words(
        heading=_("The order could not be delivered"),
        badge=pgettext("order", "Failed"),
        tone="bad",
        icon="stop",
        lede=_("A full refund is due to you: %(received)s %(asset)s. Each step is shown on this page.")
        % _amount(situation),
    )


_MAKERS: dict[Phase, Callable[[Situation], Words]] = {
    Phase.PAYING: _paying,
    Phase.PARTIAL: _partial,
    Phase.SEEN: _seen,
    Phase.FINAL: _final,
    Phase.CHECKING: _checking,
    Phase.PREPARING: _preparing,
    Phase.LATE: _late,
    Phase.SUSPENDED: _suspended,
    Phase.ACTIVE: _active,
    Phase.ENDING: _ending,
    Phase.ENDED: _ended,
    Phase.EXPIRED: _expired,
    Phase.NO_CAPACITY: _no_capacity,
    Phase.CANCELLED: _cancelled,
    Phase.FAILED: _failed,
}


def live_sentence(phase: Phase, payment: PaymentState) -> str:
    """The one sentence that says what the chain shows now."""
    if phase == Phase.PARTIAL:
        return _("%(received)s %(asset)s have arrived.") % {
            "received": token_text(payment.received),
            "asset": payment.asset,
        }
    if phase == Phase.SEEN:
        return _("Your transfer is in a block. It is final as soon as that block can no longer change.")
    if phase == Phase.CHECKING:
        return _("The time is up. We are still checking the blocks up to that moment.")
    if PaymentFlag.DROPPED in payment.flags and not payment.received:
        return _("Your transfer is in no block at this moment.")
    if payment.received:
        return _("%(received)s %(asset)s have arrived.") % {
            "received": token_text(payment.received),
            "asset": payment.asset,
        }
    return _("No transfer seen yet.")
