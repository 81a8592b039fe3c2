"""The Celery application. Celery carries hints only: the row is the job (DESIGN rule 8)."""

import os
from typing import Any

from celery import Celery
from celery.signals import task_prerun
from structlog.contextvars import clear_contextvars

from core.log_context import about

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "anchorgpu.settings")

app = Celery("anchorgpu")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@task_prerun.connect
def name_the_task(task: Any, args: Any, **_: Any) -> None:
    """Each line of a worker says which task it is of, and of which row."""
    clear_contextvars()
    about(task=task.name, **({"row": args[0]} if args and isinstance(args[0], int) else {}))
