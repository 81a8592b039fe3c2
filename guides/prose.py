"""Markdown of a guide as HTML: no raw HTML, no images, links to https and to our own pages only."""

import re
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from itertools import pairwise
from typing import Final
from urllib.parse import urlencode

from django.templatetags.static import static
from django.urls import NoReverseMatch, reverse
from django.utils.safestring import SafeString, mark_safe
from markdown_it import MarkdownIt
from markdown_it.token import Token

# Where a link of a text may lead beside the web, by the word before the colon; {} is what stands behind it.
_PAGES: Final = {
    "catalog": "shop:catalog",
    "planner": "shop:plan",
    "simulated": "shop:simulated",
    "guides": "guides:index",
}
_OWN = re.compile(r"(?:page|card|guide|plan):[a-z0-9-]+|#[a-z0-9-]+")
_OUTSIDE = re.compile(r"https?://[^\s]+")
_HEADING_ID = re.compile(r"\s*\{#([a-z0-9-]+)\}\s*$")

# A table of fewer columns fits a phone as it is; the others become cards there.
_MANY_COLUMNS: Final = 3
_ROLES: Final = {"thead": "rowgroup", "tbody": "rowgroup", "tr": "row", "td": "cell", "th": "columnheader"}


@dataclass(frozen=True)
class Heading:
    """A heading of the second level, for the list of contents."""

    anchor: str
    text: str


@dataclass(frozen=True)
class Prose:
    html: SafeString
    headings: tuple[Heading, ...]


@dataclass(frozen=True)
class Links:
    """What a link to an own page needs; hashable, as the rendered text is kept by it."""

    language: str
    queries: tuple[tuple[str, str], ...]

    def resolve(self, target: str) -> str:
        """The address of an own page. Raises ValueError for a link that leads nowhere."""
        kind, _, name = target.partition(":")
        try:
            if kind == "plan":
                return f"{reverse('shop:plan')}?{dict(self.queries)[name]}"
            if kind == "card":
                return reverse("shop:accelerator", kwargs={"slug": name})
            if kind == "guide":
                return reverse("guides:guide", kwargs={"slug": name})
            return reverse(_PAGES[name])
        except (KeyError, NoReverseMatch) as error:
            raise ValueError(f"the link {target} leads nowhere") from error


def rendered(text: str, links: Links) -> Prose:
    """Block Markdown. The same text is rendered once for each language of the page."""
    return _rendered(text, links, static("icons/sprite.svg"))


def rendered_line(text: str, links: Links) -> SafeString:
    """One paragraph without the paragraph."""
    parser = _parser("")
    tokens = parser.parseInline(text)
    _dress_links(tokens[0], links)
    html = str(parser.renderer.render(tokens, parser.options, {}))
    return mark_safe(html)  # noqa: S308  # nosec B308 B703 # the parser lets no raw HTML through


def configure_address(slug: str, lot: str, days: int) -> str:
    """The configurator with this lot chosen."""
    query = urlencode({"lot": lot, "lots": 1, "days": days})
    return f"{reverse('shop:accelerator', kwargs={'slug': slug})}?{query}"


@lru_cache(maxsize=64)
def _rendered(text: str, links: Links, sprite: str) -> Prose:
    parser = _parser(sprite)
    tokens = parser.parse(text)
    headings = _name_headings(tokens)
    _dress_tables(tokens)
    for token in tokens:
        _dress_links(token, links)
    html = str(parser.renderer.render(tokens, parser.options, {}))
    return Prose(mark_safe(html), headings)  # noqa: S308  # nosec B308 B703 # the same parser


def _parser(sprite: str) -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")
    parser.validateLink = _is_allowed  # type: ignore[method-assign, assignment]
    icon = f'<svg class="ic" aria-hidden="true"><use href="{escape(sprite)}#i-info"/></svg>'
    rules = parser.renderer.rules  # type: ignore[attr-defined]
    rules["blockquote_open"] = lambda *_: f'<div class="notice" data-tone="info">{icon}\n'
    rules["blockquote_close"] = lambda *_: "</div>\n"
    rules["fence"] = _code
    rules["table_open"] = _open_table
    rules["table_close"] = lambda *_: "</table></div>\n"
    return parser


def _is_allowed(address: str) -> bool:
    return bool(_OWN.fullmatch(address) or _OUTSIDE.fullmatch(address))


def _code(tokens: list[Token], index: int, *_: object) -> str:
    return f'<div class="code"><pre class="wrapped">{escape(tokens[index].content)}</pre></div>\n'


def _open_table(tokens: list[Token], index: int, *_: object) -> str:
    label = escape(str(tokens[index].meta["label"]))
    return (
        f'<div class="table-box" tabindex="0" role="region" aria-label="{label}">'
        f'<table role="table" class="{tokens[index].meta["look"]}">\n'
    )


def _name_headings(tokens: list[Token]) -> tuple[Heading, ...]:
    """Takes `{#id}` off headings and gives it to them; those of the second level are returned."""
    found = []
    for opening, inline in pairwise(tokens):
        if opening.type != "heading_open":
            continue
        named = _HEADING_ID.search(inline.content)
        if named is None:
            raise ValueError(f"the heading “{inline.content}” has no id")
        opening.attrSet("id", named[1])
        last = (inline.children or [])[-1]
        last.content = _HEADING_ID.sub("", last.content)
        if opening.tag == "h2":
            found.append(Heading(named[1], _HEADING_ID.sub("", inline.content)))
    return tuple(found)


def _dress_tables(tokens: list[Token]) -> None:
    """The classes of the site; each cell says its column, for the narrow form; the first one names its row."""
    heading, columns, column = "", list[str](), 0
    opening = Token("", "", 0)
    for index, token in enumerate(tokens):
        following = tokens[index + 1].content if index + 1 < len(tokens) else ""
        if token.type == "heading_open":
            heading = _HEADING_ID.sub("", following)
        elif token.type == "table_open":
            opening, columns = token, []
            token.meta |= {"label": heading, "look": "data"}
        elif token.type == "tr_open":
            column = 0
        elif token.type == "th_open":
            columns.append(following)
            token.attrSet("scope", "col")
            if len(columns) == _MANY_COLUMNS:
                opening.meta["look"] = "data cards pairs"
        elif token.type == "td_open":
            _dress_cell(token, tokens[index + 2], columns[column], is_first=column == 0)
            column += 1
        if token.type.endswith("_open") and token.tag in _ROLES:
            _dress_part(token)


def _dress_cell(opening: Token, closing: Token, label: str, *, is_first: bool) -> None:
    if is_first:
        opening.tag = closing.tag = "th"
        opening.attrSet("scope", "row")
    else:
        opening.attrSet("data-l", label)


def _dress_part(token: Token) -> None:
    """Inline styles are against the policy of the site: a column of figures gets its class instead."""
    is_row_head = token.attrGet("scope") == "row"
    token.attrSet("role", "rowheader" if is_row_head else _ROLES[token.tag])
    if "right" in str(token.attrs.pop("style", "")):
        token.attrSet("class", "n")


def _dress_links(token: Token, links: Links) -> None:
    for child in token.children or []:
        if child.type != "link_open":
            continue
        target = str(child.attrGet("href"))
        if _OUTSIDE.fullmatch(target):
            child.attrSet("rel", "noopener")
        elif not target.startswith("#"):
            child.attrSet("href", links.resolve(target))
