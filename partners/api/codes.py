"""Every code that an answer of the API can carry: the one list. docs/api.md and the page of errors are made from it.

A code is for ever: programs decide by it. Sentences are English, as the rest of the reference is.
"""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Code:
    """`statuses` are those that it comes with as the code of an answer, or of one field in `errors`."""

    statuses: tuple[int, ...]
    meaning: str


def _all(status: int, **meanings: str) -> dict[str, Code]:
    return {code: Code((status,), meaning) for code, meaning in meanings.items()}


_SCHEMA = _all(
    400,
    duplicate_name="A name stands twice in one object.",
    idempotency_key_required="The call needs the header Idempotency-Key.",
    invalid="Several fields are at fault; `errors` names each. Or the request is none that HTTP knows.",
    invalid_cursor="A cursor that is broken, or of another list, filter or partner.",
    invalid_date="Not a day such as 2026-12-31.",
    invalid_email="Not an address that mail can be sent to.",
    invalid_event_id="Not an id of an event.",
    invalid_hash="Not 0x and 64 hexadecimal digits.",
    invalid_idempotency_key="Empty, longer than 255 characters, or not visible ASCII.",
    invalid_json="Not JSON in UTF-8.",
    invalid_language="Not a language of the shop.",
    invalid_name="A name in `metadata` that is empty, too long or not printable.",
    invalid_number="Not a whole number within the bounds, or a number with too many digits.",
    invalid_period="Days that end before they begin, or lie too far ahead.",
    invalid_text="A character that cannot be stored, or not the form of a code.",
    invalid_time="Not a time of RFC 3339.",
    invalid_vat_id="Not the form of a VAT number, or a wrong check digit.",
    lots_out_of_range="More lots than one quote can have.",
    not_a_list="Not a list.",
    not_a_number="Not a number.",
    not_a_text="Not a text.",
    not_an_object="The body is not a JSON object.",
    not_boolean="Not true or false.",
    not_object="Not an object with named fields.",
    option_quantity="More or less of an option than is sold.",
    option_twice="An option that is named twice.",
    repeated_parameter="A query parameter that stands twice.",
    required="A value that is missing, null or empty.",
    terms_not_accepted="`accept_terms` is not the version that is in force.",
    too_deep="Nested more than 20 levels deep.",
    too_long="A text that is too long.",
    too_many_entries="More entries in a list, or names in `metadata`, than are taken.",
    too_many_options="More options than there are.",
    unknown_bill_to_kind="Neither consumer nor business.",
    unknown_choice="None of the words that the field takes.",
    unknown_country="Not a country code.",
    unknown_field="A field that the call does not have.",
    unknown_parameter="A query parameter that the call does not have.",
    unknown_rail="A network or an asset that is not offered.",
    unknown_term="A number of days that is not offered.",
    vat_id_for_consumer="A VAT number of a consumer.",
    zone_missing="A time without its zone.",
)

_PLANS = _all(
    400,
    config_missing="`model.config` lacks a value that the plan needs.",
    config_not_finite="`model.config` holds NaN or Infinity.",
    config_not_json="`model.config` is a text that is not JSON.",
    config_not_text="`model.config` is a text that is not UTF-8.",
    config_number_too_long="`model.config` holds a number that is longer than any real one.",
    config_too_deep="`model.config` is nested deeper than any real one.",
    config_too_large="`model.config` is larger than any real one.",
    experts_mismatch="Experts in `model.config` that do not fit together.",
    heads_not_divisible="Tensor parallelism over cards that do not divide the attention heads.",
    not_a_code="Not the code of a lot.",
    not_whole="Not a whole number.",
    one_model="Not exactly one of preset, config and params.",
    out_of_range="A value outside of what the planner computes.",
    qlora_needs_quantised="qlora with weights that are not quantised.",
    unknown_preset="Not a known model.",
    unknown_targets="Not a known set of adapter targets.",
    weights_not_trainable="A method that cannot train weights of this format.",
)

_WEBHOOKS = (
    _all(
        400,
        invalid_url="Not an address that is called: https, a public name, port 443 or 8443, no user, no fragment.",
        unknown_event="Not the name of an event.",
        url_not_https="An address that does not begin with https://.",
    )
    | _all(
        409,
        endpoint_paused="The endpoint is paused. Resume it first.",
        test_event="A test event is sent once. Send another one.",
        too_many_endpoints="As many endpoints as a partner can have.",
    )
    | _all(422, url_inward="The address leads into a private network.")
    | _all(429, too_many_tests="Test events of this endpoint are still under way; see Retry-After.")
)

