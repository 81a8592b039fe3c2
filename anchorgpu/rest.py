"""Settings of the REST API's framework: JSON only, our errors, our keys, nothing for browser forms."""

from typing import Any

from core.version import VERSION

REST_FRAMEWORK: dict[str, Any] = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["partners.api.auth.KeyAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["partners.api.auth.HasScope"],
    "DEFAULT_THROTTLE_CLASSES": ["partners.api.throttle.MinuteThrottle"],
    "DEFAULT_PARSER_CLASSES": ["partners.api.parsers.StrictJSONParser"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_SCHEMA_CLASS": "partners.api.schema.CallSchema",
    "DEFAULT_METADATA_CLASS": None,
    "EXCEPTION_HANDLER": "partners.api.errors.handle",
    "UNAUTHENTICATED_USER": None,
    "URL_FORMAT_OVERRIDE": None,  # no ?format=
    "COERCE_DECIMAL_TO_STRING": True,
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
    "TEST_REQUEST_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
}

SPECTACULAR_SETTINGS: dict[str, Any] = {
    "TITLE": "AnchorGPU",
    "DESCRIPTION": (
        "GPUs for a fixed term. Money is decimal text in one currency, times are RFC 3339 in UTC. Lists have "
        "`data` and `next_cursor`. Every error is `application/problem+json` with a stable `code`."
    ),
    "VERSION": VERSION,
    "OAS_VERSION": "3.1.0",
    "LICENSE": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "SERVE_INCLUDE_SCHEMA": False,
    "COMPONENT_SPLIT_REQUEST": True,
    # Several shapes have this state; else its name would be made of a hash.
    "ENUM_NAME_OVERRIDES": {"EndpointStatusEnum": ["active", "paused"]},
    # Values speak for themselves; their labels are of the language of whoever asks first.
    "ENUM_GENERATE_CHOICE_DESCRIPTION": False,
    "PREPROCESSING_HOOKS": ["partners.api.schema.one_address_each"],
    "POSTPROCESSING_HOOKS": ["drf_spectacular.hooks.postprocess_schema_enums", "partners.api.links.complete"],
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "SWAGGER_UI_SETTINGS": {"deepLinking": True, "persistAuthorization": False, "validatorUrl": None},
}
