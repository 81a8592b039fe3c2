import django.db.models.deletion
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
        ('core', '0005_erasure'),
    ]

    operations = [
        migrations.CreateModel(
            name='StaffSession',
            fields=[
                ('id', models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name='ID')),
                ('started_at', models.DateTimeField(help_text='System clock.')),
                ('seen_at', models.DateTimeField(help_text='System clock.')),
                ('verified_at', models.DateTimeField(blank=True, help_text='Second factor shown; system clock.', null=True)),
                ('ended_at', models.DateTimeField(blank=True, help_text='System clock.', null=True)),
                ('network', models.CharField(max_length=64)),
                ('browser', models.CharField(blank=True, max_length=40)),
                ('system', models.CharField(blank=True, max_length=40)),
                ('user', models.ForeignKey(on_delete=django.db.models.deletion.CASCADE, related_name='staff_sessions', to=settings.AUTH_USER_MODEL)),
            ],
            options={
                'ordering': ['-seen_at', '-id'],
                'indexes': [models.Index(condition=models.Q(('ended_at__isnull', True)), fields=['user', '-seen_at'], name='staff_session_open')],
            },
        ),
    ]
