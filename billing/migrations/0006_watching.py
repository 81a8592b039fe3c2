"""What the watching of chains needs: pauses after failures, and the indexes that logs are matched by."""

import django.db.models.functions.text
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("billing", "0005_demo_cards")]
    operations = [
        migrations.AddField(
            model_name="chainstate",
            name="failures",
            field=models.PositiveIntegerField(default=0, help_text="Looks that failed since the last good one."),
        ),
        migrations.AddField(
            model_name="chainstate",
            name="next_at",
            field=models.DateTimeField(
                blank=True, help_text="System clock: no look before, after several that failed.", null=True
            ),
        ),
        migrations.AddField(
            model_name="chainstate",
            name="safety_payment",
            field=models.BigIntegerField(
                default=0, help_text="The last open payment whose balance was read in turn."
            ),
        ),
        migrations.AddField(
            model_name="chainstate",
            name="native_payment",
            field=models.BigIntegerField(
                default=0, help_text="The same for payments in the native coin."
            ),
        ),
        migrations.AddIndex(
            model_name="paymentview",
            index=models.Index(fields=["status", "watch_until"], name="payment_view_open"),
        ),
        migrations.AddIndex(
            model_name="depositaddress",
            index=models.Index(django.db.models.functions.text.Lower("address"), name="deposit_address_lower"),
        ),
        migrations.AddIndex(
            model_name="transfer",
            index=models.Index(fields=["chain_id", "block_number"], name="transfer_height"),
        ),
    ]
