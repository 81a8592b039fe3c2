"""Django settings: what differs between installations comes from the environment (docs/operations.md)."""

import os
from pathlib import Path

from anchorgpu import compression, csp, decisions, desk, events, logs, personal, rest, roles, schedule
from anchorgpu.env import read_env

BASE_DIR = Path(__file__).resolve().parent.parent
env = read_env(os.environ)

DEMO = env.demo
DEBUG = False
SECRET_KEY = env.secret_key
ALLOWED_HOSTS = list(env.allowed_hosts)
SITE_URL = env.site_url
PROVIDER = env.provider
SLURM_CONF = env.slurm.conf
SLURM_ACCOUNTS = env.slurm.accounts
SLURM_MODELS = env.slurm.models
SLURM_PARTITION = env.slurm.partition
SLURM_PREFIX = env.slurm.prefix
SLURM_OPERATOR = env.slurm.operator
SLURM_KEYS_DIR = env.slurm.keys_dir
SLURM_LOGIN_HOST, SLURM_LOGIN_PORT = env.slurm.login_host, env.slurm.login_port
SLURM_LOGIN_HOST_KEY = env.slurm.login_host_key
SLURM_CARDS_COMMAND = env.slurm.cards_command
SLURM_WIPE_COMMAND = env.slurm.wipe_command
SLURM_WIPE_MINUTES = env.slurm.wipe_minutes
SLURM_DRIVER, SLURM_REST_URL = env.slurm.driver, env.slurm.rest_url
SLURM_REST_API, SLURM_REST_TOKEN_FILE = env.slurm.rest_api, env.slurm.rest_token_file
CURRENCY = env.currency
SHOP_COUNTRY = env.shop_country
IMPRINT = env.imprint
TAX_TABLE = env.selling.tax_table
PRICES_INCLUDE_TAX = env.selling.prices_include_tax
SELLER_VAT_ID = env.selling.vat_id
SCREENING_FILE = env.screening.file
SCREENING_UNKNOWN = env.screening.unknown
TRUSTED_PROXIES = env.trusted_proxies

QUOTE_KEYS_FILE = str(env.quote_keys_file)
SSH_HOST_KEY_FILE = str(env.ssh_host_key_file)
SSH_LISTEN_HOST, SSH_LISTEN_PORT = env.ssh_listen
SSH_LISTEN = f"{SSH_LISTEN_HOST}:{SSH_LISTEN_PORT}"
DEPOSIT_XPUB = env.deposit_xpub
EVM_NETWORKS_FILE = str(env.evm_networks_file or "")
STRIPE_SECRET_KEY = env.stripe_secret_key
STRIPE_WEBHOOK_SECRET = env.stripe_webhook_secret
STRIPE_TRANSPORT = env.stripe_transport

# Over https only, except in the demo on 127.0.0.1.
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = env.is_https
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = True
CSRF_TRUSTED_ORIGINS = [SITE_URL]
SECURE_SSL_REDIRECT = env.is_https
SECURE_REDIRECT_EXEMPT = [r"^healthz$", r"^readyz$", r"^metrics$"]
SECURE_HSTS_SECONDS = 365 * 86400 if env.is_https else 0
# For this host only: other hosts of the operator's domain are not ours to bind.
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]
SECURE_REFERRER_POLICY = "same-origin"  # an order page's address is a secret
X_FRAME_OPTIONS = "DENY"

# Nothing from elsewhere, nothing inline. The stock admin has a policy of its own (anchorgpu.csp).
CONTENT_SECURITY_POLICY = {"DIRECTIVES": csp.SHOP}

DEFAULT_FROM_EMAIL = SERVER_EMAIL = env.mail_from
# Without EMAIL_URL the demo writes its mail into var/mail; a true installation keeps it queued.
MAIL_IS_SENT = DEMO or bool(env.email)
EMAIL_BACKEND = f"django.core.mail.backends.{'smtp' if env.email else 'filebased'}.EmailBackend"
EMAIL_FILE_PATH = str(BASE_DIR / "var" / "mail")
EMAIL_HOST = env.email.get("EMAIL_HOST", "")
EMAIL_PORT = env.email.get("EMAIL_PORT", 25)
EMAIL_HOST_USER = env.email.get("EMAIL_HOST_USER", "")
EMAIL_HOST_PASSWORD = env.email.get("EMAIL_HOST_PASSWORD", "")
EMAIL_USE_TLS = env.email.get("EMAIL_USE_TLS", False)
EMAIL_USE_SSL = env.email.get("EMAIL_USE_SSL", False)
EMAIL_TIMEOUT = 10

LOGGING = logs.logging_settings()
CELERY_WORKER_HIJACK_ROOT_LOGGER = False

