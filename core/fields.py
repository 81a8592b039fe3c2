"""A column for token base units: numeric(78,0) in PostgreSQL, int in Python."""

from decimal import Decimal
from typing import Any

from django.db import models


class UnitsField(models.DecimalField):  # type: ignore[type-arg]
    """Whole base units up to 10^78; BigIntegerField would end at 9.22 ETH."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs["max_digits"] = 78
        kwargs["decimal_places"] = 0
        super().__init__(*args, **kwargs)

    def from_db_value(self, value: Decimal | None, *_: Any) -> int | None:
        return None if value is None else int(value)

    def to_python(self, value: Any) -> int | None:
        return None if value is None else int(value)

    def get_prep_value(self, value: Any) -> Decimal | None:
        return None if value is None else Decimal(int(value))

    def get_db_prep_value(self, value: Any, connection: Any, prepared: bool = False) -> Any:
        return value if prepared else self.get_prep_value(value)

    def get_db_prep_save(self, value: Any, connection: Any) -> Any:
        # Expressions (F(), Value()) pass as they are.
        return value if hasattr(value, "as_sql") else self.get_prep_value(value)
