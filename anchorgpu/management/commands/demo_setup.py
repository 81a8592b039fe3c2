"""Fills an empty demo: a staff login, a partner with a key, machines for everything that is on sale."""

import os
import secrets
from pathlib import Path
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction

from anchorgpu.demo.fleet import add_demo_nodes
from anchorgpu.demo.keys import write_private
from core import clock
from partners.models import Partner
from partners.selectors import key_by_text
from partners.services.make_key import make_key
from partners.services.make_partner import make_partner

ACTOR = "demo_setup"
STAFF_FILE, KEY_FILE = "demo-staff.txt", "demo-api-key.txt"


class Command(BaseCommand):
    help = (
        "Demo only: makes the staff login, the demo partner with an API key, and a small fleet. Repeatable."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--folder", type=Path, default=settings.BASE_DIR / "var", help="where secrets are kept"
        )

    def handle(self, *args: Any, folder: Path, **options: Any) -> None:
        if not settings.DEMO:
            raise CommandError("demo_setup works in the demo only.")
        added = add_demo_nodes(actor=ACTOR)
        user, password = _staff(folder / STAFF_FILE)
        key = _api_key(folder / KEY_FILE)
        if "DEMO_STAFF_PASSWORD" not in os.environ:  # else it is shown by who chose it
            self.stdout.write(f"Staff        {settings.SITE_URL}/admin/  user {user}, password {password}")
        self.stdout.write(f"API          {settings.SITE_URL}/api/docs/  key {key}")
        if added:
            self.stdout.write(f"Fleet        {added} simulated nodes added")


def _staff(file: Path) -> tuple[str, str]:
    """The superuser with the chosen password, the one in the file, or a new one."""
    name = os.environ.get("DEMO_STAFF_USER") or "staff"
    password = os.environ.get("DEMO_STAFF_PASSWORD") or _read(file) or secrets.token_urlsafe(12)
    with transaction.atomic():
        user, _created = User.objects.get_or_create(username=name)
        # A password that matches is left alone: setting it anew would end the sessions of who is logged in.
        if not (user.is_superuser and user.is_staff and user.is_active and user.check_password(password)):
            user.is_superuser = user.is_staff = user.is_active = True
            user.set_password(password)
            user.save()
    write_private(file, f"{password}\n")
    return name, password


def _api_key(file: Path) -> str:
    """The key in the file while it works, else a new one."""
    partner = make_partner(name="Demo partner", slug="demo-partner", mail="partner@demo.example", actor=ACTOR)
    text = _read(file)
    if text and _works(text, partner):
        return text
    _key, text = make_key(partner_id=partner.pk, actor=ACTOR, note="made by demo_setup")
    write_private(file, f"{text}\n")
    return text


def _works(text: str, partner: Partner) -> bool:
    key = key_by_text(text)
    return (
        key is not None
        and key.partner == partner
        and key.revoked_at is None
        and not key.is_expired(clock.now())
    )


def _read(file: Path) -> str:
    return file.read_text(encoding="utf-8").strip() if file.is_file() else ""
