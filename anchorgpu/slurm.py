"""Settings of the cluster behind PROVIDER=slurm, read with the others by anchorgpu.env (docs/slurm.md)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from anchorgpu.addresses import SettingError, listen_address

_ACCOUNT = re.compile(r"[a-z_][a-z0-9_-]{0,30}")
_PREFIX = re.compile(r"[a-z][a-z0-9-]{0,20}_")
# The first that makes reservations (Slurm 25.05); 26.05 still speaks it.
REST_API = "v0.0.43"
# Slurm looks at its reservations every half a minute, and a job has as long to end (KillWait).
SWEEP_SECONDS = 60
NVIDIA_SMI = (
    "/usr/bin/nvidia-smi --query-gpu=index,serial,uuid,name,ecc.errors.uncorrected.volatile.total "
    "--format=csv,noheader"
)


@dataclass(frozen=True, kw_only=True)
class Slurm:
    """Empty where another provider is configured."""

    conf: str = ""
    accounts: tuple[str, ...] = ()
    models: Mapping[str, str] = field(default_factory=dict)
    partition: str = ""
    prefix: str = "anchor_"
    operator: str = ""
    keys_dir: str = ""
    login_host: str = ""
    login_port: int = 22
    login_host_key: str = ""
    cards_command: str = NVIDIA_SMI
    wipe_command: str = ""
    wipe_minutes: int = 15
    driver: str = "scontrol"
    rest_url: str = ""
    rest_api: str = ""
    rest_token_file: str = ""


def read_slurm(environ: Mapping[str, str], *, provider: str) -> Slurm:
    """Raises SettingError. Settings of a cluster that is not used are not looked at."""
    if provider != "slurm":
        return Slurm()
    host, port = listen_address(_required(environ, "SLURM_LOGIN"), name="SLURM_LOGIN")
    return Slurm(
        conf=environ.get("SLURM_CONF", "").strip(),
        accounts=_accounts(_required(environ, "SLURM_ACCOUNTS")),
        models=_models(_required(environ, "SLURM_MODELS")),
        partition=_word(environ, "SLURM_PARTITION"),
        prefix=_prefix(environ),
        operator=environ.get("SLURM_OPERATOR", "").strip(),
        keys_dir=_keys_dir(environ),
        login_host=host,
        login_port=port,
        login_host_key=_host_key(environ),
        cards_command=environ.get("SLURM_CARDS_COMMAND", "").strip() or NVIDIA_SMI,
        wipe_command=_command(environ, "SLURM_WIPE_COMMAND"),
        wipe_minutes=_minutes(environ),
        **_rest(environ),
    )


def check_wipe_fits(slurm: Slurm, *, turnaround_seconds: int) -> None:
    """The reservation ends one turnaround after the term and cuts off a wipe that lasts longer. Raises SettingError."""
    needed = slurm.wipe_minutes * 60 + SWEEP_SECONDS
    if turnaround_seconds < needed:
        raise SettingError(
            f"TURNAROUND_SECONDS must be {needed} at least: SLURM_WIPE_MINUTES, and a minute for Slurm to end the jobs."
        )


def _required(environ: Mapping[str, str], name: str) -> str:
    value = environ.get(name, "").strip()
    if not value:
        raise SettingError(f"{name} is not set, and PROVIDER=slurm needs it; docs/slurm.md describes it.")
    return value


def _accounts(text: str) -> tuple[str, ...]:
    """Names apart from each other by blanks or commas."""
    names = tuple(text.replace(",", " ").split())
    if not all(_ACCOUNT.fullmatch(name) for name in names) or len(set(names)) != len(names):
        raise SettingError("SLURM_ACCOUNTS must name Unix accounts, each once, such as lease01,lease02.")
    if {"root", "slurm", "munge"} & set(names):
        raise SettingError("SLURM_ACCOUNTS names an account of the system: lease accounts belong to nobody.")
    return names


def _models(text: str) -> Mapping[str, str]:
    """`word of the cluster=our accelerator`, apart by commas: the GRES type and the name that the card tells."""
    pairs = [pair.partition("=") for pair in text.split(",") if pair.strip()]
    models = {word.strip(): slug.strip() for word, _separator, slug in pairs}
    if not all(word and re.fullmatch(r"[a-z0-9-]+", slug) for word, slug in models.items()):
        raise SettingError(
            "SLURM_MODELS must map words of the cluster to accelerators, such as "
            "h200=h200-sxm-141,NVIDIA H200=h200-sxm-141."
        )
    return models


def _word(environ: Mapping[str, str], name: str) -> str:
    value = _required(environ, name)
    if not re.fullmatch(r"[A-Za-z0-9_.-]+", value):
        raise SettingError(f"{name} must be one name.")
    return value


def _prefix(environ: Mapping[str, str]) -> str:
    value = environ.get("SLURM_PREFIX", "").strip() or "anchor_"
    if not _PREFIX.fullmatch(value):
        raise SettingError("SLURM_PREFIX must be small letters, digits and dashes with one _ at the end.")
    return value


def _rest(environ: Mapping[str, str]) -> dict[str, str]:
    """Slurm's tools, unless its REST server is chosen."""
    driver = environ.get("SLURM_DRIVER", "").strip() or "scontrol"
    if driver not in {"scontrol", "rest"}:
        raise SettingError("SLURM_DRIVER must be scontrol or rest.")
    if driver == "scontrol":
        return {}
    url = _required(environ, "SLURM_REST_URL")
    if not re.fullmatch(r"https?://[A-Za-z0-9.-]+(:\d+)?/?|https?://\[[0-9a-f:]+\](:\d+)?/?", url):
        raise SettingError("SLURM_REST_URL must be an address such as http://127.0.0.1:6820.")
    api = environ.get("SLURM_REST_API", "").strip() or REST_API
    if not re.fullmatch(r"v0\.0\.\d{2,3}", api):
        raise SettingError(f"SLURM_REST_API must be a version such as {REST_API}.")
    token_file = Path(_required(environ, "SLURM_REST_TOKEN_FILE"))
    if not token_file.is_file():
        raise SettingError(f"SLURM_REST_TOKEN_FILE names {token_file}, which is no file.")
    return {"driver": driver, "rest_url": url, "rest_api": api, "rest_token_file": str(token_file)}


