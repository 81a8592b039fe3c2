"""A small browser for a buyer made of code: cookies, redirects and forms as they stand on the page."""

import time
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass, field
from html.parser import HTMLParser
from http.cookiejar import CookieJar

# A page takes well under a second; a demo that starts cold on two busy cores may take some.
TIMEOUT_SECONDS = 30


class PageError(Exception):
    """The shop answered something that a buyer could not go on with; the message is one sentence."""


@dataclass
class Form:
    """One form with the values that a browser would send if nothing was changed."""

    action: str
    method: str = "get"
    values: dict[str, str] = field(default_factory=dict)
    names: set[str] = field(default_factory=set)


@dataclass
class Node:
    """A start tag with its attributes and the text up to the next tag."""

    tag: str
    attributes: dict[str, str]
    text: str = ""


@dataclass
class Page:
    """An answer, read."""

    url: str
    status: int
    forms: list[Form]
    nodes: list[Node]

    def form_to(self, ending: str) -> Form:
        """The form whose address ends so. Raises PageError."""
        for form in self.forms:
            if urllib.parse.urlsplit(form.action).path.endswith(ending):
                return form
        raise PageError(f"{self.url} has no form to {ending}: {self.said() or self.status}.")

    def with_attribute(self, name: str) -> list[Node]:
        return [node for node in self.nodes if name in node.attributes]

    def by_id(self, identity: str) -> str:
        """The text of an element, or an empty text."""
        return next((node.text for node in self.nodes if node.attributes.get("id") == identity), "").strip()

    def said(self) -> str:
        """What the page complains of: what stands beside fields, above the form, or the heading."""
        words = [node.text for node in self.nodes if node.attributes.get("href", "").startswith("#id_")]
        classes = [node.attributes.get("class", "") for node in self.nodes]
        start = next((n for n, name in enumerate(classes) if name.startswith("error-summary")), None)
        if start is not None:
            words += [node.text for node in self.nodes[start : start + 20] if node.tag == "li"]
        words += [node.text for node in self.nodes if node.tag == "h1"]
        return next((word.strip() for word in words if word.strip()), "")


class Browser:
    """Talks to one site and to nothing else."""

    def __init__(self, site: str) -> None:
        self._site = site.rstrip("/")
        self._opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPCookieProcessor(CookieJar())
        )

    def get(self, target: str) -> Page:
        return self._open(urllib.request.Request(self._absolute(target)))  # noqa: S310

    def submit(self, page: Page, form: Form, **values: str) -> Page:
        """Send a form with changed values. A name that is not on the form is a mistake: raises PageError."""
        unknown = values.keys() - form.names
        if unknown:
            raise PageError(f"The form on {page.url} has no field {', '.join(sorted(unknown))}.")
        data = urllib.parse.urlencode(form.values | values).encode()
        request = urllib.request.Request(  # noqa: S310
            urllib.parse.urljoin(page.url, form.action), data=data, headers={"Referer": page.url}
        )
        return self._open(request)

    def _absolute(self, target: str) -> str:
        url = urllib.parse.urljoin(self._site + "/", target)
        if not url.startswith(self._site + "/"):
            raise PageError(f"{url} is not on {self._site}.")
        return url

    def _open(self, request: urllib.request.Request) -> Page:
        try:
            with self._opener.open(request, timeout=TIMEOUT_SECONDS) as answer:
                return _read(answer.url, answer.status, answer.read())
        except urllib.error.HTTPError as refused:
            with refused:
                return _read(refused.url or request.full_url, refused.code, refused.read())
        except (urllib.error.URLError, TimeoutError, ConnectionError) as error:
            raise PageError(f"{self._site} does not answer ({error}); is bin/demo running?") from error


def _read(url: str, status: int, body: bytes) -> Page:
    reader = _Reader()
    reader.feed(body.decode("utf-8", errors="replace"))
    return Page(url=url, status=status, forms=reader.forms, nodes=reader.nodes)


class _Reader(HTMLParser):
    """Collects forms with their values and all nodes with their text."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.forms: list[Form] = []
        self.nodes: list[Node] = []
        self._form: Form | None = None
        self._select = ""
        self._textarea = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = {name: value or "" for name, value in attrs}
        self.nodes.append(Node(tag, attributes))
        if tag == "form":
            self._form = Form(action=attributes.get("action", ""), method=attributes.get("method", "get"))
            self.forms.append(self._form)
        elif self._form is not None:
            self._control(self._form, tag, attributes)

    def _control(self, form: Form, tag: str, attributes: dict[str, str]) -> None:
        name = attributes.get("name", "")
        if tag == "option":
            if "selected" in attributes or self._select not in form.values:
                form.values[self._select] = attributes.get("value", "")
            return
        if not name or "disabled" in attributes:
            return
        form.names.add(name)
        if tag == "select":
            self._select = name
        elif tag == "textarea":
            self._textarea = name
            form.values[name] = ""
        elif tag == "input" and _sends(attributes):
            form.values[name] = attributes.get("value", "on" if attributes.get("type") == "checkbox" else "")

    def handle_endtag(self, tag: str) -> None:
        if tag == "form":
            self._form = None
        elif tag == "textarea":
            self._textarea = ""

    def handle_data(self, data: str) -> None:
        if self.nodes:
            self.nodes[-1].text += data
        if self._textarea and self._form is not None:
            self._form.values[self._textarea] += data.removeprefix("\n")


def _sends(attributes: dict[str, str]) -> bool:
    kind = attributes.get("type", "text")
    if kind in ("radio", "checkbox"):
        return "checked" in attributes
    return kind not in ("file", "submit", "button")


class Stopwatch:
    """Seconds per step."""

    def __init__(self) -> None:
        self._started = self._last = time.monotonic()
        self.seconds: dict[str, float] = {}

    def lap(self, name: str) -> float:
        now = time.monotonic()
        self.seconds[name] = round(now - self._last, 2)
        self._last = now
        return self.seconds[name]

    @property
    def total(self) -> float:
        return round(time.monotonic() - self._started, 2)
