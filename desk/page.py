"""What every page of the desk has in common: staff only, one permission, never stored."""

from collections.abc import Callable
from functools import wraps
from typing import Any, cast

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse

Page = Callable[..., HttpResponse]


def desk_page(*permissions: str) -> Callable[[Page], Page]:
    """For views: the login of the admin site (its second factor too), then each of the permissions.

    Raises PermissionDenied for staff who lack one. The answer is never stored and asks not to be indexed.
    """

    def wrap(view: Page) -> Page:
        @wraps(view)
        def shown(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
            if not all(request.user.has_perm(permission) for permission in permissions):
                raise PermissionDenied
            response = view(request, *args, **kwargs)
            response["X-Robots-Tag"] = "noindex, nofollow"
            return response

        return cast(Page, admin.site.admin_view(shown))

    return wrap
