"""Addresses that may have been given out after the backup from which this database was restored (case C17).

What was pooled in the backup, and a stretch of indexes beyond it, never goes to an order. It is watched: money there is
a buyer's whose order is lost. The pool begins above it, and only when every network that can be read was searched.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Max

from billing import offers
from billing.addresses import INDEX_LIMIT, Xpub
from billing.models import AddressCheck, ChainState, DepositAddress
from core import clock, decisions, restored
from core.models import Restoration

# Nobody gives out more for long; where the same backup is put back a second time, the stretch is longer by it.
ADDRESSES_PER_MINUTE = 1
# As any order: closely while buyers still pay, then daily, for ever.
CLOSELY_FOR, CLOSE_LOOK_EVERY, LOOK_EVERY = timedelta(hours=24), timedelta(hours=1), timedelta(hours=24)
Status = DepositAddress.Status


def begin() -> int:
    """Nothing that was pooled in the backup goes to an order; how many. In the restore's transaction."""
    return DepositAddress.objects.filter(status=Status.POOLED).update(status=Status.GAP)


def is_searched(fingerprint: str) -> bool:
    """Whether the pool may derive above the gap. Always where nothing was restored; 1 query then, else 4.

    A network that cannot be read holds up no other: it is searched when it is back.
    """
    restoration = restored.latest()
    if restoration is None:
        return True
    done = set(restoration.steps.values_list("name", flat=True))
    readable = set(ChainState.objects.filter(offered=True).values_list("network", flat=True))
    wanted = {_step(fingerprint, network) for network in readable & set(offers.networks())}
    return bool(wanted) and wanted <= done


def note_searched(fingerprint: str, network: str) -> None:
    """Every address of the gap was looked at on this network since the restore. Safe to repeat."""
    restored.done(_step(fingerprint, network))


def widen(key: Xpub) -> int:
    """Derive the gap: so many indexes beyond the last that the backup knows, and beyond the last that a chain shows to
    have been used since. How many are new. Pure arithmetic; safe to repeat and at once."""
    restoration = restored.latest()
    if restoration is None:
        return 0
    own = DepositAddress.objects.filter(xpub_fingerprint=key.fingerprint)
    last = _last_known(key.fingerprint)
    used = own.filter(status=Status.GAP, checks__is_clean=False).aggregate(last=Max("index"))["last"]
    top = min(INDEX_LIMIT - 1, max(last, -1 if used is None else used) + _size(restoration))
    with transaction.atomic():
        # Evidence of a network that could not be read before: what the pool took meanwhile lies in the gap now.
        own.filter(status=Status.POOLED, index__lte=top).update(status=Status.GAP)
        known = set(own.filter(index__gt=last, index__lte=top).values_list("index", flat=True))
        rows = [
            DepositAddress(
                xpub_fingerprint=key.fingerprint,
                index=index,
                address=key.derive(index),
                status=Status.GAP,
                derived_at=clock.now(),
            )
            for index in range(last + 1, top + 1)
            if index not in known
        ]
        return len(DepositAddress.objects.bulk_create(rows, ignore_conflicts=True))


def due(*, network: str, limit: int = 200) -> list[DepositAddress]:
    """Addresses of the gap, of every xpub, whose look on `network` is missing since the restore or too old."""
    restoration = restored.latest()
    if restoration is None:
        return []
    looked = AddressCheck.objects.filter(network=network, checked_at__gte=_since(restoration))
    rows = DepositAddress.objects.filter(status=Status.GAP).exclude(pk__in=looked.values("address_id"))
    return list(rows.order_by("pk")[:limit])


def report(*, network: str, rows: Sequence[DepositAddress], dirty: Mapping[str, Mapping[str, Any]]) -> None:
    """Ask staff about money that came since the last look: the order is lost, the buyer is not.

    Called before the new look is kept, in its transaction. Closing the question ends it until more money comes.
    """
    checks = AddressCheck.objects.filter(network=network, address__in=rows)
    before = dict(checks.values_list("address_id", "facts"))
    for row in rows:
        facts = dirty.get(row.address)
        if facts and _is_more(facts, before.get(row.pk) or {}):
            decisions.open_decision(
                kind="payment_after_backup",
                subject=f"address:{row.pk}:{network}",
                facts={"address": row.address, "index": row.index, "network": network, **facts},
            )


def _is_more(facts: Mapping[str, Any], before: Mapping[str, Any]) -> bool:
    """Money that leaves such an address is the operator's own doing."""
    known = before.get("token_units", {})
    return int(facts["native_units"]) > int(before.get("native_units", 0)) or any(
        int(units) > int(known.get(symbol, 0)) for symbol, units in facts["token_units"].items()
    )


def _step(fingerprint: str, network: str) -> str:
    return f"addresses:{fingerprint}:{network}"


def _last_known(fingerprint: str) -> int:
    """The highest index of the backup, noted before the gap is written beyond it; -1 for an xpub that it has not."""
    step = f"addresses:{fingerprint}"
    facts = restored.facts_of(step)
    if facts is None:
        own = DepositAddress.objects.filter(xpub_fingerprint=fingerprint)
        last = own.aggregate(last=Max("index"))["last"]
        restored.done(step, last=-1 if last is None else last)
        facts = restored.facts_of(step) or {}
    return int(facts["last"])


def _size(restoration: Restoration) -> int:
    minutes = int((restoration.restored_at - restoration.backup_at).total_seconds()) // 60
    return settings.RESTORE_ADDRESS_GAP + ADDRESSES_PER_MINUTE * max(0, minutes)


def _since(restoration: Restoration) -> datetime:
    moment = clock.system_now()
    close = moment - restoration.restored_at < CLOSELY_FOR
    return max(restoration.restored_at, moment - (CLOSE_LOOK_EVERY if close else LOOK_EVERY))