INSTALLED_APPS = [
    # The admin site with our own rules of who may be in it, in unfold's look.
    "unfold.apps.BasicAppConfig",
    "core.admin_config.StaffAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "django.contrib.postgres",
    "django_htmx",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "csp",
    "django_otp.plugins.otp_totp",
    "django_otp.plugins.otp_static",
    "anchorgpu",
    "core",
    "catalog",
    "fleet",
    "orders",
    "billing",
    "shop",
    "partners",
    "guides",
    "desk",
]

MIDDLEWARE = [
    "anchorgpu.metrics.requests.MeasureMiddleware",
    "anchorgpu.csp.PolicyMiddleware",
    "partners.middleware.ApiProblemMiddleware",
    "shop.middleware.RequestIdMiddleware",
    # Their headers stand on refusals of what comes after them too.
    "django.middleware.security.SecurityMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "shop.middleware.BoundsMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "anchorgpu.compression.PublicGZipMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]

COMPRESSED_VIEWS = compression.PUBLIC_VIEWS

ROOT_URLCONF = "anchorgpu.urls"
CSRF_FAILURE_VIEW = "shop.views.errors.csrf_failure"
WSGI_APPLICATION = "anchorgpu.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "shop.context.site",
            ]
        },
    }
]

_database_options = dict(env.database["OPTIONS"])
# One for each thread of the web server; the gateway asks from about as many.
_connections = max(8, env.serving.web_threads)
DATABASES = {
    "default": {
        **env.database,
        "ENGINE": "django.db.backends.postgresql",
        "CONN_MAX_AGE": 0,  # the pool keeps connections; Django refuses both
        "OPTIONS": {**_database_options, "pool": {"min_size": 1, "max_size": _connections, "timeout": 5}},
        "ATOMIC_REQUESTS": False,
    }
}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

REDIS_URL = env.redis_url
CACHES = {
    "default": {
        "BACKEND": "core.cache.FailOpenRedisCache",
        "LOCATION": REDIS_URL,
        "OPTIONS": {"socket_timeout": 1, "socket_connect_timeout": 1},
    }
}
# A hint that cannot be sent within a second is dropped: a sweep finds the row. Redelivery is tried each 2 s,
# and only after longer than any task may take (CELERY_TASK_TIME_LIMIT), so that none runs twice without need.
CELERY_BROKER_URL = REDIS_URL
CELERY_BROKER_CONNECTION_TIMEOUT = 1
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "visibility_timeout": 300,
    "unacked_restore_interval": 2,
    "unacked_restore_throttle": 1,
    "socket_timeout": 1,
    "socket_connect_timeout": 1,
    "max_retries": 0,
}
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_PUBLISH_RETRY = False
CELERY_TASK_SOFT_TIME_LIMIT = 90
CELERY_TASK_TIME_LIMIT = 120
CELERY_TASK_DEFAULT_DELIVERY_MODE = "transient"
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_CONCURRENCY = env.serving.worker_processes
CELERY_TIMEZONE = "UTC"
CELERY_BEAT_SCHEDULE = schedule.beat_schedule(demo=DEMO)
SWEEP_INTERVALS = schedule.sweep_intervals(demo=DEMO)

SESSION_ENGINE = "django.contrib.sessions.backends.db"
AUTHENTICATION_BACKENDS = ["core.staff_login.LimitedBackend"]
# Where a login without a safe `next` leads: only staff log in.
LOGIN_URL = "admin:login"
LOGIN_REDIRECT_URL = "admin:index"
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}", "OPTIONS": options}
    for name, options in (
        ("UserAttributeSimilarityValidator", {}),
        ("MinimumLengthValidator", {"min_length": 12}),
        ("CommonPasswordValidator", {}),
    )
]

# As much as shop.middleware lets through; files are keys and model configurations, and stay in memory.
DATA_UPLOAD_MAX_MEMORY_SIZE = FILE_UPLOAD_MAX_MEMORY_SIZE = 256 * 1024
DATA_UPLOAD_MAX_NUMBER_FIELDS = 1000
DATA_UPLOAD_MAX_NUMBER_FILES = 5

LANGUAGE_CODE = "en"
LANGUAGES = [("en", "English"), ("de", "Deutsch"), ("fr", "Français"), ("ru", "Русский")]
LANGUAGE_COOKIE_NAME = "language"
LOCALE_PATHS = [BASE_DIR / "locale"]
USE_I18N = True
USE_TZ = True
TIME_ZONE = "UTC"
USE_THOUSAND_SEPARATOR = True
FORMAT_MODULE_PATH = "anchorgpu.formats"

STATIC_URL = "/static/"
WHITENOISE_ALLOW_ALL_ORIGINS = False
STATIC_ROOT = BASE_DIR / "var" / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "anchorgpu.bundle.StaticStorage"},
}

