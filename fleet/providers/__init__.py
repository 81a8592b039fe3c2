"""The only place that talks to machines; which engine does is a setting."""

from collections.abc import Callable

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured

from fleet.providers.base import Provider
from fleet.providers.simulated import SimulatedProvider
from fleet.providers.slurm.provider import SlurmProvider

_PROVIDERS: dict[str, Callable[[], Provider]] = {"simulated": SimulatedProvider, "slurm": SlurmProvider}


def get_provider() -> Provider:
    """The engine that the setting PROVIDER names. Raises ImproperlyConfigured for an unknown one."""
    try:
        return _PROVIDERS[settings.PROVIDER]()
    except KeyError:
        known = ", ".join(sorted(_PROVIDERS))
        raise ImproperlyConfigured(
            f"PROVIDER is {settings.PROVIDER!r}, which is not known; it may be: {known}."
        ) from None
