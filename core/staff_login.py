"""Bounds on staff logins, counted in PostgreSQL before a password is hashed (DESIGN rule 8)."""

from datetime import datetime, timedelta
from typing import Any

import structlog
from django.contrib.auth.backends import ModelBackend
from django.contrib.auth.models import User
from django.db import transaction
from django.http import HttpRequest
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext_lazy as _

from core import audit, clock, locks
from core.client_address import client_address, network_prefix
from core.errors import TooMany
from core.models import LoginAttempt

log = structlog.get_logger(__name__)

# Ten tries are enough for whoever knows the password. Guessing gets 960 tries a day and account from one network.
WINDOW = timedelta(minutes=15)
MAX_PER_ACCOUNT = 10
MAX_PER_NETWORK = 30


class LimitedBackend(ModelBackend):
    """Django's backend behind the bounds. Logins without a request (tests, the shell) have no network to count."""

    def authenticate(
        self,
        request: HttpRequest | None,
        username: str | None = None,
        password: str | None = None,
        **kwargs: Any,
    ) -> Any:
        """The user, or None. Raises TooMany, for a right password too."""
        if request is None or username is None or password is None:
            return super().authenticate(request, username=username, password=password, **kwargs)
        network = network_prefix(client_address(request))
        attempt, is_last = begin_attempt(account=username, network=network)
        user = super().authenticate(request, username=username, password=password, **kwargs)
        if user is not None:
            attempt.delete()
        elif is_last:
            record_limit(username=username, network=network)
        return user


def forget_old() -> None:
    """Remove attempts that no longer count."""
    LoginAttempt.objects.filter(at__lte=clock.system_now() - WINDOW).delete()


def begin_attempt(*, account: str, network: str) -> tuple[LoginAttempt, bool]:
    """Take a place before anything is checked, so that tries at once cannot all be the first. Raises TooMany.

    True with the try that takes the last place of its account or network. Who succeeds deletes the row.
    """
    account = _account_key(account)
    with transaction.atomic():
        locks.lock_login_network(network)
        now = clock.system_now()
        recent = LoginAttempt.objects.filter(network=network, at__gt=now - WINDOW).order_by("at")
        of_network = list(recent.values_list("at", flat=True))
        of_account = list(recent.filter(account=account).values_list("at", flat=True))
        if len(of_account) >= MAX_PER_ACCOUNT or len(of_network) >= MAX_PER_NETWORK:
            raise _too_many(of_account, of_network, now)
        attempt = LoginAttempt.objects.create(account=account, network=network, at=now)
        is_last = len(of_account) + 1 == MAX_PER_ACCOUNT or len(of_network) + 1 == MAX_PER_NETWORK
        return attempt, is_last


def _too_many(of_account: list[datetime], of_network: list[datetime], now: datetime) -> TooMany:
    """With the seconds until both bounds have a place again."""
    free_at = max(
        times[-limit] + WINDOW
        for times, limit in ((of_account, MAX_PER_ACCOUNT), (of_network, MAX_PER_NETWORK))
        if len(times) >= limit
    )
    return TooMany(
        code="too_many_logins",
        message=_("Too many logins have failed. Until the time is over no password is checked."),
        retry_after_seconds=max(1, int((free_at - now).total_seconds()) + 1),
    )


def record_limit(*, username: str, network: str) -> None:
    """One line in the audit each time a bound is reached. A name that nobody has may be a password: not kept."""
    known = User.objects.filter(username=username).exists()
    log.warning("staff_login_limit", network=network)
    audit.record(
        actor="nobody",
        action="login.limited",
        subject=f"staff:{username if known else 'unknown'}"[:80],
        after={"network": network},
    )


def _account_key(username: str) -> str:
    return salted_hmac("core.staff_login", username.casefold()[:150], algorithm="sha256").hexdigest()
