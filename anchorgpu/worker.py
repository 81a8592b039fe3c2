"""What worker and beat load (`celery -A anchorgpu.worker`): settings are checked before anything else."""

from anchorgpu import startup
from anchorgpu.celery import app

startup.check_or_exit()

__all__ = ["app"]
