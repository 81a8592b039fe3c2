"""Settings from the environment: read once, checked as a whole, refused with one sentence that names one."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from anchorgpu import addresses, policy
from anchorgpu.addresses import SettingError
from anchorgpu.private_keys import private_key_in
from anchorgpu.screening import Screening, read_screening
from anchorgpu.selling import Selling, read_selling
from anchorgpu.serving import Serving, read_serving
from anchorgpu.slurm import Slurm, check_wipe_fits, read_slurm
from billing.addresses import Xpub, XpubError
from billing.networks import ConfigError, parse_networks

DEMO_CHAIN_ID = 31337
DEMO_SECRET_PREFIX = "demo-"  # noqa: S105  # a prefix, not a secret
PROVIDERS = ("simulated", "slurm")
SECRET_KEY_LENGTH = 50
METRICS_TOKEN_LENGTH = 20


@dataclass(frozen=True, kw_only=True)
class Env:
    """Every setting, checked. What each means is described in docs/operations.md."""

    demo: bool
    database: Mapping[str, Any]
    redis_url: str
    secret_key: str
    allowed_hosts: tuple[str, ...]
    site_url: str
    quote_keys_file: Path
    ssh_host_key_file: Path
    ssh_listen: tuple[str, int]
    deposit_xpub: str
    evm_networks_file: Path | None
    stripe_secret_key: str
    stripe_webhook_secret: str
    stripe_transport: str
    provider: str
    slurm: Slurm
    email: Mapping[str, Any]
    mail_from: str
    trusted_proxies: tuple[str, ...]
    currency: str
    shop_country: str
    imprint: str
    selling: Selling
    screening: Screening
    serving: Serving
    webhook_loopback: bool
    metrics_token: str
    staff_second_factor: bool
    numbers: Mapping[str, int]

    @property
    def is_https(self) -> bool:
        return self.site_url.startswith("https://")

    def number(self, name: str) -> int:
        """A policy number: the environment's, else the default of anchorgpu.policy."""
        return self.numbers[name]


def read_env(environ: Mapping[str, str]) -> Env:
    """All settings. Raises SettingError at the first that is missing, malformed or must not be combined."""
    _refuse_private_keys(environ)
    demo = _flag(environ, "ANCHORGPU_DEMO")
    hosts = addresses.allowed_hosts(_required(environ, "ALLOWED_HOSTS"), demo=demo)
    env = Env(
        demo=demo,
        database=addresses.database(_required(environ, "DATABASE_URL")),
        redis_url=addresses.redis_url(_required(environ, "REDIS_URL")),
        secret_key=_secret_key(environ, demo=demo),
        allowed_hosts=hosts,
        site_url=addresses.site_url(_required(environ, "SITE_URL"), hosts, demo=demo),
        quote_keys_file=_quote_keys_file(environ),
        ssh_host_key_file=_ssh_host_key_file(environ),
        ssh_listen=addresses.listen_address(_required(environ, "SSH_LISTEN")),
        deposit_xpub=_deposit_xpub(environ),
        evm_networks_file=_networks_file(environ, demo=demo),
        stripe_secret_key=_stripe(environ, "STRIPE_SECRET_KEY", ("sk_", "rk_")),
        stripe_webhook_secret=_webhook_secrets(environ),
        stripe_transport=_stripe_transport(environ, demo=demo),
        provider=_provider(environ),
        slurm=read_slurm(environ, provider=_provider(environ)),
        email=addresses.email(environ.get("EMAIL_URL", "")),
        mail_from=addresses.mail_from(environ.get("MAIL_FROM", ""), hosts),
        trusted_proxies=addresses.trusted_proxies(environ.get("TRUSTED_PROXIES", "")),
        currency=_code(environ, "CURRENCY", "USD", length=3),
        shop_country=_code(environ, "SHOP_COUNTRY", "DE", length=2),
        imprint=_imprint(environ, demo=demo),
        selling=read_selling(environ, demo=demo),
        screening=read_screening(environ),
        serving=read_serving(environ),
        webhook_loopback=_webhook_loopback(environ, demo=demo),
        metrics_token=_metrics_token(environ),
        # A demo listens on 127.0.0.1 and says its password on the screen.
        staff_second_factor=_flag(environ, "STAFF_SECOND_FACTOR", default=not demo),
        numbers=_numbers(environ),
    )
    _check_rails(env)
    if env.provider == "slurm":
        check_wipe_fits(env.slurm, turnaround_seconds=env.number("TURNAROUND_SECONDS"))
    return env


