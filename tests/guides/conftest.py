"""The guides with a catalogue, without collected static files."""

import pytest

from catalog import selectors as catalog
from catalog.offers import LotSpecRow
from catalog.services.seed import seed_catalog


@pytest.fixture
def lots(db: None) -> tuple[LotSpecRow, ...]:
    seed_catalog()
    return catalog.lot_specs()
