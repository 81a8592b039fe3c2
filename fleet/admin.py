"""The fleet for staff: nodes, cards, what is held and rented. Buttons call services, nothing is edited."""

from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING

from django import forms
from django.contrib import admin
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy
from unfold.widgets import UnfoldAdminTextInputWidget

from core.admin_actions import ServiceAction, ServiceAdmin
from core.admin_rows import ReadOnlyAdmin, ReadOnlyInline
from fleet.fault_admin import SimulatedFaultAdmin
from fleet.lifecycle import OVER_STATES, PREPARATION_STATES, TEARDOWN_STATES, LeaseStatus
from fleet.models import (
    AccessKey,
    Card,
    EngineSilence,
    Hold,
    Lease,
    MaintenanceWindow,
    Node,
    Outage,
    Reservation,
    SimulatedFault,
    SimulatedMachine,
)
from fleet.services.end_by_staff import end_by_staff
from fleet.services.maintenance import put_card_in_service, put_in_service, take_out_of_service
from fleet.services.maintenance_window import add_window, cancel_window
from fleet.services.prepare_again import prepare_again
from fleet.services.release_by_staff import release_by_staff
from fleet.services.repair import card_is_sound, move_degraded
from fleet.services.take_other_cards import take_other_cards

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise


def _prepare_again(lease: Lease, actor: str, reason: str) -> None:
    prepare_again(lease_id=lease.pk, actor=actor, reason=reason)


def _take_other_cards(lease: Lease, actor: str, reason: str) -> None:
    take_other_cards(lease_id=lease.pk, actor=actor, reason=reason)


def _end(lease: Lease, actor: str, reason: str) -> None:
    end_by_staff(lease_id=lease.pk, actor=actor, reason=reason)


def _take_out(node: Node, actor: str, reason: str) -> None:
    take_out_of_service(node_id=node.pk, actor=actor, reason=reason)


def _put_in(node: Node, actor: str, reason: str) -> None:
    put_in_service(node_id=node.pk, actor=actor, reason=reason)


def _card_is_sound(card: Card, actor: str, reason: str) -> None:
    card_is_sound(card_id=card.pk, actor=actor, reason=reason)


def _move(lease: Lease, actor: str, reason: str) -> None:
    move_degraded(order_ref=lease.order_ref, actor=actor, reason=reason)


def _put_card_in(card: Card, actor: str, reason: str) -> None:
    put_card_in_service(card_id=card.pk, actor=actor, reason=reason)


def _add_window(node: Node, actor: str, reason: str, *, from_at: datetime, to_at: datetime) -> None:
    add_window(node_id=node.pk, from_at=from_at, to_at=to_at, actor=actor, reason=reason)


def _cancel_window(window: MaintenanceWindow, actor: str, reason: str) -> None:
    cancel_window(window_id=window.pk, actor=actor, reason=reason)


def _instant_field(label: "str | _StrPromise") -> forms.DateTimeField:
    return forms.DateTimeField(
        label=label, widget=UnfoldAdminTextInputWidget(attrs={"type": "datetime-local"})
    )


def _release(hold: Hold, actor: str, reason: str) -> None:
    release_by_staff(ref=hold.ref, actor=actor, reason=reason)


class WindowInline(ReadOnlyInline):
    model = MaintenanceWindow
    fields = ["period", "reason", "made_by", "made_at", "cancelled_at"]


class CardInline(ReadOnlyInline):
    model = Card
    fields = ["index", "serial", "healthy", "in_service", "note"]


@admin.register(Node)
class NodeAdmin(ServiceAdmin):
    list_display = [
        "name",
        "site",
        "accelerator",
        "topology",
        "driver_version",
        "stack_version",
        "healthy",
        "in_service",
        "note",
    ]
    list_filter = ["in_service", "healthy", "site", "accelerator"]
    list_select_related = ["accelerator"]
    search_fields = ["name", "site", "cards__serial"]
    inlines = [CardInline, WindowInline]
    service_actions = [
        ServiceAction(
            name="maintenance",
            label=_("Take out of service"),
            explain=_("Nothing new is placed on this node. Leases that run on it go on."),
            permission="fleet.change_node",
            run=_take_out,
            offered=lambda node: node.in_service,
        ),
        ServiceAction(
            name="service",
            label=_("Put back in service"),
            explain=_("The cards of this node are sold again."),
            permission="fleet.change_node",
            run=_put_in,
            offered=lambda node: not node.in_service,
            reason_required=False,
        ),
        ServiceAction(
            name="window",
            label=_("Plan maintenance"),
            explain=_(
                "Nothing is placed on this node in that time. It is refused where an order stands in it."
            ),
            permission="fleet.change_node",
            run=_add_window,
            fields={
                "from_at": partial(_instant_field, _("From, UTC")),
                "to_at": partial(_instant_field, _("To, UTC")),
            },
        ),
    ]


@admin.register(MaintenanceWindow)
class MaintenanceWindowAdmin(ServiceAdmin):
    list_display = ["node", "from_at", "to_at", "reason", "made_by", "made_at", "cancelled_at"]
    list_filter = ["node__site"]
    list_select_related = ["node"]
    search_fields = ["node__name", "reason"]
    service_actions = [
        ServiceAction(
            name="cancel",
            label=_("Cancel the maintenance"),
            explain=_("The time is sold again."),
            permission="fleet.change_node",
            run=_cancel_window,
            offered=lambda window: window.cancelled_at is None,
            reason_required=False,
        )
    ]

    @admin.display(description=pgettext_lazy("a window of time", "From"), ordering="period")
    def from_at(self, window: MaintenanceWindow) -> datetime | None:
        lower: datetime | None = window.period.lower
        return lower

    @admin.display(description=pgettext_lazy("a window of time", "To"))
    def to_at(self, window: MaintenanceWindow) -> datetime | None:
        upper: datetime | None = window.period.upper
        return upper


