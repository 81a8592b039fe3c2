"""The guides with a catalogue, without collected static files."""

import pytest
from pytest_django import Settings

from catalog import selectors as catalog
from catalog.offers import LotSpecRow
from catalog.services.seed import seed_catalog


@pytest.fixture(autouse=True)
def _static_without_manifest(settings: Settings) -> None:
    settings.STORAGES = {
        **settings.STORAGES,
        "staticfiles": {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"},
    }


@pytest.fixture
def lots(db: None) -> tuple[LotSpecRow, ...]:
    seed_catalog()
    return catalog.lot_specs()
