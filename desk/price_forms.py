"""What the pages of prices ask for: a reason with what was looked at, a file."""

from functools import partial
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from catalog.models import PriceDraft
from catalog.services.draft import discard_draft
from catalog.services.publish_draft import publish_draft
from core.admin_actions import ServiceAction

SEES, WRITES, PUBLISHES = "catalog.view_priceversion", "catalog.change_pricedraft", "catalog.add_priceversion"


def _hidden(*, most: int) -> forms.Field:
    return forms.IntegerField(min_value=0, max_value=most, widget=forms.HiddenInput)


# What was looked at comes back with the form, so that nothing else is published or thrown away.
_LOOKED_AT = {"draft": partial(_hidden, most=2**63 - 1), "revision": partial(_hidden, most=2**31 - 1)}


def _publish(_row: PriceDraft, actor: str, reason: str, *, draft: int, revision: int) -> None:
    publish_draft(draft_id=draft, revision=revision, actor=actor, reason=reason)


def _discard(_row: PriceDraft, actor: str, reason: str, *, draft: int, revision: int) -> None:
    discard_draft(draft_id=draft, actor=actor, reason=reason)


PUBLISH = ServiceAction(
    name="publish",
    label=_("Publish now"),
    explain=_(
        "Every quote made from now on has the new prices. Open quotes and orders keep theirs. "
        "A table cannot be taken back; another draft can follow it."
    ),
    permission=PUBLISHES,
    run=_publish,
    fields=_LOOKED_AT,
)
DISCARD = ServiceAction(
    name="discard",
    label=_("Discard it"),
    explain=_("All its changes are gone, whoever made them. The table that sells stands."),
    permission=WRITES,
    run=_discard,
    fields=_LOOKED_AT,
    danger=True,
)


class DraftForm(forms.Form):
    """Which draft was looked at."""

    draft = _LOOKED_AT["draft"]()


class ImportForm(forms.Form):
    """A file to look at. Its size and content are judged by catalog.import_file, as on the command line."""

    file = forms.FileField(
        label=_("Catalogue file"),
        help_text=_(
            "JSON or TOML, at most 200 kB. Nothing is written before you have seen what would change."
        ),
        allow_empty_file=True,
        widget=forms.FileInput(attrs={"accept": ".json,.toml"}),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        kwargs.setdefault("label_suffix", "")
        super().__init__(*args, **kwargs)
