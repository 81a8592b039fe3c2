"""Static files without a manifest, so that pages of the admin can be drawn."""

import pytest
from django.test import Client
from pytest_django import Settings

from tests.core.desk import staff


@pytest.fixture(autouse=True)
def _static_without_manifest(settings: Settings) -> None:
    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    }


@pytest.fixture
def chief(db: None) -> Client:
    """A superuser."""
    return staff("chief", superuser=True)
