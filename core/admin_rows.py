"""How the admin shows rows: read-only where a service owns them, and never a delete or a bulk action."""

from typing import TYPE_CHECKING, Any

from django import forms
from django.core.exceptions import BadRequest, ValidationError
from django.db import models, transaction
from django.db.models.constants import LOOKUP_SEP
from django.forms.fields import InvalidJSONInput
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _

from core import audit, locks
from core.admin_stale import SHOWN, mark_of, refuses_stale
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


def _said(value: object) -> str:
    """A value of a form for the audit; of several, such as the groups of an account, their names."""
    return ", ".join(map(str, value)) if isinstance(value, list | models.QuerySet) else str(value)


class EditableAdmin(ModelAdmin):  # type: ignore[type-arg]
    """Rows that staff may add and change; each change leaves an audit entry.

    Nothing is ever deleted here: rows are withdrawn, closed, revoked or released.
    """

    list_per_page = 50
    # Counting a large table again without the filter would be one more slow query per page.
    show_full_result_count = False
    # Within the form: what it shows (core.admin_stale).
    change_form_before_template = "admin/shown.html"

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def changelist_view(
        self, request: HttpRequest, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        """The list. Raises BadRequest where a filter holds what the database cannot."""
        if not all(is_storable(text) for key, values in request.GET.lists() for text in (key, *values)):
            raise BadRequest("A filter holds a character that cannot be stored.")
        return super().changelist_view(request, extra_context)

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        """Django takes any column of the row as a filter: what no page shows, such as the secret of an order page,
        could be guessed letter by letter."""
        listed = [part[0] if isinstance(part, tuple) else part for part in self.get_list_filter(request)]
        shown = {str(name).split(LOOKUP_SEP)[0] for name in (*listed, *self.get_list_display(request))}
        is_shown = lookup.split(LOOKUP_SEP, maxsplit=1)[0] in {*shown, "pk", "id"}
        return is_shown and super().lookup_allowed(lookup, value, request)

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        """The row, or None for an id that no row can have."""
        if not is_storable(object_id):
            return None
        row = super().get_object(request, object_id, from_field)
        saves = request.method == "POST" and transaction.get_connection().in_atomic_block
        if row is not None and saves and self.has_change_permission(request, row):
            # Django saves a form in one transaction: from here to its end nobody else saves this row.
            return locks.row_for_update(row)
        return row

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        """Of a row that others may have saved meanwhile, the form compares what it showed with what is stored."""
        form = super().get_form(request, obj, change, **kwargs)
        if obj is None or not change or request.method != "POST":
            return form
        return refuses_stale(form, obj, shown=request.POST.get(SHOWN, ""))

    def render_change_form(
        self,
        request: HttpRequest,
        context: dict[str, Any],
        add: bool = False,
        change: bool = False,
        form_url: str = "",
        obj: Any = None,
    ) -> HttpResponse:
        if change and obj is not None:
            # A form that was refused is still the one that was opened then.
            posted = request.POST.get(SHOWN, "")
            context["shown"] = posted if request.method == "POST" else mark_of(context["adminform"].form, obj)
        return super().render_change_form(request, context, add, change, form_url, obj)

    def formfield_for_dbfield(self, db_field: "models.Field[Any, Any]", request: Any, **kwargs: Any) -> Any:
        if isinstance(db_field, models.JSONField):
            kwargs["form_class"] = StorableJSONField
        return super().formfield_for_dbfield(db_field, request, **kwargs)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """Save the fields that were changed, and record who changed them from what to what, in one transaction."""
        before = {name: _said(form.initial.get(name, "")) for name in form.changed_data} if change else {}
        after = {name: _said(form.cleaned_data.get(name, "")) for name in form.changed_data}
        for hidden in ("password1", "password2", "password", "usable_password"):
            before.pop(hidden, None)
            after.pop(hidden, None)
        with transaction.atomic():
            if change:
                columns = {field.name for field in obj._meta.concrete_fields}
                obj.save(update_fields=[name for name in form.changed_data if name in columns])
            else:
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
