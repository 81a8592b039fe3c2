"""Who calls: the partner of the key. A call with a `required_scope` has one (partners.api.auth)."""

from rest_framework.request import Request

from partners.models import ApiKey, Partner


def partner_of(request: Request) -> Partner:
    """Raises RuntimeError in a call that forgot to ask for a scope."""
    partner = partner_or_none(request)
    if partner is None:
        raise RuntimeError("This call must name the scope that it needs.")
    return partner


def partner_or_none(request: Request) -> Partner | None:
    """None: a call without a key."""
    return request.auth.partner if isinstance(request.auth, ApiKey) else None
