"""What staff see of core: decisions first, then mail, events, outbox, sweeps, audit, and who staff are."""

from collections.abc import Sequence
from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from django_otp.plugins.otp_static.models import StaticDevice
from django_otp.plugins.otp_totp.models import TOTPDevice

from core.admin_actions import ServiceAction, ServiceAdmin
from core.admin_rows import ReadOnlyAdmin, ReadOnlyInline
from core.admin_staff import StaffAdmin, StaffGroupAdmin
from core.decision_actions import decision_actions
from core.models import AuditEntry, Decision, Event, OutboxRow, OutgoingMail, SweepRun

# Nothing is deleted in bulk, whatever the table.
admin.site.disable_action("delete_selected")
# The library's own pages would show secrets; devices are the business of core.services.second_factor.
admin.site.unregister([TOTPDevice, StaticDevice])


class OpenFilter(admin.SimpleListFilter):
    """Open decisions first: that is what staff come for."""

    title = _("state")
    parameter_name = "state"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return [("open", _("open")), ("closed", _("closed"))]

    def queryset(self, request: HttpRequest, queryset: Any) -> Any:
        if self.value() in {"open", "closed"}:
            return queryset.filter(closed_at__isnull=self.value() == "open")
        return queryset


@admin.register(Decision)
class DecisionAdmin(ServiceAdmin):
    """What a person must settle. The buttons come from settings.DECISION_KINDS."""

    list_display = ["kind", "subject", "order_ref", "opened_at", "due_at", "closed_at", "closed_by"]
    list_filter = [OpenFilter, "kind"]
    search_fields = ["kind", "subject", "order_ref"]

    def get_service_actions(self, row: Decision) -> Sequence[ServiceAction]:
        return decision_actions(row)


@admin.register(OutgoingMail)
class OutgoingMailAdmin(ReadOnlyAdmin):
    list_display = ["subject", "to", "order_ref", "status", "attempts", "queued_at", "sent_at"]
    list_filter = ["status", "language"]
    search_fields = ["subject", "to", "order_ref"]
    # The texts hold the address of the order page, and who has that can act as the buyer.
    exclude = ["text", "claim_token", "claim_until"]


class OutboxInline(ReadOnlyInline):
    model = OutboxRow
    fields = ["handler", "status", "attempts", "next_at", "last_error"]


@admin.register(Event)
class EventAdmin(ReadOnlyAdmin):
    list_display = ["name", "subject", "order_ref", "audience", "at"]
    list_filter = ["audience", "name"]
    search_fields = ["name", "subject", "order_ref"]
    ordering = ["-id"]
    inlines = [OutboxInline]


@admin.register(OutboxRow)
class OutboxRowAdmin(ReadOnlyAdmin):
    list_display = ["handler", "event", "subject", "status", "attempts", "next_at", "last_error"]
    list_filter = ["status", "handler"]
    list_select_related = ["event"]
    search_fields = ["handler", "subject"]
    ordering = ["-id"]


@admin.register(SweepRun)
class SweepRunAdmin(ReadOnlyAdmin):
    list_display = ["name", "last_started_at", "last_finished_at", "last_product_at", "last_error"]


@admin.register(AuditEntry)
class AuditEntryAdmin(ReadOnlyAdmin):
    list_display = ["at", "actor", "action", "subject", "reason"]
    list_filter = ["action", "actor"]
    search_fields = ["actor", "action", "subject", "reason"]


# Registered by being imported: Django looks for admin pages in this module alone.
__all__ = ["StaffAdmin", "StaffGroupAdmin"]
