"""Facts about money are append-only in the database itself (DESIGN rule 7)."""

from django.db import migrations

from core.append_only import append_only


class Migration(migrations.Migration):
    dependencies = [("billing", "0001_initial"), ("core", "0002_append_only")]
    operations = [
        append_only("billing_transfer"),
        append_only("billing_transfersighting"),
        append_only("billing_balancereading"),
        append_only("billing_claim"),
    ]
