"""What the lines of a log are about: public references, never a person, a page's address or a secret."""

from structlog.contextvars import bind_contextvars, bound_contextvars

__all__ = ["about", "within"]

# `about(order="ord_...")`: from here to the end of the request or task; `with within(...)`: for a block.
about = bind_contextvars
within = bound_contextvars
