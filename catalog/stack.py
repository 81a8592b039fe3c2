"""Whether an environment runs on a card: exact targets and versions only, no guess by family."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from django.utils.translation import gettext_lazy as _

from core.errors import Refusal

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise


class ImageFacts(Protocol):
    """What an environment says about itself (catalog.models.Image satisfies it)."""

    @property
    def name(self) -> str: ...
    @property
    def targets(self) -> Sequence[str]: ...
    @property
    def host_archs(self) -> Sequence[str]: ...
    @property
    def stack(self) -> str: ...
    @property
    def stack_version(self) -> str: ...
    @property
    def driver_minimum(self) -> str | None: ...


class AcceleratorFacts(Protocol):
    """What a card asks for (catalog.models.Accelerator satisfies it)."""

    @property
    def name(self) -> str: ...
    @property
    def target(self) -> str: ...
    @property
    def host_arch(self) -> str: ...
    @property
    def stack(self) -> str: ...
    @property
    def stack_minimum(self) -> str | None: ...
    @property
    def driver_minimum(self) -> str | None: ...


@dataclass(frozen=True, slots=True)
class StackReason:
    """`code` is stable; `message` is a sentence with named placeholders that `params` fill."""

    code: str
    message: "str | _StrPromise"
    params: dict[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The sentence in the active language."""
        return str(self.message) % self.params


@dataclass(frozen=True, slots=True)
class StackVerdict:
    """Runs unless there is a reason against it; a warning is something that nobody could tell us."""

    reasons: tuple[StackReason, ...] = ()
    warnings: tuple[StackReason, ...] = ()

    @property
    def runs(self) -> bool:
        return not self.reasons


def check_image(
    image: ImageFacts, accelerator: AcceleratorFacts, node_driver: str | None = None
) -> StackVerdict:
    """Judge an environment against a card and, where it is known, the driver of the node.

    An unknown oldest stack version (None) warns and does not refuse. `node_driver` None means that no node is
    chosen yet: the driver is judged when one is. Raises ValueError for a malformed version of image or card.
    """
    reasons: list[StackReason] = []
    warnings: list[StackReason] = []
    if image.stack != accelerator.stack:
        # Target, version and driver of another stack mean nothing here; one reason says it all.
        params = {"image_stack": image.stack, "card_stack": accelerator.stack}
        message = _("It is made for %(image_stack)s; this card runs %(card_stack)s.")
        reasons.append(StackReason("stack_differs", message, params))
    else:
        reasons += _target_reasons(image, accelerator)
        version_reasons, warnings = _version_reasons(image, accelerator)
        reasons += version_reasons
        if node_driver is not None:
            reasons += _driver_reasons(image, accelerator, node_driver)
    if accelerator.host_arch not in image.host_archs:
        message = _("It has no build for the %(host_arch)s host of this card.")
        reasons.append(StackReason("host_arch_missing", message, {"host_arch": accelerator.host_arch}))
    return StackVerdict(reasons=tuple(reasons), warnings=tuple(warnings))


def require_runs(
    image: ImageFacts, accelerator: AcceleratorFacts, node_driver: str | None = None
) -> StackVerdict:
    """The verdict, or Refusal(image_incompatible, 422) with every reason in its text."""
    verdict = check_image(image, accelerator, node_driver)
    if not verdict.runs:
        raise Refusal(
            code="image_incompatible",
            message=_("%(image)s does not run on %(accelerator)s. %(reasons)s"),
            field="image",
            params={
                "image": image.name,
                "accelerator": accelerator.name,
                "reasons": " ".join(reason.text for reason in verdict.reasons),
            },
        )
    return verdict


def parse_version(text: str) -> tuple[int, ...]:
    """Numbers for comparison: 12.10 is above 12.9, 12.8.0 equals 12.8. Raises ValueError when malformed."""
    parts = text.split(".")
    if not all(part.isascii() and part.isdigit() for part in parts):
        raise ValueError(f"Not a version: {text!r}.")
    numbers = [int(part) for part in parts]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    return tuple(numbers)


def driver_suffices(version: str, minimum: str) -> bool:
    """Whether a node's driver reaches `minimum`; an empty minimum asks for nothing.

    An unreadable driver version does not suffice: to say otherwise would be a guess.
    """
    if not minimum:
        return True
    try:
        return parse_version(version) >= parse_version(minimum)
    except ValueError:
        return False


def driver_needed(image: ImageFacts, accelerator: AcceleratorFacts) -> str:
    """The oldest driver that serves image and card, or an empty text where neither names one."""
    minimums = [m for m in (image.driver_minimum, accelerator.driver_minimum) if m]
    return max(minimums, key=parse_version, default="")


def _target_reasons(image: ImageFacts, accelerator: AcceleratorFacts) -> list[StackReason]:
    if accelerator.target in image.targets:
        return []
    message = _("It has no kernels for %(target)s.")
    return [StackReason("target_missing", message, {"target": accelerator.target})]


def _version_reasons(
    image: ImageFacts, accelerator: AcceleratorFacts
) -> tuple[list[StackReason], list[StackReason]]:
    if accelerator.stack_minimum is None:
        params = {"stack": accelerator.stack, "version": image.stack_version}
        message = _(
            "No source names the oldest %(stack)s for this card, so %(version)s could not be checked."
        )
        return [], [StackReason("stack_minimum_unknown", message, params)]
    if parse_version(image.stack_version) >= parse_version(accelerator.stack_minimum):
        return [], []
    params = {
        "stack": accelerator.stack,
        "minimum": accelerator.stack_minimum,
        "version": image.stack_version,
    }
    message = _("This card needs %(stack)s %(minimum)s or later; it has %(version)s.")
    return [StackReason("stack_too_old", message, params)], []


def _driver_reasons(image: ImageFacts, accelerator: AcceleratorFacts, node_driver: str) -> list[StackReason]:
    needed = driver_needed(image, accelerator)
    if driver_suffices(node_driver, needed):
        return []
    params = {"minimum": needed, "driver": node_driver}
    try:
        parse_version(node_driver)
    except ValueError:
        return [StackReason("driver_unreadable", _("The driver version %(driver)s cannot be read."), params)]
    message = _("It needs driver %(minimum)s or later; the node has %(driver)s.")
    return [StackReason("driver_too_old", message, params)]
