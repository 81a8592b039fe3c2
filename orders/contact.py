"""Contact details: checked as strictly as the mail transport will take them."""

from dataclasses import dataclass

from django.conf import settings
from django.core.exceptions import ValidationError
from django.core.validators import EmailValidator
from django.utils.translation import gettext_lazy as _

from core.errors import Invalid
from core.text import check_storable, clean_line

# RFC 5321: 64 characters before the @ and 254 in all.
MAX_EMAIL, MAX_LOCAL = 254, 64
_validate = EmailValidator(allowlist=[])
# Python's codec writes another name for them than registries do: order links would go to a stranger's domain.
_AMBIGUOUS = frozenset("\u00df\u1e9e\u03c2\u200c\u200d")


@dataclass(frozen=True)
class Contact:
    """Who gets access. `language` is one of the shop's languages."""

    name: str
    email: str
    company: str
    language: str


def clean_contact(*, name: str, email: str, company: str, language: str, prefix: str = "contact") -> Contact:
    """One validation for every face. Raises Invalid with the field's dotted path."""
    field = f"{prefix}.language"
    if language not in dict(settings.LANGUAGES):
        raise Invalid(code="invalid_language", message=_("This language is not offered."), field=field)
    return Contact(
        name=clean_line(name, field=f"{prefix}.name", max_length=200, required=True),
        email=clean_email(email, field=f"{prefix}.email"),
        company=clean_line(company, field=f"{prefix}.company", max_length=200),
        language=language,
    )


def clean_email(email: str, *, field: str) -> str:
    """An address that can be mailed: the domain as punycode, a plain ASCII local part."""
    check_storable(email, field=field)
    address = email.strip()
    refused = Invalid(code="invalid_email", message=_("Mail cannot be sent to this address."), field=field)
    local, at, domain = address.rpartition("@")
    is_bounded = len(address) <= MAX_EMAIL and len(local) <= MAX_LOCAL
    is_mailable = at and is_bounded and local.isascii() and not domain.startswith("[")
    if not is_mailable or not _AMBIGUOUS.isdisjoint(domain):
        raise refused
    try:
        mailable = f"{local}@{domain.encode('idna').decode('ascii').lower()}"
        _validate(mailable)
    except (UnicodeError, ValidationError) as error:
        raise refused from error
    return mailable
