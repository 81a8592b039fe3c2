"""The least that a signed quote can be: a REST framework view that validates the body, inserts one row and signs.

The same body by the same serializer, a document of the same bytes under the same key, a row of the same texts. Served
by the shop's own server with the shop's own middleware, so that only what the quote does is compared.
"""

from typing import Any

from django.db import connection, models
from django.urls import path
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from anchorgpu.urls import urlpatterns as shop_urlpatterns
from orders import signing
from partners.api.orders_request import QuoteBody


class Signed(models.Model):
    """What was signed; its table belongs to the measurement."""

    document = models.TextField()
    signature = models.TextField()
    key_id = models.TextField()

    class Meta:
        app_label = "bench"
        managed = False
        db_table = "bench_signed"

    def __str__(self) -> str:
        return str(self.pk)


def make_table() -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "CREATE TABLE bench_signed (id bigserial PRIMARY KEY, document text NOT NULL, signature text NOT NULL, "
            "key_id text NOT NULL)"
        )


class Sign(APIView):
    """No authentication, no limit, no price: what is signed is what the shop's first quote says."""

    authentication_classes = ()
    permission_classes = ()
    throttle_classes = ()

    def post(self, request: Request) -> Response:
        asked = QuoteBody(data=request.data)
        asked.is_valid(raise_exception=True)
        signed = signing.sign(_payload())
        row = Signed._default_manager.create(
            document=signed.document, signature=signed.signature, key_id=signed.key_id
        )
        return Response(
            {"id": row.pk, "document": row.document, "signature": row.signature, "key_id": row.key_id},
            status=201,
        )


_kept: dict[str, Any] = {}


def _payload() -> dict[str, Any]:
    """Read once."""
    if not _kept:
        with connection.cursor() as cursor:
            cursor.execute("SELECT document::json FROM orders_quote ORDER BY id LIMIT 1")
            _kept.update(cursor.fetchone()[0])
    return _kept


urlpatterns = [path("bench/sign", Sign.as_view()), *shop_urlpatterns]
