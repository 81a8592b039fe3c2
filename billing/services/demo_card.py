"""Demo only: what a tester does on the page of the test card. It writes the processor's record and calls nobody."""

from dataclasses import dataclass
from decimal import Decimal

from django.utils.translation import gettext_lazy as _

from billing import card_amounts, card_offer
from billing.models import DemoCardRecord
from billing.rails import demo_cards
from core import outbox
from core.errors import Conflict, Forbidden, Invalid, NotFound


@dataclass(frozen=True)
class DemoSession:
    """What the page of the test card shows."""

    session_id: str
    name: str
    amount: Decimal
    currency: str
    is_open: bool
    was_declined: bool
    needs_confirmation: bool
    return_url: str


def demo_session(session_id: str) -> DemoSession:
    """The session as it is stored. Raises Forbidden outside the demo, NotFound. Writes nothing."""
    if not card_offer.is_demo_card():
        raise Forbidden(code="demo_only", message=_("The test bank card is in the demo only."))
    row = DemoCardRecord.objects.filter(kind=DemoCardRecord.Kind.SESSION, reference=session_id).first()
    if row is None:
        raise NotFound(code="not_found", message=_("There is no such payment."))
    body = row.body
    currency = body["currency"].upper()
    return DemoSession(
        session_id=session_id,
        name=body["name"],
        amount=card_amounts.to_amount(body["amount_total"], currency),
        currency=currency,
        is_open=body["status"] == "open" and not demo_cards.is_past(body),
        was_declined=bool(body.get("last_decline")),
        needs_confirmation=bool(body.get("needs_confirmation")),
        return_url=body["success_url"],
    )


def use_demo_card(session_id: str, *, choice: str) -> DemoSession:
    """Do what was chosen: a kind of test card, or the answer to the bank's question ("agree", "refuse").

    Locks the processor's record. Raises Forbidden, NotFound, Invalid(unknown_choice), Conflict(already_done).
    """
    demo_session(session_id)
    if choice in ("agree", "refuse"):
        done = demo_cards.confirm(session_id, agreed=choice == "agree")
    elif choice in list(demo_cards.DemoCard):
        done = demo_cards.choose(session_id, choice)
    else:
        raise Invalid(code="unknown_choice", message=_("Please choose one of the cards."), field="choice")
    if not done:
        raise Conflict(code="already_done", message=_("This is already done."))
    outbox.hint("billing.sweep_demo_cards")
    return demo_session(session_id)
