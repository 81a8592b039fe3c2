"""Partners, their people and API keys for staff. A key's text is shown once, on the page that made it."""

from datetime import timedelta
from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from unfold.widgets import (
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextInputWidget,
)

from core import clock
from core.admin_actions import EditableServiceAdmin, ServiceAction, ServiceAdmin
from core.admin_rows import ReadOnlyInline
from partners import admin_webhooks
from partners.models import ApiKey, Member, Partner
from partners.scopes import Scope
from partners.services.change_member import add_member, switch_member
from partners.services.make_key import make_key
from partners.services.revoke_key import revoke_key
from partners.services.rotate_key import DEFAULT_OVERLAP_HOURS, MAX_OVERLAP_HOURS, rotate_key

# Django finds the admin of an app by this module; that of webhooks has one of its own.
__all__ = ["admin_webhooks"]

# So far ahead that nobody means it; a longer time has no date.
_MAX_DAYS = 3650


def _make_key(partner: Partner, actor: str, reason: str, *, scopes: list[str], days: int | None) -> str:
    ends = None if days is None else clock.now() + timedelta(days=days)
    _key, text = make_key(
        partner_id=partner.pk,
        actor=actor,
        note=reason[:120],
        reason=reason,
        scopes=scopes,
        expires_at=ends,
    )
    return text


def _revoke(key: ApiKey, actor: str, reason: str) -> None:
    revoke_key(key_id=key.pk, actor=actor, reason=reason)


def _rotate(key: ApiKey, actor: str, reason: str, *, overlap_hours: int) -> str:
    _key, text = rotate_key(key_id=key.pk, actor=actor, overlap_hours=overlap_hours, reason=reason)
    return text


def _add_member(partner: Partner, actor: str, reason: str, *, name: str, mail: str, language: str) -> None:
    add_member(partner_id=partner.pk, name=name, mail=mail, language=language, actor=actor, reason=reason)


def _switch_off(member: Member, actor: str, reason: str) -> None:
    switch_member(member_id=member.pk, active=False, actor=actor, reason=reason)


def _switch_on(member: Member, actor: str, reason: str) -> None:
    switch_member(member_id=member.pk, active=True, actor=actor, reason=reason)


def _scopes_field() -> forms.Field:
    return forms.MultipleChoiceField(
        label=_("What it may do"),
        choices=Scope.choices,
        initial=Scope.values,
        widget=UnfoldAdminCheckboxSelectMultipleWidget,
    )


def _days_field() -> forms.Field:
    return forms.IntegerField(
        label=_("Ends in days"),
        help_text=_("Empty: it does not end."),
        required=False,
        min_value=1,
        max_value=_MAX_DAYS,
        widget=UnfoldAdminIntegerFieldWidget,
    )


def _hours_field() -> forms.Field:
    return forms.IntegerField(
        label=_("Hours in which the old key still works"),
        initial=DEFAULT_OVERLAP_HOURS,
        min_value=1,
        max_value=MAX_OVERLAP_HOURS,
        widget=UnfoldAdminIntegerFieldWidget,
    )


def _name_field() -> forms.Field:
    return forms.CharField(label=_("Name"), max_length=120, widget=UnfoldAdminTextInputWidget)


def _mail_field() -> forms.Field:
    return forms.CharField(label=_("Mail address"), max_length=254, widget=UnfoldAdminTextInputWidget)


def _language_field() -> forms.Field:
    return forms.ChoiceField(label=_("language"), choices=settings.LANGUAGES, widget=UnfoldAdminSelectWidget)


class ApiKeyInline(ReadOnlyInline):
    model = ApiKey
    fields = ["prefix", "note", "scopes", "created_at", "expires_at", "revoked_at", "last_used_at"]
    show_change_link = True


class MemberInline(ReadOnlyInline):
    model = Member
    fields = ["mail", "name", "language", "active", "last_login_at"]
    readonly_fields = ["last_login_at"]
    show_change_link = True


@admin.register(Partner)
class PartnerAdmin(EditableServiceAdmin):
    list_display = ["name", "slug", "mail", "hold_orders", "hold_cards", "active"]
    list_filter = ["active"]
    search_fields = ["name", "slug", "mail"]
    inlines = [MemberInline, ApiKeyInline]
    service_actions = [
        ServiceAction(
            name="make-key",
            label=_("Make an API key"),
            explain=_("Its text is shown once, on the next page. The reason is kept as its note."),
            permission="partners.add_apikey",
            run=_make_key,
            fields={"scopes": _scopes_field, "days": _days_field},
            offered=lambda partner: partner.active,
        ),
        ServiceAction(
            name="add-member",
            label=_("Add a member"),
            explain=_(
                "A person who logs in by a mailed link and may make keys and webhooks for this partner."
            ),
            permission="partners.add_member",
            run=_add_member,
            fields={"name": _name_field, "mail": _mail_field, "language": _language_field},
            reason_required=False,
        ),
    ]

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        return ["slug", "created_at"] if obj is not None else []

    def save_model(self, request: HttpRequest, obj: Partner, form: Any, change: bool) -> None:
        if not change:
            obj.created_at = clock.now()
        super().save_model(request, obj, form, change)


@admin.register(ApiKey)
class ApiKeyAdmin(ServiceAdmin):
    list_display = ["prefix", "partner", "note", "created_at", "expires_at", "revoked_at", "last_used_at"]
    list_filter = ["partner"]
    list_select_related = ["partner"]
    search_fields = ["prefix", "note", "partner__name"]
    exclude = ["hash"]
    service_actions = [
        ServiceAction(
            name="rotate",
            label=_("Rotate"),
            explain=_(
                "A new key that may do the same. Its text is shown once; the old one works on for a while."
            ),
            permission="partners.add_apikey",
            run=_rotate,
            fields={"overlap_hours": _hours_field},
            offered=lambda key: key.revoked_at is None,
            reason_required=False,
        ),
        ServiceAction(
            name="revoke",
            label=_("Revoke"),
            explain=_("Every program that uses this key is refused from now on."),
            permission="partners.change_apikey",
            run=_revoke,
            offered=lambda key: key.revoked_at is None,
            danger=True,
        ),
    ]


@admin.register(Member)
class MemberAdmin(ServiceAdmin):
    list_display = ["mail", "name", "partner", "language", "active", "created_at", "last_login_at"]
    list_filter = ["active", "partner"]
    list_select_related = ["partner"]
    search_fields = ["mail", "name", "partner__name"]
    service_actions = [
        ServiceAction(
            name="off",
            label=_("Switch off"),
            explain=_("No link logs this person in any more, and an open session is over at its next page."),
            permission="partners.change_member",
            run=_switch_off,
            offered=lambda member: member.active,
            danger=True,
        ),
        ServiceAction(
            name="on",
            label=_("Switch on"),
            explain=_("This person can ask for a link again."),
            permission="partners.change_member",
            run=_switch_on,
            offered=lambda member: not member.active,
        ),
    ]
