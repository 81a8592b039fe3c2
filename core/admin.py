"""What staff see of core: decisions first, then mail, events, outbox, sweeps, audit, and who staff are."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from django import forms
from django.conf import settings
from django.contrib import admin
from django.contrib.auth import admin as auth_admin
from django.contrib.auth.models import Group, User
from django.http import HttpRequest
from django.utils.module_loading import import_string
from django.utils.translation import gettext_lazy as _
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm
from unfold.widgets import UnfoldAdminTextInputWidget

from core.admin_actions import ServiceAction, ServiceAdmin
from core.admin_rows import EditableAdmin, ReadOnlyAdmin, ReadOnlyInline
from core.models import AuditEntry, Decision, Event, OutboxRow, OutgoingMail, SweepRun

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise

# Nothing is deleted in bulk, whatever the table.
admin.site.disable_action("delete_selected")
admin.site.unregister([User, Group])

# Names of the actions in settings.DECISION_KINDS.
DECISION_LABELS: dict[str, "str | _StrPromise"] = {
    "note": _("Close with a note"),
    "try_again": _("Try again"),
    "move_to_whole_cards": _("Move to whole cards"),
    "card_is_sound": _("The card is sound"),
    "refund_now": _("Refund now"),
    "accept": _("Accept as paid in full"),
    "refund": _("Refund"),
    "refund_excess": _("Refund the excess"),
    "offer": _("Keep a lot for the buyer"),
    "clear": _("Let this money pass"),
    "sent": _("Enter the transaction hash"),
    "send_again": _("Send again"),
    "resume": _("Resume the endpoint"),
}
# What such a button does, said before it is done; the note alone changes nothing but the decision.
DECISION_EXPLAINS: dict[str, "str | _StrPromise"] = {
    "try_again": _("The event is handed to its handler once more."),
    "move_to_whole_cards": _(
        "The lease moves to whole cards. Its local disk starts empty; the time counts as missing."
    ),
    "card_is_sound": _("The card is sold again."),
    "refund_now": _("The lease is given up and the whole price falls due as a refund."),
    "accept": _("The order counts as paid from now on; what is missing is written off."),
    "refund": _(
        "What arrived falls due as a refund. The buyer is asked for an address, a bank card is credited."
    ),
    "refund_excess": _("What came above the price falls due as a refund; the order goes on."),
    "offer": _("Cards are held for the buyer, who is asked whether to start or to take the money back."),
    "clear": _("This money counts from now on as any other."),
    "sent": _("The worker looks for this transaction on the chain and verifies the refund by it."),
    "send_again": _("The refund is made at the card processor once more."),
    "resume": _("Events are sent to this address again from now on. What was missed stays in its log."),
}


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


def _resolve(path: str, decision: Decision, actor: str, reason: str, **values: str) -> str | None:
    result = import_string(path)(decision=decision, actor=actor, reason=reason, **values)
    return result if isinstance(result, str) else None


def _text_field(label: "str | _StrPromise") -> forms.CharField:
    return forms.CharField(label=label, max_length=200, widget=UnfoldAdminTextInputWidget)


@admin.register(Decision)
class DecisionAdmin(ServiceAdmin):
    """What a person must settle. The buttons come from settings.DECISION_KINDS."""

    list_display = ["kind", "subject", "order_ref", "opened_at", "due_at", "closed_at", "closed_by"]
    list_filter = [OpenFilter, "kind"]
    search_fields = ["kind", "subject", "order_ref"]

    def get_service_actions(self, row: Decision) -> Sequence[ServiceAction]:
        kind = settings.DECISION_KINDS.get(row.kind)
        if kind is None:
            return ()
        return [
            ServiceAction(
                name=name,
                label=DECISION_LABELS.get(name, name.replace("_", " ").capitalize()),
                explain=DECISION_EXPLAINS.get(
                    name, _("The decision is closed. The reason is kept and shown to other staff.")
                ),
                permission=kind["permission"],
                run=partial(_resolve, path),
                fields={
                    key: partial(_text_field, label)
                    for key, label in kind.get("inputs", {}).get(name, {}).items()
                },
                offered=lambda decision: decision.closed_at is None,
            )
            for name, path in kind["actions"].items()
        ]


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


@admin.register(User)
class StaffAdmin(auth_admin.UserAdmin, EditableAdmin):  # type: ignore[type-arg]
    """Staff accounts. They are switched off (active), never deleted: the audit names them."""

    form = UserChangeForm
    add_form = UserCreationForm
    change_password_form = AdminPasswordChangeForm


@admin.register(Group)
class StaffGroupAdmin(auth_admin.GroupAdmin, EditableAdmin):
    """Sets of permissions."""
