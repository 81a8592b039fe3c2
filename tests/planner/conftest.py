"""The demo catalogue for the commands; everything else here works without a database."""

import pytest

from catalog.services.seed import Seeded, seed_catalog


@pytest.fixture
def seeded(db: None) -> Seeded:
    return seed_catalog()
