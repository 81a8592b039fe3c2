"""Brings the roles of staff to what this version says; run after each migrate."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from core.services.roles import UnknownPermission, sync_roles


class Command(BaseCommand):
    help = "Writes the roles of staff as groups. What was changed in them by hand is overwritten. Repeatable."

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            written = sync_roles()
        except UnknownPermission as error:
            raise CommandError(
                f"A role names {error}, which fits no permission; run migrate first."
            ) from error
        for role, number in written.items():
            self.stdout.write(f"{role}: {number} permissions")
