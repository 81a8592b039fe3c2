"""Who may log in: keys are added, replaced and removed while a lease is under way, each with a line in the log."""

from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext_lazy

from core import clock, events, outbox
from core.errors import Conflict, NotFound, Refusal, TooMany
from core.models import Audience
from core.text import clean_line
from fleet import locks
from fleet.keys import PublicKey, parse_keys
from fleet.lifecycle import OVER_STATES, TEARDOWN_STATES
from fleet.models import AccessKey, Lease

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.utils.functional import _StrPromise

# More people than work on one lease; each key costs a look at every login.
MAX_KEYS_PER_LEASE = 20
# A team that is set up adds some at once; a loop of a program must not fill the log.
MAX_ADDED_PER_HOUR = 60
MAX_MEMBER = 60


def add_keys(*, order_ref: str, text: str | list[str], member: str = "", actor: str) -> list[AccessKey]:
    """Let further keys in; they open the lease from the next login on. All or none.

    Locks the lease. Raises Refusal(key_rejected), Invalid for the member's name, Conflict(not_ready, lease_over),
    TooMany(rate_limited). A second call with the same key is refused: it is there already.
    """
    keys = parse_keys(text)
    name = clean_line(member, field="member", max_length=MAX_MEMBER)
    with transaction.atomic():
        lease = _changeable(order_ref)
        rows = _insert(lease, keys, member=name, actor=actor)
        _tell_the_machine(lease)
        return rows


def rotate_key(*, order_ref: str, key_id: int, text: str | list[str], actor: str) -> AccessKey:
    """Put one new key in the place of an old one, in one step: nobody is locked out between.

    The member's name goes on. Sessions of the old key are cut at the next look of the gateway. Locks the lease.
    Raises as `add_keys` and `revoke_key` do, but for the last key.
    """
    keys = parse_keys(text)
    if len(keys) != 1:
        raise _rejected(_("One key takes the place of one key."))
    with transaction.atomic():
        lease = _changeable(order_ref)
        old = _living(lease, key_id)
        (row,) = _insert(lease, keys, member=old.member, actor=actor, leaving=1)
        _remove(lease, old, actor=actor)
        _tell_the_machine(lease)
        return row


def revoke_key(*, order_ref: str, key_id: int, actor: str) -> AccessKey:
    """Take a key out: refused at the next login, and its open sessions are cut at the gateway's next look.

    Locks the lease. Raises NotFound, Conflict(already_done) for a second call, Conflict(last_key) where nobody could
    log in afterwards, Conflict(not_ready, lease_over).
    """
    with transaction.atomic():
        lease = _changeable(order_ref)
        key = _living(lease, key_id)
        if _buyers_keys(lease).count() == 1:
            raise Conflict(
                code="last_key",
                message=_(
                    "This is the only key of the lease: without it nobody could log in. Add another one first, or "
                    "replace this one."
                ),
            )
        _remove(lease, key, actor=actor)
        _tell_the_machine(lease)
        return key


def _changeable(order_ref: str) -> Lease:
    lease = locks.lease_of_order_for_update(order_ref)
    if lease is None:
        raise Conflict(
            code="not_ready", message=_("Keys can be changed once the payment of the order is final.")
        )
    over = lease.ends_at is not None and clock.now() >= lease.ends_at
    if over or lease.status in TEARDOWN_STATES | OVER_STATES:
        raise Conflict(code="lease_over", message=_("This lease is over; its keys open nothing any more."))
    return lease


def _insert(
    lease: Lease, keys: list[PublicKey], *, member: str, actor: str, leaving: int = 0
) -> list[AccessKey]:
    living = set(lease.keys.filter(removed_at=None).values_list("fingerprint", flat=True))
    for key in keys:
        if key.fingerprint in living:
            raise _rejected(
                _("The key %(fingerprint)s is on this lease already."), fingerprint=key.fingerprint
            )
    if _buyers_keys(lease).count() - leaving + len(keys) > MAX_KEYS_PER_LEASE:
        raise _rejected(
            ngettext_lazy(
                "Up to %(limit)s key can open one lease.", "Up to %(limit)s keys can open one lease.", "limit"
            ),
            limit=MAX_KEYS_PER_LEASE,
        )
    moment = clock.now()
    _check_rate(lease, len(keys), moment)
    rows = [
        AccessKey.objects.create(
            lease=lease,
            algorithm=key.algorithm,
            data=key.data,
            comment=key.comment,
            fingerprint=key.fingerprint,
            member=member,
            added_at=moment,
        )
        for key in keys
    ]
    for row in rows:
        _emit("lease.key_added", lease, row, actor)
    return rows


def _check_rate(lease: Lease, number: int, moment: datetime) -> None:
    hour = timedelta(hours=1)
    recent = AccessKey.objects.filter(
        lease=lease, purpose=AccessKey.Purpose.BUYER, added_at__gt=moment - hour
    ).exclude(added_at=lease.reserved_at)
    if recent.count() + number > MAX_ADDED_PER_HOUR:
        raise TooMany(
            code="rate_limited",
            message=_("So many keys were added within an hour. Try again later."),
            field="ssh_keys",
            retry_after_seconds=int(hour.total_seconds()),
        )


def _remove(lease: Lease, key: AccessKey, *, actor: str) -> None:
    key.removed_at = clock.now()
    key.save(update_fields=["removed_at"])
    _emit("lease.key_removed", lease, key, actor)


def _buyers_keys(lease: Lease) -> "QuerySet[AccessKey]":
    return AccessKey.objects.filter(lease=lease, purpose=AccessKey.Purpose.BUYER, removed_at=None)


def _living(lease: Lease, key_id: int) -> AccessKey:
    key = AccessKey.objects.filter(lease=lease, purpose=AccessKey.Purpose.BUYER, pk=key_id).first()
    if key is None:
        raise NotFound(code="not_found", message=_("There is no such key on this lease."))
    if key.removed_at is not None:
        raise Conflict(code="already_done", message=_("This key was removed already."))
    return key


def _tell_the_machine(lease: Lease) -> None:
    """The engine hears of it from the worker; the gateway reads the keys themselves, without waiting for that."""
    lease.wanted_version += 1
    lease.save(update_fields=["wanted_version"])
    transaction.on_commit(lambda: outbox.hint("fleet.work_lease", lease.pk))


def _emit(name: str, lease: Lease, key: AccessKey, actor: str) -> None:
    events.emit(
        name=name,
        subject=f"lease:{lease.pk}",
        order_ref=lease.order_ref,
        audience=Audience.BUYER,
        payload={"fingerprint": key.fingerprint, "member": key.member, "by": actor},
    )


def _rejected(message: "_StrPromise", **params: object) -> Refusal:
    return Refusal(code="key_rejected", message=message, field="ssh_keys", params=params)
