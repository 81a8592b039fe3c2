"""Celery faces of the installation itself."""

from celery import shared_task
from django.core.management import call_command


@shared_task(name="anchorgpu.clear_sessions", ignore_result=True)
def clear_sessions() -> None:
    """Sessions whose time is over; they are only kept in the database."""
    call_command("clearsessions", verbosity=0)
