"""The form of an action with the controls of our own pages, under the strict policy."""

from typing import Any

from django import forms

from core.admin_actions import ReasonForm, ServiceAction


class DeskReasonForm(ReasonForm):
    """The same fields and the same checks as in the tables; only the look is another."""

    def __init__(self, *args: Any, action: ServiceAction, **kwargs: Any) -> None:
        super().__init__(*args, action=action, label_suffix="", **kwargs)
        self.fields["reason"].widget = _plain(self.fields["reason"], forms.Textarea(attrs={"rows": 3}))
        for name in action.fields:
            if isinstance(self.fields[name], forms.CharField):
                self.fields[name].widget = _plain(self.fields[name], forms.TextInput())


def _plain(field: forms.Field, widget: forms.Widget) -> forms.Widget:
    widget.is_required = field.required
    widget.attrs.update(field.widget_attrs(widget))
    return widget
