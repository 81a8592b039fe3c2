"""The order of a page, for all views alike: the same answer for "none" and "not yours", and its id in the log."""

from django.utils.translation import gettext as _

from core.errors import NotFound
from core.log_context import about
from orders.models import Order
from orders.selectors import order_by_token


def own_order(token: str) -> Order:
    """By the secret of its page. Raises NotFound."""
    found = order_by_token(token)
    if found is None:
        raise no_order()
    about(order=found.public_id)
    return found


def no_order() -> NotFound:
    return NotFound(code="not_found", message=_("There is no such order."))
