"""S44: a count and its noun agree in each language, for every number and every sentence of ours that counts."""

from collections.abc import Callable, Iterator
from pathlib import Path

import polib
import pytest
from django.conf import settings
from django.template import Context, Template
from django.utils import translation
from django.utils.translation import ngettext, npgettext

NUMBERS = range(112)


def _russian(number: int) -> int:
    if number % 10 == 1 and number % 100 != 11:
        return 0
    return 1 if number % 10 in (2, 3, 4) and number % 100 not in (12, 13, 14) else 2


RULES: dict[str, Callable[[int], int]] = {
    "en": lambda number: int(number != 1),
    "de": lambda number: int(number != 1),
    "fr": lambda number: int(number > 1),
    "ru": _russian,
}
# Message and plural, then the words of each language by its rule.
NOUNS = [
    ("card", {"en": "card cards", "de": "Karte Karten", "fr": "carte cartes", "ru": "карта карты карт"}),
    ("lot", {"en": "lot lots", "de": "Los Lose", "fr": "lot lots", "ru": "лот лота лотов"}),
    ("day", {"en": "day days", "de": "Tag Tage", "fr": "jour jours", "ru": "день дня дней"}),
]


def _plain(text: str) -> str:
    return text.replace("\u00a0", " ").replace("\u202f", " ")


@pytest.mark.parametrize("language", RULES)
def test_s44_cards_lots_and_days(language: str) -> None:
    with translation.override(language):
        for noun, words in NOUNS:
            forms = words[language].split()
            for number in NUMBERS:
                text = ngettext(f"%(count)d {noun}", f"%(count)d {noun}s", number) % {"count": number}
                assert _plain(text) == f"{number} {forms[RULES[language](number)]}"


SECONDS = {
    "en": "Try again in {} second.|Try again in {} seconds.",
    "de": "Versuchen Sie es in {} Sekunde erneut.|Versuchen Sie es in {} Sekunden erneut.",
    "fr": "Réessayez dans {} seconde.|Réessayez dans {} secondes.",
    "ru": "Попробуйте ещё раз через {} секунду.|Попробуйте ещё раз через {} секунды."
    "|Попробуйте ещё раз через {} секунд.",
}


@pytest.mark.parametrize("language", RULES)
def test_s44_a_template_counts_as_the_code_does(language: str) -> None:
    """The case depends on the sentence: in {n} seconds is an accusative in Russian, a dative in German."""
    template = Template(
        "{% load i18n %}{% blocktranslate count seconds=number trimmed %}Try again in {{ seconds }} second."
        "{% plural %}Try again in {{ seconds }} seconds.{% endblocktranslate %}"
    )
    forms = SECONDS[language].split("|")
    with translation.override(language):
        for number in NUMBERS:
            text = template.render(Context({"number": number}))
            assert _plain(text) == forms[RULES[language](number)].format(number)


def _counting(language: str) -> Iterator[polib.POEntry]:
    folder = Path(settings.LOCALE_PATHS[0])
    for entry in polib.pofile(str(folder / language / "LC_MESSAGES" / "django.po")):
        if entry.msgid_plural and not entry.obsolete:
            yield entry


@pytest.mark.parametrize("language", ["de", "fr", "ru"])
def test_s44_every_sentence_that_counts_takes_the_form_of_its_number(language: str) -> None:
    found = 0
    with translation.override(language):
        for entry in _counting(language):
            forms = [entry.msgstr_plural[index] for index in sorted(entry.msgstr_plural)]
            assert all(forms), entry.msgid
            for number in NUMBERS:
                if entry.msgctxt:
                    text = npgettext(entry.msgctxt, entry.msgid, entry.msgid_plural, number)
                else:
                    text = ngettext(entry.msgid, entry.msgid_plural, number)
                assert text == forms[RULES[language](number)], (entry.msgid, number)
            found += 1
    assert found > 40
