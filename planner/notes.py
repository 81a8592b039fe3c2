"""A statement that a face shows in its own language: a stable code and the values its sentence names."""

from collections.abc import Mapping
from dataclasses import dataclass, field

Value = str | int | float


@dataclass(frozen=True, slots=True)
class Note:
    """`planner.texts.TEXTS[code]` is the English sentence; `params` fill its placeholders."""

    code: str
    params: Mapping[str, Value] = field(default_factory=dict)
