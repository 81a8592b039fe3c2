"""Settings of the screening of senders, read with the others by anchorgpu.env."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from anchorgpu.addresses import SettingError
from billing.screening_list import parse


@dataclass(frozen=True)
class Screening:
    """`file` None: nobody is screened. `unknown` is pass or hold: what follows where the source says nothing."""

    file: Path | None
    unknown: str


def read_screening(environ: Mapping[str, str]) -> Screening:
    """Raises SettingError for a list that cannot be read whole: half a list would let people pass that it names."""
    unknown = environ.get("SCREENING_UNKNOWN", "").strip() or "pass"
    if unknown not in ("pass", "hold"):
        raise SettingError("SCREENING_UNKNOWN must be pass or hold.")
    name = environ.get("SCREENING_FILE", "").strip()
    if not name:
        return Screening(file=None, unknown=unknown)
    path = Path(name)
    try:
        parse(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise SettingError(f"SCREENING_FILE names {path}, which cannot be read: {reason}.") from error
    except ValueError as error:
        raise SettingError(f"SCREENING_FILE names {path}, where {error}.") from error
    return Screening(file=path, unknown=unknown)
