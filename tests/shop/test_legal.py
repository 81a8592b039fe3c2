"""The legal pages: their numbers are those that the program keeps, the imprint is the operator's own words."""

import re

import pytest
from django.conf import settings as django_settings
from django.test import Client
from django.utils import translation
from django.utils.translation import gettext
from pytest_django import Settings

from shop.visitor import COOKIE

pytestmark = pytest.mark.django_db

TITLES = {"terms": "Terms", "privacy": "Privacy", "imprint": "Imprint"}
LANGUAGES = [code for code, _name in django_settings.LANGUAGES]


def _words(target: str) -> str:
    html = Client().get(target).content.decode()
    (article,) = re.findall(r"<article.*?</article>", html, flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]+>", " ", article).replace("\u00a0", " ").split())


@pytest.mark.parametrize("language", LANGUAGES)
def test_terms_state_what_the_settings_say(settings: Settings, language: str) -> None:
    seconds = {
        "QUOTE_VALID_SECONDS": 31 * 60,
        "HOLD_SECONDS": 62 * 60,
        "LATE_OFFER_SECONDS": 63 * 60,
        "EXTEND_LEAD_SECONDS": 64 * 60,
        "READY_BY_SECONDS": 65 * 3600,
        "LATE_GRACE_SECONDS": 66 * 3600,
        "REVERSED_GRACE_SECONDS": 67 * 3600,
    }
    before = _words(f"/{language}/legal/terms/")
    for name, value in seconds.items():
        setattr(settings, name, value)
    words = _words(f"/{language}/legal/terms/")
    for number in ("31", "62", "63", "64", "65", "66", "67"):
        assert re.search(rf"\b{number}\b", words), number
        assert not re.search(rf"\b{number}\b", before), number
    assert re.search(r"\b50[ \u202f]?%", words)
    assert settings.TERMS_VERSION in words


def test_a_figure_of_one_is_singular(settings: Settings) -> None:
    settings.READY_BY_SECONDS = 3600
    assert "within 1 hour after the payment is final" in _words("/en/legal/terms/")


def test_privacy_names_every_cookie_that_is_set() -> None:
    words = _words("/en/legal/privacy/")
    for name in (
        COOKIE,
        django_settings.CSRF_COOKIE_NAME,
        django_settings.SESSION_COOKIE_NAME,
        django_settings.LANGUAGE_COOKIE_NAME,
        "theme",
    ):
        assert name in words


def test_the_imprint_is_the_operators_own(settings: Settings) -> None:
    assert "without an operator" in _words("/en/legal/imprint/")
    settings.DEMO = False
    settings.IMPRINT = "Anker GmbH <script>\nHafen 1\nshop@gpu.example"
    settings.SELLER_VAT_ID = "DE123456789"
    html = Client().get("/en/legal/imprint/").content.decode()
    assert "Anker GmbH &lt;script&gt;<br>Hafen 1<br>" in html
    assert 'href="mailto:shop@gpu.example"' in html
    assert "VAT number: DE123456789" in html
    assert "This is a demo" not in html


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_page_has_its_title_in_each_language_and_says_that_it_is_a_demo(language: str) -> None:
    with translation.override(language):
        titles = {slug: gettext(title) for slug, title in TITLES.items()}
        note = gettext("This is a demo: no contract comes about and no money is owed.")
    for slug, title in titles.items():
        html = Client().get(f"/{language}/legal/{slug}/").content.decode()
        assert f"<h1>{title}</h1>" in html
        assert note in html
    assert Client().get(f"/{language}/legal/other/").status_code == 404
