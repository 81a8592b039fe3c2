"""Tags and filters of the templates: icons, figures, instants, form controls. `{% load site %}`."""

from collections.abc import Mapping
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from django import forms, template
from django.forms.boundfield import BoundField
from django.templatetags.static import static
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext
from structlog.contextvars import get_contextvars

from catalog.models import Accelerator
from core import formats
from core.templatetags import figures
from shop import context
from shop.pages import charts
from shop.pages.specs import link_text

register = template.Library()
# The same figures on pages as in mails.
register.filters.update(figures.register.filters)

# fmt: off
ICONS = frozenset({
    "arrow", "auto", "card", "check", "clock", "coin", "copy", "doc", "export", "eye", "half", "info", "key",
    "lock", "moon", "more", "refund", "ring", "shield", "stop", "sun", "warn", "wipe",
})
# fmt: on


@register.simple_tag
def icon(name: str) -> SafeString:
    """An icon of the sprite. Always hidden from readers' aids: the word beside it carries the meaning."""
    if name not in ICONS:
        raise template.TemplateSyntaxError(f"no icon named {name!r}")
    return format_html(
        '<svg class="ic" aria-hidden="true"><use href="{}#i-{}"/></svg>', static("icons/sprite.svg"), name
    )


@register.simple_tag
def is_simulated() -> bool:
    """Beside the context variable, because error pages are rendered without context processors."""
    return context.is_simulated()


@register.simple_tag
def is_untranslated() -> bool:
    """Whether the active language has no catalogue, so that its pages speak English with its own figures."""
    return context.is_untranslated()


@register.simple_tag
def logged_request_id() -> str:
    """The id under which this request is logged, for error pages that get no context."""
    return str(get_contextvars().get("request_id", ""))


@register.filter
def instant(value: datetime | None, style: str = "full") -> str | SafeString:
    return instant_words(value, style or "full") if value else ""


@register.filter
def countdown(seconds: int) -> str:
    return formats.countdown_text(int(seconds))


@register.simple_tag
def countdown_words(seconds: int) -> SafeString:
    """`components/countdown.html` as a tag, to be put into a translated sentence."""
    return format_html(
        '<span class="countdown" data-left="{}">{}</span>', int(seconds), formats.countdown_text(int(seconds))
    )


@register.simple_tag
def instant_words(value: datetime, style: str = "full") -> SafeString:
    """`instant` as a tag, to be put into a translated sentence: `{% instant_words x "sentence" as when %}`."""
    return format_html(
        '<time datetime="{}">{}</time>', _machine_time(value), formats.instant_text(value, style=style)
    )


@register.filter
def chunks(address: str) -> list[str]:
    return formats.address_chunks(address)


@register.filter
def control(field: BoundField) -> SafeString:
    """The widget of a form field in the look of the site; `required` and the aria attributes are Django's."""
    widget = field.field.widget
    css = str(widget.attrs.get("class", ""))
    # CheckboxInput, RadioSelect and CheckboxSelectMultiple take their look from the label around them.
    if not isinstance(widget, forms.CheckboxInput | forms.RadioSelect | forms.CheckboxSelectMultiple):
        css = f"input {css}".strip()
    return field.as_widget(attrs={"class": css} if css else None)


@register.filter
def is_checkbox(field: BoundField) -> bool:
    return isinstance(field.field.widget, forms.CheckboxInput)


@register.filter
def is_group(field: BoundField) -> bool:
    """A field of several controls (radio buttons, a list of check boxes) needs a fieldset and a legend."""
    return field.use_fieldset


def _machine_time(value: datetime) -> str:
    return value.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


@register.filter
def cents(value: Decimal | None) -> str:
    """Hundredths of the currency; empty where the figure is not known."""
    return "" if value is None else charts.cents_text(value)


@register.filter
def link_words(accelerator: Accelerator) -> str:
    """How its cards are joined; empty where that is not known."""
    return link_text(accelerator) or ""


@register.filter
def at_key(mapping: Mapping[Any, Any], key: Any) -> Any:
    """The value of a mapping under a key that a template variable holds."""
    return mapping.get(key)


@register.filter
def in_words(sentence: str) -> str:
    """A sentence of the data files (catalog.wording) in the active language."""
    return gettext(sentence) if sentence else ""


@register.filter
def plain_text(value: object) -> str:
    """A form's value for comparing: the same text whether it was typed or is a number of ours."""
    return "" if value is None else str(value)


@register.filter
def field_of(form: forms.Form, code: str) -> BoundField:
    """The form field of an option."""
    return form[f"option_{code}"]
