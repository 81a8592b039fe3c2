"""What the planner says of input that it cannot work with."""

from collections.abc import Mapping


class PlanError(ValueError):
    """One field at fault. `code` is stable, `message` is English with named placeholders for `params`.

    A face translates `message` and fills it; `str()` is the English sentence with the field in front.
    """

    def __init__(
        self, *, code: str, field: str, message: str, params: Mapping[str, str | int | float] | None = None
    ) -> None:
        self.code = code
        self.field = field
        self.message = message
        self.params = dict(params or {})
        super().__init__(f"{field}: {self.text}")

    @property
    def text(self) -> str:
        """The sentence, in English."""
        return self.message % self.params if self.params else self.message
