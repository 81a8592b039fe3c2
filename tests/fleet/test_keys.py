"""S46 and S47: what people paste into a key field, and what is made of it."""

from typing import Any

import asyncssh
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import Invalid, Refusal
from fleet.keys import MAX_COMMENT, MAX_KEYS, parse_keys


def fresh(algorithm: str = "ssh-ed25519", *, key_size: int = 0) -> str:
    options: dict[str, Any] = {"key_size": key_size} if key_size else {}
    key = asyncssh.generate_private_key(algorithm, **options)
    return key.export_public_key("openssh").decode().strip()


# Written out, so that every process of a parallel run names the tests alike.
KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIDv0zwjWwaoj2frY2j7bVm+DEAEj+uR+nBMfRdm12mKU"
OTHER = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIP1rrzKy+aCj5HBVhjRAqUxjAXbUA28geM25hXryRZ0t"
WRAPPED = "\n".join([KEY[i : i + 64] for i in range(0, len(KEY), 64)])


def refusal(text: str | list[str]) -> Refusal:
    with pytest.raises(Refusal) as caught:
        parse_keys(text)
    assert caught.value.code == "key_rejected"
    assert caught.value.field == "ssh_keys"
    assert "%(" not in caught.value.text
    return caught.value


@pytest.mark.parametrize(
    "pasted",
    [
        KEY,
        KEY + "\n",
        KEY + "\r\n",
        KEY + "\r",
        "   " + KEY,
        "\t" + KEY.replace(" ", "\t") + "\t",
        KEY.replace(" ", "\u00a0"),
        "\ufeff" + KEY,
        WRAPPED,
        WRAPPED.replace("\n", "\r\n"),
        f"\u201c{KEY}\u201d",
        f"\u201e{KEY}\u201c",
        f"\u00ab{KEY}\u00bb",
        f'"{KEY}"',
        f"'{KEY}'",
        f"\n\n{KEY}\n\n",
    ],
)
def test_one_key_however_it_was_pasted(pasted: str) -> None:
    (from_text,) = parse_keys(pasted)
    assert from_text.line == KEY
    assert from_text.fingerprint == asyncssh.import_public_key(KEY).get_fingerprint("sha256")
    assert parse_keys([pasted]) == [from_text], "form and API give the same"


def test_comment_is_kept_in_plain_signs() -> None:
    assert parse_keys(f"{KEY} anna@laptop")[0].comment == "anna@laptop"
    assert parse_keys(f"{KEY} Анна с ноутбука")[0].comment == "Анна с ноутбука"
    hostile = parse_keys(f"{KEY} a\"b'c $(reboot) `id` <script> {{{{ x }}}}; # end")[0]
    assert not set("\"'$()`<>{};#") & set(hostile.comment)
    assert len(parse_keys(f"{KEY} {'x' * 300}")[0].comment) == MAX_COMMENT


@given(st.text(max_size=200))
def test_no_comment_breaks_the_line(comment: str) -> None:
    try:
        keys = parse_keys(f"{KEY} {comment}")
    except (Refusal, Invalid):
        return
    for key in keys:
        assert "\n" not in key.line
        assert "\r" not in key.line
        assert asyncssh.import_public_key(key.line.encode()).get_fingerprint("sha256") == key.fingerprint


@given(st.text(max_size=400))
def test_no_text_is_an_error_of_ours(text: str) -> None:
    try:
        parse_keys(text)
    except Refusal:
        pass


@pytest.mark.parametrize(
    "algorithm",
    ["ssh-ed25519", "ecdsa-sha2-nistp256", "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521"],
)
def test_kinds_that_are_taken(algorithm: str) -> None:
    line = fresh(algorithm)
    assert parse_keys(line)[0].line == line


def test_rsa_by_its_size() -> None:
    strong = fresh("ssh-rsa", key_size=3072)
    assert parse_keys(strong)[0].line == strong
    assert "3072" in refusal(fresh("ssh-rsa", key_size=2048)).text


def test_two_keys_stay_two_lines_in_order() -> None:
    for text in (f"{KEY}\n{OTHER}", f"{KEY}\r\n{OTHER}\r\n", f"{KEY}\n\n\n{OTHER}"):
        assert [key.line for key in parse_keys(text)] == [KEY, OTHER]
    assert [key.line for key in parse_keys([KEY, OTHER])] == [KEY, OTHER]
    assert [key.line for key in parse_keys(f"{WRAPPED}\n{OTHER}")] == [KEY, OTHER]


@pytest.mark.parametrize(
    "text",
    [
        f'command="/bin/sh" {KEY}',
        f'from="10.0.0.1" {KEY}',
        f"no-pty,restrict {KEY}",
        f"my key is {KEY}",
        f"# my key\n{KEY}",
        f"{KEY}\n#!/bin/sh",
        f"{KEY}\n#cloud-config",
        f"{KEY}\nruncmd: [reboot]",
        "ssh-ed25519",
        "ssh-ed25519 AAAA",
        KEY.replace("ssh-ed25519", "ssh-rsa"),
        "ssh-dss AAAAB3NzaC1kc3MAAACBAP",
        "ssh-ed25519-cert-v01@openssh.com AAAA",
        "hello",
        "",
        "\n \n",
    ],
)
def test_more_or_less_than_a_key_is_refused(text: str) -> None:
    refusal(text)


def test_one_bad_line_refuses_all_and_is_named() -> None:
    assert refusal(f"{KEY}\n{KEY[:-20]}\n{OTHER}").text.startswith("Line 2 ")
    assert refusal(f"{KEY}\n{KEY} again").text.startswith("Line 2 ")
    assert refusal(f"\n{KEY}\n\n{OTHER}\nhello").text.startswith("Line 5 ")


def test_number_and_length_are_bounded() -> None:
    refusal("\n".join(fresh() for _ in range(MAX_KEYS + 1)))
    refusal("\n".join([KEY] * 1000))
    refusal("ssh-ed25519 " + "A" * 9_000)
    refusal("A" * 100_000)


def test_private_key_is_named_as_leaked() -> None:
    private = asyncssh.generate_private_key("ssh-ed25519").export_private_key("openssh").decode()
    assert "leaked" in refusal(private).text


def test_s47_a_line_after_a_wrapped_key_keeps_its_number() -> None:
    assert refusal(f"{WRAPPED}\nhello").text.startswith("Line 3 ")


@pytest.mark.parametrize("text", [f"{KEY}\x00", f"{KEY} \ud800"])
def test_what_cannot_be_stored_is_refused(text: str) -> None:
    with pytest.raises(Invalid) as caught:
        parse_keys(text)
    assert caught.value.code == "invalid_text"
