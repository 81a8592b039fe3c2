"""Sentences of the data files, listed so that they reach the translators; pages translate them by value."""

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop, ngettext

from core.formats import NO_BREAK, amount_text

SENTENCES = (
    # Terms: what each is meant for
    gettext_noop("a distribution check that was prepared in advance"),
    gettext_noop("several variants and their evaluation"),
    gettext_noop("an accompanied campaign with fixed checkpoints and stop criteria"),
    # Accelerators: where sources disagree
    gettext_noop("board power is given as 350 W and as 350-400 W"),
    gettext_noop(
        "bandwidth is 7.7 TB/s in the data-sheet copy and 8 TB/s elsewhere; many shops list 192 GB,"
        " the vendor and MLPerf say 180 GB (about 179 usable)"
    ),
    gettext_noop("FP4 is given as 13.1 to 18 PFLOPS and board power as 1000 to 1400 W"),
    gettext_noop("the host is Arm: images must be aarch64"),
    gettext_noop("minimum ROCm not found; AMD's own MLPerf run used 6.1.2"),
    gettext_noop(
        "FP4 is given as about 10 and as 20 PFLOPS (other counting); no public price was found, so "
        "it is not on sale in the demo"
    ),
    gettext_noop("rates are with FP32 accumulation"),
    gettext_noop("only sparse tensor rates were found"),
    gettext_noop("bandwidth is the Workstation Edition's; only sparse tensor rates were found"),
    # Options: name, description, needs, unit
    gettext_noop("Extra local NVMe"),
    gettext_noop("More working disk, shared out evenly over the lots of the order. It is wiped at the end."),
    gettext_noop("TB"),
    gettext_noop("Dataset preload"),
    gettext_noop("Your data lies on the local disk when the term starts, so that loading takes none of it."),
    gettext_noop("An address from which we can read the data, and its size."),
    gettext_noop("Nightly checkpoint copy"),
    gettext_noop(
        "One folder is copied every night to a bucket of yours. The copy stays there after the end."
    ),
    gettext_noop("An S3-compatible bucket of your own and a key that may only write to it."),
    gettext_noop("folder"),
    gettext_noop("Priority support"),
    gettext_noop("Questions about this order are answered first."),
    gettext_noop("order"),
    # Environments: description (names are product names and are not translated)
    gettext_noop("Ubuntu 24.04 with PyTorch, torchvision and the compilers of CUDA 12.8."),
    gettext_noop("Ubuntu 24.04 with PyTorch, torchvision and the compilers of CUDA 13.0."),
    gettext_noop("As PyTorch with CUDA 12.8, built for Arm hosts such as Grace."),
    gettext_noop("Ubuntu 22.04 with PyTorch 2.5, for projects whose extensions were compiled for CUDA 12.4."),
    gettext_noop("Compilers and libraries of CUDA 12.8, no framework; bring your own."),
    gettext_noop("Compilers and libraries of CUDA 12.9, no framework; the oldest that knows sm_103."),
    gettext_noop("Ubuntu 24.04 with PyTorch built for ROCm 6.4."),
    gettext_noop("Ubuntu 24.04 with PyTorch built for ROCm 7.0."),
)


def quantity_text(count: int, unit: str) -> str:
    """So many of an option: "2 folders". A unit that is not listed here stands behind its figure as it is."""
    forms = {
        "TB": ngettext("%(count)s TB", "%(count)s TB", count),
        "folder": ngettext("%(count)s folder", "%(count)s folders", count),
        "order": ngettext("%(count)s order", "%(count)s orders", count),
    }
    figure = amount_text(count, places=0)
    return (forms[unit] % {"count": figure} if unit in forms else f"{figure} {_(unit)}").replace(
        " ", NO_BREAK
    )
