"""What every page of the desk has in common: staff only, one permission, never stored."""

from collections.abc import Callable
from functools import wraps
from typing import Any, cast

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase

Page = Callable[..., HttpResponseBase]


def desk_page(*permissions: str) -> Callable[[Page], Page]:
    """For views: the login of the admin site (its second factor too), then each of the permissions.

    Raises PermissionDenied for staff who lack one. The answer is never stored and asks not to be indexed.
    """

    def wrap(view: Page) -> Page:
        @wraps(view)
        def shown(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            if not all(request.user.has_perm(permission) for permission in permissions):
                raise PermissionDenied
            response = view(request, *args, **kwargs)
            response["X-Robots-Tag"] = "noindex, nofollow"
            return response

        let_in = admin.site.admin_view(shown)

        @wraps(view)
        def asked(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
            # A part of a page that renews itself would show the login in its own place.
            if "HX-Request" in request.headers and not admin.site.has_permission(request):
                return HttpResponse(status=204, headers={"HX-Refresh": "true"})
            return cast(Page, let_in)(request, *args, **kwargs)

        return cast(Page, asked)

    return wrap
