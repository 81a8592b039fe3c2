"""Find my orders: the page writes one row whatever the address; the answer is a mail, or nothing."""

from collections.abc import Iterable
from datetime import timedelta
from itertools import groupby

from django.conf import settings
from django.db import transaction
from django.db.models.functions import Lower
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from core import clock, outbox
from core.errors import TooMany
from core.mail import queue_mail
from orders import locks
from orders.models import Order, OrderSearch

# Nobody who has lost a link needs more; whoever mails strangers in our name gets little.
BETWEEN_MAILS = timedelta(minutes=10)
WINDOW = timedelta(hours=1)
MAX_PER_PREFIX = 10
# A partner's address may have thousands: the newest are what is looked for.
MAX_LINKS = 20


def ask(*, address: str, prefix: str) -> OrderSearch:
    """Note that somebody looks for the orders of an address, which is already cleaned (orders.contact).

    The work is the same for every address, known or not. Locks the network prefix. Raises TooMany.
    """
    with transaction.atomic():
        locks.lock_search_prefix(prefix)
        moment = clock.system_now()
        recent = OrderSearch.objects.filter(prefix=prefix, at__gt=moment - WINDOW).order_by("at")
        times = list(recent.values_list("at", flat=True))
        if len(times) >= MAX_PER_PREFIX:
            raise TooMany(
                code="rate_limited",
                message=gettext_lazy("Order links were asked for too often from your network."),
                retry_after_seconds=int((times[-MAX_PER_PREFIX] + WINDOW - moment).total_seconds()) + 1,
            )
        search = OrderSearch.objects.create(address=address, prefix=prefix, at=moment)
    outbox.hint("orders.send_links", search.pk)
    return search


def answer(*, search_id: int) -> bool:
    """Mail the links of one search; True if a mail was queued. Locks the address. Safe to repeat.

    Nothing where the address has no orders, or had a mail of this kind less than BETWEEN_MAILS ago.
    """
    with transaction.atomic():
        search = OrderSearch.objects.filter(pk=search_id, answered_at=None).first()
        if search is None:
            return False
        locks.lock_search_address(search.address.lower())
        if not OrderSearch.objects.filter(pk=search_id, answered_at=None).update(
            answered_at=clock.system_now()
        ):
            return False
        mailed = not _was_mailed(search) and _mail_links(search)
        if mailed:
            OrderSearch.objects.filter(pk=search_id).update(mailed_at=clock.system_now())
    return mailed


def unanswered(limit: int = 100) -> list[int]:
    """Searches whose hint was lost, oldest first."""
    return list(
        OrderSearch.objects.filter(answered_at=None).order_by("pk").values_list("pk", flat=True)[:limit]
    )


def forget_old() -> None:
    """Remove searches that no longer count."""
    OrderSearch.objects.filter(at__lte=clock.system_now() - WINDOW, answered_at__isnull=False).delete()


def _was_mailed(search: OrderSearch) -> bool:
    since = clock.system_now() - BETWEEN_MAILS
    return OrderSearch.objects.filter(address__iexact=search.address, mailed_at__gt=since).exists()


def _mail_links(search: OrderSearch) -> bool:
    """One mail to each spelling that orders have: never to the spelling that a stranger typed."""
    newest = (
        Order.objects.alias(folded=Lower("mail_to"))
        .filter(folded=search.address.lower())
        .order_by("-pk")[:MAX_LINKS]
    )
    found = sorted(newest, key=_mailbox)
    for number, (mail_to, orders) in enumerate(groupby(found, key=_mailbox)):
        _mail(key=f"links:{search.pk}:{number}", mail_to=mail_to, orders=orders)
    return bool(found)


def _mailbox(order: Order) -> str:
    return order.mail_to


def _mail(*, key: str, mail_to: str, orders: Iterable[Order]) -> None:
    rows = list(orders)
    language = rows[0].mail_language
    with translation.override(language):
        queue_mail(
            key=key,
            to=mail_to,
            language=language,
            subject=_("The links to your orders"),
            text=render_to_string(
                "mail/order_links.txt",
                {
                    "orders": [
                        {"row": row, "url": f"{settings.SITE_URL}/{language}/orders/{row.token}/"}
                        for row in rows
                    ],
                    "simulated": settings.PROVIDER == "simulated",
                },
            ),
        )
