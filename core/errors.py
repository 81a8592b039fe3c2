"""Refusals: what a service raises and every face (form, API, command) shows in its own way."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise


class Refusal(Exception):
    """A clear answer to something that cannot be done.

    `code` is stable and public (CONTRACT.md), `message` is a translatable sentence with named placeholders that
    `params` fill, `field` names the input at fault (dotted path), `status` is the HTTP status of the API.
    """

    status = 422

    def __init__(
        self,
        *,
        code: str,
        message: str | _StrPromise,
        field: str | None = None,
        params: dict[str, Any] | None = None,
    ) -> None:
        self.code = code
        self.message = message
        self.field = field
        self.params = params or {}
        super().__init__(code)

    @property
    def text(self) -> str:
        """The sentence in the active language."""
        return str(self.message % self.params) if self.params else str(self.message)

    def __str__(self) -> str:
        return f"{self.code}: {self.text}"


class Invalid(Refusal):
    """The schema refuses: type, range, unknown name."""

    status = 400


class Forbidden(Refusal):
    """The caller is known and may not do this."""

    status = 403


class NotFound(Refusal):
    """There is no such thing, or it is somebody else's: the answer is the same."""

    status = 404


class Conflict(Refusal):
    """The state of the shop does not allow it at this moment."""

    status = 409


class Gone(Refusal):
    """It was there and is over."""

    status = 410


class TooMany(Refusal):
    """A limit; `retry_after_seconds` says when to ask again, if that helps."""

    status = 429

    def __init__(
        self,
        *,
        code: str,
        message: str | _StrPromise,
        field: str | None = None,
        params: dict[str, Any] | None = None,
        retry_after_seconds: int | None = None,
    ) -> None:
        super().__init__(code=code, message=message, field=field, params=params)
        self.retry_after_seconds = retry_after_seconds


class Unavailable(Refusal):
    """Something that we depend on does not answer."""

    status = 503
