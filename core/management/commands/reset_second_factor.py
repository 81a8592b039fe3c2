"""The way back in for an owner who has lost his device, on the server itself."""

from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser

from core.errors import Refusal
from core.services import second_factor


class Command(BaseCommand):
    help = "Forgets device and recovery codes of a member of staff; the next login sets up new ones."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("user", help="the login name")
        parser.add_argument("--reason", default="reset on the server", help="kept in the audit")

    def handle(self, *args: Any, user: str, reason: str, **options: Any) -> None:
        account = User.objects.filter(username=user).first()
        if account is None:
            raise CommandError("There is no such account.")
        try:
            # No account has this name, so an owner can be reset by it too.
            second_factor.reset(user=account, actor="command: reset_second_factor", reason=reason)
        except Refusal as refusal:
            raise CommandError(refusal.text) from refusal
        self.stdout.write("Done. The sessions of this account are over; its next login sets up a new device.")
