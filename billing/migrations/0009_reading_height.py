from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ('billing', '0008_words'),
    ]

    operations = [
        migrations.AddIndex(
            model_name='balancereading',
            index=models.Index(fields=['chain_id', 'block_number'], name='reading_height'),
        ),
    ]
