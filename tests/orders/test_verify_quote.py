"""A quote is checked without the shop: genuine as it was saved, and not with anything changed."""

import base64
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import rfc8785
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from pytest_django import Settings

from anchorgpu.demo import keys as demo_keys
from orders import signing, verify_quote
from partners.api.orders_answer import quote_answer
from tests import scenario

ROOT = Path(__file__).resolve().parents[2]
GENUINE, NOT_GENUINE, UNKNOWN = verify_quote.GENUINE, verify_quote.NOT_GENUINE, verify_quote.UNKNOWN


class Files:
    """What a partner keeps, and what the command says of it."""

    def __init__(self, folder: Path, answer: dict[str, Any]) -> None:
        self.quote, self.keys = folder / "quote.json", folder / "quote-keys.json"
        self.answer = answer
        self.save(answer)
        self.save_keys(signing.public_key_set())

    def save(self, answer: Any) -> None:
        self.quote.write_text(json.dumps(answer), encoding="utf-8")

    def save_keys(self, keys: Any) -> None:
        self.keys.write_text(json.dumps(keys), encoding="utf-8")

    def check(self, *more: str) -> int:
        return verify_quote.main([str(self.quote), *more])


@pytest.fixture
def files(db: None, tmp_path: Path) -> Files:
    scenario.open_shop()
    quote = scenario.quote(options=[("nvme-extra", 1)])
    return Files(tmp_path, json.loads(json.dumps(quote_answer(quote))))


def changed(value: Any) -> Any:
    """Another value of the same kind."""
    match value:
        case bool():
            return not value
        case int():
            return value + 1
        case str():
            return f"{value}0"
        case None:
            return "2026-12-24T00:00:00Z"
        case list():
            return value[1:]
        case dict():
            return value | {"country": "FR"}
    raise TypeError(value)


def test_each_field_counts(files: Files, capsys: pytest.CaptureFixture[str]) -> None:
    assert files.check() == GENUINE
    said = capsys.readouterr().out
    assert "GENUINE" in said
    assert f"{files.answer['total']} USD" in said
    assert "simulated" in said
    promised = json.loads(files.answer["document"])
    for name, value in promised.items():
        forged = rfc8785.dumps(promised | {name: changed(value)}).decode()
        files.save(files.answer | {"document": forged})
        assert files.check() == NOT_GENUINE, name
    for name in (files.answer.keys() & promised.keys()) | {"signature"}:
        files.save(files.answer | {name: changed(files.answer[name])})
        assert files.check() == NOT_GENUINE, f"{name} beside the document"
    files.save(files.answer | {"status": "accepted"})
    assert files.check() == GENUINE


@pytest.mark.parametrize(
    "document",
    ["", "[]", "{", '{"a":1,"a":2}', '{"type":"anchorgpu.quote.v2"}', '{ "type":"anchorgpu.quote.v1"}'],
)
def test_signed_is_not_enough(files: Files, document: str, settings: Settings) -> None:
    """Even our own key does not make a quote of what is none."""
    key = json.loads(Path(settings.QUOTE_KEYS_FILE).read_text(encoding="utf-8"))["keys"][0]
    private = Ed25519PrivateKey.from_private_bytes(base64.urlsafe_b64decode(key["d"] + "=="))
    signature = base64.b64encode(private.sign(document.encode())).decode()
    files.save({"document": document, "signature": signature, "key_id": key["kid"]})
    assert files.check() == NOT_GENUINE


def test_what_cannot_be_told(files: Files, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files.save_keys({"keys": []})
    assert files.check() == UNKNOWN
    assert files.answer["key_id"] in capsys.readouterr().err
    broken: list[Any] = [{}, [], {"keys": [1]}]
    for keys in broken:
        files.save_keys(keys)
        assert files.check() == UNKNOWN
    files.save_keys(signing.public_key_set())
    for answer in [*broken, {"document": 1}]:
        files.save(answer)
        assert files.check() == UNKNOWN
    files.quote.write_bytes(b"\xff")
    assert files.check() == UNKNOWN
    assert verify_quote.main([str(tmp_path / "none"), "--keys", str(files.keys)]) == UNKNOWN


def test_a_quote_of_a_retired_key_still_verifies(files: Files, settings: Settings, tmp_path: Path) -> None:
    former = json.loads(Path(settings.QUOTE_KEYS_FILE).read_text(encoding="utf-8"))["keys"]
    retired = [{name: value for name, value in key.items() if name != "d"} for key in former]
    fresh = json.loads(demo_keys.quote_keys())["keys"][0] | {"kid": "after-rotation"}
    rotated = tmp_path / "rotated.json"
    rotated.write_text(json.dumps({"keys": [fresh, *retired]}), encoding="utf-8")
    settings.QUOTE_KEYS_FILE = str(rotated)
    published = signing.public_key_set()
    assert not any("d" in key for key in published["keys"])
    files.save_keys(published)
    assert files.check() == GENUINE
    assert files.check("--key-id", "after-rotation") == NOT_GENUINE
    assert scenario.quote().key_id == "after-rotation"


def test_a_pair_of_files_and_a_program_without_settings(files: Files, tmp_path: Path) -> None:
    bare, signature = tmp_path / "document.json", tmp_path / "document.sig"
    bare.write_text(files.answer["document"], encoding="utf-8")
    signature.write_text(files.answer["signature"] + "\n", encoding="utf-8")
    copied = tmp_path / "verify_quote.py"
    copied.write_bytes((ROOT / "orders/verify_quote.py").read_bytes())
    pair = [str(bare), "--keys", str(files.keys), "--signature", str(signature)]
    done = _run([str(copied), *pair], tmp_path)
    assert done.returncode == GENUINE, done.stderr
    assert done.stdout.startswith("GENUINE: signed by http://testserver")
    signature.write_text(base64.b64encode(bytes(64)).decode(), encoding="utf-8")
    assert verify_quote.main(pair) == NOT_GENUINE


def test_the_example_of_the_documentation(files: Files, tmp_path: Path) -> None:
    text = (ROOT / "docs/quotes.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(example.splitlines()) <= 21
    done = _run(["-c", example], tmp_path)
    assert done.returncode == 0, done.stderr
    assert f"{files.answer['total']} USD" in done.stdout
    files.save(files.answer | {"document": files.answer["document"].replace("USD", "EUR")})
    assert "did not sign" in _run(["-c", example], tmp_path).stderr


def _run(arguments: list[str], folder: Path) -> "subprocess.CompletedProcess[str]":
    """Nothing of ours can be imported there."""
    command = [sys.executable, "-I", *arguments]
    return subprocess.run(
        command, cwd=folder, env={}, capture_output=True, text=True, timeout=60, check=False
    )