# Policy numbers; their defaults are in anchorgpu.policy.
QUOTE_VALID_SECONDS = env.number("QUOTE_VALID_SECONDS")
HOLD_SECONDS = env.number("HOLD_SECONDS")
RELEASE_AFTER_EXPIRY_SECONDS = env.number("RELEASE_AFTER_EXPIRY_SECONDS")
RELEASE_LIMIT_SECONDS = env.number("RELEASE_LIMIT_SECONDS")
READY_BY_SECONDS = env.number("READY_BY_SECONDS")
LATE_GRACE_SECONDS = env.number("LATE_GRACE_SECONDS")
TURNAROUND_SECONDS = env.number("TURNAROUND_SECONDS")
EXTEND_LEAD_SECONDS = env.number("EXTEND_LEAD_SECONDS")
START_LEAD_QUOTE_SECONDS = env.number("START_LEAD_QUOTE_SECONDS")
START_LEAD_PLACE_SECONDS = env.number("START_LEAD_PLACE_SECONDS")
START_AHEAD_DAYS = env.number("START_AHEAD_DAYS")
HOLD_ORDERS_PER_OWNER = env.number("HOLD_ORDERS_PER_OWNER")
HOLD_CARDS_PER_OWNER = env.number("HOLD_CARDS_PER_OWNER")
HOLD_ORDERS_PER_PREFIX = env.number("HOLD_ORDERS_PER_PREFIX")
PARTNER_HOLD_ORDERS = env.number("PARTNER_HOLD_ORDERS")
PARTNER_HOLD_CARDS = env.number("PARTNER_HOLD_CARDS")
CLAIM_INTERVAL_SECONDS = env.number("CLAIM_INTERVAL_SECONDS")
CLAIM_HOURLY_LIMIT = env.number("CLAIM_HOURLY_LIMIT")
REVERSED_GRACE_SECONDS = env.number("REVERSED_GRACE_SECONDS")
EXPORT_VERIFY_MARGIN_SECONDS = env.number("EXPORT_VERIFY_MARGIN_SECONDS")
LATE_OFFER_SECONDS = env.number("LATE_OFFER_SECONDS")
NO_CAPACITY_REFUND_SECONDS = env.number("NO_CAPACITY_REFUND_SECONDS")
ADDRESS_POOL_SIZE = env.number("ADDRESS_POOL_SIZE")
ADDRESS_CHECK_MAX_AGE_SECONDS = env.number("ADDRESS_CHECK_MAX_AGE_SECONDS")
RESTORE_ADDRESS_GAP = env.number("RESTORE_ADDRESS_GAP")
PRICE_AGREE_PERCENT = env.number("PRICE_AGREE_PERCENT")
PRICE_JUMP_PERCENT = env.number("PRICE_JUMP_PERCENT")
PRICE_READ_MAX_AGE_SECONDS = env.number("PRICE_READ_MAX_AGE_SECONDS")
PRICE_QUOTE_MAX_AGE_SECONDS = env.number("PRICE_QUOTE_MAX_AGE_SECONDS")
LOCK_TIMEOUT_SECONDS = env.number("LOCK_TIMEOUT_SECONDS")
OUTBOX_PARK_AFTER_SECONDS = env.number("OUTBOX_PARK_AFTER_SECONDS")
TERMS_VERSION = "2026-12-01"

# Sweeps that must have run since an outage before overdue holds are let go.
HOLDS_WAIT_FOR_SWEEPS = ["networks", "card_sessions"]

WEBHOOK_LOOPBACK = env.webhook_loopback
METRICS_TOKEN = env.metrics_token
WEBHOOK_PAUSE_AFTER_SECONDS = env.number("WEBHOOK_PAUSE_AFTER_SECONDS")

STAFF_SECOND_FACTOR = env.staff_second_factor
STAFF_SESSION_SECONDS = env.number("STAFF_SESSION_SECONDS")
STAFF_IDLE_SECONDS = env.number("STAFF_IDLE_SECONDS")
STAFF_ROLES = roles.ROLES
# What an authenticator app shows beside the account.
OTP_TOTP_ISSUER = "AnchorGPU"

NODE_SIZES = "fleet.whole_nodes.node_sizes"
DOMAIN_EVENT_HANDLERS = events.HANDLERS
DECISION_KINDS = decisions.KINDS
PERSON_FINDER = personal.FINDER
PERSONAL_DATA = personal.PARTS

REST_FRAMEWORK = rest.REST_FRAMEWORK
SPECTACULAR_SETTINGS = rest.SPECTACULAR_SETTINGS
UNFOLD = desk.UNFOLD
API_REQUESTS_PER_MINUTE_KEY = env.number("API_REQUESTS_PER_MINUTE_KEY")
API_REQUESTS_PER_MINUTE_ADDRESS = env.number("API_REQUESTS_PER_MINUTE_ADDRESS")