def _required(environ: Mapping[str, str], name: str) -> str:
    value = environ.get(name, "").strip()
    if not value:
        raise SettingError(f"{name} is not set; docs/operations.md describes it.")
    return value


def _refuse_private_keys(environ: Mapping[str, str]) -> None:
    for name, value in environ.items():
        kind = private_key_in(value)
        if kind:
            raise SettingError(
                f"{name} holds {kind}: this server never holds a spending key; remove it and rotate that key."
            )


def _flag(environ: Mapping[str, str], name: str, *, default: bool = False) -> bool:
    value = environ.get(name, "")
    if value not in ("", "0", "1"):
        raise SettingError(f"{name} must be 1 or 0.")
    return value == "1" if value else default


def _secret_key(environ: Mapping[str, str], *, demo: bool) -> str:
    key = _required(environ, "SECRET_KEY")
    if key.startswith(DEMO_SECRET_PREFIX) and not demo:
        raise SettingError("SECRET_KEY is one of a demo: make a new one for this installation.")
    if len(key) < SECRET_KEY_LENGTH or len(set(key)) < 5:
        raise SettingError(f"SECRET_KEY must have at least {SECRET_KEY_LENGTH} random characters.")
    return key


def _file(environ: Mapping[str, str], name: str) -> tuple[Path, str]:
    path = Path(_required(environ, name))
    try:
        return path, path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not text"
        raise SettingError(f"{name} names {path}, which cannot be read: {reason}.") from error


def _quote_keys_file(environ: Mapping[str, str]) -> Path:
    path, text = _file(environ, "QUOTE_KEYS_FILE")
    try:
        keys = json.loads(text)["keys"]
        usable = any(key["crv"] == "Ed25519" and key["kid"] and key["x"] and key.get("d") for key in keys)
    except (ValueError, KeyError, TypeError, AttributeError):
        usable = False
    if not usable:
        raise SettingError(
            f"QUOTE_KEYS_FILE names {path}, which is no JWK set with a private Ed25519 key and its kid."
        )
    return path


def _ssh_host_key_file(environ: Mapping[str, str]) -> Path:
    path, text = _file(environ, "SSH_HOST_KEY_FILE")
    if "PRIVATE KEY-----" not in text:
        raise SettingError(f"SSH_HOST_KEY_FILE names {path}, which is no private key.")
    return path


def _deposit_xpub(environ: Mapping[str, str]) -> str:
    value = environ.get("DEPOSIT_XPUB", "").strip()
    if value:
        try:
            Xpub(value)
        except XpubError as error:
            raise SettingError(f"DEPOSIT_XPUB cannot be used. {error}") from error
    return value


def _imprint(environ: Mapping[str, str], *, demo: bool) -> str:
    """Whoever sells names himself; a demo offers nothing to the public."""
    if demo and not environ.get("IMPRINT_FILE", "").strip():
        return ""
    path, text = _file(environ, "IMPRINT_FILE")
    if not text.strip():
        raise SettingError(f"IMPRINT_FILE names {path}, which is empty: a shop names its operator.")
    return text.strip()


def _networks_file(environ: Mapping[str, str], *, demo: bool) -> Path | None:
    if not environ.get("EVM_NETWORKS_FILE", "").strip():
        return None
    path, text = _file(environ, "EVM_NETWORKS_FILE")
    kind = private_key_in(text)
    if kind:
        raise SettingError(
            f"EVM_NETWORKS_FILE names {path}, which holds {kind}: remove it and rotate that key."
        )
    try:
        networks = parse_networks(text, source=str(path))
    except ConfigError as error:
        raise SettingError(f"EVM_NETWORKS_FILE: {error}") from error
    for network in networks.values():
        if demo and network.chain_id != DEMO_CHAIN_ID:
            raise SettingError(
                f"EVM_NETWORKS_FILE names chain {network.chain_id}, and a demo may only use {DEMO_CHAIN_ID}."
            )
        if not demo and network.chain_id == DEMO_CHAIN_ID:
            raise SettingError(f"EVM_NETWORKS_FILE names chain {DEMO_CHAIN_ID}, which only the demo may use.")
    return path


