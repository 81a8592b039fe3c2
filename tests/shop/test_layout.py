"""The layout and its parts: what every page promises, whatever it shows."""

import re
from pathlib import Path
from typing import Any

import pytest
from django import forms
from django.conf.urls.i18n import i18n_patterns
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.template import TemplateSyntaxError, loader
from django.template.loader import render_to_string
from django.test import RequestFactory
from django.urls import include, path
from django.utils import translation
from pytest_django import Settings

from shop import context
from shop.templatetags.site import ICONS, icon

ROOT = Path(__file__).resolve().parents[2]
TEMPLATES = sorted(p for p in (ROOT / "templates").rglob("*.html") if not {"admin", "mail"} & {*p.parts})
ERROR_PAGES = [
    "400.html",
    "403.html",
    "403_csrf.html",
    "404.html",
    "405.html",
    "413.html",
    "429.html",
    "500.html",
    "503.html",
]
NOTICE = "Demo: delivery is simulated"


def _page(request: HttpRequest, **_: Any) -> HttpResponse:
    return render(request, "base.html")


_shop = [
    path("catalog/", _page, name="catalog"),
    path("simulated/", _page, name="simulated"),
    path("legal/<slug:slug>/", _page, name="legal"),
]
urlpatterns = i18n_patterns(path("", include((_shop, "shop"))))

pytestmark = pytest.mark.urls(__name__)


def _base(target: str = "/en/catalog/", **cookies: str) -> str:
    request = RequestFactory().get(target)
    request.COOKIES.update(cookies)
    with translation.override(translation.get_language_from_path(request.path_info) or "en"):
        return render_to_string("base.html", context.site(request) | {"csrf_token": "t"}, request=None)


@pytest.mark.parametrize("name", ERROR_PAGES)
def test_an_error_page_needs_no_request_no_context_and_no_database(name: str) -> None:
    html = loader.get_template(name).render()
    assert html.count("<h1>") == 1
    assert NOTICE in html
    assert html.count('rel="stylesheet"') == 1
    assert "/static/css/shop.css" in html


@pytest.mark.parametrize("name", ["base.html", *ERROR_PAGES])
def test_the_notice_goes_when_delivery_is_real(name: str, settings: Settings) -> None:
    settings.PROVIDER = "rack"
    html = loader.get_template(name).render()
    assert NOTICE not in html
    assert "simulated" not in html.lower()


@pytest.mark.urls("tests.shop.no_urls")
@pytest.mark.parametrize("name", ["base.html", *ERROR_PAGES])
def test_only_pages_that_exist_are_linked(name: str) -> None:
    html = loader.get_template(name).render()
    assert "catalog" not in html
    assert "/legal/" not in html
    assert 'href="#simulated"' in html
    assert 'id="simulated"' in html


def test_the_footer_links_the_pages_that_exist() -> None:
    html = _base()
    for target in (
        "/en/catalog/",
        "/en/simulated/",
        "/en/legal/terms/",
        "/en/legal/privacy/",
        "/en/legal/imprint/",
    ):
        assert f'href="{target}"' in html


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda p: p.name)
def test_nothing_is_inline(template: Path) -> None:
    """The content policy allows neither inline scripts nor inline styles; a stray one breaks silently."""
    text = template.read_text()
    assert not re.search(r"<style\b|\sstyle=|javascript:", text)
    assert not re.search(r"<script\b(?![^>]*\bsrc=)", text)
    assert not re.search(r"<[^>%]*\son[a-z]+=", text)


def test_the_language_choice_keeps_page_and_query() -> None:
    html = _base("/de/catalog/?days=7&q=%C3%A9")
    assert '<input type="hidden" name="next" value="/de/catalog/?days=7&amp;q=%C3%A9">' in html
    assert 'name="language" value="de" lang="de" aria-current="true"' in html
    assert html.startswith('<!doctype html>\n<html lang="de"')


