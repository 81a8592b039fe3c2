"""Forms of the short machine-readable values of the catalogue: codes, versions, build targets."""

from django.core.validators import RegexValidator
from django.utils.translation import gettext_lazy as _

# ASCII on purpose: a code stands in addresses, in signed documents and on command lines.
CODE_PATTERN = r"[a-z0-9]+(?:-[a-z0-9]+)*"
CODE_MAX_LENGTH = 64

validate_code = RegexValidator(
    rf"^{CODE_PATTERN}\Z", _("Use lower-case letters, digits and single hyphens."), code="invalid_code"
)
validate_version = RegexValidator(
    r"^[0-9]{1,9}(\.[0-9]{1,9}){0,5}\Z",
    _("Use numbers with dots between them, such as 12.8."),
    code="invalid_version",
)
validate_target = RegexValidator(
    r"^[a-z0-9_]+\Z", _("Use the compiler's own name, such as sm_90 or gfx942."), code="invalid_target"
)
