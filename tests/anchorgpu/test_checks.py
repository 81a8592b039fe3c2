"""The gate's own checks find what they are for."""

from pathlib import Path

import pytest

from anchorgpu.checks import sizes, translations
from anchorgpu.checks.__main__ import pytest_arguments


def test_file_sizes(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    (tmp_path / "shop" / "long.py").write_text("x = 1\n" * 301, encoding="utf-8")
    (tmp_path / "shop" / "too_long.html").write_text("<p>\n" * 501, encoding="utf-8")
    (tmp_path / "shop" / "fine.py").write_text("x = 1\n" * 300, encoding="utf-8")
    for left_out in ("node_modules", "migrations", "vendor"):
        (tmp_path / "shop" / left_out).mkdir()
        (tmp_path / "shop" / left_out / "big.js").write_text("x\n" * 900, encoding="utf-8")
    stopped, long = sizes.too_long(tmp_path)
    assert stopped == ["shop/too_long.html: 501 lines"]
    assert long == ["shop/long.py: 301 lines"]


HEADER = """msgid ""
msgstr "Content-Type: text/plain; charset=UTF-8\\nPlural-Forms: nplurals=2; plural=(n != 1);\\n"

"""
PLURAL = """msgid "%(count)s card"
msgid_plural "%(count)s cards"
msgstr[0] "eine"
msgstr[1] "%(count)s"
"""


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ('msgid "Pay"\nmsgstr "Zahlen"\n', None),
        ('msgid "Pay"\nmsgstr ""\n', None),
        (PLURAL, None),
        ('#, fuzzy\nmsgid "Pay"\nmsgstr "Zahlen"\n', "is fuzzy"),
        ('msgid "Pay %(sum)s"\nmsgstr "Zahlen"\n', "lacks a placeholder"),
        ('msgid "Pay {sum}"\nmsgstr "Zahlen {summe}"\n', "has not"),
        ('msgid "Pay\n', "end-of-line within string"),
    ],
)
def test_translations(tmp_path: Path, entry: str, problem: str | None) -> None:
    catalogue = tmp_path / "django.po"
    catalogue.write_text(HEADER + entry, encoding="utf-8")
    found = translations.problems(catalogue)
    if problem is None:
        assert found == []
    else:
        assert any(problem in line for line in found), found


def test_arguments_go_to_pytest() -> None:
    assert pytest_arguments([])[:2] == ["-n", "3"]
    assert pytest_arguments(["--full"])[-1] == "--run-full"
    assert "-n" in pytest_arguments(["--full"])
    assert pytest_arguments(["tests/core", "-x"]) == ["tests/core", "-x"]
