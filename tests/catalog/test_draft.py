"""A draft changes nothing that sells; two authors keep each other's figures; it is published as previewed, once."""

from decimal import Decimal
from threading import Barrier

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from catalog.figures import ACCELERATOR, OPTION, TERM, Figure, Key, draft_figures, figure_text, read_figure
from catalog.models import Accelerator, LotPrice, Option, PriceDraft, PriceVersion, Term
from catalog.selectors.draft import open_draft
from catalog.selectors.preview import preview_of
from catalog.services import draft as draft_service
from catalog.services.draft import Change, FiguresMoved, discard_draft, rebase_draft, save_draft
from catalog.services.publish import publish_prices
from catalog.services.publish_draft import publish_draft
from catalog.services.seed import Seeded, seed_catalog
from core.errors import Conflict, NotFound, Refusal
from core.models import AuditEntry
from tests.factories.catalog import LotFactory
from tests.races import at_once

pytestmark = pytest.mark.django_db

B200: Key = (ACCELERATOR, "b200-180")
MONTH: Key = (TERM, "30")
DISK: Key = (OPTION, "nvme-extra")


def save(key: Key, was: str | None, now: str | None, actor: str = "ada") -> PriceDraft:
    def figure(text: str | None) -> Figure:
        return None if text is None else Decimal(text)

    return save_draft(changes={key: Change(figure(was), figure(now))}, actor=actor)


@pytest.fixture
def draft(seeded: Seeded) -> PriceDraft:
    return save(B200, "6.49", "7.00")


def test_a_draft_touches_nothing_that_sells(draft: PriceDraft) -> None:
    assert Accelerator.objects.get(slug="b200-180").card_hour_amount == Decimal("6.49")
    assert PriceVersion.objects.count() == 1
    assert draft.figures == {"accelerator": {"b200-180": "7.00"}}
    entry = AuditEntry.objects.get(action="prices.draft")
    assert (entry.actor, entry.before, entry.after) == (
        "ada",
        {"accelerator": {"b200-180": "6.49"}},
        {"accelerator": {"b200-180": "7.00"}},
    )


def test_two_authors_keep_each_others_figures(draft: PriceDraft) -> None:
    again = save(MONTH, "0.20", "0.25", actor="bob")
    assert (again.pk, again.revision, again.saved_by) == (draft.pk, 2, "bob")
    assert draft_figures(again) == {B200: Decimal("7.00"), MONTH: Decimal("0.25")}


def test_a_figure_that_both_changed_is_refused_and_nothing_of_it_is_saved(draft: PriceDraft) -> None:
    with pytest.raises(FiguresMoved) as refused:
        save_draft(
            changes={
                B200: Change(Decimal("6.49"), Decimal("6.00")),
                DISK: Change(Decimal("1.20"), Decimal(9)),
            },
            actor="bob",
        )
    assert refused.value.stored == {B200: Decimal("7.00")}
    assert refused.value.text.startswith("ada has saved")
    assert draft_figures(open_draft()) == {B200: Decimal("7.00")}


def test_a_figure_that_was_published_meanwhile_is_refused_too(draft: PriceDraft) -> None:
    publish_draft(draft_id=draft.pk, revision=1, actor="ada", reason="r")
    with pytest.raises(FiguresMoved) as refused:
        save(B200, "6.49", "6.00", actor="bob")
    assert refused.value.text.startswith("ada has saved")
    seed_price = save(B200, "7.00", "6.00", actor="bob")
    assert seed_price.base is not None
    assert seed_price.base.number == 2


def test_control_without_the_look_at_what_was_shown_the_first_figure_is_lost(draft: PriceDraft) -> None:
    save(B200, "7.00", "6.00", actor="bob")  # as if the form had not carried what its author saw
    assert draft_figures(open_draft()) == {B200: Decimal("6.00")}


def test_the_same_save_twice_is_one(draft: PriceDraft) -> None:
    assert save(B200, "6.49", "7.00").revision == draft.revision
    assert AuditEntry.objects.filter(action="prices.draft").count() == 1


def test_a_figure_put_back_leaves_the_draft(draft: PriceDraft) -> None:
    assert save(B200, "7.00", "6.4900").figures == {}


def test_a_figure_of_nothing_is_refused(seeded: Seeded) -> None:
    with pytest.raises(NotFound):
        save((ACCELERATOR, "no-such-card"), None, "1")
    assert open_draft() is None


