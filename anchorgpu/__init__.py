"""The project package: settings, wiring and the demo."""

from anchorgpu.celery import app as celery_app

__all__ = ["celery_app"]
