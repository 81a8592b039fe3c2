"""API keys: Authorization: Bearer. Without a key the caller is nobody; with a wrong one, refused."""

from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy as _
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from rest_framework.authentication import BaseAuthentication
from rest_framework.exceptions import AuthenticationFailed, NotAuthenticated, PermissionDenied
from rest_framework.permissions import BasePermission
from rest_framework.request import Request

from core import clock
from core.log_context import about
from partners import key_text
from partners.models import ApiKey, Partner
from partners.selectors import key_by_text
from partners.services.note_use import note_use

if TYPE_CHECKING:
    # The framework loads this module while it makes its own views.
    from rest_framework.views import APIView


class KeyAuthentication(BaseAuthentication):
    """Raises 401: unauthorized, key_expired, key_revoked, key_of_other_mode."""

    def authenticate(self, request: Request) -> tuple[Partner, ApiKey] | None:
        header = request.META.get("HTTP_AUTHORIZATION", "").strip()
        if not header:
            return None
        scheme, _space, text = header.partition(" ")
        if scheme.lower() != "bearer":
            raise AuthenticationFailed(code="unauthorized")
        key = self._checked(text.strip())
        note_use(key)
        about(partner=key.partner.slug)
        return key.partner, key

    def authenticate_header(self, request: Request) -> str:
        return 'Bearer realm="AnchorGPU"'

    def _checked(self, text: str) -> ApiKey:
        if key_text.is_key_text(text) and not text.startswith(key_text.mode_mark()):
            raise AuthenticationFailed(
                _("This key is of the other mode: a test key for a live shop, or a live key for a test."),
                code="key_of_other_mode",
            )
        key = key_by_text(text)
        if key is None or not key.partner.active:
            raise AuthenticationFailed(code="unauthorized")
        if key.revoked_at is not None:
            raise AuthenticationFailed(_("This key was revoked."), code="key_revoked")
        if key.is_expired(clock.now()):
            raise AuthenticationFailed(_("This key has expired."), code="key_expired")
        return key


class HasScope(BasePermission):
    """A call that names a scope needs a key that has it; a call without one is open."""

    def has_permission(self, request: Request, view: "APIView") -> bool:
        scope: str | None = view.scope_of(request.method) if hasattr(view, "scope_of") else None
        if scope is None:
            return True
        if not isinstance(request.auth, ApiKey):
            raise NotAuthenticated(code="unauthorized")
        if scope not in request.auth.scopes:
            raise PermissionDenied(
                _("This key does not have the scope %(scope)s.") % {"scope": scope}, code="scope_missing"
            )
        return True


class KeyScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How the OpenAPI document describes the key."""

    target_class = KeyAuthentication
    name = "apiKey"

    def get_security_definition(self, auto_schema: object) -> dict[str, str]:
        return {
            "type": "http",
            "scheme": "bearer",
            "description": "A key that begins with agk_test_ (simulated) or agk_live_.",
        }