def test_there_is_one_open_draft_and_the_database_says_so(draft: PriceDraft) -> None:
    twin = PriceDraft(
        **{name: getattr(draft, name) for name in ("opened_at", "opened_by", "saved_at", "saved_by")}
    )
    with pytest.raises(IntegrityError, match="pricedraft_one_open"), transaction.atomic():
        twin.save()


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        *(
            (kind, text)
            for kind in (ACCELERATOR, TERM, OPTION)
            for text in ("-1", "x", "NaN", "1e999", "1.23456")
        ),
        *((ACCELERATOR, text) for text in ("0", "100000", "Infinity", "1,5")),
        *((TERM, text) for text in ("", "1", "0.999")),
        (OPTION, "-0.0001"),
    ],
)
def test_what_no_figure_can_be_is_refused(kind: str, text: str) -> None:
    with pytest.raises(ValidationError):
        read_figure(kind, text)


@pytest.mark.parametrize(
    ("kind", "text", "shown"),
    [(ACCELERATOR, "", ""), (ACCELERATOR, " 6.4900 ", "6.49"), (OPTION, "0", "0.00"), (TERM, "0", "0.00")],
)
def test_what_a_figure_can_be(kind: str, text: str, shown: str) -> None:
    assert figure_text(read_figure(kind, text)) == shown


def test_publishing_makes_the_next_table_and_says_who_and_why(draft: PriceDraft) -> None:
    save(MONTH, "0.20", "0.25")
    published = publish_draft(draft_id=draft.pk, revision=2, actor="ada", reason="dearer power")
    assert (published.number, published.created) == (2, True)
    price = LotPrice.objects.get(version__number=2, lot__code="b200-180x2", term__days=30)
    assert price.amount == Decimal("7560.00")  # 7.00 x 2 x 24 x 30 x 0.75
    version = PriceVersion.objects.get(number=2)
    assert (version.published_by, version.note, version.draft.pk) == ("ada", "dearer power", draft.pk)
    assert Accelerator.objects.get(slug="b200-180").card_hour_amount == Decimal("7.00")
    entry = AuditEntry.objects.get(action="prices.publish")
    assert entry.before == {"number": 1, "accelerator": {"b200-180": "6.49"}, "term": {"30": "0.20"}}
    assert entry.after == {"number": 2, "accelerator": {"b200-180": "7.00"}, "term": {"30": "0.25"}}
    assert open_draft() is None


def test_a_second_publish_hears_that_it_is_done(draft: PriceDraft) -> None:
    publish_draft(draft_id=draft.pk, revision=1, actor="ada", reason="r")
    with pytest.raises(Conflict) as refused:
        publish_draft(draft_id=draft.pk, revision=1, actor="bob", reason="r")
    assert refused.value.code == "already_done"
    assert refused.value.text == "This was already done: the draft is price table 2."
    assert PriceVersion.objects.count() == 2


def test_what_was_not_previewed_is_not_published(draft: PriceDraft) -> None:
    save(MONTH, "0.20", "0.25", actor="bob")
    with pytest.raises(Conflict) as refused:
        publish_draft(draft_id=draft.pk, revision=1, actor="ada", reason="r")
    assert refused.value.code == "draft_changed"
    assert PriceVersion.objects.count() == 1


def test_a_draft_that_changes_nothing_is_not_published_and_leaves_no_trace(draft: PriceDraft) -> None:
    save(B200, "7.00", "6.49")
    with pytest.raises(Refusal) as refused:
        publish_draft(draft_id=draft.pk, revision=2, actor="ada", reason="r")
    assert refused.value.code == "nothing_changed"
    assert not preview_of(figures={}).differs
    assert not AuditEntry.objects.filter(action="prices.publish").exists()


def test_a_draft_of_an_older_table_takes_up_the_newer_one_first(draft: PriceDraft) -> None:
    Option.objects.filter(code="nvme-extra").update(unit_amount=Decimal("2.00"))
    publish_prices()
    with pytest.raises(Conflict) as refused:
        publish_draft(draft_id=draft.pk, revision=1, actor="ada", reason="r")
    assert refused.value.code == "draft_outdated"
    again = rebase_draft(draft_id=draft.pk, actor="ada")
    assert again.base is not None
    assert (again.base.number, again.revision, again.figures) == (2, 2, draft.figures)
    assert rebase_draft(draft_id=draft.pk, actor="ada").revision == 2
    assert publish_draft(draft_id=draft.pk, revision=2, actor="ada", reason="r").number == 3
    assert Option.objects.get(code="nvme-extra").unit_amount == Decimal("2.00")


