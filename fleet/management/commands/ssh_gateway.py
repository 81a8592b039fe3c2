"""Runs the SSH gateway of all leases, in a process of its own."""

import asyncio
import signal
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from fleet.gateway import heartbeat, server
from fleet.gateway.identity import identity, listen_address


class Command(BaseCommand):
    help = "Answer SSH logins to leases on SSH_LISTEN until SIGTERM."

    def handle(self, *args: Any, **options: Any) -> None:
        asyncio.run(self._run())

    async def _run(self) -> None:
        host, port = listen_address()
        stop = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stop.set)
        counters = server.Counters()
        try:
            acceptor = await server.start(host=host, port=port, counters=counters)
        except OSError as error:
            raise CommandError(
                f"The SSH gateway cannot listen on {host}:{port}: {error.strerror}."
            ) from error
        known = identity()
        self.stdout.write(f"The SSH gateway listens on {host}:{port}, host key {known.fingerprint}.")
        self.stdout.flush()
        beating = asyncio.create_task(heartbeat.keep_beating())
        await stop.wait()
        beating.cancel()
        acceptor.close()
        await server.dismiss_all(counters)
        await acceptor.wait_closed()
        await heartbeat.sign_off()
