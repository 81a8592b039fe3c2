"""S46 and S47 from outside: what is pasted into the form or sent in a list is stored as the same clean lines."""

import json
from io import StringIO
from pathlib import Path

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.core.management import CommandError, call_command
from django.test import Client

from fleet.keys import parse_keys
from fleet.models import AccessKey
from orders.models import Order
from tests import scenario
from tests.fleet.test_keys import KEY, OTHER, WRAPPED
from tests.shop.conftest import order_form
from tests.shop.states import active
from tests.shop.test_faces import order_file
from tests.shop.test_refusals import errors_of

pytestmark = pytest.mark.django_db


def stored(order: Order) -> list[str]:
    return [f"{key['algorithm']} {key['data']} {key['comment']}".strip() for key in order.ssh_keys]


def by_form(buyer: Client, text: str) -> Order:
    quote = scenario.quote()
    answer = buyer.post(f"/en/quotes/{quote.public_id}/order/", order_form(ssh_keys=text))
    assert answer.status_code == 303
    return Order.objects.get(quote=quote)


def by_list(folder: Path, keys: list[str]) -> Order:
    file = folder / "order.json"
    file.write_text(json.dumps(order_file("") | {"ssh_keys": keys}), encoding="utf-8")
    out = StringIO()
    call_command("place_order", file=file, stdout=out)
    return Order.objects.get(token=out.getvalue().strip().split("/")[-2])


@pytest.mark.parametrize(
    ("pasted", "line"),
    [
        (f"{KEY}\n", KEY),
        (f"{KEY}\r\n", KEY),
        (f"  \t{KEY}", KEY),
        (KEY.replace(" ", "\u00a0"), KEY),
        (f"\ufeff{KEY}", KEY),
        (WRAPPED.replace("\n", "\r\n"), KEY),
        (f"\u201c{KEY}\u201d", KEY),
        (f"{KEY} Анна с ноутбука", f"{KEY} Анна с ноутбука"),
    ],
)
def test_s46_form_and_list_store_the_same_line(buyer: Client, tmp_path: Path, pasted: str, line: str) -> None:
    assert stored(by_form(buyer, pasted)) == stored(by_list(tmp_path, [pasted])) == [line]


def test_s46_two_keys_without_a_final_line_end_stay_two(buyer: Client, tmp_path: Path) -> None:
    assert stored(by_form(buyer, f"{KEY}\r\n{OTHER}")) == [KEY, OTHER]
    assert stored(by_list(tmp_path, [KEY, f"{OTHER}\r\n"])) == [KEY, OTHER]


def test_s46_the_fingerprints_are_shown_for_checking(buyer: Client) -> None:
    order = by_form(buyer, f"{KEY}\n{OTHER}")
    scenario.pay(order)
    active(order)
    page = buyer.get(f"/en/orders/{order.token}/").content.decode()
    for key in order.ssh_keys:
        assert key["fingerprint"].startswith("SHA256:")
        assert key["fingerprint"] in page


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f'command="/bin/sh" {KEY}', "Line 1 is not"),
        (f'from="10.0.0.1" {KEY}', "Line 1 is not"),
        (f"this is {KEY}", "Line 1 is not"),
        (f"# mine\n{KEY}", "Line 1 is not"),
        (f"{KEY}\n{OTHER[:-20]}", "Line 2 holds a key that is broken"),
        (f"{KEY}\n#!/bin/sh\nreboot", "Line 2 is not"),
        (f"{KEY}\n#cloud-config\nruncmd: [reboot]", "Line 2 is not"),
        ("\n".join([KEY] * 1000), "too long"),
        ("\n".join([KEY] * 11), "Up to 10 keys"),
    ],
)
def test_s47_one_bad_line_refuses_all_by_every_way(
    buyer: Client, tmp_path: Path, text: str, words: str
) -> None:
    quote = scenario.quote()
    answer = buyer.post(f"/en/quotes/{quote.public_id}/order/", order_form(ssh_keys=text))
    assert answer.status_code == 422
    assert words in errors_of(answer.content.decode(), "ssh_keys")
    with pytest.raises(CommandError, match="key_rejected"):
        by_list(tmp_path, text.split("\n"))
    assert not Order.objects.exists()


def test_s47_a_hostile_comment_reaches_neither_page_nor_machine(buyer: Client) -> None:
    hostile = "a\"b'c $(touch x) `id` <script>alert(1)</script> {{ settings }} ; # end"
    order = by_form(buyer, f"{KEY} {hostile}")
    scenario.pay(order)
    active(order)
    kept = order.ssh_keys[0]["comment"]
    assert not set("\"'$()`<>{};#") & set(kept)
    assert list(AccessKey.objects.values_list("data", "comment")) == [(KEY.split()[1], kept)]
    page = buyer.get(f"/en/orders/{order.token}/").content.decode()
    assert "<script>alert" not in page
    assert "$(touch" not in page


def test_a_refused_form_keeps_the_key_of_a_file_and_shows_its_fingerprint(buyer: Client) -> None:
    quote = scenario.quote()
    file = SimpleUploadedFile("id_ed25519.pub", f"{KEY}\n".encode())
    form = order_form(ssh_keys="", ssh_key_file=file)
    del form["accept_terms"]
    answer = buyer.post(f"/en/quotes/{quote.public_id}/order/", form)
    assert answer.status_code == 400
    html = answer.content.decode()
    (key,) = parse_keys(KEY)
    assert key.fingerprint in html
    assert f"{KEY}</textarea>" in html
    again = buyer.post(f"/en/quotes/{quote.public_id}/order/", order_form(ssh_keys=KEY))
    assert key.fingerprint in buyer.get(again["Location"]).content.decode(), "and before it is paid"


def test_a_private_key_is_never_sent_back(buyer: Client) -> None:
    quote = scenario.quote()
    secret = (
        "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjEAAAAA\n-----END OPENSSH PRIVATE KEY-----"
    )
    answer = buyer.post(f"/en/quotes/{quote.public_id}/order/", order_form(ssh_keys=secret))
    assert answer.status_code == 422
    assert "treat it as leaked" in answer.content.decode()
    assert "b3BlbnNzaC1rZXktdjEAAAAA" not in answer.content.decode()
