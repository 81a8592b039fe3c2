"""Compresses pages that hold no secret.

A compressed answer whose length an eavesdropper sees tells him what is in it, where he can put text of his own beside
it (BREACH). So order and quote pages, the API and the admin are never compressed. What is named here is the same for
everybody but for the CSRF token, which is masked anew in each answer.
"""

from django.conf import settings
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.middleware.gzip import GZipMiddleware

PUBLIC_VIEWS = frozenset(
    {
        "guides:guide",
        "guides:index",
        "shop:accelerator",
        "shop:catalog",
        "shop:home",
        "shop:legal",
        "shop:plan",
        "shop:simulated",
        "sitemap",
    }
)


class PublicGZipMiddleware(GZipMiddleware):
    """gzip for the views of the setting COMPRESSED_VIEWS."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        match = request.resolver_match
        if match is None or match.view_name not in settings.COMPRESSED_VIEWS:
            return response
        return super().process_response(request, response)
