"""Which browser a session belongs to, in the words that its owner knows it by. Told by the browser, so a hint."""

from django.http import HttpRequest

# The first that is found counts: most browsers also name those that they descend from.
_BROWSERS = (
    ("Edg", "Edge"),
    ("OPR/", "Opera"),
    ("Firefox/", "Firefox"),
    ("FxiOS/", "Firefox"),
    ("CriOS/", "Chrome"),
    ("Chrome/", "Chrome"),
    ("Safari/", "Safari"),
)
_SYSTEMS = (
    ("iPhone", "iOS"),
    ("iPad", "iOS"),
    ("Android", "Android"),
    ("Windows", "Windows"),
    ("Mac OS X", "macOS"),
    ("CrOS", "ChromeOS"),
    ("Linux", "Linux"),
)


def browser_and_system(request: HttpRequest) -> tuple[str, str]:
    """Such as ("Firefox", "Linux"); an empty text for what is not known."""
    agent = request.META.get("HTTP_USER_AGENT", "")
    return _first(agent, _BROWSERS), _first(agent, _SYSTEMS)


def _first(agent: str, known: tuple[tuple[str, str], ...]) -> str:
    return next((name for mark, name in known if mark in agent), "")