def test_language_links_of_a_page_without_prefix_lead_to_the_start() -> None:
    links = context.language_links(RequestFactory().get("/healthz"))
    assert [link["url"] for link in links] == ["/en/", "/de/", "/fr/", "/ru/"]
    links = context.language_links(RequestFactory().get("/fr/plan/?a=1"))
    assert [link["url"] for link in links] == [f"/{code}/plan/?a=1" for code in ("en", "de", "fr", "ru")]


@pytest.mark.parametrize(
    ("cookie", "theme"), [("dark", "dark"), ("light", "light"), ("", "auto"), ('"><script>', "auto")]
)
def test_the_theme_comes_from_the_cookie(cookie: str, theme: str) -> None:
    html = _base(theme=cookie)
    assert f'data-theme="{theme}"' in html
    assert f'value="{theme}" id="theme-{theme}" checked' in html
    assert html.count(" checked>") == 1


def test_the_sprite_has_every_icon_and_templates_use_no_other() -> None:
    drawn = set(re.findall(r'id="i-([a-z]+)"', (ROOT / "static/icons/sprite.svg").read_text()))
    assert drawn == ICONS
    used = set()
    for template in TEMPLATES:
        used |= set(re.findall(r'{% icon "([^"]+)" %}|\bicon="([^"]+)"', template.read_text()))
    assert {name for pair in used for name in pair if name} <= ICONS
    with pytest.raises(TemplateSyntaxError):
        icon("anchor")


class _Form(forms.Form):
    email = forms.EmailField(label="E-mail", help_text="For the link to your order.")
    rail = forms.ChoiceField(label="Pay with", choices=[("a", "A"), ("b", "B")], widget=forms.RadioSelect)
    terms = forms.BooleanField(label="I accept the terms")


@pytest.mark.parametrize("name", ["email", "rail", "terms"])
def test_a_refused_field_says_so_to_everyone(name: str) -> None:
    form = _Form({"email": "nope"})
    html = render_to_string("components/field.html", {"field": form[name]})
    assert 'class="error"' in html
    assert "Error:" in html
    ids = set(re.findall(r'\bid="([^"]+)"', html))
    described = re.search(r'aria-describedby="([^"]+)"', html)
    assert described is not None
    assert set(described[1].split()) <= ids
    assert set(re.findall(r'<label[^>]*\bfor="([^"]+)"', html)) <= ids
    assert 'aria-invalid="true"' in html


def test_a_field_without_error_is_plain() -> None:
    html = render_to_string("components/field.html", {"field": _Form()["email"]})
    assert "bad" not in html
    assert "aria-invalid" not in html
    assert 'class="input"' in html


def test_the_summary_leads_to_each_field_and_takes_the_focus() -> None:
    form = _Form({"email": "nope"})
    summary = render_to_string("components/error_summary.html", {"form": form})
    fields = "".join(render_to_string("components/field.html", {"field": field}) for field in form)
    assert "3 things need your attention" in summary
    assert "autofocus" in summary
    targets = re.findall(r'href="#([^"]+)"', summary)
    assert len(targets) == 3
    assert all(f'id="{target}"' in fields for target in targets)


def test_text_from_people_is_escaped_in_every_part() -> None:
    evil = "<i>&\"'"
    for name in ("badge", "notice", "fact", "log_item", "code_block", "payrow", "copy_button", "empty"):
        values = dict.fromkeys(
            ("text", "title", "label", "value", "term", "what", "note", "id", "copy"), evil
        )
        html = render_to_string(f"components/{name}.html", {**values, "icon": "info"})
        assert "<i>" not in html
        assert "&lt;i&gt;&amp;&quot;&#x27;" in html


def test_each_font_file_is_there_with_its_licence() -> None:
    css = (ROOT / "static/css/fonts.css").read_text()
    files = re.findall(r'url\("\.\./fonts/([^"]+)"\)', css)
    assert len(files) == 6
    for name in files:
        assert (ROOT / "static/fonts" / name).read_bytes()[:4] == b"wOF2"
    for family in ("golos-text", "jetbrains-mono"):
        assert "SIL Open Font License" in (ROOT / "static/fonts" / f"{family}-LICENSE.txt").read_text()
