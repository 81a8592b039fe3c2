"""Structured logs as one JSON object a line; tracebacks without local variables, which may hold secrets."""

import logging
import re
from typing import Any

import structlog

# The address of an order page, and that of a login link, is its secret; libraries log whole paths.
_PAGE_TOKEN = re.compile(r"(/orders/|/partner/login/)[A-Za-z0-9_-]{20,}")


# What anybody can send; each is answered with 400 or 413 and stands in the log as a request of that status.
_REFUSED = (
    "DisallowedHost",
    "DisallowedModelAdminLookup",
    "RequestDataTooBig",
    "SuspiciousMultipartForm",
    "TooManyFieldsSent",
    "TooManyFilesSent",
)


def hide_page_tokens(_logger: Any, _method: str, line: str) -> str:
    """Last step over the finished line, so that no field, message or traceback is forgotten."""
    return _PAGE_TOKEN.sub(r"\1[hidden]", line)


def logging_settings() -> dict[str, Any]:
    """Configure structlog and return Django's LOGGING: every library's records take the same form."""
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
        structlog.processors.ExceptionRenderer(
            structlog.tracebacks.ExceptionDictTransformer(show_locals=False)
        ),
    ]
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=True,
    )
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {
            "json": {
                "()": structlog.stdlib.ProcessorFormatter,
                "foreign_pre_chain": shared,
                "processors": [
                    structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                    structlog.processors.JSONRenderer(),
                    hide_page_tokens,
                ],
            }
        },
        "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "json"}},
        "root": {"handlers": ["console"], "level": logging.getLevelName(logging.INFO)},
        # A refused request is answered, not an error of ours.
        "loggers": {
            "django.request": {"level": "ERROR"},
            **{f"django.security.{name}": {"level": "CRITICAL"} for name in _REFUSED},
            # They tell of every login and every sweep.
            "asyncssh": {"level": "WARNING"},
            "stripe": {"level": "WARNING"},
            "celery.app.trace": {"level": "WARNING"},
            "celery.worker.strategy": {"level": "WARNING"},
            "celery.beat": {"level": "WARNING"},
        },
    }
