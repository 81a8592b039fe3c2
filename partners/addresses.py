"""What an id or a secret in an address looks like: anything else never reaches the database."""


class _TextConverter:
    regex = ""

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


class LoginLinkConverter(_TextConverter):
    """256 random bits."""

    regex = "[A-Za-z0-9_-]{43}"


class EndpointConverter(_TextConverter):
    """As partners.ids writes it."""

    regex = "wh_[0-9a-f]{24}"


class DeliveryConverter(_TextConverter):
    regex = "whd_[0-9a-f]{24}"


class KeyNumberConverter:
    """A row's number, within what the column holds."""

    regex = "[0-9]{1,18}"

    def to_python(self, value: str) -> int:
        return int(value)

    def to_url(self, value: int) -> str:
        return str(value)
