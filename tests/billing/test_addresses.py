"""Deposit addresses come from an account xpub and nothing else; typed addresses are checked by EIP-55."""

from __future__ import annotations

import pytest
from django.utils import translation
from hypothesis import given
from hypothesis import strategies as st

from billing.addresses import Xpub, XpubError, checksum_address, normalize_address
from core.errors import Invalid

CHECKSUMMED = "0x58A57ed9d8d624cBD12e2C467D34787555bB1b25"
# Keys of a phrase that is printed in every wallet's test vectors: they guard nothing.
PHRASE = "legal winner thank year wave sausage worth useful legal winner thank yellow"
XPUB = (
    "xpub6Bh6Cg7bvjFdW6VEAaZmsyhZh86WdJ9Kr5aqqY5LN7UFLpxTrxsiys213UCu8MAYjcq5JhF7jzZXvruGfWfPbx"
    "qsByNNhwWaNQRuhP3JcC3"
)
OTHER_ACCOUNT = (
    "xpub6Bh6Cg7bvjFdYK39aqwzzfvNngQAtZxcGFHHna3oPxw2n8UDYQiwoABYVMZRuQmbUGt9YkrqUzeGvBbkWtsd97"
    "DJW6gjHZ1FWhQQT1FfTJQ"
)
NOT_AN_ACCOUNT = {
    "master": "xpub661MyMwAqRbcFS99u1xBNnVxPAryKPgzZkXXUngFVKHWRx6uJMCLsz4U56FN7PxTSeVqL8tPJpiCrs1KZh1dV2"
    "Bh6QyAbmNmjFRPnkrZP52",
    "coin": "xpub69sh3hEjL8Kys3pXqXeFe48dBaLh9LUi4YWfGv3kqhkvpdjsrrKabjtUSHpygmazMJFUzYQihbf5yt3qqYWQf7"
    "wqbYC79eFmDQ4Uv9icNSC",
    "change": "xpub6EPuWo2Zez8qnWR1a44VViRzRwan7Ct5XaKCz2anC2xSQLCUUvhGEnGYBohKCsocJHEkYQ143QJH8fixW8ixUx"
    "rh6bU52qG2tPe1vqCJjiD",
    "bitcoin": "ypub6XJxUa8RCWh8puv8tHoHvnVqqjwocDL1iroKZExccxAwHJSkaq3d4CA4WW2maN2gbcVoxJGGauQgfKR5TQVvzq"
    "juYuCTKBvzsPhETQYGWA3",
    "mistyped": XPUB[:-1] + "4",
    "cut": XPUB[:-1],
    "empty": "",
    "word": "xpub",
    "not-ascii": "é" * 111,
    "nul": XPUB[:50] + "\0" + XPUB[50:],
    "two": XPUB + " " + XPUB,
}
PRIVATE = {
    "master": "xprv9s21ZrQH143K2x4gnzRB1eZDq92Uuvy9CXbvgQGdvykXZ9mkkot6LBjzDpgaAfvzkuxJe9JKJXQ38VoPutxvAC"
    "A5MsyoBs5UyQ4HZKGshGs",
    "account": "xprv9xhjoAai6MhLHcQm4Z2mWqkq96G2DqRUUrfF39fiomwGU2dKKRZUS4hXCCDSpqZyQwWCsG4e9NJknKd9TQHHF7"
    "jjiznDpUqUQZ9CNSWZeZg",
    "mistyped": "xprv9xhjoAai6MhLHcQm4Z2m",
    "other-coin": "zprvAWgYBBk7JR8Gjr",
    "phrase": PHRASE,
    "phrase-with-breaks": "  " + PHRASE.replace(" ", "\n"),
    "raw-key": "0x" + "1f" * 32,
    "seed": "1F" * 64,
}


# m/44'/60'/0'/0/index of the phrase, derived with eth-account. (It is not imported here: it raises the
# recursion limit of the whole test process.)
OF_ANOTHER_WALLET = {
    0: CHECKSUMMED,
    1: "0x0D3eB21b6b21833A4939Cfff4810E9AE0758e12C",
    2: "0xe42f4612e154153B68e241e8FDe337e0c4dD6bBD",
    49: "0x7709e52bC233d7BA7b2556F65Ab1a9EC9992dc5D",
    2**31 - 1: "0x577eB46bb8075F5C00Bc0607d6e21129D2F70Ca7",
}


