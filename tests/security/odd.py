"""What a hostile or a broken program sends in the place of a value."""

from hypothesis import strategies as st

NASTY = (
    "' OR 1=1--", "\"; DROP TABLE orders_order;--", "%' ESCAPE '!", "\\", "%", "_", "{{7*7}}", "%(x)s", "%s", "{0}",
    "-1", "0", "9" * 400, "1e999", "NaN", "Infinity", "٣", "2²", "0x1F", "1_000", "1,5", " ", "\u2028",
    "\u202e", "\ufeff",
    "null", "[]", "{}", "true", "../../etc/passwd", "file:///etc/passwd", "http://169.254.169.254/", "a" * 5000,
    "2026-02-30", "9999-12-31", "0001-01-01", "24:00", "<script>alert(1)</script>", "=cmd|' /C calc'!A0", "é\u0301",
    "on", "qt_" + "0" * 26, "ord_" + "0" * 26, "b200-180x2", "crypto:local:USDC", "local:USDC",
)  # fmt: skip
# NUL and lone surrogates have tests of their own (S26); a test client cannot send a surrogate.
TEXTS = st.one_of(
    st.sampled_from(NASTY),
    st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=60),
    st.integers().map(str),
    st.decimals(allow_nan=True, allow_infinity=True).map(str),
)
