"""Staff at their desk: a logged-in client and the buttons of the admin."""

from typing import Any

from django.contrib.auth.models import Permission, User
from django.contrib.messages import get_messages
from django.db.models import Model
from django.test import Client
from django.urls import reverse


def staff(name: str, *permissions: str, superuser: bool = False) -> Client:
    """A client of a new member of staff with these permissions (app.codename)."""
    user = User.objects.create(username=name, is_staff=True, is_superuser=superuser)
    for permission in permissions:
        app, codename = permission.split(".")
        user.user_permissions.add(Permission.objects.get(content_type__app_label=app, codename=codename))
    client = Client()
    client.force_login(user)
    return client


def address(row: Model, page: str = "change", *more: str) -> str:
    meta = row._meta
    return reverse(f"admin:{meta.app_label}_{meta.model_name}_{page}", args=[row.pk, *more])


def press(client: Client, row: Model, action: str, reason: str = "because", **fields: Any) -> Any:
    """Confirm one button; `fields` are what it asks for beside the reason."""
    return client.post(address(row, "do", action), {"reason": reason, **fields})


def said(response: Any) -> list[str]:
    """The messages that the answer leaves for the next page."""
    return [str(message) for message in get_messages(response.wsgi_request)]
