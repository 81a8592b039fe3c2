"""Orders of a partner: place, list, read, pay, cancel, end early, extend, log in."""

from django.db import transaction
from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from billing.selectors import payment_state
from billing.services.claim import claim
from billing.services.early_end import early_end
from core.log_context import about
from orders.models import Order
from orders.services.cancel import cancel
from partners.access import require_access, require_lease
from partners.api import pagination
from partners.api.base import ApiView
from partners.api.callers import partner_of
from partners.api.idempotent import KEY_ACCEPTED, KEY_REQUIRED, idempotent
from partners.api.orders_answer import access_answer, early_end_answer, order_answer, payment_answer
from partners.api.orders_examples import (
    ACCESS,
    CLAIM_BODY,
    EARLY_END,
    EXTENSION,
    EXTENSION_BODY,
    ORDER,
    ORDER_BODY,
    PAYMENT,
)
from partners.api.orders_request import (
    ClaimBody,
    ExtensionBody,
    NothingBody,
    OrderBody,
    claimed_hash,
    extension_request,
    order_request,
    require_nothing,
)
from partners.api.orders_shapes import (
    AccessSerializer,
    EarlyEndSerializer,
    OrderSerializer,
    PaymentSerializer,
)
from partners.api.schema import CURSOR, LIMIT, body_example, example, listed, problems, writing_problems
from partners.models import ApiKey, PartnerOrder
from partners.scopes import Scope
from partners.selectors import order_state, order_states, own_order, own_orders
from partners.services.extend_order import extend_order
from partners.services.place_order import place_order


def may_act(request: Request) -> bool:
    """Whether the key of a call that reads may write too."""
    return isinstance(request.auth, ApiKey) and Scope.ORDERS_WRITE in request.auth.scopes


class OrderCall(ApiView):
    """A call about one order of the partner whose key it is."""

    required_scope = Scope.ORDERS_WRITE

    def own(self, request: Request, order_id: str) -> PartnerOrder:
        """Raises NotFound for "none" and "not yours" alike."""
        found = own_order(partner=partner_of(request), order_id=order_id)
        about(order=found.order.public_id)
        return found

    def answer(self, request: Request, order: Order, *, status: int = 200) -> Response:
        """The order as it is now."""
        found = order_answer(order_state(self.own(request, order.public_id)))
        headers = {"Location": f"/api/v1/orders/{order.public_id}"} if status == 201 else None
        return Response(found, status=status, headers=headers)


class OrdersView(OrderCall):
    """Place an order, list all of them."""

    parameters = pagination.PARAMETERS
    required_scope = Scope.ORDERS_READ
    writing_scope = Scope.ORDERS_WRITE

    @extend_schema(
        operation_id="list_orders",
        tags=["orders"],
        summary="Your orders, the newest first",
        parameters=[LIMIT, CURSOR],
        responses={200: listed("OrderList", OrderSerializer), **problems(403)},
        examples=[example({"data": [ORDER], "next_cursor": None})],
    )
    def get(self, request: Request) -> Response:
        partner = partner_of(request)
        rows, next_cursor = pagination.keyset(
            request,
            lambda last, limit: own_orders(partner=partner, before=last, limit=limit),
            key=lambda row: row.order_id,
        )
        return Response(
            {
                "data": [order_answer(state, may_act=may_act(request)) for state in order_states(rows)],
                "next_cursor": next_cursor,
            }
        )

    @extend_schema(
        operation_id="place_order",
        tags=["orders"],
        summary="Accept a quote: hold the cards and open the payment",
        parameters=[KEY_REQUIRED],
        request=OrderBody,
        responses={201: OrderSerializer, **writing_problems(422, 503)},
        examples=[body_example(ORDER_BODY), example(ORDER, status=201)],
    )
    @idempotent(required=True)
    def post(self, request: Request) -> Response:
        partner = partner_of(request)
        order = place_order(partner=partner, request=order_request(request.data, partner))
        return self.answer(request, order, status=201)


