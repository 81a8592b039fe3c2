"""Record a changed DEPOSIT_XPUB as meant, while addresses of the old one may still receive money."""

from typing import Any

from django.core.management.base import BaseCommand

from billing import pool


class Command(BaseCommand):
    help = "Accept the configured DEPOSIT_XPUB. Addresses of the old one stay watched for ever."

    def handle(self, *args: Any, **options: Any) -> None:
        fingerprint = pool.accept()
        self.stdout.write(f"Accepted. New deposit addresses are derived from the xpub {fingerprint}.")