class ReservationInline(ReadOnlyInline):
    model = Reservation
    fields = ["card", "period", "status", "left_at"]


@admin.register(Card)
class CardAdmin(ServiceAdmin):
    list_display = ["serial", "node", "index", "healthy", "in_service", "note"]
    list_filter = ["healthy", "in_service", "node__accelerator"]
    list_select_related = ["node"]
    search_fields = ["serial", "node__name"]
    inlines = [ReservationInline]
    service_actions = [
        ServiceAction(
            name="service",
            label=_("Put back in service"),
            explain=_("An acceptance test took this card off sale. It is sold again."),
            permission="fleet.change_card",
            run=_put_card_in,
            offered=lambda card: not card.in_service,
        ),
        ServiceAction(
            name="sound",
            label=_("The card is sound"),
            explain=_("A lease found this card missing or faulty. It has been looked at and is sold again."),
            permission="fleet.change_card",
            run=_card_is_sound,
            offered=lambda card: not card.healthy,
        ),
    ]


@admin.register(Hold)
class HoldAdmin(ServiceAdmin):
    list_display = [
        "ref",
        "lot",
        "lots",
        "card_count",
        "placed_at",
        "expires_at",
        "release_at",
        "released_at",
    ]
    list_filter = ["lot__accelerator"]
    list_select_related = ["lot"]
    search_fields = ["ref", "owner"]
    ordering = ["-id"]
    inlines = [ReservationInline]
    service_actions = [
        ServiceAction(
            name="release",
            label=_("Release the cards"),
            explain=_(
                "The cards are on sale again at once. The order stays open: money that still comes for it "
                "becomes a decision."
            ),
            permission="fleet.change_hold",
            run=_release,
            offered=lambda hold: hold.is_open,
            danger=True,
        )
    ]


@admin.register(Reservation)
class ReservationAdmin(ReadOnlyAdmin):
    list_display = ["card", "hold", "period", "status", "left_at"]
    list_filter = ["status"]
    list_select_related = ["card", "hold"]
    search_fields = ["card__serial", "hold__ref"]
    ordering = ["-id"]


class AccessKeyInline(ReadOnlyInline):
    model = AccessKey
    fields = ["purpose", "algorithm", "fingerprint", "comment", "added_at", "removed_at"]


@admin.register(Lease)
class LeaseAdmin(ServiceAdmin):
    list_display = [
        "username",
        "order_ref",
        "status",
        "ready_by",
        "ready_at",
        "ends_at",
        "attempts",
        "last_error",
    ]
    list_filter = ["status"]
    search_fields = ["username", "order_ref"]
    exclude = ["claim_token", "claim_until"]
    inlines = [AccessKeyInline]
    service_actions = [
        ServiceAction(
            name="prepare-again",
            label=_("Prepare again"),
            explain=_("The step that failed is tried again at once, without its pause."),
            permission="fleet.change_lease",
            run=_prepare_again,
            offered=lambda lease: lease.status in PREPARATION_STATES,
            reason_required=False,
        ),
        ServiceAction(
            name="take-other-cards",
            label=_("Take other cards"),
            explain=_(
                "The lease moves to other free cards of the same accelerator and is prepared there. "
                "The old cards come back on sale when they are wiped."
            ),
            permission="fleet.change_lease",
            run=_take_other_cards,
            offered=lambda lease: lease.status in PREPARATION_STATES,
        ),
        ServiceAction(
            name="move",
            label=_("Move to whole cards"),
            explain=_(
                "A card of this lease is missing. The lease goes on on other cards for the rest of its term; "
                "access is closed until they are tested, and the local disk starts empty there."
            ),
            permission="fleet.change_lease",
            run=_move,
            offered=lambda lease: lease.status == LeaseStatus.DEGRADED and lease.moving_at is None,
        ),
        ServiceAction(
            name="end",
            label=_("End the lease"),
            explain=_("Access closes now and the machine is wiped. The buyer loses what is on it."),
            permission="fleet.change_lease",
            run=_end,
            offered=lambda lease: lease.status not in TEARDOWN_STATES | OVER_STATES,
            danger=True,
        ),
    ]


@admin.register(SimulatedMachine)
class SimulatedMachineAdmin(ReadOnlyAdmin):
    list_display = ["lease_id", "username", "state", "starts_at", "ends_at", "wiped_at"]
    list_filter = ["state"]
    search_fields = ["username"]


@admin.register(Outage)
class OutageAdmin(ReadOnlyAdmin):
    list_display = ["lease", "card", "cause", "began_at", "ended_at", "note"]
    list_filter = ["cause"]
    list_select_related = ["lease", "card"]
    search_fields = ["lease__order_ref", "lease__username", "card__serial"]


@admin.register(EngineSilence)
class EngineSilenceAdmin(ReadOnlyAdmin):
    list_display = ["began_at", "ended_at", "looks", "reason"]


admin.site.register(SimulatedFault, SimulatedFaultAdmin)
