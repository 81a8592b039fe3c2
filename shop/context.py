"""What every page needs to know about the site itself; reads settings and the request, never the database."""

from pathlib import Path
from typing import TypedDict

from django.conf import settings
from django.http import HttpRequest
from django.utils.translation import get_language, get_language_from_path, get_language_info, to_locale

THEMES = ("auto", "light", "dark")
THEME_COOKIE = "theme"


class LanguageLink(TypedDict):
    code: str
    name: str
    url: str
    current: bool


class Site(TypedDict):
    simulated: bool
    demo: bool
    theme: str
    site_url: str
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
    """The current page in each language: the prefix is swapped, path and query stay.

    A page without a language prefix links to the start pages, so that the link always leads somewhere.
    """
    here = request.get_full_path_info()
    prefix = get_language_from_path(request.path_info)
    rest = here[len(prefix) + 1 :] if prefix else "/"
    root = request.META.get("SCRIPT_NAME", "").rstrip("/")
    current = get_language()
    return [
        LanguageLink(
            code=code,
            name=get_language_info(code)["name_local"].capitalize(),
            url=f"{root}/{code}{rest}",
            current=code == current,
        )
        for code, _ in settings.LANGUAGES
    ]


def site(request: HttpRequest) -> Site:
    return Site(
        simulated=is_simulated(),
        demo=bool(settings.DEMO),
        theme=chosen_theme(request),
        site_url=settings.SITE_URL,
        languages=language_links(request),
    )