def test_a_discarded_draft_cannot_be_published(draft: PriceDraft) -> None:
    discard_draft(draft_id=draft.pk, actor="ada", reason="a slip")
    with pytest.raises(Conflict) as refused:
        publish_draft(draft_id=draft.pk, revision=1, actor="ada", reason="r")
    assert refused.value.text == "This draft was discarded already."
    assert save(B200, "6.49", "6.60").pk != draft.pk


def test_preview_works_out_prices_and_quotes_and_warns(seeded: Seeded) -> None:
    preview = preview_of(
        figures={
            B200: Decimal("12.98"),
            DISK: Decimal(0),
            MONTH: Decimal("0.95"),
            (ACCELERATOR, "l40s-48"): None,
        }
    )
    three = next(row for row in preview.rows if row.code == "b200-180x2").prices[0]
    assert (three.old, three.new, three.fraction) == (Decimal("934.56"), Decimal("1869.12"), Decimal(1))
    sample = next(s for s in preview.samples if s.lot == "b200-180x2" and s.days == 30)
    # 12.98 x 2 x 24 x 30 x 0.05 and 30 days of the other options: 6.00 + 2.50 x 30 + 15.00 x 30
    assert (sample.options, sample.new) == (4, Decimal("934.56") + Decimal("531.00"))
    gone = next(s for s in preview.samples if s.lot.startswith("l40s-48"))
    assert gone.new is None
    text = "\n".join(preview.warnings)
    assert "NVIDIA B200 rises by 100%: b200-180x2 from 934.56 to 1,869.12. Term in days: 3." in text
    assert "Extra local NVMe will cost nothing." in text
    assert "NVIDIA L40S has no price any more: it will not be on sale." in text
    assert "30 days will cost no more than 7 days in all." in text
    assert PriceVersion.objects.count() == 1
    assert Term.objects.get(days=30).discount == Decimal("0.20")


def test_preview_of_a_price_that_rounds_to_nothing_says_so(seeded: Seeded) -> None:
    preview = preview_of(figures={B200: Decimal("0.0001"), (TERM, "3"): Decimal("0.99")})
    assert "rounds to nothing" in preview.refusal


def test_preview_of_a_shop_that_sells_nothing_any_more(seeded: Seeded) -> None:
    slugs = Accelerator.objects.values_list("slug", flat=True)
    preview = preview_of(figures={(ACCELERATOR, slug): None for slug in slugs})
    assert preview.refusal == "No lot has a price and a term."
    assert {sample.new for sample in preview.samples} == {None}


def test_a_new_lot_is_on_sale_only_after_the_next_publication(seeded: Seeded) -> None:
    lot = LotFactory.create(accelerator=Accelerator.objects.get(slug="b200-180"), cards=4)
    seed_catalog()  # a program that starts again publishes nothing of the staff's
    assert PriceVersion.objects.count() == 1
    preview = preview_of(figures={})
    assert preview.differs
    assert [(row.code, row.prices[0].old) for row in preview.rows] == [(lot.code, None)]
    assert (preview.changed, preview.unchanged) == (3, 135)


def test_preview_costs_the_same_whatever_changes(
    seeded: Seeded, django_assert_max_num_queries: object
) -> None:
    with django_assert_max_num_queries(9):  # type: ignore[operator]
        preview_of(figures={B200: Decimal(9), MONTH: Decimal("0.1")})


def save_both_at_once() -> dict[str, dict[str, str | None]]:
    """Two authors change different figures in the same moment; what the draft holds in the end."""
    asked = [(MONTH, "0.20", "0.25"), (DISK, "1.20", "2.00")]
    outcomes = at_once(2, lambda number: save(*asked[number], actor=f"author {number}"))
    assert [outcome for outcome in outcomes if isinstance(outcome, Exception)] == []
    draft = open_draft()
    assert draft is not None
    return draft.figures  # type: ignore[no-any-return]


@pytest.mark.django_db(transaction=True)
def test_two_authors_at_once_keep_each_others_figures(draft: PriceDraft) -> None:
    assert save_both_at_once() == {
        "accelerator": {"b200-180": "7.00"},
        "option": {"nvme-extra": "2.00"},
        "term": {"30": "0.25"},
    }


@pytest.mark.django_db(transaction=True)
def test_control_without_the_lock_one_of_both_is_lost(
    draft: PriceDraft, monkeypatch: pytest.MonkeyPatch
) -> None:
    both_have_read = Barrier(2, timeout=30)

    def unlocked() -> PriceDraft | None:
        found = open_draft()
        both_have_read.wait()
        return found

    monkeypatch.setattr(draft_service, "open_draft_for_update", unlocked)
    assert len(save_both_at_once()) == 2
