"""The buyers of bench.storm, and what must be true of the rows when they have gone."""

import json
import multiprocessing
import sys
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import cycle, islice
from multiprocessing.synchronize import Barrier
from typing import Any

from django.db import connection

from bench.inside import shop
from bench.storm import parser
from billing.models import PaymentRequest
from billing.services.checkout import CheckoutRequest, checkout
from catalog.models import Lot
from core import clock
from core.errors import Refusal
from fleet.free_cards import free_by_node
from fleet.models import Hold, Reservation
from fleet.periods import DAY_SECONDS, held_period
from fleet.placement import choose_nodes
from orders.models import Order, Quote

ACCELERATOR = "h100-sxm-80"
# 40 lots that fill thirteen nodes of eight cards to the last one, if nothing is wasted.
SUPPLY = {8: 4, 4: 8, 2: 12, 1: 16}
NODES = 13
TERMS = (3, 7, 30)
ALLOWED = frozenset({"placed", "no_capacity", "too_many_holds"})
# Eight processes that load the shop at once take a while on a busy machine; they start together all the same.
START_SECONDS = 300
# A wait for a lock ends after LOCK_TIMEOUT_SECONDS; so many in a row is not a storm but a standstill.
MAX_BUSY = 50


@dataclass(frozen=True)
class Answer:
    """What a buyer heard in the end, and how often he was told to ask again."""

    quote: str
    code: str
    busy: int


def make_quotes(buyers: int) -> list[str]:
    """As many quotes, sizes in the mix of the supply, terms in turn; neighbours want different sizes."""
    sizes = [size for size, count in SUPPLY.items() for _number in range(count)]
    wanted = islice(cycle(sizes[::3] + sizes[1::3] + sizes[2::3]), buyers)
    return [
        shop.quotes(1, lot=f"{ACCELERATOR}x{size}", days=TERMS[number % len(TERMS)])[0]
        for number, size in enumerate(wanted)
    ]


def buy(number: int, quote_id: str) -> Answer:
    """One buyer: asks again as long as he hears `busy`."""
    place, pay_with = shop.acceptance(quote_id, number)
    for busy in range(MAX_BUSY):
        try:
            checkout(CheckoutRequest(place=place, pay_with=pay_with))
        except Refusal as refusal:
            if refusal.code == "busy":
                continue
            return Answer(quote_id, refusal.code, busy)
        except Exception as error:
            return Answer(quote_id, f"{type(error).__name__}: {error}", busy)
        finally:
            connection.close()
        return Answer(quote_id, "placed", busy)
    return Answer(quote_id, "busy for ever", MAX_BUSY)


def breaches(answers: Sequence[Answer]) -> list[str]:
    """What went wrong, one sentence each; none on a good day."""
    found = [f"a buyer heard {answer.code}" for answer in answers if answer.code not in ALLOWED]
    double = _double_cards()
    if double:
        found.append(f"{double} pairs of living reservations share a card at one time")
    placed = sum(answer.code == "placed" for answer in answers)
    counts = {model.__name__: model.objects.count() for model in (Order, Hold, PaymentRequest)}
    if set(counts.values()) != {placed}:
        found.append(f"{placed} buyers were told yes, and there are {counts}")
    found += [f"order {hold.ref} has not all its cards" for hold in Hold.objects.all() if not _is_whole(hold)]
    found += [
        f"the refused {answer.quote} could still be placed"
        for answer in answers
        if answer.code == "no_capacity" and _fits(Quote.objects.get(public_id=answer.quote))
    ]
    return found


def _double_cards() -> int:
    """The question of the exclusion constraint, asked of the rows themselves."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM fleet_reservation a JOIN fleet_reservation b"
            " ON a.card_id = b.card_id AND a.id < b.id AND a.period && b.period"
            " WHERE a.status IN ('held', 'committed') AND b.status IN ('held', 'committed')"
        )
        (count,) = cursor.fetchone()
    return int(count)


def _is_whole(hold: Hold) -> bool:
    nodes = Reservation.objects.filter(hold=hold).values_list("card__node_id", flat=True)
    return nodes.count() == hold.card_count and all(
        count % hold.lot.cards == 0 for count in Counter(nodes).values()
    )


def _fits(quote: Quote) -> bool:
    """Nothing was let go during the storm: what fits now would have fitted then."""
    lot, moment = Lot.objects.get(pk=quote.lot_id), clock.now()
    period = held_period(
        placed_at=moment, starts_at=quote.starts_at, release_at=moment, term_seconds=quote.days * DAY_SECONDS
    )
    free = free_by_node(
        accelerator_id=lot.accelerator_id,
        period=period,
        driver_minimum="",
        moment=moment,
        overdue_are_free=False,
    )
    return choose_nodes(free=free, cards_per_lot=lot.cards, lots=quote.lots) is not None


def _work(
    first: int, quotes: Sequence[str], threads: int, start: Barrier, answers: "multiprocessing.Queue[Any]"
) -> None:
    start.wait(timeout=START_SECONDS)
    with ThreadPoolExecutor(threads) as buyers:
        answers.put(list(buyers.map(buy, range(first, first + len(quotes)), quotes)))


def _storm(quotes: Sequence[str], processes: int, threads: int) -> list[Answer]:
    context = multiprocessing.get_context("spawn")
    start, answers = context.Barrier(processes + 1), context.Queue()
    each = -(-len(quotes) // processes)
    workers = [
        context.Process(target=_work, args=(begin, quotes[begin : begin + each], threads, start, answers))
        for begin in range(0, len(quotes), each)
    ]
    for worker in workers:
        worker.start()
    for _idle in range(processes - len(workers)):
        context.Process(target=start.wait).start()
    start.wait(timeout=START_SECONDS)
    found = [answer for _worker in workers for answer in answers.get(timeout=600)]
    for worker in workers:
        worker.join()
    return found


def main() -> int:
    asked = parser().parse_args()
    shop.open_shop(nodes=NODES, addresses=asked.buyers + 50, accelerator=ACCELERATOR)
    quotes = make_quotes(asked.buyers)
    connection.close()
    begin = time.perf_counter()
    answers = _storm(quotes, asked.processes, asked.threads)
    seconds = time.perf_counter() - begin
    wrong = breaches(answers)
    codes = Counter(answer.code for answer in answers)
    taken = Reservation.objects.count()
    facts = {
        "breaches": wrong,
        "buyers": asked.buyers,
        "answers": dict(codes),
        "asked_again": sum(answer.busy for answer in answers),
        "cards_sold": taken,
        "cards": NODES * shop.CARDS_PER_NODE,
        "processes": asked.processes,
        "seconds": round(seconds, 1),
    }
    if asked.json:
        sys.stdout.write(json.dumps(facts) + "\n")
    else:
        sys.stdout.write("".join(f"BREACH: {sentence}\n" for sentence in wrong))
        sys.stdout.write(
            f"{asked.buyers} buyers in {asked.processes} processes, {seconds:.1f} s: {dict(codes)}, "
            f"{facts['asked_again']} times busy; {taken} of {facts['cards']} cards sold; "
            f"{len(wrong)} breaches\n"
        )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
