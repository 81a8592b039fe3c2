"""After a restore: addresses and card payments of orders that the database no longer knows (C17)."""

from datetime import timedelta

import pytest
from pytest_django import Settings

from billing import gap, pool
from billing.models import AddressCheck, CardSession, ChainState, DemoCardRecord, DepositAddress, Invoice
from billing.rails import demo_cards
from billing.rails.card_seen import CardRailError
from billing.rails.errors import ChainError
from billing.services import search_gap
from billing.services.issue_invoice import series_name
from billing.services.search_cards import search_cards
from core import clock, restored
from core.models import Decision
from tests import cards, scenario

pytestmark = pytest.mark.django_db
KEPT = timedelta(hours=2)


@pytest.fixture(autouse=True)
def small_pool(settings: Settings) -> None:
    settings.ADDRESS_POOL_SIZE = 5
    settings.RESTORE_ADDRESS_GAP = 10


def restore(*, age: timedelta = KEPT) -> None:
    restored.begin(backup_at=clock.system_now() - age, version="0.1.0")
    gap.begin()


def indexes(status: str) -> list[int]:
    return list(
        DepositAddress.objects.filter(status=status).order_by("index").values_list("index", flat=True)
    )


def used(index: int, *, units: int = 0, network: str = "local") -> None:
    """As a look found it."""
    row = DepositAddress.objects.get(index=index)
    facts = {"native_units": "0", "token_units": {"USDC": str(units)}, "nonce": 0, "code_size": 0}
    dirty = {row.address: facts}
    gap.report(network=network, rows=[row], dirty=dirty)
    pool.record_checks(network=network, block_number=1, dirty=dirty, addresses=[row])


def test_the_pool_begins_above_the_gap_when_all_was_searched() -> None:
    scenario.offer_network()
    assert indexes("pooled") == [0, 1, 2, 3, 4]
    restore()
    minutes = int(KEPT.total_seconds()) // 60
    assert pool.derive_missing() == 0
    assert gap.widen(pool.xpub()) == 10 + minutes
    assert gap.widen(pool.xpub()) == 0, "safe to repeat"
    assert indexes("gap") == list(range(5 + 10 + minutes))
    assert pool.derive_missing() == 0
    gap.note_searched(pool.xpub().fingerprint, "local")
    assert pool.derive_missing() == 5
    assert indexes("pooled") == list(range(15 + minutes, 20 + minutes))


def test_money_far_up_moves_the_end_of_the_gap_on() -> None:
    scenario.offer_network()
    restore(age=timedelta(0))
    gap.widen(pool.xpub())
    used(14, units=1)
    assert gap.widen(pool.xpub()) == 10
    assert max(indexes("gap")) == 24


def test_a_network_that_comes_back_later_takes_addresses_out_of_the_pool() -> None:
    scenario.offer_network()
    restore(age=timedelta(0))
    gap.widen(pool.xpub())
    gap.note_searched(pool.xpub().fingerprint, "local")
    pool.derive_missing()
    assert indexes("pooled") == [15, 16, 17, 18, 19]
    used(9, units=1, network="other")
    gap.widen(pool.xpub())
    assert indexes("pooled") == []
    assert max(indexes("gap")) == 19


def test_nothing_is_derived_while_no_network_can_be_read() -> None:
    scenario.offer_network()
    restore()
    ChainState.objects.update(offered=False)
    gap.widen(pool.xpub())
    assert not gap.is_searched(pool.xpub().fingerprint)


