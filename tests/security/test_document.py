"""docs/security.md: each threat names tests, each named test is there, and nothing that guards is left unnamed."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "docs" / "security.md").read_text(encoding="utf-8")
NAMED = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")
# A review of a shop that leaves one of these out is none.
THREATS = (
    "IDOR", "CSRF", "XSS", "SSRF", "SQL", "Host header", "Open redirect", "Brute force", "Replay", "Mass mail",
    "SSH escape", "Admin takeover", "Dependencies", "Spreadsheet", "Secrets in logs", "Personal data",
)  # fmt: skip


def rows() -> dict[str, str]:
    """Threat -> its row of the table."""
    found = re.findall(r"^\| \*\*(.+?)\*\*(.*?) \|$", TEXT, re.MULTILINE)
    return {name.strip(): rest for name, rest in found}


def test_every_threat_stands_in_the_table_with_a_test() -> None:
    table = rows()
    for threat in THREATS:
        (row,) = [rest for name, rest in table.items() if name.startswith(threat)]
        assert NAMED.search(row), threat
    for name, row in table.items():
        assert NAMED.search(row), name


def test_every_named_test_is_there() -> None:
    named = set(NAMED.findall(TEXT))
    assert len(named) > 40
    for file, test in sorted(named):
        source = ROOT / file
        assert source.exists(), file
        assert re.search(rf"^\s*(async )?def {test}\(", source.read_text(encoding="utf-8"), re.MULTILINE), (
            file,
            test,
        )


def test_every_file_of_these_tests_is_named() -> None:
    named = {file for file, _test in NAMED.findall(TEXT)}
    own = {f"tests/security/{file.name}" for file in Path(__file__).parent.glob("test_*.py")} - {
        "tests/security/test_document.py"
    }
    assert own - named == set()
