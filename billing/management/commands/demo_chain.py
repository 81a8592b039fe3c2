"""Prepares the demo's chain by hand: the demo itself does it before the settings can load."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from billing.networks import ConfigError, load_networks
from billing.rails.errors import ChainError
from billing.rails.local_chain import SLUG, TOKEN_SYMBOL, prepare


class Command(BaseCommand):
    help = (
        "Deploys or finds the test USDC on the local chain, funds the demo buyer, writes the networks file."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--rpc-url", help="default: the address in the networks file")

    def handle(self, *args: Any, rpc_url: str | None = None, **options: Any) -> None:
        if not settings.DEMO:
            raise CommandError("This command belongs to the demo and does nothing outside it.")
        file = settings.EVM_NETWORKS_FILE
        try:
            prepare(rpc_url or load_networks(file)[SLUG].rpc_urls[0], file)
            token = load_networks(file)[SLUG].asset(TOKEN_SYMBOL)
        except KeyError as error:
            raise CommandError(f"{file} has no network {SLUG!r}: give --rpc-url.") from error
        except (ChainError, ConfigError) as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"The local chain is ready: {TOKEN_SYMBOL} at {token.contract}.")
