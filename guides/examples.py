"""Worked examples: fields of the planner's page by their names there, so that a link fills the page in."""

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

from planner import PlanRequest, request_from_mapping

_BILLION = 10**9
# Names of the page that the planner itself calls otherwise.
_OWN = {"model", "billion_tokens", "chance_percent"}


@dataclass(frozen=True)
class Example:
    """One state of the planner's page; hashable, so that its plan is computed once."""

    name: str
    given: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, name: str, given: Mapping[str, object]) -> "Example":
        return cls(name, tuple((field, str(value)) for field, value in given.items()))

    @property
    def query(self) -> str:
        return urlencode(self.given)

    @property
    def request(self) -> PlanRequest:
        """What the page would ask of the planner. Raises PlanError."""
        page = dict(self.given)
        asked: dict[str, Any] = {field: text for field, text in page.items() if field not in _OWN}
        asked["model"] = {"preset": page["model"]}
        if "billion_tokens" in page:
            asked["tokens"] = int(Decimal(page["billion_tokens"]) * _BILLION)
        if "chance_percent" in page:
            asked["chance"] = Decimal(page["chance_percent"]) / 100
        if asked.get("sharding") == "none":
            asked["n_cards"] = 1
        return request_from_mapping(asked)
