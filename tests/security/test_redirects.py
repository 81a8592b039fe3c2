"""S41: no address of ours sends anybody to a host that the request names."""

import re
from html import unescape
from urllib.parse import urlsplit

import pytest
from django.test import Client
from hypothesis import given, settings
from hypothesis import strategies as st

from core.own_path import own_path
from tests.core.desk import staff
from tests.security.world import World

NAMES = ("next", "return", "return_to", "return_url", "redirect", "redirect_to", "url", "target", "continue")
HREF = re.compile(r"(?:href|action)=\"([^\"]*)\"")
EVIL = (
    "https://evil.example/",
    "//evil.example/x",
    "/\\evil.example",
    "\t//evil.example",
    "https:evil.example",
)


def leads_away(location: str) -> bool:
    """As a browser reads it: backslashes are slashes, and control characters are not there."""
    plain = "".join(sign for sign in location.replace("\\", "/") if sign > " ")
    parts = urlsplit(plain)
    return plain.startswith("//") or bool(parts.scheme or parts.netloc)


def test_control_the_judge_knows_where_these_lead() -> None:
    assert all(leads_away(target) for target in (*EVIL, "javascript:alert(1)"))
    assert not leads_away("/en/?next=https://evil.example")


def test_s41_no_address_follows_a_foreign_target(world: World) -> None:
    """Every address outside the tables, by GET and POST, with the target under every usual name."""
    browsers = (Client(), world.mine.member(staff("chief", superuser=True)))
    targets = [
        target
        for target in world.addresses()
        if not target.startswith("/admin/") or target.count("/") == 3 or target.startswith("/admin/desk/")
    ]
    for number, target in enumerate(targets):
        asked = dict.fromkeys(NAMES, EVIL[number % len(EVIL)])
        for browser in browsers:
            for answer in (browser.get(target, asked), browser.post(target, asked)):
                assert not leads_away(answer.get("Location", "/")), (target, answer["Location"])
                links = () if answer.streaming else HREF.findall(answer.content.decode())
                assert not any("evil" in link and leads_away(unescape(link)) for link in links), target


@settings(max_examples=200, deadline=None)
@given(st.one_of(st.text(), st.sampled_from(EVIL), st.text(alphabet="/\\.:@ \t\r\nhtpsevil%?#")))
def test_s41_whatever_is_asked_for_is_a_path_of_ours(target: str) -> None:
    found = own_path(target)
    assert found.startswith("/")
    assert not leads_away(found)
    assert found.isprintable()


@pytest.mark.parametrize("target", ["/en/catalog/?stack=CUDA", "/admin/", "/de/orders/#x"])
def test_s41_control_a_path_of_ours_is_followed(target: str) -> None:
    assert own_path(target) == target
