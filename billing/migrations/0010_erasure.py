"""What staff wrote about an acceptance may be erased with the buyer's data; its facts may not."""

from django.db import migrations

from core.append_only import append_only_but_erasure


class Migration(migrations.Migration):
    dependencies = [("billing", "0009_reading_height"), ("core", "0005_erasure")]
    operations = [append_only_but_erasure("billing_acceptance", "reason")]
