"""The log and the audit admit one change: a text of theirs becomes the marker of an erasure."""

from django.db import migrations

from core.append_only import ERASURE, append_only_but_erasure


class Migration(migrations.Migration):
    dependencies = [("core", "0004_mail_html_is_made_when_sent")]
    operations = [
        ERASURE,
        append_only_but_erasure("core_event", "payload"),
        append_only_but_erasure("core_auditentry", "reason", "before", "after"),
    ]
