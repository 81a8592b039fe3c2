"""Staff at their desk: a logged-in client and the buttons of the admin."""

from typing import Any

from django.contrib.auth.models import Permission, User
from django.contrib.messages import get_messages
from django.db.models import Model
from django.test import Client
from django.urls import reverse

from core.staff_sessions import ROW_KEY, start


def staff(name: str, *permissions: str, superuser: bool = False) -> Client:
    """A client of a new member of staff with these permissions (app.codename)."""
    user = User.objects.create(username=name, is_staff=True, is_superuser=superuser)
    for permission in permissions:
        app, codename = permission.split(".")
        user.user_permissions.add(Permission.objects.get(content_type__app_label=app, codename=codename))
    return signed_in(user)


def signed_in(user: User) -> Client:
    """A client that has given its password."""
    client = Client()
    client.force_login(user)
    session = client.session
    session[ROW_KEY] = start(user, network="127.0.0.0/24").pk
    session.save()
    return client


def address(row: Model, page: str = "change", *more: str) -> str:
    meta = row._meta
    return reverse(f"admin:{meta.app_label}_{meta.model_name}_{page}", args=[row.pk, *more])


def press(client: Client, row: Model, action: str, reason: str = "because", **fields: Any) -> Any:
    """Confirm one button; `fields` are what it asks for beside the reason."""
    return client.post(address(row, "do", action), {"reason": reason, **fields})


def save(client: Client, row: Model, **values: Any) -> Any:
    """Save the form of a row as a person does who has just opened it."""
    shown = client.get(address(row)).context["shown"]
    return client.post(address(row), {"_shown": shown, **values})


def said(response: Any) -> list[str]:
    """The messages that the answer leaves for the next page."""
    return [str(message) for message in get_messages(response.wsgi_request)]
