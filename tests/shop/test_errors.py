"""Error pages: each status in each language, by address, choice or browser, whatever is broken."""

import re

import pytest
from django.conf import settings as django_settings
from django.db import OperationalError
from django.http import HttpRequest
from django.test import Client, RequestFactory
from django.utils import translation
from django.utils.translation import gettext

from shop.views import errors

HEADINGS = {
    400: "We could not read this request",
    403: "This page is not open to you",
    404: "There is nothing at this address",
    405: "This step begins on its own page",
    413: "That is more than we accept",
    429: "Too many requests from your side",
    500: "Something failed on our side",
    503: "We cannot answer at the moment",
}
LANGUAGES = [code for code, _name in django_settings.LANGUAGES]


def _heading(html: str) -> str:
    found = re.findall(r"<h1>(.*?)</h1>", html)
    assert len(found) == 1
    return str(found[0])


@pytest.mark.parametrize("status", HEADINGS)
def test_each_page_speaks_the_language_of_the_address(rf: RequestFactory, status: int) -> None:
    """Not the one that another request left behind in this thread."""
    for language in LANGUAGES:
        translation.activate("fr" if language == "ru" else "ru")
        page = errors.error_page(rf.get(f"/{language}/x/?a=1"), status)
        html = page.content.decode()
        assert page.status_code == status
        assert page["Content-Language"] == language
        assert f'<html lang="{language}"' in html
        with translation.override(language):
            assert _heading(html) == gettext(HEADINGS[status])
        # What to do next is always there.
        assert f'href="/{language}/orders/"' in html
        assert f'href="/{language}/catalog/"' in html
        assert f'href="/{language}/"' in html
        others = [code for code in LANGUAGES if code != language]
        assert all(f'href="/{code}/x/?a=1"' in html for code in others)


def test_without_a_language_in_the_address_choice_and_browser_decide(rf: RequestFactory) -> None:
    request = rf.get("/healthy", headers={"accept-language": "fr"})
    assert errors.error_page(request, 404)["Content-Language"] == "fr"
    request.COOKIES["language"] = "ru"
    assert errors.error_page(request, 404)["Content-Language"] == "ru"
    request.COOKIES["theme"] = "dark"
    assert 'data-theme="dark"' in errors.error_page(request, 500).content.decode()


@pytest.mark.parametrize("status", [500, 503])
def test_what_was_asked_can_be_asked_again_and_what_was_sent_cannot(rf: RequestFactory, status: int) -> None:
    link = '<a class="btn" href="/en/plan/?a=1&amp;b=2">Try again</a>'
    assert link in errors.error_page(rf.get("/en/plan/?a=1&b=2"), status).content.decode()
    assert "Try again" not in errors.error_page(rf.post("/en/plan/?a=1&b=2"), status).content.decode()


def _server_error(request: HttpRequest, error: Exception) -> tuple[int, str]:
    try:
        raise error
    except type(error):
        page = errors.server_error(request)
    return page.status_code, page.get("Retry-After", "")


def test_a_database_that_does_not_answer_is_503(rf: RequestFactory) -> None:
    assert _server_error(rf.get("/en/"), OperationalError("no connection")) == (503, "60")
    assert _server_error(rf.get("/en/"), KeyError("x")) == (500, "")


@pytest.mark.django_db
@pytest.mark.parametrize("language", LANGUAGES)
def test_a_page_that_takes_a_form_only_says_so_to_a_visitor(language: str) -> None:
    answer = Client().get(f"/{language}/orders/{'x' * 43}/claim/")
    assert (answer.status_code, answer["Allow"]) == (405, "POST")
    assert answer["X-Request-ID"] in answer.content.decode()
    with translation.override(language):
        assert _heading(answer.content.decode()) == gettext(HEADINGS[405])
    assert Client().head("/theme/").status_code == 405


@pytest.mark.django_db
def test_a_form_without_its_token_is_refused_in_the_language_of_the_page() -> None:
    answer = Client(enforce_csrf_checks=True).post("/de/orders/", {"email": "a@example.com"})
    assert (answer.status_code, answer["Content-Language"]) == (403, "de")
