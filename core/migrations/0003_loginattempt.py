"""Staff logins that failed or are under way, for the bound on them."""

from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("core", "0002_append_only")]
    operations = [
        migrations.CreateModel(
            name="LoginAttempt",
            fields=[
                (
                    "id",
                    models.BigAutoField(
                        auto_created=True, primary_key=True, serialize=False, verbose_name="ID"
                    ),
                ),
                (
                    "account",
                    models.CharField(
                        help_text="Keyed hash: people type passwords into the wrong field.", max_length=64
                    ),
                ),
                ("network", models.CharField(max_length=64)),
                ("at", models.DateTimeField(help_text="System clock.")),
            ],
            options={
                "indexes": [models.Index(fields=["network", "at"], name="login_attempt_window")],
            },
        )
    ]