class OrderView(OrderCall):
    """One order."""

    required_scope = Scope.ORDERS_READ

    @extend_schema(
        operation_id="read_order",
        tags=["orders"],
        summary="One order with its payment, lease and refunds",
        responses={200: OrderSerializer, **problems(403, 404)},
        examples=[example(ORDER)],
    )
    def get(self, request: Request, order_id: str) -> Response:
        state = order_state(self.own(request, order_id))
        return Response(order_answer(state, may_act=may_act(request)))


class PaymentClaimsView(OrderCall):
    """ "I have paid": starts a check and is never more than a hint."""

    @extend_schema(
        operation_id="claim_payment",
        tags=["orders"],
        summary="Say that the transfer was sent",
        description="The state does not change by it. One in 10 seconds and 20 in an hour for each order. On an order "
        "that is expired or cancelled it starts a check all the same.",
        parameters=[KEY_ACCEPTED],
        request=ClaimBody,
        responses={202: PaymentSerializer, **writing_problems()},
        examples=[body_example(CLAIM_BODY), example(PAYMENT, status=202)],
    )
    @idempotent()
    def post(self, request: Request, order_id: str) -> Response:
        transaction_hash = claimed_hash(request.data)
        order = self.own(request, order_id).order
        claim(order_id=order.public_id, by="api", transaction_hash=transaction_hash)
        payment = payment_state(order)
        return Response(payment_answer(payment) if payment is not None else None, status=202)


class CancelView(OrderCall):
    """Cancel before the start."""

    @extend_schema(
        operation_id="cancel_order",
        tags=["orders"],
        summary="Cancel before the term starts",
        description="Free before the payment; all of it goes back before the start. After it: 409 `already_started`, "
        "and early-end is the call to make.",
        parameters=[KEY_ACCEPTED],
        request=NothingBody,
        responses={200: OrderSerializer, **writing_problems()},
        examples=[example(ORDER | {"status": "cancelled"})],
    )
    @idempotent()
    def post(self, request: Request, order_id: str) -> Response:
        require_nothing(request.data)
        owned = self.own(request, order_id)
        with transaction.atomic():
            order = cancel(order_id=owned.order.public_id, actor="buyer")
        return self.answer(request, order)


class EarlyEndView(OrderCall):
    """End a running term."""

    @extend_schema(
        operation_id="end_early",
        tags=["orders"],
        summary="End a running term now",
        description="Access closes and the disks are wiped. Whole unused days come back at half of their price.",
        parameters=[KEY_ACCEPTED],
        request=NothingBody,
        responses={200: EarlyEndSerializer, **writing_problems()},
        examples=[example(EARLY_END)],
    )
    @idempotent()
    def post(self, request: Request, order_id: str) -> Response:
        require_nothing(request.data)
        owned = self.own(request, order_id)
        require_lease(owned)
        end = early_end(order_id=owned.order.public_id, actor="buyer")
        return Response(early_end_answer(owned.order, end))


class ExtensionsView(OrderCall):
    """Make a term longer."""

    @extend_schema(
        operation_id="extend_order",
        tags=["orders"],
        summary="Order more time on the same cards",
        description="The extension is an order of its own, to be paid before the end. 200: an extension for as many "
        "days waits for its payment already, and this is it.",
        parameters=[KEY_REQUIRED],
        request=ExtensionBody,
        responses={200: OrderSerializer, 201: OrderSerializer, **writing_problems(422, 503)},
        examples=[body_example(EXTENSION_BODY), example(EXTENSION, status=201)],
    )
    @idempotent(required=True)
    def post(self, request: Request, order_id: str) -> Response:
        days, pay_with = extension_request(request.data)
        owned = self.own(request, order_id)
        order, is_new = extend_order(owned=owned, days=days, pay_with=pay_with)
        return self.answer(request, order, status=201 if is_new else 200)


class AccessView(OrderCall):
    """The login."""

    required_scope = Scope.ACCESS_READ

    @extend_schema(
        operation_id="read_access",
        tags=["orders"],
        summary="How to log in while the term runs",
        description="409 `not_ready` before it opens and while it is paused; 410 `lease_over` after the end.",
        responses={200: AccessSerializer, **problems(403, 404, 409, 410)},
        examples=[example(ACCESS)],
    )
    def get(self, request: Request, order_id: str) -> Response:
        return Response(access_answer(require_access(self.own(request, order_id))))
