"""Errors that arise before a call of the API is reached are told in the API's own form too."""

import json
from collections.abc import Callable
from http import HTTPStatus

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext

from partners.api.problems import MEDIA_TYPE, code_for_status, problem

GetResponse = Callable[[HttpRequest], HttpResponse]
API_ROOT = "/api/v1"
# What an error page says of itself; everything else holds for the problem too.
_OF_THE_PAGE = frozenset(
    {"content-type", "content-length", "content-language", "content-encoding", "location"}
)


class ApiProblemMiddleware:
    """Stands outermost: an error page of the shop below the API's root becomes a problem."""

    def __init__(self, get_response: GetResponse) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        is_ours = request.path_info == API_ROOT or request.path_info.startswith(f"{API_ROOT}/")
        if is_ours and response.status_code == HTTPStatus.MOVED_PERMANENTLY:
            # A client that follows it to https turns a POST into a GET and takes the list for what it has made.
            said = gettext("This address must begin with https://.")
            return _problem(request, response, status=400, code="url_not_https", detail=said)
        if not is_ours or response.status_code < 400 or response.get("Content-Type", "") == MEDIA_TYPE:
            return response
        status = response.status_code
        return _problem(request, response, status=status, code=code_for_status(status))


def _problem(
    request: HttpRequest, response: HttpResponse, *, status: int, code: str, detail: str = ""
) -> HttpResponse:
    body = problem(request=request, status=status, code=code, detail=detail)
    answer = HttpResponse(json.dumps(body), status=status, content_type=MEDIA_TYPE)
    for name, value in response.items():
        if name.lower() not in _OF_THE_PAGE:
            answer[name] = value
    return answer
