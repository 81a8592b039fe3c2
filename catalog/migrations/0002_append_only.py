"""Published price tables are append-only in the database itself: quotes name the table that they were made from."""

from django.db import migrations

from core.append_only import append_only


class Migration(migrations.Migration):
    dependencies = [("catalog", "0001_initial"), ("core", "0002_append_only")]
    operations = [
        append_only("catalog_priceversion"),
        append_only("catalog_lotprice"),
        append_only("catalog_optionprice"),
    ]
