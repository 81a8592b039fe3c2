from django.db import migrations


class Migration(migrations.Migration):
    dependencies = [
        ("billing", "0007_pooled_index"),
    ]

    operations = [
        migrations.AlterModelOptions(
            name="ledgerentry",
            options={"ordering": ["id"], "verbose_name_plural": "ledger entries"},
        ),
    ]
