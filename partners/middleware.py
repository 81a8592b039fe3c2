"""Errors that arise before a call of the API is reached are told in the API's own form too."""

import json
from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

from partners.api.problems import MEDIA_TYPE, code_for_status, problem

GetResponse = Callable[[HttpRequest], HttpResponse]
API_ROOT = "/api/v1"


class ApiProblemMiddleware:
    """Stands outermost: an error page of the shop below the API's root becomes a problem."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        is_ours = request.path_info == API_ROOT or request.path_info.startswith(f"{API_ROOT}/")
        if not is_ours or response.status_code < 400 or response.get("Content-Type", "") == MEDIA_TYPE:
            return response
        status = response.status_code
        body = problem(request=request, status=status, code=code_for_status(status))
        answer = HttpResponse(json.dumps(body), status=status, content_type=MEDIA_TYPE)
        for name in ("X-Request-ID", "Retry-After", "Allow"):
            if name in response:
                answer[name] = response[name]
        return answer
