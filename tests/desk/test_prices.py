"""Prices on the desk: each refusal at its field, no save undoes another, published once, as it was previewed."""

import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.urls import reverse

from catalog.data_files import DATA_DIR
from catalog.models import Accelerator, Option, PriceDraft, PriceVersion
from catalog.services.publish import publish_prices
from core.models import AuditEntry
from orders.models import Quote
from tests import scenario
from tests.core.desk import said, staff

pytestmark = pytest.mark.django_db

PRICES, PREVIEW = "/admin/desk/prices/", "/admin/desk/prices/preview/"
EDITOR = (
    "catalog.view_priceversion",
    "catalog.change_pricedraft",
    "catalog.add_priceversion",
    "catalog.add_accelerator",
)
B200 = "accelerator.b200-180"


@pytest.fixture
def shop() -> None:
    scenario.open_shop()


@pytest.fixture
def ada(shop: None) -> Client:
    return staff("ada", *EDITOR)


def save(client: Client, was: str = "6.49", now: str = "7.00", name: str = B200, **more: str) -> Any:
    return client.post(PRICES, {name: now, f"{name}.was": was, **more})


def publish(client: Client, **fields: Any) -> Any:
    draft = PriceDraft.objects.latest("id")
    shown = {"draft": draft.pk, "revision": draft.revision, "reason": "dearer power"}
    return client.post(reverse("desk:prices_publish"), {**shown, **fields})


def test_a_change_goes_from_draft_over_preview_to_a_table(ada: Client) -> None:
    page = ada.get(PRICES)
    assert page.status_code == 200
    assert b'value="6.49"' in page.content
    assert save(ada, preview="1")["Location"] == PREVIEW
    shown = ada.get(PREVIEW).content.decode()
    assert "1,008.00" in shown  # 7.00 x 2 x 24 x 3
    assert "+7.9%" in shown
    asked = ada.get(reverse("desk:prices_publish") + "?revision=1").content.decode()
    assert "Publish price table 2?" in asked
    assert PriceVersion.objects.count() == 1
    assert said(publish(ada))[-1] == "The new price table sells from now on."
    assert PriceVersion.objects.get(number=2).published_by == "ada"
    assert b"dearer power" in ada.get(PRICES).content
    assert "already done" in said(publish(ada))[-1]
    assert PriceVersion.objects.count() == 2


def test_open_quotes_keep_their_price_and_new_ones_have_the_new(ada: Client) -> None:
    before = scenario.quote()
    save(ada)
    assert "1</b><span>open quote keeps its price" in ada.get(PREVIEW).content.decode()
    publish(ada)
    old, new = Quote.objects.get(pk=before.pk), scenario.quote()
    assert (old.price_version, old.total) == (1, before.total)
    assert new.price_version == 2
    assert new.total > old.total
    assert scenario.order(old).quote.total == before.total


@pytest.mark.parametrize(
    ("name", "was", "now"),
    [
        (B200, "6.49", "-1"),
        (B200, "6.49", "0"),
        (B200, "6.49", "6.123456"),
        (B200, "6.49", "NaN"),
        (B200, "6.49", str(2**63)),
        ("term.30", "0.20", "-0.01"),
        (B200, "6.49", "6\x00"),
        (B200, "6.49", "9" * 5000),
        (B200, "not what we sent", "7"),
        ("term.30", "0.20", "1"),
        ("term.30", "0.20", ""),
        ("option.nvme-extra", "1.20", "-0.01"),
    ],
)
def test_s28_each_refusal_stands_at_its_field_and_nothing_is_saved(
    ada: Client, name: str, was: str, now: str
) -> None:
    answer = ada.post(PRICES, {name: now, f"{name}.was": was, "term.7": "0.10", "term.7.was": "0.07"})
    assert answer.status_code == 400
    (row,) = answer.context["table"].errors
    assert row.id == name
    assert f'id="{name}.error"' in answer.content.decode()
    assert not PriceDraft.objects.exists()


def test_a_stale_form_does_not_undo_another_save(ada: Client) -> None:
    bob = staff("bob", *EDITOR)
    both = {"term.30": "0.20", "term.30.was": "0.20"}
    save(ada, **both)
    save(bob, now="6.00", **both)
    (draft,) = PriceDraft.objects.all()
    assert draft.figures == {"accelerator": {"b200-180": "7.00"}}
    answer = save(bob, now="6.00", **both)
    assert b"This is now 7.00. Save again to replace it." in answer.content
    assert 'name="accelerator.b200-180.was" value="7.00"' in answer.content.decode()
    bob.post(PRICES, {"term.30": "0.25", "term.30.was": "0.20", B200: "6.49", f"{B200}.was": "6.49"})
    draft.refresh_from_db()
    assert draft.figures == {"accelerator": {"b200-180": "7.00"}, "term": {"30": "0.25"}}


def test_what_bob_added_after_adas_preview_is_not_published_by_her_click(ada: Client) -> None:
    save(ada)
    save(staff("bob", *EDITOR), was="0.20", now="0.25", name="term.30")
    assert "bob has changed the draft since this preview" in said(publish(ada, revision=1))[-1]
    assert PriceVersion.objects.count() == 1


