"""The demo catalogue, for tests that read it."""

import pytest

from catalog.services.seed import Seeded, seed_catalog


@pytest.fixture
def seeded(db: None) -> Seeded:
    """Everything that the data files hold, with price table 1."""
    return seed_catalog()
