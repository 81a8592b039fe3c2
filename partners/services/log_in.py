"""How a member gets in: a link by mail, which works once and for minutes, and is used by a button alone."""

import hashlib
import secrets
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.template.loader import render_to_string
from django.utils import translation
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from core import clock
from core.errors import Gone, TooMany
from core.locks import lock_login_network
from core.mail import queue_mail
from core.models import LoginAttempt
from core.staff_login import WINDOW
from core.text import is_storable
from partners import locks
from partners.models import LoginLink, Member

LINK_VALID = timedelta(minutes=15)
# In core.staff_login's window of 15 minutes. Nobody needs more, and nobody's mailbox is to be filled by others.
MAX_PER_ADDRESS = 3
MAX_PER_NETWORK = 10
_MAX_TEXT = 100
_KEPT = timedelta(days=1)


def ask_for_link(*, mail: str, network: str) -> None:
    """Mail a link to every member of that address. Says nothing about whether there is one; counts before it looks.

    Serialises the counting of the network and of the address (advisory). Raises TooMany(too_many_links).
    """
    address = mail.strip()[:254].lower()
    if not is_storable(address):
        return
    _count(address, network)
    moment = clock.system_now()
    for member in Member.objects.filter(mail__iexact=address, active=True, partner__active=True):
        with transaction.atomic():
            LoginLink.objects.filter(member=member, expires_at__lt=moment - _KEPT).delete()
            text = secrets.token_urlsafe(32)
            link = LoginLink.objects.create(
                member=member, hash=digest(text), made_at=moment, expires_at=moment + LINK_VALID
            )
            _mail(member, link, text)


def usable_link(text: str) -> bool:
    """Whether the button may be shown. Reads only: programs that look at mail follow links too."""
    if not _could_be(text):
        return False
    link = LoginLink.objects.select_related("member__partner").filter(hash=digest(text)).first()
    return link is not None and _is_usable(link)


def log_in(text: str) -> Member:
    """Use the link up. Locks it. Raises Gone(link_over) for one that is used, expired, unknown or of nobody."""
    with transaction.atomic():
        link = locks.login_link_for_update(digest(text)) if _could_be(text) else None
        if link is None or not _is_usable(link):
            raise Gone(code="link_over", message=_("This link is over. Ask for a new one."))
        link.used_at = clock.system_now()
        link.save(update_fields=["used_at"])
        Member.objects.filter(pk=link.member_id).update(last_login_at=clock.now())
        return link.member


def digest(text: str) -> str:
    """What is kept of a link: its text has 256 random bits, so that nobody tries guesses against it."""
    return hashlib.sha256(text.encode()).hexdigest()


def _could_be(text: str) -> bool:
    return len(text) <= _MAX_TEXT and text.isascii()


def _is_usable(link: LoginLink) -> bool:
    member = link.member
    in_time = link.used_at is None and clock.system_now() < link.expires_at
    return in_time and member.active and member.partner.active


def _count(address: str, network: str) -> None:
    """In PostgreSQL: it holds without Redis and over all processes (DESIGN rule 8)."""
    account = salted_hmac("partners.log_in", address, algorithm="sha256").hexdigest()
    key = f"member:{network}"[:64]
    with transaction.atomic():
        lock_login_network(key)
        lock_login_network(account)
        now = clock.system_now()
        recent = LoginAttempt.objects.filter(at__gt=now - WINDOW).order_by("at")
        of_network = list(recent.filter(network=key).values_list("at", flat=True))
        of_address = list(recent.filter(account=account).values_list("at", flat=True))
        for times, limit in ((of_address, MAX_PER_ADDRESS), (of_network, MAX_PER_NETWORK)):
            if len(times) >= limit:
                raise _too_many(times[-limit], now)
        LoginAttempt.objects.create(account=account, network=key, at=now)


def _too_many(oldest: datetime, now: datetime) -> TooMany:
    return TooMany(
        code="too_many_links",
        message=_("Several links were asked for already. Look into your mailbox, or wait."),
        retry_after_seconds=max(1, int((oldest + WINDOW - now).total_seconds()) + 1),
    )


def _mail(member: Member, link: LoginLink, text: str) -> None:
    with translation.override(member.language):
        body = render_to_string(
            "mail/member_link.txt",
            {
                "partner": member.partner,
                "minutes": int(LINK_VALID.total_seconds() // 60),
                "url": f"{settings.SITE_URL}/{member.language}/partner/login/{text}/",
                "simulated": settings.PROVIDER == "simulated",
            },
        )
        subject = gettext("Your link to the partner pages")
    queue_mail(
        key=f"member-link:{link.pk}", to=member.mail, language=member.language, subject=subject, text=body
    )
