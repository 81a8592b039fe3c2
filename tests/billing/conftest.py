"""An open shop and an order, for tests about money."""

import pytest

from orders.models import Order
from tests import scenario


@pytest.fixture
def shop(db: None) -> None:
    scenario.open_shop()


@pytest.fixture
def order(shop: None) -> Order:
    return scenario.order()
