"""The event log and the audit are append-only in the database itself."""

from django.db import migrations

from core.append_only import FUNCTION, append_only


class Migration(migrations.Migration):
    dependencies = [("core", "0001_initial")]
    operations = [FUNCTION, append_only("core_event"), append_only("core_auditentry")]
