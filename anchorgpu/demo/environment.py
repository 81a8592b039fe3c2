"""The settings of a demo: made once, written to var/env at each start, given to every child."""

import os
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from anchorgpu.demo import keys
from anchorgpu.demo.state import State
from anchorgpu.env_file import format_env
from anchorgpu.services.anvil import Anvil
from anchorgpu.services.ports import LOCALHOST, Reservation
from anchorgpu.services.postgres import Postgres
from anchorgpu.services.valkey import Valkey

DATABASE = "anchorgpu"
STAFF_USER = "staff"
# Of the person's own shell, for another installation: a demo that sent true mail would be a bad surprise.
FOREIGN = (
    "DATABASE_URL",
    "REDIS_URL",
    "EMAIL_URL",
    "TRUSTED_PROXIES",
    "PROVIDER",
    "DJANGO_SETTINGS_MODULE",
)


@dataclass(frozen=True, kw_only=True)
class Ports:
    """Of the pages and of the gateway, kept from others until their programs start."""

    http: Reservation
    ssh: Reservation


def make_secrets(state: State) -> None:
    """Each once; a second start finds them again."""
    makers: Mapping[str, Callable[[], str]] = {
        "secret-key": keys.demo_secret_key,
        "quote-keys.json": keys.quote_keys,
        "ssh_host_key": keys.ssh_host_key,
        "deposit-xpub": keys.throwaway_xpub,
        "card-webhook-secret": lambda: f"whsec_demo{secrets.token_urlsafe(24)}",
        "staff-password": lambda: secrets.token_urlsafe(12),
    }
    for name, make in makers.items():
        if not state.secret(name).exists():
            keys.write_private(state.secret(name), make())


def settings(
    state: State, *, ports: Ports, postgres: Postgres, valkey: Valkey, chain: Anvil
) -> dict[str, str]:
    """Everything that a process of this demo, or a command against it, needs to know."""
    return {
        "ANCHORGPU_DEMO": "1",
        "DATABASE_URL": postgres.url(DATABASE),
        "REDIS_URL": valkey.url,
        "SECRET_KEY": _read(state, "secret-key"),
        "ALLOWED_HOSTS": "127.0.0.1,localhost",
        "SITE_URL": f"http://{LOCALHOST}:{ports.http.port}",
        "QUOTE_KEYS_FILE": str(state.secret("quote-keys.json")),
        "SSH_HOST_KEY_FILE": str(state.secret("ssh_host_key")),
        "SSH_LISTEN": f"{LOCALHOST}:{ports.ssh.port}",
        "DEPOSIT_XPUB": _read(state, "deposit-xpub"),
        "EVM_NETWORKS_FILE": str(state.networks_file),
        # The test bank card: nothing leaves this machine, and no true key is needed.
        "STRIPE_TRANSPORT": "demo",
        "STRIPE_SECRET_KEY": "sk_test_demo",
        "STRIPE_WEBHOOK_SECRET": _read(state, "card-webhook-secret"),
        "PROVIDER": "simulated",
        "WEB_LISTEN": f"{LOCALHOST}:{ports.http.port}",
        # Ctrl-C ends all within 10 s.
        "WEB_GRACE_SECONDS": "4",
        "HTTP_PORT": str(ports.http.port),
        "SSH_PORT": str(ports.ssh.port),
        "POSTGRES_PORT": str(postgres.port),
        "VALKEY_PORT": str(valkey.port),
        "CHAIN_PORT": str(chain.port),
        "CHAIN_RPC_URL": chain.url,
        "DEMO_STAFF_USER": STAFF_USER,
        "DEMO_STAFF_PASSWORD": _read(state, "staff-password"),
        "DEMO_NOTES_FILE": str(state.notes_file),
    }


def publish(state: State, values: Mapping[str, str]) -> None:
    keys.write_private(state.env_file, format_env(values))


def child_environment(values: Mapping[str, str]) -> dict[str, str]:
    """The shell's environment without another installation's settings, and the demo's on top."""
    kept = {name: value for name, value in os.environ.items() if name not in FOREIGN}
    return {**kept, **values, "DJANGO_SETTINGS_MODULE": "anchorgpu.settings", "PYTHONUNBUFFERED": "1"}


def _read(state: State, name: str) -> str:
    return state.secret(name).read_text(encoding="utf-8").strip()