def _keys_dir(environ: Mapping[str, str]) -> str:
    path = Path(_required(environ, "SLURM_KEYS_DIR"))
    if not path.is_dir():
        raise SettingError(f"SLURM_KEYS_DIR names {path}, which is no folder.")
    return str(path)


def _host_key(environ: Mapping[str, str]) -> str:
    """One line, type and base64, as in the .pub file of the login host's key."""
    path = Path(_required(environ, "SLURM_LOGIN_HOST_KEY_FILE"))
    try:
        words = path.read_text(encoding="ascii").split()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingError(f"SLURM_LOGIN_HOST_KEY_FILE names {path}, which cannot be read.") from error
    if len(words) < 2 or not words[0].startswith(("ssh-", "ecdsa-")):
        raise SettingError(f"SLURM_LOGIN_HOST_KEY_FILE names {path}, which is no public key.")
    return " ".join(words[:2])


def _command(environ: Mapping[str, str], name: str) -> str:
    value = _required(environ, name)
    if not value.startswith("/"):
        raise SettingError(f"{name} must be a command with its whole path.")
    return value


def _minutes(environ: Mapping[str, str]) -> int:
    value = environ.get("SLURM_WIPE_MINUTES", "").strip() or "15"
    if not value.isdecimal() or not 0 < int(value) <= 240:
        raise SettingError("SLURM_WIPE_MINUTES must be a number from 1 to 240.")
    return int(value)
