"""Who staff are. Nobody gives what he lacks or edits an account that may do more than he; one owner always stays."""

from typing import Any

from django.contrib import admin
from django.contrib.admin.utils import unquote
from django.contrib.auth import admin as auth_admin
from django.contrib.auth.models import Group, User
from django.core.exceptions import PermissionDenied, ValidationError
from django.db.models import ManyToManyField
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.translation import gettext_lazy as _
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget

from core import audit, locks, staff_sessions
from core.admin_actions import EditableServiceAdmin, ServiceAction
from core.admin_rows import EditableAdmin
from core.services import second_factor
from core.services.roles import OWNER, is_role, owners
from core.staff_rights import groups_within, may_edit, may_edit_group, permissions_within

admin.site.unregister([User, Group])


class StaffForm(UserChangeForm):  # type: ignore[misc]  # unfold has no types
    """An account; the last owner can neither be switched off nor lose the role."""

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        # Until this change is stored nobody else's is judged: two owners who switch each other off are one too many.
        locks.lock_owners()
        account = self.instance
        stays = (
            cleaned.get("is_active")
            and cleaned.get("is_staff")
            and (
                cleaned.get("is_superuser", account.is_superuser)
                or any(group.name == OWNER for group in cleaned.get("groups", account.groups.all()))
            )
        )
        if (
            not stays
            and owners().filter(pk=account.pk).exists()
            and not owners().exclude(pk=account.pk).exists()
        ):
            raise ValidationError(
                _("This is the last owner. Make somebody else an owner first."), code="last_owner"
            )
        return cleaned


def _reset_factor(row: User, actor: str, reason: str) -> None:
    second_factor.reset(user=row, actor=actor, reason=reason)


def _end_sessions(row: User, actor: str, reason: str) -> None:
    staff_sessions.end_all(row, actor=actor, reason=reason)


@admin.register(User)
class StaffAdmin(auth_admin.UserAdmin, EditableServiceAdmin):  # type: ignore[type-arg, misc]
    """Staff accounts. They are switched off (active), never deleted: the audit names them.

    What somebody may do comes from his roles alone, so single permissions are not offered.
    """

    form = StaffForm
    add_form = UserCreationForm
    change_password_form = AdminPasswordChangeForm
    list_display = ["username", "first_name", "last_name", "is_staff", "is_active", "last_login"]
    fieldsets = (
        (None, {"fields": ("username", "password")}),
        (_("Personal info"), {"fields": ("first_name", "last_name", "email")}),
        (_("Rights"), {"fields": ("is_active", "is_staff", "is_superuser", "groups")}),
        (_("Important dates"), {"fields": ("last_login", "date_joined")}),
    )
    filter_horizontal = ()
    service_actions = [
        ServiceAction(
            name="reset-factor",
            label=_("Reset the second factor"),
            explain=_(
                "The device and the recovery codes of this account are forgotten and its sessions end. "
                "The next login sets up a new device: make sure that it is the right person who asks."
            ),
            permission="auth.change_user",
            run=_reset_factor,
            offered=lambda user: second_factor.device_of(user) is not None,
            danger=True,
        ),
        ServiceAction(
            name="end-sessions",
            label=_("End all sessions"),
            explain=_("Every browser in which this account is signed in is out at its next page."),
            permission="auth.change_user",
            run=_end_sessions,
            offered=lambda user: staff_sessions.living(user).exists(),
        ),
    ]

    def has_change_permission(self, request: HttpRequest, obj: User | None = None) -> bool:
        return super().has_change_permission(request, obj) and (obj is None or may_edit(request.user, obj))

    def get_readonly_fields(self, request: HttpRequest, obj: User | None = None) -> Any:
        fixed = ["last_login", "date_joined"]
        return fixed if request.user.is_superuser else [*fixed, "is_superuser"]

    def formfield_for_manytomany(
        self, db_field: "ManyToManyField[Any, Any]", request: HttpRequest, **kwargs: Any
    ) -> Any:
        if db_field.name == "groups":
            kwargs["queryset"] = groups_within(request.user)
            kwargs["widget"] = UnfoldAdminCheckboxSelectMultipleWidget
            kwargs["help_text"] = _("Each role allows what docs/operations.md says of it.")
        return super().formfield_for_manytomany(db_field, request, **kwargs)

    def save_model(self, request: HttpRequest, obj: User, form: Any, change: bool) -> None:
        super().save_model(request, obj, form, change)
        if not (obj.is_active and obj.is_staff):
            staff_sessions.end_all(obj, actor=request.user.get_username(), reason="switched off")

    def action_view(self, request: HttpRequest, object_id: str, name: str) -> HttpResponse:
        row = self.get_object(request, object_id)
        if row is not None and not self.has_change_permission(request, row):
            raise PermissionDenied
        return super().action_view(request, object_id, name)

    def user_change_password(self, request: HttpRequest, id: str, form_url: str = "") -> HttpResponse:
        """A new password ends the sessions of the account, but not the one in which it is given."""
        response = super().user_change_password(request, id, form_url)
        row = self.get_object(request, unquote(id)) if isinstance(response, HttpResponseRedirect) else None
        if row is not None:
            actor = request.user.get_username()
            audit.record(actor=actor, action="password.set", subject=f"staff:{row.get_username()}"[:80])
            if row == request.user:
                staff_sessions.end_others(request, reason="password changed")
            else:
                staff_sessions.end_all(row, actor=actor, reason="password changed")
        return response


@admin.register(Group)
class StaffGroupAdmin(auth_admin.GroupAdmin, EditableAdmin):
    """Sets of permissions. Roles are written by `manage.py sync_roles` and are here to look at."""

    def has_change_permission(self, request: HttpRequest, obj: Group | None = None) -> bool:
        return super().has_change_permission(request, obj) and (
            obj is None or (not is_role(obj) and may_edit_group(request.user, obj))
        )

    def formfield_for_manytomany(
        self, db_field: "ManyToManyField[Any, Any]", request: HttpRequest | None = None, **kwargs: Any
    ) -> Any:
        if db_field.name == "permissions" and request is not None:
            kwargs["queryset"] = permissions_within(request.user)
        return super().formfield_for_manytomany(db_field, request, **kwargs)
