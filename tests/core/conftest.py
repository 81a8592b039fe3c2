"""Static files without a manifest, so that pages of the admin can be drawn."""

import pytest
from django.test import Client

from tests.core.desk import staff


@pytest.fixture
def chief(db: None) -> Client:
    """A superuser."""
    return staff("chief", superuser=True)
