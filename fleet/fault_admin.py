"""The demo's switch for faults of the simulated engine. Outside the demo it is not there, not even to look at."""

from typing import Any

from django import forms
from django.conf import settings
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _
from unfold.widgets import (
    UnfoldAdminDecimalFieldWidget,
    UnfoldAdminIntegerFieldWidget,
    UnfoldAdminSelectWidget,
    UnfoldAdminTextInputWidget,
)

from core.admin_actions import EditableServiceAdmin, ServiceAction
from core.errors import Refusal
from fleet.models import SimulatedFault
from fleet.providers.faults import LONGEST_DELAY_SECONDS, VERBS
from fleet.services.faults import FaultRequest, check_fault, switch_off, switch_on

_KINDS = [
    (SimulatedFault.Kind.DELAY, _("The engine answers late")),
    (SimulatedFault.Kind.REFUSE, _("The engine refuses")),
    (SimulatedFault.Kind.TIME_OUT_AFTER, _("The engine acts, and its answer is lost")),
    (SimulatedFault.Kind.WRONG_MODEL, _("The machine shows another model than ordered")),
    (SimulatedFault.Kind.CARD_MISSING, _("A card is missing")),
    (SimulatedFault.Kind.CARD_UNHEALTHY, _("A card reports a fault")),
    (SimulatedFault.Kind.NODE_AWAY, _("A node does not answer")),
    (SimulatedFault.Kind.WIPE_FAILS, _("The wipe does not finish")),
]


class FaultForm(forms.ModelForm):  # type: ignore[type-arg]
    """What goes wrong, where, and how often."""

    kind = forms.ChoiceField(label=_("What goes wrong"), choices=_KINDS, widget=UnfoldAdminSelectWidget)
    verb = forms.ChoiceField(
        label=_("At which step"),
        choices=[("", _("each that it can befall")), *((verb, verb) for verb in VERBS)],
        required=False,
        widget=UnfoldAdminSelectWidget,
    )
    lease_id = forms.IntegerField(
        label=_("Only for this lease"),
        help_text=_("The number of the lease. Empty: any."),
        required=False,
        min_value=1,
        # The column's own bound: a larger number is no lease.
        max_value=2**63 - 1,
        widget=UnfoldAdminIntegerFieldWidget,
    )
    card_serial = forms.CharField(
        label=_("Only this card"),
        help_text=_("Its serial number. Empty: the first card of the lease."),
        required=False,
        max_length=60,
        widget=UnfoldAdminTextInputWidget,
    )
    node_name = forms.CharField(
        label=_("Only on this node"), required=False, max_length=60, widget=UnfoldAdminTextInputWidget
    )
    seconds = forms.FloatField(
        label=_("Seconds of a delay"),
        required=False,
        min_value=0,
        max_value=LONGEST_DELAY_SECONDS,
        widget=UnfoldAdminDecimalFieldWidget,
    )
    uses_left = forms.IntegerField(
        label=_("How many times"),
        help_text=_("Empty: until it is switched off."),
        required=False,
        min_value=1,
        widget=UnfoldAdminIntegerFieldWidget,
    )

    class Meta:
        model = SimulatedFault
        fields = ("kind", "verb", "lease_id", "card_serial", "node_name", "seconds", "uses_left")

    def clean(self) -> dict[str, Any]:
        values = dict(super().clean() or {})
        values["seconds"] = values.get("seconds") or 0.0
        if not self.errors:
            try:
                check_fault(_request(values))
            except Refusal as refusal:
                field = {"uses": "uses_left"}.get(refusal.field or "", refusal.field)
                self.add_error(field, forms.ValidationError(refusal.text, code=refusal.code))
        return values


def _request(values: dict[str, Any]) -> FaultRequest:
    return FaultRequest(
        kind=values["kind"],
        verb=values["verb"],
        lease_id=values["lease_id"],
        card_serial=values["card_serial"],
        node_name=values["node_name"],
        seconds=values["seconds"],
        uses=values["uses_left"],
    )


def _switch_off(fault: SimulatedFault, actor: str, reason: str) -> None:
    switch_off(fault_id=fault.pk, actor=actor, reason=reason)


class SimulatedFaultAdmin(EditableServiceAdmin):
    """Faults that are on or were on. The row is added by the service, and never changed by hand."""

    form = FaultForm
    list_display = [
        "kind",
        "verb",
        "lease_id",
        "card_serial",
        "node_name",
        "uses_left",
        "made_by",
        "ended_at",
    ]
    list_filter = ["kind"]
    service_actions = [
        ServiceAction(
            name="off",
            label=_("Switch off"),
            explain=_("The engine works again as it should."),
            permission="fleet.change_simulatedfault",
            run=_switch_off,
            offered=lambda fault: fault.ended_at is None,
            reason_required=False,
        )
    ]

    def has_module_permission(self, request: HttpRequest) -> bool:
        return settings.DEMO and super().has_module_permission(request)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return settings.DEMO and super().has_view_permission(request, obj)

    def has_add_permission(self, request: HttpRequest) -> bool:
        return settings.DEMO and request.user.has_perm("fleet.add_simulatedfault")

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: SimulatedFault, form: Any, change: bool) -> None:
        """Switch it on by the service, which writes the row and the audit."""
        row = switch_on(_request(form.cleaned_data), actor=request.user.get_username())
        obj.pk = row.pk
        obj.refresh_from_db()
