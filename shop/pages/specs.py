"""The specification table of an accelerator: each value as it is known, "not found" where it is not."""

from dataclasses import dataclass
from decimal import Decimal

from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from catalog.models import Accelerator
from core.formats import amount_text
from core.units import in_unit


@dataclass(frozen=True)
class Spec:
    """One row. `text` None is "not found"."""

    term: str
    text: str | None


def specs_of(accelerator: Accelerator) -> list[Spec]:
    """Rows of the table, per card, rates dense. 0 is "none": the hardware has no such unit."""
    memory = _measured(accelerator.memory_gb, "GB")
    if memory is not None and accelerator.memory_type:
        memory = f"{memory} {accelerator.memory_type}"
    rows = [
        Spec(_("Memory"), memory),
        Spec(_("Memory that a program can use"), _measured(accelerator.usable_gib, "GiB")),
        Spec(_("Memory bandwidth"), _measured(accelerator.bandwidth_gb_s, "GB/s")),
        Spec(_("bf16, dense"), _measured(accelerator.bf16_dense_tflops, "TFLOPS")),
        Spec(_("fp8, dense"), _measured(accelerator.fp8_dense_tflops, "TFLOPS")),
        Spec(_("fp4, dense"), _measured(accelerator.fp4_dense_tflops, "TFLOPS")),
        Spec(_("Card to card"), link_text(accelerator)),
        Spec(_("Board power"), _measured(accelerator.board_power_w, "W")),
        Spec(_("Architecture"), accelerator.architecture),
        Spec(_("Build target"), accelerator.target),
        Spec(_("Host"), accelerator.host_arch),
        Spec(_("Software, at least"), _minimum(accelerator)),
    ]
    return rows + [
        Spec(_core_name(kind), None if count is None else amount_text(count, places=0))
        for kind, count in sorted(accelerator.cores.items())
    ]


def _core_name(kind: str) -> str:
    names = {"cuda": _("CUDA cores"), "tensor": _("Tensor cores"), "compute_units": _("Compute units")}
    return names.get(kind) or _("Cores: %(kind)s") % {"kind": kind}


def _measured(value: int | Decimal | None, unit: str) -> str | None:
    if value is None:
        return None
    if value == 0:
        return pgettext("unit of the hardware", "none")
    return in_unit(value, unit)


def link_text(accelerator: Accelerator) -> str | None:
    """How the cards of a node are joined, with the rate where it is known."""
    if accelerator.link is None:
        return None
    rate = _measured(accelerator.link_gb_s, "GB/s")
    return f"{accelerator.link}, {rate}" if rate else accelerator.link


def _minimum(accelerator: Accelerator) -> str | None:
    if accelerator.stack_minimum is None:
        return None
    text = f"{accelerator.stack} {accelerator.stack_minimum}"
    if accelerator.driver_minimum is None:
        return text
    return _("%(stack)s, driver %(driver)s") % {"stack": text, "driver": accelerator.driver_minimum}
