"""The PDF: text comes out literally and in the right language, long lists break, it is stored once."""

import re
import tomllib
from datetime import timedelta
from typing import Any

import pytest
import typst
from django.db import transaction

from billing.invoices.layout import layout
from billing.invoices.words import WORDS_FILE, all_words, counted, plural_form
from billing.models import Invoice
from billing.services import render_invoice as module
from billing.services.cancel_invoice import cancel_invoice, clean_buyer
from billing.services.issue_invoice import issue_credit_note
from billing.services.render_invoice import pdf_of, render_due, render_invoice
from catalog.tax import bill_to
from core import clock
from core.models import Decision
from tests.billing.invoicing import NASTY, document, paid, refund
from tests.billing.pdf_text import squeezed, text_of

LANGUAGES = ("en", "de", "fr", "ru")


def rendered(invoice: Invoice) -> bytes:
    assert render_invoice(invoice.pk)
    invoice.refresh_from_db()
    assert invoice.pdf is not None
    return bytes(invoice.pdf)


def shown(invoice: Invoice, **changes: Any) -> str:
    """The text of a document whose data were never stored like that."""
    invoice.data = invoice.data | changes
    return text_of(pdf_of(layout(invoice), number="test"))


def buyer(invoice: Invoice, **changes: str) -> dict[str, Any]:
    return {"buyer": invoice.data["buyer"] | changes}


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.usefixtures("shop")
def test_each_language_prints_its_own_words_and_figures(language: str) -> None:
    order = paid(language=language, name="Анна Щёголева", company="ООО «Ёж»", days=7)
    text = text_of(rendered(document(order)))
    words = {
        "en": ("Invoice", "NVIDIA B200, lot of 2 cards", "2,028.00 USD", "Page 1 of 1", "term discount 7%"),
        "de": (
            "Rechnung",
            "NVIDIA B200, Los zu 2 Karten",
            "2.028,00 USD",
            "Seite 1 von 1",
            "Laufzeitrabatt 7 %",
        ),
        "fr": ("Facture", "NVIDIA B200, lot de 2 cartes", "2 028,00 USD", "Page 1 sur 1", "de durée 7 %"),
        "ru": ("Инвойс", "NVIDIA B200, лот из 2 карт", "2 028,00 USD", "Страница 1 из 1", "за срок 7 %"),
    }
    for part in (*words[language], "Анна Щёголева", "ООО «Ёж»", order.public_id, str(document(order))):
        assert squeezed(part) in text
    assert order.payment.transfers.get().tx_hash in text
    assert squeezed(all_words()[language]["simulated"]) in text


@pytest.mark.usefixtures("shop")
def test_receipt_cancellation_and_credit_note_have_their_own_words() -> None:
    order = paid(language="de", company="Falsch GmbH")
    first = document(order)
    receipt = text_of(rendered(document(order, "receipt")))
    assert squeezed(f"Zahlung zu Rechnung {first}") in receipt
    assert squeezed("Erhalten934,56 USD") in receipt
    new_buyer = clean_buyer(name="Ada", company="Richtig GmbH", address="Ring 1\n10115 Berlin")
    new = cancel_invoice(invoice_id=first.pk, buyer=new_buyer, actor="staff", reason="Name")
    cancelled = text_of(rendered(document(order, "cancellation")))
    assert squeezed(f"Storniert Rechnung {first} vom") in cancelled
    assert "\u2212934,56" in cancelled
    anew = text_of(rendered(new))
    assert squeezed("Richtig GmbH Ada Ring 1 10115 Berlin") in anew
    with transaction.atomic():
        note = issue_credit_note(refund(order, "34.56"))
    assert note is not None
    credit = text_of(rendered(note))
    assert squeezed("Rückzahlung: Bestellung storniert") in credit
    assert squeezed("Zu Ihren Gunsten\u221234,56 USD") in credit


@pytest.mark.usefixtures("shop")
def test_no_text_of_a_person_is_markup() -> None:
    company = (NASTY * 4)[:200]
    text = text_of(rendered(document(paid(company=company, name="#panic() *Ada*"))))
    assert squeezed(company) in text
    assert squeezed("#panic() *Ada*") in text


@pytest.mark.usefixtures("shop")
def test_a_file_cannot_be_read_by_a_name() -> None:
    name = '#read("/etc/passwd") #include "/etc/passwd"'
    text = text_of(rendered(document(paid(name=name))))
    assert squeezed(name) in text
    assert "root:" not in text


@pytest.mark.usefixtures("shop")
def test_marks_that_turn_text_round_never_reach_a_document() -> None:
    data = document(paid(company="Acme \u202eGBT\u202c \u200fx")).data
    assert data["buyer"]["company"] == "Acme GBT x"


@pytest.mark.usefixtures("shop")
def test_what_no_font_can_draw_is_spelled_by_code_point() -> None:
    invoice = document(paid())
    text = shown(invoice, **buyer(invoice, company="会社 \U0001f680 \U0001f468\u200d\U0001f469 \ufffe end"))
    # A machine with such fonts draws the characters themselves; the fonts that come along do not.
    assert re.search(r"(会|\[U\+4F1A\])(社|\[U\+793E\])(\U0001f680|\[U\+1F680\])", text)
    assert "\ufffd" not in text
    assert "end" in text


