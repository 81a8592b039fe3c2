"""Content-Security-Policy: strict for every page of ours, wider for the stock admin, whose scripts need more."""

from csp.constants import NONE, SELF, UNSAFE_EVAL, UNSAFE_INLINE
from csp.middleware import CSPMiddleware
from django.http import HttpRequest
from django.http.response import HttpResponseBase

SHOP: dict[str, list[str]] = {
    "default-src": [NONE],
    "script-src": [SELF],
    "style-src": [SELF],
    "font-src": [SELF],
    "img-src": [SELF, "data:"],
    "connect-src": [SELF],
    "manifest-src": [SELF],
    "form-action": [SELF],
    "base-uri": [NONE],
    "frame-ancestors": [NONE],
}
# Its build of Alpine evaluates expressions, and its pages carry inline styles.
ADMIN: dict[str, list[str]] = SHOP | {
    "script-src": [SELF, UNSAFE_INLINE, UNSAFE_EVAL],
    "style-src": [SELF, UNSAFE_INLINE],
}
ADMIN_PREFIX = "/admin/"
DESK = "desk"


class PolicyMiddleware(CSPMiddleware):
    """Staff alone reach the stock admin, so its wider policy reaches no buyer; the desk has the policy of the shop."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        match = request.resolver_match
        # Without a match it is an error page of ours.
        is_stock = request.path.startswith(ADMIN_PREFIX) and match is not None and match.app_name != DESK
        if is_stock and not hasattr(response, "_csp_replace"):
            response._csp_replace = ADMIN  # type: ignore[attr-defined]  # what its decorators do
        return super().process_response(request, response)
