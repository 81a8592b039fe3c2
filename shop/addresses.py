"""What a secret or an id in an address looks like: anything else never reaches the database."""


class _TextConverter:
    regex = ""

    def to_python(self, value: str) -> str:
        return value

    def to_url(self, value: str) -> str:
        return value


class TokenConverter(_TextConverter):
    """256 random bits, as orders.ids.page_token writes them."""

    regex = "[A-Za-z0-9_-]{32,64}"


class QuoteIdConverter(_TextConverter):
    """A quote's public id."""

    regex = "qt_[0-9A-Z]{20,40}"


class CardSessionConverter(_TextConverter):
    """A session of the demo's test card processor, as billing.rails.demo_cards writes it."""

    regex = "cs_test_[0-9a-f]{32}"
