"""How many mails orders that nobody has paid may cause: anybody can type anybody's address into the form."""

from datetime import timedelta

from django.db.models.functions import Lower

from fleet.models import Hold
from orders.models import Order

# More than a person places who changes his mind; too few to fill a mailbox with.
PER_ADDRESS, ADDRESS_WINDOW = 10, timedelta(days=1)
# An office behind one address has that many at most; a stranger reaches no more mailboxes than that.
PER_NETWORK, NETWORK_WINDOW = 20, timedelta(hours=1)
# Partners answer for what they order, and the holds of their accounts are bounded.
_ANONYMOUS = "web:"


def may_mail_unpaid(order: Order) -> bool:
    """Whether the mails of this order go out before anybody has paid it. Nobody is refused anything: its page says all.

    Judged by what was placed before it, so that the answer is the same for each of its mails. 2 or 3 queries.
    """
    if order.paid_at is not None or order.extends_id is not None or not order.owner.startswith(_ANONYMOUS):
        return True
    before = Order.objects.filter(
        pk__lt=order.pk, paid_at=None, extends=None, owner__startswith=_ANONYMOUS
    ).order_by()
    of_address = before.alias(folded=Lower("mail_to")).filter(
        folded=order.mail_to.lower(), placed_at__gt=order.placed_at - ADDRESS_WINDOW
    )
    if of_address[:PER_ADDRESS].count() >= PER_ADDRESS:
        return False
    prefix = Hold.objects.filter(ref=order.public_id).values_list("prefix", flat=True).first()
    if not prefix:
        return True
    of_network = Hold.objects.filter(
        prefix=prefix,
        committed_at=None,
        placed_at__gt=order.placed_at - NETWORK_WINDOW,
        placed_at__lt=order.placed_at,
    )
    return of_network.order_by()[:PER_NETWORK].count() < PER_NETWORK
