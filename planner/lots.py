"""What the planner must know of a lot. Callers hand it rows of their own that satisfy this protocol."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Protocol

from planner import checks


class LotSpec(Protocol):
    """A lot on sale. None is unknown, 0 is "the hardware has none". Figures are per card unless said."""

    @property
    def code(self) -> str:
        """The lot's own code, such as b200-180x2."""

    @property
    def accelerator_slug(self) -> str: ...

    @property
    def accelerator_name(self) -> str: ...

    @property
    def cards(self) -> int:
        """Cards of one node in this lot: separate memories, not one pool."""

    @property
    def memory_gb(self) -> int | None:
        """Memory in the vendor's unit: GB is 10^9 bytes."""

    @property
    def usable_gib(self) -> float | None:
        """Memory that a program was seen to get, in GiB (2^30 bytes)."""

    @property
    def bandwidth_gb_s(self) -> int | None: ...

    @property
    def bf16_dense_tflops(self) -> int | None:
        """Dense rate, without sparsity."""

    @property
    def fp8_dense_tflops(self) -> int | None:
        """Dense rate, without sparsity."""

    @property
    def stack(self) -> str:
        """CUDA or ROCm."""

    @property
    def target(self) -> str:
        """The compiler's name of the card, such as sm_90."""

    @property
    def link(self) -> str | None: ...

    @property
    def link_gb_s(self) -> float | None:
        """Rate between two cards of the lot."""

    @property
    def currency(self) -> str: ...

    @property
    def prices(self) -> Mapping[int, Decimal]:
        """Price of the whole lot by term in days."""


@dataclass(frozen=True, slots=True)
class GivenLot:
    """A lot from a file, for the command line without a catalogue; it satisfies LotSpec."""

    code: str
    accelerator_slug: str
    accelerator_name: str
    cards: int
    memory_gb: int | None
    usable_gib: float | None
    bandwidth_gb_s: int | None
    bf16_dense_tflops: int | None
    fp8_dense_tflops: int | None
    stack: str
    target: str
    link: str | None
    link_gb_s: float | None
    currency: str
    prices: Mapping[int, Decimal]


def lot_from_mapping(value: object, *, field: str = "lots") -> GivenLot:
    """A lot as `manage.py plan --lots-json` writes it; names beyond code and cards may be missing.

    Raises PlanError.
    """
    data = checks.mapping(value, field=field)
    code = checks.code(data.get("code"), field=f"{field}.code")
    prices = checks.mapping(data.get("prices") or {}, field=f"{field}.prices")
    return GivenLot(
        code=code,
        accelerator_slug=_line(data.get("accelerator_slug"), code),
        accelerator_name=_line(data.get("accelerator_name"), code),
        cards=checks.whole(data.get("cards", 1), field=f"{field}.cards", low=1, high=1024),
        memory_gb=_whole(data, "memory_gb", field),
        usable_gib=_real(data, "usable_gib", field),
        bandwidth_gb_s=_whole(data, "bandwidth_gb_s", field),
        bf16_dense_tflops=_whole(data, "bf16_dense_tflops", field),
        fp8_dense_tflops=_whole(data, "fp8_dense_tflops", field),
        stack=_line(data.get("stack"), "CUDA"),
        target=_line(data.get("target"), ""),
        link=_line(data.get("link"), "") or None,
        link_gb_s=_real(data, "link_gb_s", field),
        currency=_line(data.get("currency"), "USD"),
        prices={
            checks.whole(days, field=f"{field}.prices", low=1, high=366): _amount(amount, field)
            for days, amount in prices.items()
        },
    )


def _line(value: object, default: str) -> str:
    return value[:100] if isinstance(value, str) and value.isprintable() else default


def _whole(data: checks.Mapped, name: str, field: str) -> int | None:
    value = data.get(name)
    return None if value is None else checks.whole(value, field=f"{field}.{name}", low=0, high=10**9)


def _real(data: checks.Mapped, name: str, field: str) -> float | None:
    value = data.get(name)
    return None if value is None else checks.real(value, field=f"{field}.{name}", low=0, high=1e9)


def _amount(value: object, field: str) -> Decimal:
    exact = checks.exact(value, field=f"{field}.prices", low=Fraction(0), high=Fraction(10**9))
    return Decimal(exact.numerator) / Decimal(exact.denominator)