_KEYS = _all(
    401,
    key_expired="The time of the key is over.",
    key_of_other_mode="A test key at a live shop, or a live key where delivery is simulated.",
    key_revoked="The key was revoked.",
    unauthorized="No key where one is needed, an unknown one, or that of a partner who was switched off.",
) | _all(403, forbidden="This is not allowed.", scope_missing="The key does not have the scope.")

_STATE = _all(
    409,
    already_done="It is done already; nothing was done again.",
    already_started="The term runs: early-end is the call to make.",
    busy="Many orders at once. Try again; the same Idempotency-Key may be used.",
    conflict="The present state does not allow it.",
    extension_open="An extension for other days waits for its payment; `order` names it.",
    idempotency_in_progress="The first request with this key has no answer yet; see Retry-After.",
    lease_suspended="Access is paused because a payment was taken back.",
    no_capacity="The cards are not free for this time.",
    not_extendable="The lease cannot be extended in its present state.",
    not_ready="Access has not opened, or is paused.",
    partner_inactive="The partner was switched off.",
    quote_accepted="The quote was used; `order` names the order if it is yours.",
    too_late_to_extend="Too close to the end.",
)

_SALE = _all(
    422,
    bill_to_mismatch="`bill_to` differs from that of the quote.",
    idempotency_mismatch="The Idempotency-Key was used for another call or another body.",
    image_incompatible="The environment does not run on the card.",
    key_rejected="An SSH key that is private, broken, weak, repeated or has options before it.",
    not_on_sale="A lot, an environment or an option that is not on sale, or not any more.",
    option_not_for_lot="The option is not sold with this lot.",
    option_unknown="There is no such option.",
    quote_expired="The time of the quote is over.",
    start_not_offered="A start in the past, too near, too far, or not on a whole hour.",
    too_many_cards="More cards in one order than the bounds of the caller allow.",
    unprocessable="It cannot be done.",
)

_OTHER = (
    _all(404, not_found="There is no such thing, or it is not yours.")
    | _all(405, method_not_allowed="The address does not take this method; see Allow.")
    | _all(406, not_acceptable="Only application/json can be had.")
    | _all(410, gone="It is over.")
    | _all(415, unsupported_media_type="The body is not application/json.")
    | _all(
        429,
        rate_limited="Too many requests, or claims for one order; see Retry-After.",
        too_many_holds="Too many orders or cards are held and not paid.",
    )
    | _all(500, internal_error="Our fault. Nothing was lost; try again with the same Idempotency-Key.")
    | _all(
        503,
        payment_unavailable="The way of paying is not available at this moment. Nothing is held.",
        unavailable="Something that this stands on does not answer. Nothing was done.",
    )
    | {
        "lease_over": Code((409, 410), "The lease is over. 410: there is no login any more."),
        "too_large": Code((400, 413), "The body is over 64 KB. 400: a model that is too large to plan."),
    }
)

CODES: dict[str, Code] = {
    code: found
    for group in (_SCHEMA, _PLANS, _WEBHOOKS, _KEYS, _STATE, _SALE, _OTHER)
    for code, found in sorted(group.items())
}

_BEGIN, _END = "<!-- codes: made by `python -m partners.api.codes` -->", "<!-- codes end -->"


def table() -> str:
    """The list as Markdown, by status and code."""
    rows = sorted((found.statuses, code, found.meaning) for code, found in CODES.items())
    lines = [
        f"| {', '.join(str(status) for status in statuses)} | `{code}` | {meaning} |"
        for statuses, code, meaning in rows
    ]
    return "\n".join(["| status | code | meaning |", "|---|---|---|", *lines])


def with_table(text: str) -> str:
    """A page with the list between its two marks brought up to date. Raises ValueError where a mark is missing."""
    head, begin, rest = text.partition(_BEGIN)
    _old, end, tail = rest.partition(_END)
    if not begin or not end:
        raise ValueError("The page has no place for the list of codes.")
    return f"{head}{begin}\n{table()}\n{end}{tail}"


def main() -> None:
    """Bring docs/api.md up to date."""
    page = Path(__file__).resolve().parent.parent.parent / "docs" / "api.md"
    page.write_text(with_table(page.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
