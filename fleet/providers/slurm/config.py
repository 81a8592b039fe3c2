"""What an installation says about its cluster, as the driver uses it; anchorgpu.slurm checks it at the start."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from django.conf import settings

from fleet.providers.base import model_identifier


@dataclass(frozen=True)
class Config:
    """One cluster. `models` maps each word of the cluster for a card (GRES type, name) to our accelerator slug."""

    accounts: tuple[str, ...]
    models: Mapping[str, str]
    partition: str
    prefix: str
    operator: str
    keys_dir: Path
    login_host: str
    login_port: int
    login_host_key: str
    cards_command: str
    wipe_command: str
    wipe_minutes: int
    driver: str = "scontrol"
    rest_url: str = ""
    rest_api: str = ""
    rest_token_file: Path = Path()

    def name_of(self, lease_id: int) -> str:
        """The reservation of a lease, and its holder job."""
        return f"{self.prefix}{lease_id}"

    def lease_of(self, name: str) -> int | None:
        """The lease of a reservation; None for what is not ours."""
        number = name.removeprefix(self.prefix)
        is_ours = name.startswith(self.prefix) and number.isascii() and number.isdecimal()
        return int(number) if is_ours else None

    def model_of(self, word: str) -> str:
        """Our slug for a word of the cluster; a word that nobody has mapped stays as it is."""
        wanted = model_identifier(word)
        return next((slug for known, slug in self.models.items() if model_identifier(known) == wanted), word)


def from_settings() -> Config:
    """The configured cluster."""
    return Config(
        accounts=tuple(settings.SLURM_ACCOUNTS),
        models=settings.SLURM_MODELS,
        partition=settings.SLURM_PARTITION,
        prefix=settings.SLURM_PREFIX,
        operator=settings.SLURM_OPERATOR,
        keys_dir=Path(settings.SLURM_KEYS_DIR),
        login_host=settings.SLURM_LOGIN_HOST,
        login_port=settings.SLURM_LOGIN_PORT,
        login_host_key=settings.SLURM_LOGIN_HOST_KEY,
        cards_command=settings.SLURM_CARDS_COMMAND,
        wipe_command=settings.SLURM_WIPE_COMMAND,
        wipe_minutes=settings.SLURM_WIPE_MINUTES,
        driver=settings.SLURM_DRIVER,
        rest_url=settings.SLURM_REST_URL,
        rest_api=settings.SLURM_REST_API,
        rest_token_file=Path(settings.SLURM_REST_TOKEN_FILE),
    )
