"""Two gateways at once, and the end of one: sessions are told, its sign of life goes, a dead one is seen."""

import asyncio
import signal
from dataclasses import replace
from datetime import timedelta

import pytest
from django.test import Client
from pytest_django import Settings

from anchorgpu.services.ports import free_port
from core import clock
from core.models import SweepRun
from fleet.gateway import heartbeat
from tests.fleet.clients import Buyer
from tests.fleet.test_gateway_command import ready_line, start


@pytest.mark.django_db(transaction=True)
def test_open_sessions_hear_of_the_stop(buyer: Buyer) -> None:
    """Through a second gateway beside the one that the delivery was tested with."""
    port = free_port()
    process = start(port)
    assert ready_line(process)

    async def talk() -> str:
        connection = await replace(buyer, port=port).connect()
        session = await connection.create_process(term_type="xterm")
        await session.stdout.readuntil("$ ")
        process.send_signal(signal.SIGTERM)
        text = await asyncio.wait_for(session.stdout.read(), timeout=10)
        await asyncio.wait_for(connection.wait_closed(), timeout=10)
        return str(text)

    assert "the gateway is being restarted, session closed; log in again in a moment" in asyncio.run(talk())
    _out, errors = process.communicate(timeout=10)
    assert process.returncode == 0
    assert '"level": "error"' not in errors
    assert not SweepRun.objects.filter(name__endswith=f":{port}").exists()
    assert SweepRun.objects.filter(name=heartbeat.NAME).exists()


def failing() -> list[str]:
    return [name for name in Client().get("/readyz").json()["failing"] if name.startswith("gateway")]


@pytest.mark.django_db(transaction=True)  # as the gateway writes it: with connections of its own
def test_one_of_two_that_died_is_named(settings: Settings) -> None:
    ports, names = (2222, 2223), []
    for settings.SSH_LISTEN_PORT in ports:
        heartbeat.beat(is_first=True)
        names.append(heartbeat.own_name())
    assert len(set(names)) == 2
    assert failing() == []
    silent = clock.system_now() - timedelta(minutes=1)
    SweepRun.objects.filter(name=names[0]).update(last_finished_at=silent)
    assert failing() == [names[0]]
    # After a day it was taken away, and a start anywhere tidies up.
    SweepRun.objects.filter(name=names[0]).update(last_finished_at=silent - heartbeat.GONE_AFTER)
    assert failing() == []
    heartbeat.beat(is_first=True)
    assert set(SweepRun.objects.values_list("name", flat=True)) == {heartbeat.NAME, names[1]}
    # One that is stopped in order is not missed.
    heartbeat.leave()
    assert list(SweepRun.objects.values_list("name", flat=True)) == [heartbeat.NAME]
    heartbeat.forget()
    assert not SweepRun.objects.exists()
