"""The Celery application. Celery carries hints only: the row is the job (DESIGN rule 8)."""

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "anchorgpu.settings")

app = Celery("anchorgpu")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
