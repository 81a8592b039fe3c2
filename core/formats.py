"""How figures, instants and durations are written for people, in one place for each language.

Values that are copied (amounts for a wallet, addresses, ids) never pass through here except `plain`."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal

from django.utils import translation
from django.utils.dateformat import format as format_date
from django.utils.translation import ngettext, pgettext

from core import clock

NO_BREAK = "\u00a0"
NARROW_NO_BREAK = "\u202f"
MINUS = "\u2212"


@dataclass(frozen=True)
class Locale:
    """Separators of one language, its date in Django's date format letters, and the word before a time of day.

    `day_tight` fits the cell of a calendar on a phone.
    """

    group: str
    decimal: str
    day: str
    day_short: str
    day_tight: str
    at: str


# Not Django's own: its en is 12-hour American, its ru has nominative months, its fr groups too wide.
LOCALES = {
    "en": Locale(group=",", decimal=".", day="j M Y", day_short="j M", day_tight="j M", at="at"),
    "de": Locale(group=".", decimal=",", day="j. N Y", day_short="j. N", day_tight="j. N", at="um"),
    "fr": Locale(group=NARROW_NO_BREAK, decimal=",", day="j N Y", day_short="j N", day_tight="j N", at="à"),
    "ru": Locale(group=NO_BREAK, decimal=",", day="j E Y", day_short="j E", day_tight="j b", at="в"),
}


def current_locale() -> Locale:
    code = (translation.get_language() or "en").split("-")[0]
    return LOCALES.get(code, LOCALES["en"])


def amount_text(value: Decimal | int, *, places: int | None = 2) -> str:
    """Group from four digits on, with a true minus; `places=None` keeps the places that the value has.

    Rounds half up only when the value carries more places than asked; money arrives here already rounded.
    """
    number = Decimal(value)
    if places is not None:
        number = number.quantize(Decimal(1).scaleb(-places), rounding=ROUND_HALF_UP)
    locale = current_locale()
    whole, _, fraction = f"{abs(number):f}".partition(".")
    text = f"{int(whole):,}".replace(",", locale.group)
    if fraction:
        text += locale.decimal + fraction
    return MINUS + text if number < 0 else text


def plain_amount(value: Decimal | int, *, places: int | None = 2) -> str:
    """The form that is copied and sent: digits and a point, in every language."""
    number = Decimal(value)
    return f"{number:f}" if places is None else f"{number:.{places}f}"


def instant_text(moment: datetime, *, style: str = "full") -> str:
    """Write an instant in UTC with its zone; styles: full, sentence, seconds, log, clock, day.

    clock goes without a date only on the product clock's own day: a page is read days later too.
    Raises ValueError for a naive datetime: a time without a zone must never reach a page.
    """
    if moment.tzinfo is None:
        raise ValueError("an instant needs a zone")
    utc = moment.astimezone(UTC)
    locale = current_locale()
    patterns = {
        "full": f"{locale.day}, H:i",
        "sentence": f"{locale.day} {_literal(locale.at)} H:i",
        "seconds": f"{locale.day}, H:i:s",
        "log": f"{locale.day_short}, H:i",
        "clock": "H:i:s",
        "day": locale.day,
    }
    day = _day_unless_today(utc, locale) if style == "clock" else ""
    return f"{format_date(utc, day + patterns[style])} UTC"


def _day_unless_today(utc: datetime, locale: Locale) -> str:
    today = clock.now().date()
    if utc.date() == today:
        return ""
    return f"{locale.day_short if utc.year == today.year else locale.day}, "


def _literal(word: str) -> str:
    """A word among Django's date format letters."""
    return "".join(f"\\{letter}" for letter in word)


def duration_text(span: timedelta | int) -> str:
    """Write a length of time as days, hours and minutes, zero parts left out; seconds only below a minute."""
    seconds = max(0, int(span.total_seconds() if isinstance(span, timedelta) else span))
    days, rest = divmod(seconds, 86_400)
    hours, rest = divmod(rest, 3_600)
    minutes, rest = divmod(rest, 60)
    parts = []
    if days:
        parts.append(ngettext("%(count)d d", "%(count)d d", days) % {"count": days})
    if hours:
        parts.append(pgettext("hours, abbreviated", "%(count)d h") % {"count": hours})
    if minutes:
        parts.append(pgettext("minutes, abbreviated", "%(count)d min") % {"count": minutes})
    if not parts:
        parts.append(pgettext("seconds, abbreviated", "%(count)d s") % {"count": rest})
    return " ".join(part.replace(" ", NO_BREAK) for part in parts)


def address_chunks(address: str) -> list[str]:
    """Cut a 0x address for comparing by eye: the first six characters, then fours."""
    return [address[:6], *(address[i : i + 4] for i in range(6, len(address), 4))]


def countdown_text(seconds: int) -> str:
    """Hours only when there are any: 48:53, 1:02:03. The same in every language."""
    left = max(0, seconds)
    hours, rest = divmod(left, 3_600)
    clock = f"{rest // 60:02d}:{rest % 60:02d}"
    return f"{hours}:{clock}" if hours else clock


def token_plain(value: Decimal | int) -> str:
    """A token amount as it is copied: two places, more only where the amount has them (2052.00, 0.000001)."""
    number = Decimal(value)
    cents = number.quantize(Decimal("0.01"))
    return f"{cents:f}" if cents == number else f"{number.normalize():f}"


def token_text(value: Decimal | int) -> str:
    """The same as it is read."""
    return amount_text(Decimal(token_plain(value)), places=None)


def percent_text(fraction: Decimal) -> str:
    """A fraction as per cent: 0.07 -> 7% in English, with the blank of each other language."""
    value = (fraction * 100).normalize()
    blank = {"en": "", "fr": NARROW_NO_BREAK}.get(
        (translation.get_language() or "en").split("-")[0], NO_BREAK
    )
    return f"{amount_text(value, places=None)}{blank}%"