def test_a_draft_of_an_older_table_is_taken_up_by_a_button(ada: Client) -> None:
    save(ada)
    Option.objects.filter(code="nvme-extra").update(unit_amount=Decimal("2.00"))
    publish_prices()
    assert b"was published since this draft was made" in ada.get(PREVIEW).content
    assert "Take it up first" in said(publish(ada))[-1]
    (draft,) = PriceDraft.objects.all()
    ada.post(reverse("desk:prices_rebase"), {"draft": draft.pk, "revision": draft.revision})
    publish(ada)
    assert PriceVersion.objects.latest("number").number == 3


def test_a_draft_is_discarded_with_a_reason(ada: Client) -> None:
    save(ada)
    draft = PriceDraft.objects.get()
    page = reverse("desk:prices_discard")
    assert ada.get(page).status_code == 200
    assert ada.post(page, {"draft": draft.pk, "revision": 1, "reason": "\u200b "}).status_code == 400
    ada.post(page, {"draft": draft.pk, "revision": 1, "reason": "a slip"})
    draft.refresh_from_db()
    assert draft.closed_at is not None
    assert AuditEntry.objects.get(action="prices.discard").reason == "a slip"
    assert "There is no draft" in ada.get(PREVIEW).content.decode()


@pytest.mark.parametrize(
    "fields",
    [{"draft": "x"}, {"draft": 2**70}, {"draft": 99}, {"revision": -1}, {"reason": ""}, {"reason": "a\x00"}],
)
def test_a_broken_confirmation_publishes_nothing(ada: Client, fields: dict[str, Any]) -> None:
    save(ada)
    assert publish(ada, **fields).status_code in {302, 400}
    assert PriceVersion.objects.count() == 1


def test_who_may_only_look_is_shown_no_control_and_refused(shop: None) -> None:
    eve = staff("eve", "catalog.view_priceversion")
    page = eve.get(PRICES).content.decode()
    assert '<input class="input short"' not in page
    assert "import" not in page.lower().split("<main", 1)[1]
    assert save(eve).status_code == 403
    for name in ("prices_publish", "prices_discard", "prices_rebase", "prices_import"):
        assert (
            eve.post(reverse(f"desk:{name}"), {"draft": 1, "revision": 1, "reason": "r"}).status_code == 403
        )
    assert staff("mallory").get(PRICES).status_code == 403
    assert Client().get(PRICES).status_code == 302


def test_prices_cannot_be_changed_past_the_draft(ada: Client) -> None:
    chief = staff("chief", superuser=True)
    row = Accelerator.objects.get(slug="b200-180")
    page = reverse("admin:catalog_accelerator_change", args=[row.pk])
    assert "card_hour_amount" not in chief.get(page).context["adminform"].form.fields
    chief.post(page, {"card_hour_amount": "1.00"})
    row.refresh_from_db()
    assert row.card_hour_amount == Decimal("6.49")


def upload(client: Client, content: bytes, name: str = "catalogue.toml") -> Any:
    return client.post(reverse("desk:prices_import"), {"file": SimpleUploadedFile(name, content)})


def confirm(client: Client, page: Any) -> Any:
    """Send back what the page shows, as a browser does: with its own line ends."""
    context = page.context
    fields = {
        "digest": context["digest"],
        "name": context["name"],
        "content": context["content"].replace("\n", "\r\n"),
    }
    return client.post(reverse("desk:prices_import"), fields)


CHANGE = b"""
[[options]]
code = "nvme-extra"
max_quantity = 12
unit_amount = "2.00"
"""


def test_a_file_is_shown_then_written_and_its_price_waits_in_the_draft(ada: Client) -> None:
    page = upload(ada, CHANGE)
    text = re.sub(r"<[^>]+>", " ", page.content.decode())
    assert re.search(r"max_quantity\s+30\s+12", text)
    assert Option.objects.get(code="nvme-extra").max_quantity == 30
    assert confirm(ada, page)["Location"] == PRICES
    option = Option.objects.get(code="nvme-extra")
    assert (option.max_quantity, option.unit_amount) == (12, Decimal("1.20"))
    assert PriceDraft.objects.get().figures == {"option": {"nvme-extra": "2.00"}}
    entry = AuditEntry.objects.get(action="catalogue.import")
    assert (entry.actor, entry.reason, entry.before) == (
        "ada",
        "catalogue.toml",
        {"option:nvme-extra": {"max_quantity": 30}},
    )
    assert "Look again" in said(confirm(ada, page))[-1]
    assert b"This file changes nothing" in upload(ada, CHANGE).content


def test_what_changed_since_it_was_shown_is_not_overwritten(ada: Client) -> None:
    page = upload(ada, b"\xef\xbb\xbf" + CHANGE)
    Option.objects.filter(code="nvme-extra").update(max_quantity=5)
    assert "Nothing was written" in said(confirm(ada, page))[-1]
    assert Option.objects.get(code="nvme-extra").max_quantity == 5


@pytest.mark.parametrize(
    "content", [b"", b"\xff\xfe", b"{", b"a = ", b"x" * 200_001, b'{"terms": [{"days": "3"}]}']
)
def test_a_broken_upload_is_answered_in_words(ada: Client, content: bytes) -> None:
    answer = upload(ada, content)
    assert answer.status_code == 400
    assert b"Nothing was written" in answer.content


@pytest.mark.parametrize("name", ["accelerators.json", "offer.toml"])
def test_the_shipped_files_change_nothing(ada: Client, name: str) -> None:
    assert b"This file changes nothing" in upload(ada, Path(DATA_DIR, name).read_bytes()).content
