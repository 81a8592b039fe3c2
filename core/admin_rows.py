"""How the admin shows rows: read-only where a service owns them, and never a delete or a bulk action."""

from typing import TYPE_CHECKING, Any

from django import forms
from django.core.exceptions import BadRequest, ValidationError
from django.db import models, transaction
from django.forms.fields import InvalidJSONInput
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _

from core import audit
from core.text import is_storable

if TYPE_CHECKING:
    # unfold ships no types; its classes are those of Django with another look.
    from django.contrib.admin import ModelAdmin, TabularInline
else:
    from unfold.admin import ModelAdmin, TabularInline


class StorableJSONField(forms.JSONField):
    """JSON typed by staff: PostgreSQL holds neither NUL nor lone surrogates, however they are written."""

    def validate(self, value: Any) -> None:
        super().validate(value)
        if not _is_storable_json(value):
            raise ValidationError(
                _("This text holds a character that cannot be stored."), code="invalid_text"
            )

    def bound_data(self, data: Any, initial: Any) -> Any:
        """What a refused form shows again: as it was typed, where the decoded text could not even be sent."""
        value = super().bound_data(data, initial)
        return value if _is_storable_json(value) else InvalidJSONInput(data)


def _is_storable_json(value: object) -> bool:
    if isinstance(value, dict):
        return all(_is_storable_json(part) for pair in value.items() for part in pair)
    if isinstance(value, list):
        return all(_is_storable_json(part) for part in value)
    return not isinstance(value, str) or is_storable(value)


class EditableAdmin(ModelAdmin):  # type: ignore[type-arg]
    """Rows that staff may add and change; each change leaves an audit entry.

    Nothing is ever deleted here: rows are withdrawn, closed, revoked or released.
    """

    list_per_page = 50
    # Counting a large table again without the filter would be one more slow query per page.
    show_full_result_count = False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """The list. Raises BadRequest where a filter holds what the database cannot."""
        if not all(is_storable(text) for key, values in request.GET.lists() for text in (key, *values)):
            raise BadRequest("A filter holds a character that cannot be stored.")
        return super().changelist_view(request, extra_context)

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        """The row, or None for an id that no row can have."""
        if not is_storable(object_id):
            return None
        return super().get_object(request, object_id, from_field)

    def formfield_for_dbfield(self, db_field: "models.Field[Any, Any]", request: Any, **kwargs: Any) -> Any:
        if isinstance(db_field, models.JSONField):
            kwargs["form_class"] = StorableJSONField
        return super().formfield_for_dbfield(db_field, request, **kwargs)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Save, and record who changed which fields from what to what, in one transaction."""
        before = {name: str(form.initial.get(name, "")) for name in form.changed_data} if change else {}
        after = {name: str(form.cleaned_data.get(name, "")) for name in form.changed_data}
        for hidden in ("password1", "password2", "password", "usable_password"):
            before.pop(hidden, None)
            after.pop(hidden, None)
        with transaction.atomic():
            super().save_model(request, obj, form, change)
            audit.record(
                actor=request.user.get_username(),
                action=f"{obj._meta.model_name}.{'change' if change else 'add'}",
                subject=f"{obj._meta.model_name}:{obj.pk}",
                before=before,
                after=after,
            )


class ReadOnlyAdmin(EditableAdmin):
    """Rows that a lifecycle, a service or a worker owns."""

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class ReadOnlyInline(TabularInline):  # type: ignore[type-arg]
    """Rows below another row, to look at."""

    extra = 0
    max_num = 0
    can_delete = False
    show_change_link = False

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
