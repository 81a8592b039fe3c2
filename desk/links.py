"""Links from the desk to the rows of the tables, for those who may see them."""

from dataclasses import dataclass
from urllib.parse import urlencode

from django.contrib.auth.models import AbstractBaseUser, AnonymousUser, PermissionsMixin
from django.db.models import Model
from django.urls import reverse

from desk.about import About

Person = AbstractBaseUser | AnonymousUser

# First word of a decision's subject -> the table whose row it names: by its key, or found there by its text.
_BY_KEY = {
    "lease": "fleet.lease",
    "mail": "core.outgoingmail",
    "outbox": "core.outboxrow",
    "payment": "billing.paymentrequest",
    "refund": "billing.refund",
    "invoice": "billing.invoice",
    "card_event": "billing.cardevent",
    "card_session": "billing.cardsession",
}
_BY_TEXT = {"node": "fleet.node", "webhook": "partners.webhookendpoint"}


@dataclass(frozen=True)
class Tag:
    """What a decision is about, short; `url` is empty where this person may not see the row."""

    text: str
    url: str = ""


def may_see(person: Person, label: str) -> bool:
    """Whether the table of this model ("orders.order") opens for a person."""
    app, model = label.split(".")
    return isinstance(person, PermissionsMixin | AnonymousUser) and (
        person.has_perm(f"{app}.view_{model}") or person.has_perm(f"{app}.change_{model}")
    )


def row_url(row: Model) -> str:
    """The page of a row among the tables."""
    return reverse(f"admin:{row._meta.app_label}_{row._meta.model_name}_change", args=[row.pk])


def tags_of(about: About, person: Person) -> list[Tag]:
    """The order first, then the thing itself."""
    tags = []
    if about.decision.order_ref:
        seen = about.order is not None and may_see(person, "orders.order")
        tags.append(Tag(about.decision.order_ref, row_url(about.order) if seen and about.order else ""))
    tags += _subject_tag(about, person)
    return tags


def _subject_tag(about: About, person: Person) -> list[Tag]:
    kind, _colon, name = about.decision.subject.partition(":")
    if kind == "lease" and about.lease is not None:
        return [Tag(about.lease.username, row_url(about.lease) if may_see(person, "fleet.lease") else "")]
    if about.decision.kind == "card_unsound":
        return [Tag(name, _list_url("fleet.card", name) if may_see(person, "fleet.card") else "")]
    if kind in _BY_TEXT:
        label = _BY_TEXT[kind]
        return [Tag(name, _list_url(label, name) if may_see(person, label) else "")]
    if kind in _BY_KEY and not about.decision.order_ref:
        label = _BY_KEY[kind]
        return [
            Tag(
                f"{kind.replace('_', ' ')} {name}", _change_url(label, name) if may_see(person, label) else ""
            )
        ]
    return [] if about.decision.order_ref else [Tag(name or kind)]


def _change_url(label: str, key: str) -> str:
    return reverse(f"admin:{label.replace('.', '_')}_change", args=[key])


def _list_url(label: str, text: str) -> str:
    return reverse(f"admin:{label.replace('.', '_')}_changelist") + "?" + urlencode({"q": text})
