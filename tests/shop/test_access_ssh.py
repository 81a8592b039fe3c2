"""What the page gives to copy works when it is pasted: OpenSSH with exactly the text that is shown."""

import html
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import asyncssh
import pytest
from django.test import Client

from anchorgpu.services.ports import free_port
from core import outbox
from fleet.keys import parse_keys
from fleet.models import Lease
from fleet.services.sweep import advance_lease
from orders.models import Order
from tests import scenario
from tests.fleet import clients
from tests.fleet.conftest import RunningGateway
from tests.fleet.test_keys import KEY

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def key() -> asyncssh.SSHKey:
    return asyncssh.generate_private_key("ecdsa-sha2-nistp256")


@pytest.fixture
def order(settings: Any, transactional_db: None, key: asyncssh.SSHKey) -> Iterator[Order]:
    """Paid, prepared and tested through a gateway that really listens."""
    port = free_port()
    settings.SSH_LISTEN = f"127.0.0.1:{port}"
    scenario.open_shop()
    running = RunningGateway(port)
    running.start()
    lines = [key.export_public_key("openssh").decode(), KEY]
    row = scenario.order(keys=parse_keys(lines))
    scenario.pay(row)
    lease = Lease.objects.get(order_ref=row.public_id)
    advance_lease(lease_id=lease.pk)
    outbox.drain()
    yield row
    running.stop()


def shown(page: str, element: str) -> str:
    found = re.search(rf'<pre id="{element}"[^>]*>(.*?)</pre>', page, re.DOTALL)
    assert found is not None, element
    return html.unescape(found[1])


def test_the_block_and_the_line_log_in_as_they_are_shown(
    order: Order, key: asyncssh.SSHKey, tmp_path: Path
) -> None:
    page = Client().get(f"/en/orders/{order.token}/").content.decode()
    lease = Lease.objects.get(order_ref=order.public_id)
    config, known_hosts = tmp_path / "config", tmp_path / "known_hosts"
    config.write_text(shown(page, "ssh-config"), encoding="utf-8")
    known_hosts.write_text(shown(page, "known-hosts") + "\n", encoding="utf-8")
    alias = f"anchor-{lease.username}"
    assert f"ssh {alias}" in page
    ssh = [clients.openssh(), "-F", str(config)]
    # ssh finds ~ in the password file, so the two files of the home are named beside the text, not in it.
    home = [
        "-o",
        f"UserKnownHostsFile={known_hosts}",
        "-o",
        "GlobalKnownHostsFile=/dev/null",
        "-o",
        "BatchMode=yes",
        "-o",
        f"IdentityFile={clients.write_key(tmp_path, key)}",
    ]
    done = clients.run([*ssh, *home, alias], "nvidia-smi -L")
    assert done.returncode == 0, done.stderr
    assert sum(line.startswith("GPU ") for line in done.stdout.splitlines()) == 2
    # The files that ssh would read without our help are those that ssh-keygen makes for the types on this lease.
    read = subprocess.run([*ssh, "-G", alias], capture_output=True, text=True, check=True).stdout
    names = re.findall(r"^identityfile (.*)$", read, re.MULTILINE)
    assert names == ["~/.ssh/id_ecdsa", "~/.ssh/id_ed25519"]
    assert "identitiesonly yes" in read
    assert re.search(r"^stricthostkeychecking (yes|true)$", read, re.MULTILINE)


def test_the_command_of_the_page_logs_in_with_the_line_for_known_hosts(
    order: Order, key: asyncssh.SSHKey, tmp_path: Path
) -> None:
    page = Client().get(f"/en/orders/{order.token}/").content.decode()
    known_hosts = tmp_path / "known_hosts"
    known_hosts.write_text(shown(page, "known-hosts") + "\n", encoding="utf-8")
    program, *words = shown(page, "ssh").split()
    assert program == "ssh"
    line = [
        clients.openssh(),
        "-F",
        "/dev/null",
        "-o",
        f"UserKnownHostsFile={known_hosts}",
        "-o",
        "BatchMode=yes",
        "-o",
        "StrictHostKeyChecking=yes",
        "-i",
        str(clients.write_key(tmp_path, key)),
        *words,
    ]
    assert clients.run(line, "hostname").returncode == 0
