"""`POST plans`: the planner over the lots on sale. Nothing is stored, so that the same body gets the same answer."""

from typing import Any

from django.utils.translation import gettext, gettext_lazy
from drf_spectacular.utils import OpenApiExample, OpenApiResponse, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from catalog.selectors import lot_specs
from core.errors import Invalid, Refusal
from partners.api.base import ApiView
from partners.api.plans_answer import PlanSerializer
from partners.api.plans_example import ANSWER, BODIES
from partners.api.plans_request import PlanRequestSerializer, plan_fields
from partners.api.problems import MEDIA_TYPE
from partners.api.schema import example, problems
from partners.api.serializers import ProblemSerializer
from planner import PlanError, plan, request_from_mapping
from planner.document import as_document
from planner.texts import TEXTS, fill

_MORE_PROBLEMS = {
    413: "The body is larger than 64 KB.",
    415: "The body is not application/json.",
    422: "A lot is not on sale (`not_on_sale`).",
}


class PlansView(ApiView):
    """Which lot carries a run, for how long and at what cost per result. An estimate; nothing is held or stored."""

    @extend_schema(
        operation_id="make_plan",
        tags=["plans"],
        summary="Memory, time and cost of a run on every lot",
        request=PlanRequestSerializer,
        responses={
            200: PlanSerializer,
            **problems(),
            **{
                (status, MEDIA_TYPE): OpenApiResponse(ProblemSerializer, description=meaning)
                for status, meaning in _MORE_PROBLEMS.items()
            },
        },
        examples=[
            *(OpenApiExample(name, value=body, request_only=True) for name, body in BODIES.items()),
            example(ANSWER),
        ],
    )
    def post(self, request: Request) -> Response:
        try:
            asked = request_from_mapping(plan_fields(request.data))
            found = plan(asked, lot_specs())
        except PlanError as error:
            raise _refusal(error) from error
        return Response(_with_sentences(as_document(found)))


def _refusal(error: PlanError) -> Refusal:
    """The planner's sentence in the language of the caller, where the catalogue of translations has it."""
    if error.code == "unknown_lot":
        return Refusal(
            code="not_on_sale",
            message=gettext_lazy(error.message),
            field=error.field,
            params=error.params,
        )
    return Invalid(
        code=error.code, message=gettext_lazy(error.message), field=error.field, params=error.params
    )


def _with_sentences(document: dict[str, Any]) -> dict[str, Any]:
    """Each note with the sentence of its code."""
    told = [document["notes"], document["assumptions"], document["rules_of_thumb"]["reasons"]]
    for notes in [*told, *(lot["cautions"] for lot in document["lots"])]:
        for note in notes:
            note["text"] = fill(gettext(TEXTS[note["code"]]), note["params"])
    return document
