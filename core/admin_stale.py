"""Two who edit one row: the form that was opened before the other one saved is refused, not written over it."""

from typing import Any

from django import forms
from django.db.models import Model
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext_lazy as _

# The hidden input of the form: what its fields were when it was drawn.
SHOWN = "_shown"


def mark_of(form: Any, row: Model) -> str:
    """The stored values of the fields of a form, as one keyed hash: the values themselves stay here."""
    values = []
    for name in sorted(form.base_fields):
        value: Any = getattr(row, name, None)
        if hasattr(value, "values_list"):
            value = sorted(str(key) for key in value.values_list("pk", flat=True))
        values.append((name, str(getattr(value, "pk", value))))
    return salted_hmac("core.admin_stale", repr(values)).hexdigest()


def refuses_stale(form: type[Any], row: Model, *, shown: str) -> type[Any]:
    """The same form class, which is not valid where `row`, as it is stored now, is not what was shown."""
    is_stale = shown != mark_of(form, row)

    def clean(self: Any) -> Any:
        cleaned = form.clean(self)
        if is_stale:
            raise forms.ValidationError(
                _(
                    "Somebody else has changed this row since you opened it. Nothing of yours was saved: open it "
                    "again, look at what it says now, and make your change there."
                ),
                code="stale",
            )
        return cleaned

    return type(form.__name__, (form,), {"clean": clean})
