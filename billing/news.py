"""Which payments a round has to look at on one network: those with news, and a few in turn. Queries only.

Everything else costs no call: the logs of whole blocks tell of arrivals, whoever waits for them.
"""

from collections.abc import Collection, Iterable
from datetime import timedelta

from django.db.models import Count, Exists, OuterRef, Q, QuerySet, Subquery

from billing.chain_facts import HEAD, SETTLED
from billing.lifecycle import PaymentFlag, PaymentStatus
from billing.models import BalanceReading, ChainState, Claim, PaymentRequest, Transfer
from billing.networks import Network
from billing.rails.facts import Position
from core import clock
from core.models import Decision

OPEN = (PaymentStatus.AWAITING, PaymentStatus.SEEN)
# Open payments whose balance is read although nothing points at them, per round: a log index that lags for hours
# must not lose money, and a native coin sent by mistake has no log. Constant, whatever the number of open payments.
SAFETY_GROUP = 10
# Open payments in the native coin, per round: with a Multicall contract a group is one call per height.
NATIVE_GROUP = 100
# A round takes seconds. A claim that came while one ran is read again in the next ones.
CLAIM_OVERLAP = timedelta(minutes=5)


def watched() -> QuerySet[PaymentRequest]:
    """Every payment that an address was ever issued to."""
    return PaymentRequest.objects.filter(address__isnull=False)


def with_news(network: Network, state: ChainState, position: Position) -> set[int]:
    """Payments that something points at: unfinished transfers, tokens that have left, claims, an expiry to be
    confirmed, a state that is not the last word, an odd one that could not be written."""
    return (
        _unfinished(network, state)
        | _leaving(network, state)
        | _claimed(state)
        | _to_be_confirmed(network, position)
        | _unsure(network)
        | _not_final(network)
        | unreadable()
    )


def touched_since(chain_id: int, number: int) -> set[int]:
    """Payments with transfers in blocks above that height: after a reorg all of them are doubtful."""
    rows = Transfer.objects.in_chain().filter(chain_id=chain_id, block_number__gt=number)
    return set(rows.values_list("payment_id", flat=True))


def in_turn(network: Network, *, native: bool, after: int) -> list[int]:
    """The next few open payments of the network, of tokens or of the native coin; begins anew at the end."""
    size = NATIVE_GROUP if native else SAFETY_GROUP
    rows = _open_in_turn(network, native=native)
    return list(rows.filter(pk__gt=after)[:size]) or list(rows[:size])


def native_rounds(network_slug: str) -> int:
    """How many rounds pass until each open payment in the native coin was read; 1 where one round holds all."""
    return native_rounds_of([network_slug])[network_slug]


def native_rounds_of(slugs: Collection[str]) -> dict[str, int]:
    """The same for several networks. One query."""
    rows = watched().filter(network__in=slugs, asset_contract="", view__status__in=OPEN)
    counts = dict(rows.order_by().values_list("network").annotate(count=Count("pk")))
    return {slug: max(1, -(-counts.get(slug, 0) // NATIVE_GROUP)) for slug in slugs}


def _open_in_turn(network: Network, *, native: bool) -> QuerySet[PaymentRequest, int]:
    rows = watched().filter(
        Q(asset_contract="") if native else ~Q(asset_contract=""),
        network=network.slug,
        view__status__in=OPEN,
    )
    return rows.order_by("pk").values_list("pk", flat=True)


def _unfinished(network: Network, state: ChainState) -> set[int]:
    """Transfers that no settled reading covers. A full round covers all up to its settled block, so that only newer
    ones, and those that a killed round has left, are asked about."""
    covered = BalanceReading.objects.filter(
        payment=OuterRef("payment"),
        chain_id=OuterRef("chain_id"),
        asset_contract=OuterRef("asset_contract"),
        kind=SETTLED,
        block_number__gte=OuterRef("block_number"),
    )
    done = state.settled_number if state.settled_number is not None else -1
    rows = Transfer.objects.in_chain().filter(
        ~Exists(covered), chain_id=network.chain_id, block_number__gt=done
    )
    return set(rows.values_list("payment_id", flat=True))


def _leaving(network: Network, state: ChainState) -> set[int]:
    """Tokens that the head no longer shows and the newest settled reading still does. The logs have told of it
    once; a native coin that left has none and waits for the daily look."""
    settled = BalanceReading.objects.filter(
        payment=OuterRef("payment"),
        chain_id=OuterRef("chain_id"),
        asset_contract=OuterRef("asset_contract"),
        kind=SETTLED,
    ).order_by("-id")
    done = state.settled_number if state.settled_number is not None else -1
    rows = BalanceReading.objects.filter(
        ~Q(asset_contract=""),
        kind=HEAD,
        chain_id=network.chain_id,
        block_number__gt=done,
        units__lt=Subquery(settled.values("units")[:1]),
    )
    return set(rows.values_list("payment_id", flat=True))


def _claimed(state: ChainState) -> set[int]:
    """A claim asks on every network: the buyer may have taken another one."""
    since = (state.checked_at or clock.system_now()) - CLAIM_OVERLAP
    rows = Claim.objects.filter(at__gte=since, payment__address__isnull=False)
    return set(rows.values_list("payment_id", flat=True))


def _to_be_confirmed(network: Network, position: Position) -> set[int]:
    """Open payments whose expiry a settled block has passed, each by the rule for its amount."""
    newest = max(header.time for header in position.settled.values())
    rows = watched().filter(
        network=network.slug,
        view__status__in=OPEN,
        view__unpaid_confirmed_at__isnull=True,
        expires_at__lte=newest,
    )
    return {
        pk
        for pk, amount, expires_at in rows.values_list("pk", "amount", "expires_at")
        if expires_at <= position.of(network.settle_for(amount)).time
    }


def _unsure(network: Network) -> set[int]:
    rows = watched().filter(
        Q(view__status=PaymentStatus.REVERSED)
        | Q(view__flags__contains=[PaymentFlag.DISAGREE], view__watch_until__gte=clock.now()),
        network=network.slug,
    )
    return set(rows.values_list("pk", flat=True))


def _not_final(network: Network) -> set[int]:
    """Money in another asset or on another network that can still change: a coin has no log that would tell."""
    place = [{"chain_id": network.chain_id, "is_final": False}]
    return set(watched().filter(view__others__contains=place).values_list("pk", flat=True))


def unreadable() -> set[int]:
    """Payments that could not be written and wait for a look that succeeds."""
    subjects: Iterable[str] = Decision.objects.filter(
        kind="payment_unreadable", closed_at=None, subject__startswith="payment:"
    ).values_list("subject", flat=True)
    numbers = (subject.partition(":")[2] for subject in subjects)
    return {int(number) for number in numbers if number.isdigit()}