def test_addresses_equal_those_of_an_independent_wallet() -> None:
    xpub = Xpub(XPUB)
    assert {index: xpub.derive(index) for index in OF_ANOTHER_WALLET} == OF_ANOTHER_WALLET


def test_fingerprint_is_stable_and_tells_accounts_apart() -> None:
    assert Xpub(XPUB).fingerprint == Xpub(f"  {XPUB}\n").fingerprint == "21c27a0f47d0c7f9"
    assert Xpub(OTHER_ACCOUNT).fingerprint != Xpub(XPUB).fingerprint
    assert Xpub(OTHER_ACCOUNT).derive(0) != Xpub(XPUB).derive(0)


@pytest.mark.parametrize("index", [-1, 2**31, 2**40])
def test_an_index_that_cannot_be_derived_is_refused(index: int) -> None:
    with pytest.raises(ValueError, match="index"):
        Xpub(XPUB).derive(index)


@pytest.mark.parametrize("case", NOT_AN_ACCOUNT)
def test_what_is_not_an_account_xpub_is_refused(case: str) -> None:
    text = NOT_AN_ACCOUNT[case]
    with pytest.raises(XpubError) as caught:
        Xpub(text)
    assert "private" not in str(caught.value)
    assert len(text) < 5 or text not in str(caught.value)


@pytest.mark.parametrize("case", PRIVATE)
def test_private_material_is_named_and_never_repeated(case: str) -> None:
    with pytest.raises(XpubError) as caught:
        Xpub(PRIVATE[case])
    assert str(caught.value).startswith("This is a private key: rotate it")
    assert PRIVATE[case] not in str(caught.value)


# The examples of EIP-55 itself.
EIP55 = [
    "0x52908400098527886E0F7030069857D2E4169EE7",
    "0x8617E340B3D01FA5F11F306F4090FD50E238070D",
    "0xde709f2102306220921060314715629080e2fb77",
    "0x27b1fdb04752bbc536007a920d24acb045561c26",
    "0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed",
    "0xfB6916095ca1df60bB79Ce92cE3Ea74c37c5d359",
    "0xdbF03B407c01E7cD3CBea99509d93f8DDDC8C6FB",
    "0xD1220A0cf47c7B9Be7A2E6BA89F429762e7b9aDb",
]


@pytest.mark.parametrize("address", EIP55)
def test_eip55_examples(address: str) -> None:
    digits = address[2:]
    for typed in (address, f" {address}\n", "0x" + digits.lower(), "0X" + digits.upper()):
        assert normalize_address(typed) == address
    assert checksum_address(address.lower()) == address


@given(st.binary(min_size=20, max_size=20).filter(any), st.integers(0, 39))
def test_one_letter_in_the_wrong_case_is_a_typing_error(raw: bytes, position: int) -> None:
    right = checksum_address("0x" + raw.hex())
    digits = right[2:]
    wrong = digits[:position] + digits[position].swapcase() + digits[position + 1 :]
    assert normalize_address(right) == right
    if wrong not in (digits, digits.lower(), digits.upper()):
        with pytest.raises(Invalid) as caught:
            normalize_address("0x" + wrong, field="refund.address")
        assert (caught.value.code, caught.value.field) == ("invalid_address", "refund.address")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "0x",
        "0x" + "0" * 40,
        "0X" + "0" * 40,
        EIP55[4][2:],
        EIP55[4][:-1],
        EIP55[4] + "0",
        EIP55[4].replace("5", "g"),
        EIP55[4][:20] + " " + EIP55[4][20:],
        EIP55[4][:20] + "\0" + EIP55[4][21:],
        "0x" + "\uff11" * 40,
        "vitalik.eth",
        f"ethereum:{EIP55[4]}@1",
        "x" * 100_000,
    ],
)
def test_what_is_no_address_gets_a_sentence(text: str) -> None:
    with pytest.raises(Invalid) as caught, translation.override("en"):
        normalize_address(text)
    assert caught.value.code == "invalid_address"
    assert caught.value.text.endswith(".")
