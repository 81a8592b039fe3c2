"""What every page needs to know about the site itself; reads settings and the request, never the database."""

from pathlib import Path
from typing import TypedDict

from django.conf import settings
from django.http import HttpRequest
from django.utils.translation import get_language, get_language_info, to_locale

THEMES = ("auto", "light", "dark")
THEME_COOKIE = "theme"


class LanguageLink(TypedDict):
    code: str
    name: str
    url: str
    page: str
    current: bool


class Site(TypedDict):
    simulated: bool
    demo: bool
    theme: str
    site_url: str
    path: str
    here: str
    languages: list[LanguageLink]


def is_simulated() -> bool:
    return bool(settings.PROVIDER == "simulated")


def is_untranslated() -> bool:
    language = get_language() or settings.LANGUAGE_CODE
    if language == settings.LANGUAGE_CODE:
        return False
    catalogue = Path(to_locale(language), "LC_MESSAGES", "django.po")
    return not any((Path(folder) / catalogue).is_file() for folder in settings.LOCALE_PATHS)


def chosen_theme(request: HttpRequest) -> str:
    wanted = request.COOKIES.get(THEME_COOKIE, "")
    return wanted if wanted in THEMES else "auto"


def language_links(request: HttpRequest) -> list[LanguageLink]:
    """The current page in each language: the prefix is swapped, path and query stay; `page` is without the query.

    A page without a language prefix links to the start pages, so that the link always leads somewhere.
    """
    here = request.get_full_path_info() if _prefix_of(request.path_info) else "/"
    root = request.META.get("SCRIPT_NAME", "").rstrip("/")
    current = get_language()
    return [
        LanguageLink(
            code=code,
            name=get_language_info(code)["name_local"].capitalize(),
            url=root + in_language(here, code),
            page=root + in_language(here.partition("?")[0], code),
            current=code == current,
        )
        for code, _ in settings.LANGUAGES
    ]


def in_language(path: str, code: str) -> str:
    """A path of ours in another language; one without a language stays as it is, the start page gets one."""
    prefix = _prefix_of(path)
    if prefix:
        return f"/{code}{path.removeprefix(f'/{prefix}')}"
    return f"/{code}/" if path == "/" else path


def _prefix_of(path: str) -> str:
    first = path.partition("?")[0].removeprefix("/").partition("/")[0]
    return first if first in dict(settings.LANGUAGES) else ""


def site(request: HttpRequest) -> Site:
    return Site(
        simulated=is_simulated(),
        demo=bool(settings.DEMO),
        theme=chosen_theme(request),
        site_url=settings.SITE_URL,
        path=request.path,
        here=request.get_full_path(),
        languages=language_links(request),
    )
