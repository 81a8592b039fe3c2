"""Idempotency keys around a call: sent again, a request is answered again and does nothing again."""

import hashlib
import re
from collections.abc import Callable
from functools import wraps
from typing import Any

from django.db import transaction
from django.http import HttpResponse
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import OpenApiParameter
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from core.errors import Invalid, Refusal
from partners.api import errors
from partners.api.body import InvalidBody
from partners.models import ApiKey
from partners.services.idempotency import Asked, Claim, StoredAnswer, claim, hash_of, keep, let_go

HEADER = "Idempotency-Key"
REPLAY = "Idempotent-Replay"
MAX_PATH = 250
_KEY = re.compile(r"[\x21-\x7e]{1,255}")
_KEPT_HEADERS = ("Location",)
# Refusals of a moment: the same request may succeed in the next one.
_PASSING = frozenset({"busy", "idempotency_in_progress"})

Post = Callable[..., HttpResponse]

_MEANING = (
    "Up to 255 visible ASCII characters, such as a UUID. Sent again within a day, the same request gets the same "
    "answer and does nothing again."
)
_FORM = {"type": "string", "pattern": f"^{_KEY.pattern}$"}
KEY_ACCEPTED = OpenApiParameter(HEADER, _FORM, OpenApiParameter.HEADER, description=_MEANING)
KEY_REQUIRED = OpenApiParameter(HEADER, _FORM, OpenApiParameter.HEADER, required=True, description=_MEANING)


def idempotent(*, required: bool = False) -> Callable[[Post], Post]:
    """For a `post` of a view. Kept are all answers but those of the schema, of a limit, of a rival and of our own
    faults: after these the key is as if never used."""

    def decorate(post: Post) -> Post:
        @wraps(post)
        def run(view: Any, request: Request, *args: Any, **kwargs: Any) -> HttpResponse:
            key = _key(request)
            if key is None and required:
                raise Invalid(
                    code="idempotency_key_required",
                    message=_(
                        "This call needs the header Idempotency-Key, so that it can be sent again safely."
                    ),
                    field=HEADER,
                )
            # A caller without an API key has nothing that a key could be bound to.
            if key is None or not isinstance(request.auth, ApiKey):
                return post(view, request, *args, **kwargs)
            asked = Asked(
                partner_id=request.auth.partner_id,
                key=key,
                endpoint=_endpoint(request),
                body_hash=hash_of(request.data),
            )
            found = claim(asked)
            if isinstance(found, StoredAnswer):
                return _again(found)
            return _work(found, request, lambda: post(view, request, *args, **kwargs))

        run.idempotent = True  # type: ignore[attr-defined]
        return run

    return decorate


def _work(claimed: Claim, request: Request, act: Callable[[], HttpResponse]) -> HttpResponse:
    """The effect and its answer in one transaction; a refusal has no effect and is kept by itself."""
    try:
        with transaction.atomic():
            answer = act()
            keep(claimed, _stored(answer))
        return answer
    except Refusal as refusal:
        if not _is_final(refusal):
            let_go(claimed)
            raise
        answer = errors.handle(refusal, {"request": request})
    except BaseException:
        let_go(claimed)
        raise
    with transaction.atomic():
        keep(claimed, _stored(answer))
    return answer


def _is_final(refusal: Refusal) -> bool:
    return (
        refusal.status < 500
        and refusal.status != 429
        and refusal.code not in _PASSING
        and not isinstance(refusal, InvalidBody)
    )


def _stored(answer: HttpResponse) -> StoredAnswer:
    if not isinstance(answer, Response):
        raise TypeError("A call of the API answers by a response of the framework.")
    kept = {name: answer[name] for name in _KEPT_HEADERS if name in answer}
    kept["Content-Type"] = answer.content_type or "application/json"
    body = "" if answer.data is None else JSONRenderer().render(answer.data).decode()
    return StoredAnswer(status_code=answer.status_code, headers=kept, body=body)


def _again(stored: StoredAnswer) -> HttpResponse:
    return HttpResponse(stored.body, status=stored.status_code, headers=stored.headers | {REPLAY: "true"})


def _endpoint(request: Request) -> str:
    """Method and path. No call has a path that is too long for its column, but somebody may send one."""
    path = request.path.rstrip("/")
    if len(path) > MAX_PATH:
        path = hashlib.sha256(path.encode()).hexdigest()
    return f"{request.method} {path}"


def _key(request: Request) -> str | None:
    """Raises Invalid(invalid_idempotency_key) for an empty one, for 256 characters, for what is not visible ASCII."""
    key = request.META.get("HTTP_IDEMPOTENCY_KEY")
    if key is None:
        return None
    if not _KEY.fullmatch(key):
        raise Invalid(
            code="invalid_idempotency_key",
            message=_("An Idempotency-Key has 1 to 255 visible ASCII characters."),
            field=HEADER,
        )
    return str(key)
