"""What every call shares: known query parameters, rate headers, a plain OPTIONS, throttled wrong keys."""

from collections.abc import Iterable
from typing import Any, ClassVar

from django.http import HttpRequest
from django.utils.cache import patch_vary_headers
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from partners.api import query
from partners.api.throttle import rate_headers


class ApiView(APIView):
    """Base of all calls. `required_scope` None: open to everybody; `parameters`: the query names it knows."""

    required_scope: ClassVar[str | None] = None
    parameters: ClassVar[Iterable[str]] = ()

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        super().initial(request, *args, **kwargs)
        query.check_names(request, self.parameters)

    def perform_authentication(self, request: Request) -> None:
        """Someone who tries keys is counted like any other caller of that address."""
        try:
            super().perform_authentication(request)
        except AuthenticationFailed:
            self.check_throttles(request)
            raise

    def options(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Response:
        """The methods, in `Allow`; nothing about rows or rights."""
        return Response(status=204)

    def finalize_response(self, request: Request, response: Response, *args: Any, **kwargs: Any) -> Response:
        answer = super().finalize_response(request, response, *args, **kwargs)
        patch_vary_headers(answer, ["Authorization"])
        state = getattr(request, "rate_state", None)
        if state is not None:
            for name, value in rate_headers(state).items():
                answer[name] = value
        return answer
