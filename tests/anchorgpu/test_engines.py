"""What search engines read: sitemap, canonical addresses, languages, structured data; what is compressed."""

import gzip
import re
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any
from xml.etree import ElementTree

import pytest
from django.conf import settings
from django.test import Client
from django.urls import get_resolver

from tests import scenario

pytestmark = pytest.mark.django_db

SITE = settings.SITE_URL
MAPS = {"s": "http://www.sitemaps.org/schemas/sitemap/0.9", "x": "http://www.w3.org/1999/xhtml"}
LANGUAGES = ["en", "de", "fr", "ru"]


class Microdata(HTMLParser):
    """Items of a page with their properties, as schema.org's readers see them."""

    VOID = frozenset({"meta", "link", "input", "br", "hr", "img", "circle", "path", "rect", "line", "use"})

    def __init__(self) -> None:
        super().__init__()
        self.items: list[dict[str, Any]] = []
        self._open: list[tuple[str, dict[str, Any] | None]] = []
        self._name: list[tuple[int, str]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        item = {"type": values["itemtype"]} if "itemscope" in values else None
        if item is not None and "itemprop" not in values:
            self.items.append(item)
        if "itemprop" in values:
            self._property(values, item)
        if tag not in self.VOID:
            self._open.append((tag, item))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.handle_endtag(tag)

    def _property(self, values: dict[str, str], item: dict[str, Any] | None) -> None:
        owner = next(found for _tag, found in reversed(self._open) if found is not None)
        value: Any = item if item is not None else values.get("content") or values.get("href")
        if value is None:
            value = ""
            self._name.append((len(self._open), values["itemprop"]))
        owner.setdefault(values["itemprop"], []).append(value)

    def handle_data(self, data: str) -> None:
        for _depth, name in self._name:
            owner = next(found for _tag, found in reversed(self._open) if found is not None)
            owner[name][-1] += data

    def handle_endtag(self, tag: str) -> None:
        while self._open:
            closed, _item = self._open.pop()
            self._name = [entry for entry in self._name if entry[0] < len(self._open)]
            if closed == tag:
                return


def items(html: str) -> list[dict[str, Any]]:
    reader = Microdata()
    reader.feed(html)
    return reader.items


def entries(client: Client) -> Iterator[tuple[str, dict[str, str]]]:
    root = ElementTree.fromstring(client.get("/sitemap.xml").content)  # noqa: S314  # our own
    for url in root.findall("s:url", MAPS):
        links = {link.attrib["hreflang"]: link.attrib["href"] for link in url.findall("x:link", MAPS)}
        yield url.findtext("s:loc", namespaces=MAPS) or "", links


def test_the_sitemap_names_public_pages_in_every_language(client: Client) -> None:
    scenario.open_shop()
    scenario.order()
    found = dict(entries(client))
    assert len(found) >= 4 * (17 + 6 + 8)
    for address, links in found.items():
        assert list(links) == [*LANGUAGES, "x-default"]
        assert address in links.values()
        assert not re.search(r"/orders/|/quotes/|/admin/|/api/|\?", address)
    for target in ("/en/", "/de/catalog/b200-180/", "/ru/guides/paying-in-crypto/", "/fr/legal/terms/"):
        assert SITE + target in found
        assert client.get(target).status_code == 200
    robots = client.get("/robots.txt").content.decode()
    assert f"Sitemap: {SITE}/sitemap.xml" in robots
    assert "Disallow: /admin/" in robots


def test_a_page_names_its_one_address_and_its_languages(client: Client) -> None:
    scenario.open_shop()
    for target in (
        "/de/",
        "/de/catalog/",
        "/de/catalog/b200-180/",
        "/de/plan/",
        "/de/guides/",
        "/de/legal/terms/",
    ):
        html = client.get(f"{target}?days=7").content.decode()
        assert re.findall(r'<link rel="canonical" href="([^"]+)">', html) == [SITE + target]
        links = dict(re.findall(r'<link rel="alternate" hreflang="([^"]+)" href="([^"]+)">', html))
        assert links == {
            **{code: SITE + target.replace("/de/", f"/{code}/") for code in LANGUAGES},
            "x-default": SITE + target.replace("/de/", "/en/"),
        }
    html = client.get(f"/en/quotes/{scenario.quote().public_id}/").content.decode()
    assert 'content="noindex"' in html
    assert 'rel="canonical"' not in html


def test_an_accelerator_is_a_product_with_offers(client: Client) -> None:
    scenario.open_shop()
    (product,) = items(client.get("/en/catalog/h100-sxm-80/").content.decode())
    assert product["type"] == "https://schema.org/Product"
    assert product["name"] == ["NVIDIA H100 SXM"]
    assert product["brand"] == ["NVIDIA"]
    offers = product["offers"]
    assert len(offers) == 4 * 3
    for offer in offers:
        assert offer["type"] == "https://schema.org/Offer"
        assert re.fullmatch(r"\d+\.\d\d", offer["price"][0])
        assert offer["priceCurrency"] == ["USD"]
        assert offer["availability"] == ["https://schema.org/InStock"]
        assert offer["url"][0].startswith(f"{SITE}/en/catalog/h100-sxm-80/?lot=h100-sxm-80x")
    assert ["251.28"] in [offer["price"] for offer in offers]
    properties = {row["name"][0]: row["value"][0] for row in product["additionalProperty"]}
    assert properties["Memory bandwidth"] == "3,350\u00a0GB/s"
    (unsold,) = items(client.get("/en/catalog/mi355x-288/").content.decode())
    assert "offers" not in unsold


def test_the_fears_are_questions_with_answers(client: Client) -> None:
    (page,) = items(client.get("/en/").content.decode())
    assert page["type"] == "https://schema.org/FAQPage"
    assert len(page["mainEntity"]) == 5
    for question in page["mainEntity"]:
        assert question["type"] == "https://schema.org/Question"
        assert question["name"][0].strip()
        (answer,) = question["acceptedAnswer"]
        assert answer["type"] == "https://schema.org/Answer"
        assert answer["text"][0].endswith(".")


def test_only_pages_without_a_secret_are_compressed(client: Client) -> None:
    scenario.open_shop()
    order = scenario.order()
    for target in (
        "/en/",
        "/en/catalog/",
        "/en/catalog/b200-180/",
        "/en/plan/",
        "/en/guides/",
        "/en/legal/terms/",
    ):
        answer = client.get(target, HTTP_ACCEPT_ENCODING="gzip")
        assert answer.get("Content-Encoding") == "gzip", target
        assert b"</html>" in gzip.decompress(answer.content)
    for target in (
        f"/en/orders/{order.token}/",
        f"/en/quotes/{order.quote.public_id}/",
        "/admin/login/",
        "/api/v1/accelerators",
        "/en/nothing/",
    ):
        assert "Content-Encoding" not in client.get(target, HTTP_ACCEPT_ENCODING="gzip"), target


def test_every_compressed_view_exists() -> None:
    names = {
        f"{space}:{name}" if space else name
        for space, (_prefix, resolver) in [("", ("", get_resolver())), *_spaces()]
        for name in resolver.reverse_dict
        if isinstance(name, str)
    }
    assert set(settings.COMPRESSED_VIEWS) <= names


def _spaces() -> list[tuple[str, Any]]:
    return list(get_resolver().namespace_dict.items())
