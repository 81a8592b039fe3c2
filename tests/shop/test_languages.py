"""S41, S42: a language by address, then by choice, then by the browser; hostile values break and redirect nothing."""

from urllib.parse import quote

import pytest
from django.test import Client

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    ("header", "language"),
    [
        ("de-DE-1996,de;q=0.9", "de"),
        ("fr-CA", "fr"),
        ("de-AT", "de"),
        ("uk", "en"),
        ("ru, en;q=0.9", "ru"),
        ("en;q=0.1, fr;q=0.2", "fr"),
        (";", "en"),
        ("*", "en"),
        ("ru;q=abc", "en"),
        (",".join(f"x{n}-yy;q=0.{n % 10}" for n in range(1200)), "en"),
        ("\xff\xfe\xe9", "en"),
        ("../../x", "en"),
        ("", "en"),
    ],
)
def test_s42_the_start_is_in_the_language_of_the_browser(header: str, language: str) -> None:
    answer = Client().get("/", headers={"accept-language": header})
    assert (answer.status_code, answer["Location"]) == (302, f"/{language}/")
    assert {"Accept-Language", "Cookie"} <= set(answer["Vary"].split(", "))


@pytest.mark.parametrize(
    "path", ["x" * 1000, "de-AT", "fr-CA/catalog", "%00", "..%2f..", "ru" * 300, "\u202ede", "en%0d%0aX:1"]
)
def test_s42_a_first_path_element_that_is_no_language_is_not_found(path: str) -> None:
    answer = Client().get(f"/{quote(path, safe='/%')}/", headers={"accept-language": "fr"})
    assert answer.status_code == 404
    assert "X" not in answer.headers


@pytest.mark.parametrize("cookie", ["../../x", "xx", "de" * 2500, "de-XX", "", "ru;q=1", '"'])
def test_s42_a_cookie_that_is_no_language_leaves_the_choice_to_the_browser(cookie: str) -> None:
    visitor = Client()
    visitor.cookies["language"] = cookie
    answer = visitor.get("/", headers={"accept-language": "fr"})
    assert answer["Location"] in ("/fr/", "/de/" if cookie == "de-XX" else "/fr/")


def test_an_address_goes_before_a_choice_and_a_choice_before_the_browser() -> None:
    visitor = Client(headers={"accept-language": "fr"})
    answer = visitor.post("/language/", {"language": "ru", "next": "/en/plan/?method=lora"})
    assert (answer.status_code, answer["Location"]) == (303, "/ru/plan/?method=lora")
    cookie = answer.cookies["language"]
    assert (cookie.value, cookie["samesite"], cookie["path"]) == ("ru", "Lax", "/")
    assert visitor.get("/")["Location"] == "/ru/"
    page = visitor.get("/de/legal/terms/")
    assert page["Content-Language"] == "de"
    assert '<html lang="de"' in page.content.decode()
    assert visitor.get("/ru/legal/terms/")["Content-Language"] == "ru"


@pytest.mark.parametrize("value", ["../../x", "xx", "\x00", "x" * 5000, "de-AT", "DE", ""])
def test_s42_a_choice_that_is_no_language_changes_nothing(value: str) -> None:
    answer = Client().post("/language/", {"language": value, "next": "/fr/"})
    assert (answer.status_code, answer["Location"]) == (303, "/fr/")
    assert "language" not in answer.cookies


# fmt: off
FOREIGN = [
    "//evil.example", "/\\evil.example", "\t//evil.example", "https:evil.example", "javascript:alert(1)",
    "http://evil.example/", "\\\\evil.example", "///evil.example", "/\x01", "/en/\r\nX: 1", "", "en/",
    "\u2028//evil.example",
]
# fmt: on


@pytest.mark.parametrize("target", FOREIGN)
@pytest.mark.parametrize("form", [("/language/", "language", "de"), ("/theme/", "theme", "dark")])
def test_s41_a_choice_leads_to_a_page_of_ours(form: tuple[str, str, str], target: str) -> None:
    address, name, value = form
    answer = Client().post(address, {name: value, "next": target})
    assert answer.status_code == 303
    assert answer["Location"] in ("/", "/de/")
    # The choice itself is kept: where to go afterwards is another matter.
    assert answer.cookies[name].value == value


@pytest.mark.parametrize(
    ("target", "there"),
    [
        ("/", "/de/"),
        ("/en", "/de"),
        ("/en/catalog/?stack=CUDA&q=%2F%2Fevil.example", "/de/catalog/?stack=CUDA&q=%2F%2Fevil.example"),
        ("/en/%2F%2Fevil.example/", "/de/%2F%2Fevil.example/"),
        ("/demo/mail/", "/demo/mail/"),
        ("/english/", "/english/"),
        ("/%09//evil", "/%09//evil"),
    ],
)
def test_s41_the_page_stays_and_its_language_changes(target: str, there: str) -> None:
    assert Client().post("/language/", {"language": "de", "next": target})["Location"] == there


def test_a_page_without_a_language_in_its_address_stays_and_speaks_the_chosen_one() -> None:
    visitor = Client(headers={"accept-language": "fr"})
    html = visitor.get("/demo/mail/?x=1").content.decode()
    assert '<html lang="fr"' in html
    assert '<input type="hidden" name="next" value="/demo/mail/?x=1">' in html
    answer = visitor.post("/language/", {"language": "de", "next": "/demo/mail/?x=1"})
    assert answer["Location"] == "/demo/mail/?x=1"
    assert '<html lang="de"' in visitor.get(answer["Location"]).content.decode()


def test_an_error_of_the_api_keeps_its_code_whatever_the_language() -> None:
    answer = Client().get("/api/v1/nothing", headers={"accept-language": "ru"})
    assert answer.status_code == 404
    assert answer.json()["code"] == "not_found"