def _stripe(environ: Mapping[str, str], name: str, prefixes: tuple[str, ...]) -> str:
    value = environ.get(name, "").strip()
    if value and not value.startswith(prefixes):
        raise SettingError(f"{name} must start with {' or '.join(prefixes)}.")
    return value


def _webhook_secrets(environ: Mapping[str, str]) -> str:
    """One or several, so that one can be replaced without a gap."""
    value = environ.get("STRIPE_WEBHOOK_SECRET", "").replace(",", " ")
    if not all(secret.startswith("whsec_") for secret in value.split()):
        raise SettingError(
            "STRIPE_WEBHOOK_SECRET must start with whsec_; several are separated by a comma or a blank."
        )
    return " ".join(value.split())


def _stripe_transport(environ: Mapping[str, str], *, demo: bool) -> str:
    value = environ.get("STRIPE_TRANSPORT", "").strip()
    if value not in ("", "demo"):
        raise SettingError("STRIPE_TRANSPORT must be empty or demo.")
    if value == "demo" and not demo:
        raise SettingError("STRIPE_TRANSPORT is demo: only a demo (ANCHORGPU_DEMO=1) has the test bank card.")
    return value


def _metrics_token(environ: Mapping[str, str]) -> str:
    token = environ.get("METRICS_TOKEN", "").strip()
    if token and (len(token) < METRICS_TOKEN_LENGTH or not token.isascii()):
        raise SettingError(
            f"METRICS_TOKEN must be ASCII and have at least {METRICS_TOKEN_LENGTH} random characters."
        )
    return token


def _webhook_loopback(environ: Mapping[str, str], *, demo: bool) -> bool:
    wanted = _flag(environ, "WEBHOOK_LOOPBACK")
    if wanted and not demo:
        raise SettingError(
            "WEBHOOK_LOOPBACK is 1: only a demo (ANCHORGPU_DEMO=1) may send webhooks to this machine."
        )
    return wanted


def _provider(environ: Mapping[str, str]) -> str:
    provider = environ.get("PROVIDER", "").strip() or PROVIDERS[0]
    if provider not in PROVIDERS:
        raise SettingError(f"PROVIDER is unknown; known is: {', '.join(PROVIDERS)}.")
    return provider


def _code(environ: Mapping[str, str], name: str, default: str, *, length: int) -> str:
    value = environ.get(name, "").strip() or default
    if not re.fullmatch(rf"[A-Z]{{{length}}}", value):
        raise SettingError(f"{name} must be {length} capital letters.")
    return value


def _numbers(environ: Mapping[str, str]) -> Mapping[str, int]:
    numbers = dict(policy.DEFAULTS)
    for name in policy.DEFAULTS:
        value = environ.get(name, "").strip()
        if value:
            if not value.isdecimal() or not 0 < int(value) < 2**31:
                raise SettingError(f"{name} must be a whole number above 0.")
            numbers[name] = int(value)
    return numbers


def _check_rails(env: Env) -> None:
    if bool(env.deposit_xpub) != bool(env.evm_networks_file):
        missing = "EVM_NETWORKS_FILE" if env.deposit_xpub else "DEPOSIT_XPUB"
        raise SettingError(f"{missing} is not set: the crypto rail needs DEPOSIT_XPUB and EVM_NETWORKS_FILE.")
    if bool(env.stripe_secret_key) != bool(env.stripe_webhook_secret):
        missing = "STRIPE_WEBHOOK_SECRET" if env.stripe_secret_key else "STRIPE_SECRET_KEY"
        raise SettingError(
            f"{missing} is not set: bank cards need STRIPE_SECRET_KEY and STRIPE_WEBHOOK_SECRET."
        )
    if env.demo and "_live_" in env.stripe_secret_key:
        raise SettingError(
            "STRIPE_SECRET_KEY is a live key, and a demo (ANCHORGPU_DEMO=1) may never use one."
        )
    if not env.demo and not env.deposit_xpub and not env.stripe_secret_key:
        raise SettingError(
            "DEPOSIT_XPUB with EVM_NETWORKS_FILE, or STRIPE_SECRET_KEY with STRIPE_WEBHOOK_SECRET, must be set: "
            "without one of them nobody can pay."
        )
