"""What every error of the API must look like."""

from typing import Any

from partners.api.codes import CODES

PROBLEM_FIELDS = {"type", "title", "status", "code", "detail", "errors", "request_id"}


def problem(response: Any, status: int, code: str, field: str | None = None) -> dict[str, Any]:
    """The body of a problem document, checked for status, code, form and the field at fault."""
    assert response.status_code == status, response.content
    assert response["Content-Type"] == "application/problem+json"
    body: dict[str, Any] = response.json()
    assert set(body) - {"order"} == PROBLEM_FIELDS
    assert status in CODES[body["code"]].statuses
    assert {error["code"] for error in body["errors"]} <= set(CODES)
    assert body["status"] == status
    assert body["code"] == code
    assert body["detail"]
    assert body["request_id"] == response["X-Request-ID"]
    if field is not None:
        assert [error["field"] for error in body["errors"]] == [field]
    return body


def shape(value: Any) -> Any:
    """Names and kinds of a JSON value, without what it holds; of a list its first entry."""
    if isinstance(value, dict):
        return {name: shape(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [shape(inner) for inner in value[:1]]
    return type(value).__name__
