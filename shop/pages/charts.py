"""The two plots of the catalogue with their words: what a gigabyte costs, and what bandwidth costs."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from core.formats import NO_BREAK, amount_text
from shop.pages.catalogue import Row
from shop.pages.plot import Bearing, Item, Plot, plot

# What readers of a plot leave out of a name.
_LEFT_OUT = ("NVIDIA ", "AMD Instinct ", "GeForce ", "RTX ", " Blackwell", " (per GPU)")


@dataclass(frozen=True)
class Chart:
    """`bearings`: each line with what is written on it."""

    name: str
    heading: str
    title: str
    description: str
    x_label: str
    y_label: str
    legend: str
    note: str
    plot: Plot
    bearings: tuple[tuple[Bearing, str], ...]


def charts(rows: Sequence[Row], *, currency: str) -> tuple[Chart, ...]:
    """Those for which two rows or more have figures. Prices are of a card-hour."""
    return tuple(
        chart for chart in (_memory_chart(rows, currency), _bandwidth_chart(rows, currency)) if chart
    )


def cents_text(cents: Decimal) -> str:
    """Hundredths of the currency, with the places that tell neighbours apart."""
    return _("%(amount)s ct") % {"amount": amount_text(cents)}


def _memory_chart(rows: Sequence[Row], currency: str) -> Chart | None:
    drawn = [row for row in rows if row.per_gb_cents is not None]
    found = plot([_item(row, row.accelerator.memory_gb or 0) for row in drawn])
    if found is None:
        return None
    return Chart(
        name="memory",
        heading=_("What a gigabyte costs"),
        title=_("Price per card-hour against memory per card"),
        description=_described(drawn, lambda row: row.per_gb_cents or Decimal(0), _per_gb),
        x_label=_("GB of memory per card"),
        y_label=_("%(currency)s per card-hour") % {"currency": currency},
        legend=_("same price per GB and hour"),
        note=_(
            "Points below a dotted line are cheaper per gigabyte than the price on the line. Price says nothing "
            "about speed or about whether your code runs on the stack."
        ),
        plot=found,
        bearings=tuple(
            (line, _("%(amount)s ct") % {"amount": _short(line.ratio * 100)}) for line in found.bearings
        ),
    )


def _bandwidth_chart(rows: Sequence[Row], currency: str) -> Chart | None:
    drawn = [row for row in rows if row.per_tb_s_amount is not None]
    found = plot([_item(row, (row.accelerator.bandwidth_gb_s or 0) / 1000) for row in drawn])
    if found is None:
        return None
    return Chart(
        name="bandwidth",
        heading=_("What bandwidth costs"),
        title=_("Price per card-hour against memory bandwidth per card"),
        description=_described(
            drawn, lambda row: row.per_tb_s_amount or Decimal(0), lambda value: _per_tb_s(value, currency)
        ),
        x_label=_("TB/s of memory bandwidth per card"),
        y_label=_("%(currency)s per card-hour") % {"currency": currency},
        legend=_("same price per TB/s and hour"),
        note=_(
            "Points below a dotted line are cheaper per TB/s than the price on the line. Bandwidth is the sources’ "
            "figure, not a measurement of ours."
        ),
        plot=found,
        bearings=tuple((line, f"{_short(line.ratio)}{NO_BREAK}{currency}") for line in found.bearings),
    )


def _item(row: Row, x: float) -> Item:
    price = float(row.card_hour_amount or 0)
    rocm = row.accelerator.stack == "ROCm"
    return Item(short_name(row.accelerator.name), float(x), price, rocm=rocm, marked=row.compared)


def short_name(name: str) -> str:
    """The name as it fits into a plot."""
    for part in _LEFT_OUT:
        name = name.replace(part, "")
    return name


def _short(value: Decimal) -> str:
    return amount_text(Decimal(f"{value.normalize():f}"), places=None)


def _per_gb(value: Decimal) -> str:
    return _("%(price)s per GB and hour") % {"price": cents_text(value)}


def _per_tb_s(value: Decimal, currency: str) -> str:
    return _("%(amount)s %(currency)s per TB/s and hour") % {
        "amount": amount_text(value),
        "currency": currency,
    }


def _described(rows: Sequence[Row], value: Callable[[Row], Decimal], words: Callable[[Decimal], str]) -> str:
    """The plot as a sentence for who does not see it; every figure is in the table below."""
    ordered = sorted(rows, key=value)
    low, high = ordered[0], ordered[-1]
    return ngettext(
        "%(count)d accelerator. The cheapest is %(low)s at %(low_price)s, the dearest %(high)s at %(high_price)s. "
        "The table below has every figure.",
        "%(count)d accelerators. The cheapest is %(low)s at %(low_price)s, the dearest %(high)s at %(high_price)s. "
        "The table below has every figure.",
        len(rows),
    ) % {
        "count": len(rows),
        "low": low.accelerator.name,
        "low_price": words(value(low)),
        "high": high.accelerator.name,
        "high_price": words(value(high)),
    }
