"""The memory of the demo's test card processor."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("billing", "0004_books")]
    operations = [
        migrations.CreateModel(
            name="DemoCardEvent",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("event_id", models.CharField(max_length=120, unique=True)),
                ("body", models.TextField()),
                ("next_at", models.DateTimeField(help_text="System clock: when it may be posted.")),
                ("attempts", models.PositiveIntegerField(default=0)),
                ("posted_at", models.DateTimeField(blank=True, null=True)),
                ("last_error", models.CharField(blank=True, max_length=300)),
            ],
        ),
        migrations.CreateModel(
            name="DemoCardRecord",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("kind", models.CharField(choices=[("session", "Session"), ("refund", "Refund"), ("dispute", "Dispute"), ("key", "idempotency key")], max_length=8)),
                ("reference", models.CharField(max_length=255, unique=True)),
                ("body", models.JSONField()),
                ("made_at", models.DateTimeField(help_text="System clock.")),
                ("due_at", models.DateTimeField(blank=True, help_text="System clock: when a delayed payment is decided.", null=True)),
            ],
        ),
    ]
