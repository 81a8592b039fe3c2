"""The login of a partner's order, or why there is none."""

from django.utils.translation import gettext_lazy as _

from core import clock
from core.errors import Conflict, Gone
from fleet.lifecycle import OVER_STATES, PREPARATION_STATES, TEARDOWN_STATES
from fleet.models import Lease
from fleet.selectors import Access, access_of_order, lease_of_order
from orders.lifecycle import OVER
from partners.models import PartnerOrder
from partners.selectors import lease_ref


def require_access(owned: PartnerOrder) -> Access:
    """3 queries; one more for a refusal. Raises Conflict(not_ready) before and during a pause, Gone(lease_over) after.

    Of an order that is over without a lease there never was a login: that is over too.
    """
    ref = lease_ref(owned.order)
    access = access_of_order(ref)
    if access is not None:
        return access
    lease = lease_of_order(ref)
    if lease is None:
        is_over = owned.order.status in OVER
    else:
        has_ended = lease.ends_at is not None and clock.now() >= lease.ends_at
        is_over = has_ended or lease.status in TEARDOWN_STATES | OVER_STATES
    if is_over:
        raise Gone(code="lease_over", message=_("This lease is over."))
    if lease is None or lease.status in PREPARATION_STATES:
        raise Conflict(code="not_ready", message=_("Access has not opened yet."))
    raise Conflict(code="not_ready", message=_("Access is paused at this moment."))


def require_lease(owned: PartnerOrder) -> Lease:
    """The lease that an order stands for. 1 query. Raises Conflict: not_ready before the payment is final, lease_over
    where the order is over and never had one."""
    lease = lease_of_order(lease_ref(owned.order))
    if lease is not None:
        return lease
    if owned.order.status in OVER:
        raise Conflict(code="lease_over", message=_("This lease is over."))
    raise Conflict(code="not_ready", message=_("Access has not opened yet."))
