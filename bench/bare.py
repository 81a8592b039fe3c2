"""The least that a sale can be: a REST framework view that locks one free row, skipping locked ones, and updates it.

Served by the shop's own server with the shop's own middleware, so that only what the checkout does is compared.
"""

from django.db import connection, models, transaction
from django.urls import path
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from anchorgpu.urls import urlpatterns as shop_urlpatterns


class Stock(models.Model):
    """One thing that can be sold once; its table belongs to the measurement."""

    is_taken = models.BooleanField(default=False)

    class Meta:
        app_label = "bench"
        managed = False
        db_table = "bench_stock"

    def __str__(self) -> str:
        return str(self.pk)


def make_stock(count: int) -> None:
    """The table with so many free rows, and the index that finds the next one."""
    with connection.cursor() as cursor:
        cursor.execute("CREATE TABLE bench_stock (id bigserial PRIMARY KEY, is_taken boolean NOT NULL)")
        cursor.execute("CREATE INDEX bench_stock_free ON bench_stock (id) WHERE NOT is_taken")
        cursor.execute("INSERT INTO bench_stock (is_taken) SELECT false FROM generate_series(1, %s)", [count])


class TakeOne(APIView):
    """No authentication, no limit, no check: one transaction, one row."""

    authentication_classes = ()
    permission_classes = ()
    throttle_classes = ()

    def post(self, request: Request) -> Response:
        with transaction.atomic():
            row = (
                Stock._default_manager.select_for_update(skip_locked=True)
                .filter(is_taken=False)
                .order_by("pk")
                .first()
            )
            if row is None:
                return Response({"code": "no_capacity"}, status=409)
            row.is_taken = True
            row.save(update_fields=["is_taken"])
        return Response({"id": row.pk}, status=201)


urlpatterns = [path("bench/take-one", TakeOne.as_view()), *shop_urlpatterns]