def test_a_network_that_does_not_answer_keeps_the_pool_closed_and_is_told(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def silent(*_: object) -> None:
        raise ChainError("no answer")

    scenario.offer_network()
    restore()
    monkeypatch.setattr(search_gap, "read_addresses", silent)
    with pytest.raises(ChainError, match="no answer"):
        search_gap.search_gap()
    assert pool.derive_missing() == 0
    ChainState.objects.update(offered=False)
    search_gap.search_gap()  # it is known not to answer: nobody is kept waiting for it


def test_an_xpub_that_the_backup_does_not_know_has_a_gap_too() -> None:
    """It may have been accepted after the backup."""
    scenario.offer_network()
    DepositAddress.objects.all().delete()
    restore(age=timedelta(0))
    gap.widen(pool.xpub())
    assert indexes("gap") == list(range(10))


def test_staff_are_asked_when_money_comes_and_not_when_it_goes() -> None:
    scenario.offer_network()
    restore()
    found = Decision.objects.filter(kind="payment_after_backup", closed_at=None)
    for units, is_asked in ((5, True), (5, False), (2, False), (9, True)):
        used(2, units=units)
        assert found.exists() is is_asked, units
        found.update(closed_at=clock.now())


def test_what_is_due_to_be_looked_at() -> None:
    scenario.offer_network()
    restore()
    assert [row.index for row in gap.due(network="local")] == [0, 1, 2, 3, 4], (
        "the looks of before say nothing"
    )
    rows = gap.due(network="local")
    pool.record_checks(network="local", block_number=1, dirty={}, addresses=rows)
    assert gap.due(network="local") == []
    restored_at = clock.system_now() - timedelta(hours=3)
    restored_row = restored.latest()
    assert restored_row is not None
    restored_row.restored_at = restored_at
    restored_row.save()
    AddressCheck.objects.update(checked_at=clock.system_now() - timedelta(hours=2))
    assert len(gap.due(network="local")) == 5
    restored_row.restored_at = clock.system_now() - timedelta(days=3)
    restored_row.save()
    assert gap.due(network="local") == []


def test_a_year_in_which_was_restored_goes_on_with_other_numbers() -> None:
    moment = clock.now()
    assert series_name(Invoice.Kind.INVOICE, moment) == f"INV-{moment.year}"
    restore()
    row = restored.latest()
    assert row is not None
    name = series_name(Invoice.Kind.INVOICE, row.restored_at)
    assert name == f"INV-{row.restored_at:%Y}-R{row.restored_at:%m%d%H%M}"
    assert len(name) <= Invoice._meta.get_field("series").max_length  # type: ignore[operator]
    assert series_name(Invoice.Kind.INVOICE, row.restored_at + timedelta(days=366)).count("-") == 1


@pytest.fixture
def lost_session(settings: Settings) -> CardSession:
    """A payment page that was opened after the backup: the processor has it, we have not."""
    cards.take_cards(settings)
    scenario.open_shop()
    return cards.open_session(cards.order())


def forget(session: CardSession) -> None:
    """Our side of it is not in the backup."""
    CardSession.objects.filter(pk=session.pk).update(session_id="cs_of_another", attempt=7)


def test_a_paid_card_session_of_a_lost_order_is_asked_about(lost_session: CardSession) -> None:
    assert demo_cards.choose(lost_session.session_id, demo_cards.DemoCard.SUCCESS)
    forget(lost_session)
    search_cards()
    assert not Decision.objects.filter(kind="card_payment_after_backup").exists(), "nothing was restored"
    restore()
    search_cards()
    found = Decision.objects.get(kind="card_payment_after_backup")
    assert found.facts["session"] == lost_session.session_id
    assert found.facts["payment"].startswith("pi_")
    assert found.order_ref == lost_session.payment.order.public_id
    assert not restored.awaits("bank_cards")


def test_an_open_card_session_of_a_lost_order_is_ended(lost_session: CardSession) -> None:
    forget(lost_session)
    restore()
    search_cards()
    record = DemoCardRecord.objects.get(reference=lost_session.session_id)
    assert record.body["status"] == "expired"
    assert not Decision.objects.filter(kind="card_payment_after_backup").exists()


def test_a_known_card_session_is_left_alone(lost_session: CardSession) -> None:
    restore()
    search_cards()
    assert DemoCardRecord.objects.get(reference=lost_session.session_id).body["status"] == "open"


def test_a_silent_processor_is_asked_again(
    lost_session: CardSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    forget(lost_session)
    restore()
    with cards.processor_down(monkeypatch, cards.silence()), pytest.raises(CardRailError):
        search_cards()
    assert restored.awaits("bank_cards")
    search_cards()
    assert not restored.awaits("bank_cards")
