"""Which way to the controller: Slurm's own tools, or its REST server."""

from fleet.providers.slurm.config import Config
from fleet.providers.slurm.controller import Controller
from fleet.providers.slurm.rest import RestController
from fleet.providers.slurm.tools import Tools


def controller_of(config: Config, tools: Tools | None = None) -> Controller:
    """The one that SLURM_DRIVER names."""
    return (RestController if config.driver == "rest" else Controller)(config, tools or Tools())
