"""From a service's refusal to the field of a form that it is about."""

from collections.abc import Mapping

from django import forms

from core.errors import Refusal


def show_refusal(form: forms.Form, refusal: Refusal, *, fields: Mapping[str, str]) -> None:
    """Add the refusal's sentence to a bound form. `fields` maps the service's dotted field to ours;
    what has no field of its own stands above the form."""
    name = fields.get(refusal.field or "")
    form.add_error(name if name in form.fields else None, refusal.text)
