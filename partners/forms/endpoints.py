"""Where events go."""

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from core.outward_target import MAX_URL
from partners.event_names import event_names
from partners.forms.base import PartnerForm
from partners.models import WebhookEndpoint
from partners.services.change_endpoint import MAX_NOTE


class EndpointForm(PartnerForm):
    url = forms.CharField(
        label=_("Address"),
        max_length=MAX_URL,
        help_text=_("It begins with https:// and leads to a public name, port 443 or 8443."),
        widget=forms.URLInput(attrs={"autocomplete": "off", "spellcheck": "false"}),
    )
    note = forms.CharField(
        label=_("Note"),
        max_length=MAX_NOTE,
        required=False,
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    events = forms.MultipleChoiceField(
        label=_("Only these events"),
        required=False,
        help_text=_("None chosen: all events."),
        widget=forms.CheckboxSelectMultiple,
    )

    def __init__(self, *args: Any, endpoint: WebhookEndpoint | None = None, **kwargs: Any) -> None:
        if endpoint is not None:
            kwargs["initial"] = {"url": endpoint.url, "note": endpoint.note, "events": endpoint.events}
        super().__init__(*args, **kwargs)
        field = self.fields["events"]
        assert isinstance(field, forms.MultipleChoiceField)  # noqa: S101  # for the types
        field.choices = [(name, name) for name in event_names()]
