"""Settings of a cluster: read only where it is used, and refused by name."""

import re
from pathlib import Path

import pytest

from anchorgpu.addresses import SettingError
from anchorgpu.demo import keys
from anchorgpu.env import read_env
from anchorgpu.slurm import Slurm, read_slurm
from tests.environment import production_settings

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture
def given(tmp_path: Path) -> dict[str, str]:
    key = tmp_path / "login.pub"
    key.write_text("ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKeyOfALoginHost root@login\n")
    return {
        "SLURM_ACCOUNTS": "lease01, lease02",
        "SLURM_MODELS": "h200=h200-sxm-141,NVIDIA H200=h200-sxm-141",
        "SLURM_PARTITION": "lots",
        "SLURM_KEYS_DIR": str(tmp_path),
        "SLURM_LOGIN": "login.gpu.example:22",
        "SLURM_LOGIN_HOST_KEY_FILE": str(key),
        "SLURM_WIPE_COMMAND": "/usr/local/sbin/anchor-wipe",
    }


def test_a_whole_cluster(given: dict[str, str]) -> None:
    slurm = read_slurm(given, provider="slurm")
    assert slurm.accounts == ("lease01", "lease02")
    assert slurm.models == {"h200": "h200-sxm-141", "NVIDIA H200": "h200-sxm-141"}
    assert (slurm.login_host, slurm.login_port) == ("login.gpu.example", 22)
    assert slurm.login_host_key == "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKeyOfALoginHost"
    assert (slurm.prefix, slurm.operator, slurm.wipe_minutes) == ("anchor_", "", 15)
    assert slurm.cards_command.startswith("/usr/bin/nvidia-smi ")


def test_a_cluster_that_is_not_used_is_not_looked_at() -> None:
    assert read_slurm({"SLURM_ACCOUNTS": "???"}, provider="simulated") == Slurm()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("SLURM_ACCOUNTS", ""),
        ("SLURM_ACCOUNTS", "lease01,lease01"),
        ("SLURM_ACCOUNTS", "lease01,root"),
        ("SLURM_ACCOUNTS", "Lease 01!"),
        ("SLURM_MODELS", ""),
        ("SLURM_MODELS", "h200"),
        ("SLURM_MODELS", "h200=H200 SXM"),
        ("SLURM_PARTITION", ""),
        ("SLURM_PARTITION", "lots,other"),
        ("SLURM_PREFIX", "lease"),
        ("SLURM_KEYS_DIR", "/no/such/folder"),
        ("SLURM_LOGIN", "login.gpu.example"),
        ("SLURM_LOGIN_HOST_KEY_FILE", "/no/such/file"),
        ("SLURM_WIPE_COMMAND", ""),
        ("SLURM_WIPE_COMMAND", "wipe"),
        ("SLURM_WIPE_MINUTES", "0"),
    ],
)
def test_each_is_refused_by_name(given: dict[str, str], name: str, value: str) -> None:
    with pytest.raises(SettingError, match=name):
        read_slurm(given | {name: value}, provider="slurm")


def test_each_is_described() -> None:
    names = set(re.findall(r"SLURM_[A-Z_]+", (ROOT / "anchorgpu" / "slurm.py").read_text(encoding="utf-8")))
    described = (ROOT / "docs" / "slurm.md").read_text(encoding="utf-8")
    assert len(names) > 10
    assert [name for name in sorted(names) if f"| `{name}` |" not in described] == []


def test_a_private_key_is_no_host_key(given: dict[str, str], tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text(keys.ssh_host_key())
    with pytest.raises(SettingError, match="no public key"):
        read_slurm(given | {"SLURM_LOGIN_HOST_KEY_FILE": str(secret)}, provider="slurm")


def test_an_installation_with_a_cluster(given: dict[str, str], tmp_path: Path) -> None:
    env = read_env(production_settings(tmp_path) | given | {"PROVIDER": "slurm"})
    assert (env.provider, env.slurm.partition) == ("slurm", "lots")
    with pytest.raises(SettingError, match="SLURM_"):
        read_env(production_settings(tmp_path) | {"PROVIDER": "slurm"})


@pytest.mark.parametrize(("seconds", "fits"), [("960", True), ("959", False)])
def test_the_wipe_fits_into_the_turnaround(
    given: dict[str, str], tmp_path: Path, seconds: str, fits: bool
) -> None:
    """15 minutes of it, and one in which Slurm ends the jobs."""
    asked = production_settings(tmp_path) | given | {"PROVIDER": "slurm", "TURNAROUND_SECONDS": seconds}
    if fits:
        assert read_env(asked).number("TURNAROUND_SECONDS") == 960
    else:
        with pytest.raises(SettingError, match="TURNAROUND_SECONDS must be 960 at least"):
            read_env(asked)
    assert read_env(asked | {"PROVIDER": "simulated"}).provider == "simulated"


def test_the_rest_server_is_chosen_with_an_address_and_a_token(given: dict[str, str], tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("SLURM_JWT=x")
    rest = {
        "SLURM_DRIVER": "rest",
        "SLURM_REST_URL": "http://127.0.0.1:6820",
        "SLURM_REST_TOKEN_FILE": str(token),
    }
    slurm = read_slurm(given | rest, provider="slurm")
    assert (slurm.driver, slurm.rest_url, slurm.rest_api) == ("rest", "http://127.0.0.1:6820", "v0.0.43")
    assert read_slurm(given, provider="slurm").driver == "scontrol"
    wrong = {
        "SLURM_DRIVER": "soap",
        "SLURM_REST_URL": "file:///etc/passwd",
        "SLURM_REST_API": "43",
        "SLURM_REST_TOKEN_FILE": "/no/such/file",
    }
    for name, value in wrong.items():
        with pytest.raises(SettingError, match=name):
            read_slurm(given | rest | {name: value}, provider="slurm")
