"""What worker and beat load (`celery -A anchorgpu.worker`): settings are checked before anything else."""

from typing import Any

from celery.signals import worker_process_init
from django.utils.module_loading import import_string

from anchorgpu import startup
from anchorgpu.celery import app

startup.check_or_exit()


@worker_process_init.connect
def load_at_the_start(**_: Any) -> None:
    """In each process, after the fork: the library has threads of its own."""
    import_string("billing.services.render_invoice.load_fonts")()


__all__ = ["app"]
