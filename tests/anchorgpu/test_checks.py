"""The gate's own checks find what they are for."""

from pathlib import Path

import pytest

from anchorgpu.checks import extraction, sizes, translations, typography
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
    ("language", "entry", "problem"),
    [
        ("de", 'msgid "Pay"\nmsgstr "Zahlen"\n', None),
        ("de", PLURAL, None),
        ("de", 'msgid "Pay"\nmsgstr ""\n', "not translated in all forms"),
        ("de", PLURAL.replace('"%(count)s"', '""'), "not translated in all forms"),
        ("ru", PLURAL, "the rule of plurals is not ours"),
        ("de", '#, fuzzy\nmsgid "Pay"\nmsgstr "Zahlen"\n', "is fuzzy"),
        ("de", '#~ msgid "Pay"\n#~ msgstr "Zahlen"\n', "is obsolete"),
        ("de", 'msgid "Pay %(sum)s"\nmsgstr "Zahlen"\n', "lacks a placeholder"),
        ("de", 'msgid "Pay {sum}"\nmsgstr "Zahlen {summe}"\n', "has not"),
        ("de", 'msgid "Pay\n', "end-of-line within string"),
    ],
)
def test_translations(tmp_path: Path, language: str, entry: str, problem: str | None) -> None:
    catalogue = tmp_path / language / "LC_MESSAGES" / "django.po"
    catalogue.parent.mkdir(parents=True)
    catalogue.write_text(HEADER + entry, encoding="utf-8")
    found = translations.problems(catalogue)
    if problem is None:
        assert found == []
    else:
        assert any(problem in line for line in found), found


def test_a_sentence_that_a_catalogue_lacks_or_has_too_much_is_named(tmp_path: Path) -> None:
    """Python, templates and contexts; what only tests say is no sentence of the shop."""
    for name, text in {
        "shop/words.py": 'a = _("One")\nb = pgettext("order", "Two")\nc = ngettext("%(n)s day", "%(n)s days", 1)\n',
        "templates/page.html": "{% load i18n %}{% blocktranslate trimmed %}\nThree of {{ x }}\n{% endblocktranslate %}",
        "templates/mail.txt": '{% load i18n %}{% translate "Four" context "mail" %}',
        "tests/test_it.py": '_("Five")',
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    keys = extraction.keys_of_code(tmp_path)
    assert keys == {
        ("", "One", ""),
        ("order", "Two", ""),
        ("", "%(n)s day", "%(n)s days"),
        ("", "Three of %(x)s", ""),
        ("mail", "Four", ""),
    }
    catalogue = tmp_path / "django.po"
    catalogue.write_text(
        HEADER + 'msgid "One"\nmsgstr "Eins"\n\nmsgid "Six"\nmsgstr "Sechs"\n', encoding="utf-8"
    )
    found = "\n".join(translations.problems(catalogue, keys))
    assert found.count("is missing") == 4
    assert "“Six” is used nowhere" in found


@pytest.mark.parametrize(
    ("language", "text", "broken"),
    [
        ("de", "„Gut“ für Ihre GPU-Karte", False),
        ("de", 'Das "Los"', True),
        ("de", "Leider nicht", True),
        ("de", "für Kund:innen", True),
        ("de", "für KundInnen", True),
        ("fr", "Prêt\u202f: oui\u202f!", False),
        ("fr", "Prêt : oui", True),
        ("fr", "Prêt\u00a0: oui", True),
        ("fr", "Prêt: oui", True),
        ("fr", "à 14:58 UTC, https://x.example/: %(a)s", False),
        ("fr", "«\u202fdevis\u202f»", False),
        ("fr", "« devis »", True),
        ("fr", "l'adresse", True),
        ("fr", "connecté(e)", True),
        ("fr", "un virement", True),
        ("ru", "Оплата\u00a0— на следующей странице", False),
        ("ru", "Оплата — на следующей странице", True),
        ("ru", "« лот »", True),
        ("ru", "Я оплатил(а)", True),
        ("ru", "еще", True),
        ("ru", "платёж, платежа", False),
        ("ru", "100 долларов", True),
    ],
)
def test_typography(language: str, text: str, broken: bool) -> None:
    assert bool(list(typography.problems(language, text, source="", is_prose=True))) is broken


def test_a_terminal_and_a_subject_have_ordinary_spaces() -> None:
    assert not list(typography.problems("fr", "Prêt : oui", source="", is_prose=False))
    assert not list(typography.problems("de", 'ssh "a b"', source='ssh "a b"', is_prose=True))


def test_arguments_go_to_pytest() -> None:
    assert pytest_arguments([])[:2] == ["-n", "3"]
    assert pytest_arguments(["--full"])[-1] == "--run-full"
    assert "-n" in pytest_arguments(["--full"])
    assert pytest_arguments(["tests/core", "-x"]) == ["tests/core", "-x"]
