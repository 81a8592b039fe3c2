"""What every call shares: known query parameters, rate headers, a plain OPTIONS, throttled wrong keys."""

from collections.abc import Iterable
from typing import Any, ClassVar

from django.http import HttpRequest, HttpResponseBase
from django.utils.cache import patch_vary_headers
from django.utils.translation import gettext_lazy as _
from rest_framework.exceptions import APIException, AuthenticationFailed
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from core import clock
from core.errors import Invalid
from partners.api import query
from partners.api.throttle import rate_headers

_READING = frozenset({"GET", "HEAD"})


def require_length(request: Request) -> None:
    """A body in chunks has no length, and without one the framework reads none: a claim would lose its hash and be
    answered as if all were well. Raises Invalid(required)."""
    if request.META.get("HTTP_TRANSFER_ENCODING") and not request.META.get("CONTENT_LENGTH"):
        raise Invalid(code="required", message=_("This field is required."), field="Content-Length")


class ApiView(APIView):
    """Base of all calls. `required_scope` None: open to everybody; `writing_scope`: what a call that writes needs in
    its place; `parameters`: the query names that a call knows that reads."""

    required_scope: ClassVar[str | None] = None
    writing_scope: ClassVar[str | None] = None
    parameters: ClassVar[Iterable[str]] = ()

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """A call that only reads asks for the demo's clock once."""
        if request.method not in _READING:
            return super().dispatch(request, *args, **kwargs)
        with clock.offset_read_once():
            return super().dispatch(request, *args, **kwargs)

    def scope_of(self, method: str | None) -> str | None:
        """What a key must have for it; None: no key is needed. OPTIONS tells nothing and needs nothing."""
        if method == "OPTIONS":
            return None
        return self.required_scope if method in _READING else self.writing_scope or self.required_scope

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        require_length(request)
        super().initial(request, *args, **kwargs)
        query.check_names(request, self.parameters if request.method in _READING else ())

    def perform_authentication(self, request: Request) -> None:
        """Someone who tries keys is counted like any other caller of that address."""
        try:
            super().perform_authentication(request)
        except AuthenticationFailed:
            self.check_throttles(request)
            raise

    def check_permissions(self, request: Request) -> None:
        """So is someone who asks for what his key may not do."""
        try:
            super().check_permissions(request)
        except APIException:
            self.check_throttles(request)
            raise

    def options(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Response:
        """The methods, in `Allow`; nothing about rows or rights."""
        return Response(status=204)

    def finalize_response(self, request: Request, response: Response, *args: Any, **kwargs: Any) -> Response:
        answer = super().finalize_response(request, response, *args, **kwargs)
        patch_vary_headers(answer, ["Authorization"])
        if request.META.get("HTTP_AUTHORIZATION"):
            # What a key may see is for its holder alone.
            answer["Cache-Control"] = "no-store"
        state = getattr(request, "rate_state", None)
        if state is not None:
            for name, value in rate_headers(state).items():
                answer[name] = value
        return answer
