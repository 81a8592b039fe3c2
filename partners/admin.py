"""Partners and API keys for staff. A key's text is shown once, on the page that made it."""

from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from core import clock
from core.admin_actions import EditableServiceAdmin, ServiceAction, ServiceAdmin
from core.admin_rows import ReadOnlyInline
from partners.models import ApiKey, Partner
from partners.services.make_key import make_key
from partners.services.revoke_key import revoke_key


def _make_key(partner: Partner, actor: str, reason: str) -> str:
    _key, text = make_key(partner_id=partner.pk, actor=actor, note=reason[:120])
    return text


def _revoke(key: ApiKey, actor: str, reason: str) -> None:
    revoke_key(key_id=key.pk, actor=actor, reason=reason)


class ApiKeyInline(ReadOnlyInline):
    model = ApiKey
    fields = ["prefix", "note", "scopes", "created_at", "expires_at", "revoked_at", "last_used_at"]
    show_change_link = True


@admin.register(Partner)
class PartnerAdmin(EditableServiceAdmin):
    list_display = ["name", "slug", "mail", "hold_orders", "hold_cards", "active"]
    list_filter = ["active"]
    search_fields = ["name", "slug", "mail"]
    inlines = [ApiKeyInline]
    service_actions = [
        ServiceAction(
            name="make-key",
            label=_("Make an API key"),
            explain=_("The key may do everything that a partner may. The reason is kept as its note."),
            permission="partners.add_apikey",
            run=_make_key,
            offered=lambda partner: partner.active,
        )
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
            name="revoke",
            label=_("Revoke"),
            explain=_("Every program that uses this key is refused from now on."),
            permission="partners.change_apikey",
            run=_revoke,
            offered=lambda key: key.revoked_at is None,
            danger=True,
        )
    ]