@pytest.mark.parametrize(
    "name", ["x" * 200, "Ж" * 200, "\U0001f680" * 50, "شركة שלום", "a\u0301\u0302\u0303" * 20]
)
@pytest.mark.usefixtures("shop")
def test_odd_names_make_a_document(name: str) -> None:
    pdf = rendered(document(paid(company=name)))
    assert pdf.startswith(b"%PDF-1.7")
    assert b"<pdfaid:part>2</pdfaid:part>" in pdf


@pytest.mark.parametrize(
    ("language", "sentence"),
    [
        ("en", "Reverse charge. The buyer owes the VAT"),
        ("de", "Steuerschuldnerschaft des Leistungsempfängers"),
        ("fr", "Autoliquidation"),
        ("ru", "Reverse charge: НДС исчисляет и уплачивает покупатель"),
    ],
)
def test_reverse_charge_in_the_words_of_the_law(
    shop: None, settings: Any, language: str, sentence: str
) -> None:
    settings.TAX_TABLE = "eu"
    order = paid(language=language, bill_to=bill_to(country="FR", kind="business", vat_id="FR83404833048"))
    text = text_of(rendered(document(order)))
    assert squeezed(sentence) in text
    assert "FR83404833048" in text


def test_other_treatments_name_their_rule(shop: None, settings: Any) -> None:
    settings.TAX_TABLE = "eu"
    said = {
        "DE": "VAT 19% (DE)",
        "FR": "Place of supply: France (FR).",
        "US": "Not subject to VAT of the European Union",
    }
    for country, sentence in said.items():
        assert squeezed(sentence) in text_of(rendered(document(paid(bill_to=bill_to(country=country)))))


def test_tax_that_is_contained_stands_below_the_total(shop: None, settings: Any) -> None:
    settings.TAX_TABLE = "eu"
    settings.PRICES_INCLUDE_TAX = True
    text = text_of(rendered(document(paid())))
    assert (
        squeezed("Total 934.56 USD Net amount 785.34 USD VAT 19% (DE), contained in the total 149.22 USD")
        in text
    )


@pytest.mark.usefixtures("shop")
def test_a_long_list_goes_over_pages_with_its_head_and_every_line() -> None:
    invoice = document(paid())
    line = invoice.data["lines"][0]
    lines = [line | {"label": f"Position number {number}."} for number in range(80)]
    text = shown(invoice, lines=lines)
    assert all(squeezed(f"Position number {number}.") in text for number in range(80))
    pages = int(re.findall(r"Page1of(\d+)", text)[0])
    assert pages >= 3
    assert text.count("QuantityUnitprice") >= pages - 1
    assert squeezed(f"Page {pages} of {pages}") in text


@pytest.mark.usefixtures("shop")
def test_the_sweep_renders_what_a_lost_hint_left_and_the_first_pdf_stays() -> None:
    invoice = document(paid())
    assert invoice.pdf is None
    render_due()
    first = rendered(invoice)
    assert invoice.rendered_at is not None
    assert rendered(invoice) == first
    assert not Invoice.objects.filter(pdf__isnull=True).exists()
    assert not render_invoice(0)


@pytest.mark.usefixtures("shop")
def test_a_document_that_cannot_be_made_waits_longer_and_becomes_a_decision(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    invoice = document(paid())

    def broken(*_arguments: Any, **_options: Any) -> bytes:
        raise typst.TypstError("no\x00 good", "no good")

    with monkeypatch.context() as patch:
        patch.setattr(module, "_compile", broken)
        for attempt in range(1, module.ATTEMPTS_BEFORE_DECISION + 1):
            assert not render_invoice(invoice.pk)
            invoice.refresh_from_db()
            assert invoice.attempts == attempt
            assert invoice.next_at > clock.system_now() + timedelta(seconds=2**attempt)
        decision = Decision.objects.get(kind="invoice_failing")
        assert decision.facts["number"] == str(invoice)
        render_due()
        invoice.refresh_from_db()
        assert invoice.attempts == module.ATTEMPTS_BEFORE_DECISION
    rendered(invoice)
    decision.refresh_from_db()
    assert decision.closed_at is not None


def test_all_languages_have_the_same_words_and_places() -> None:
    words = tomllib.loads(WORDS_FILE.read_text(encoding="utf-8"))
    assert tuple(words) == LANGUAGES
    english = words["en"]
    for table in words.values():
        assert table.keys() == english.keys()
        for key, text in table.items():
            if key != "plural":
                assert set(re.findall(r"{\w+}", text)) == set(re.findall(r"{\w+}", english[key])), key
        for key, forms in table["plural"].items():
            assert set(re.findall(r"{\w+}", forms["other"])) == set(
                re.findall(r"{\w+}", english["plural"][key]["other"])
            )
    french = [text for text in words["fr"].values() if isinstance(text, str)]
    assert not [text for text in french if re.search(r"[^\u202f\d][:;!?]", text) or "'" in text]


def test_russian_numbers() -> None:
    forms = [plural_form("ru", number) for number in (0, 1, 2, 5, 11, 12, 21, 22, 111, 112)]
    assert forms == ["other", "one", "few", "other", "other", "other", "one", "few", "other", "other"]
    assert [counted("ru", "days", number) for number in (3, 7, 30, 21)] == [
        "3 дня",
        "7 дней",
        "30 дней",
        "21 день",
    ]
    assert (counted("fr", "days", 0), counted("en", "days", 0), counted("de", "cards", 1)) == (
        "0 jour",
        "0 days",
        "1 Karte",
    )
