"""A worker that is killed with SIGKILL at a named point; run as a program by test_kill.py.

It boots once and forks a child for each line "<lease> <point>", so that a kill costs milliseconds.
"""

import os
import signal
import sys
from typing import Any, NoReturn

import django

django.setup()

from anchorgpu.celery import app  # noqa: E402
from core import outbox  # noqa: E402
from fleet import providers  # noqa: E402
from fleet.services import try_login, work  # noqa: E402
from fleet.services.sweep import advance_lease  # noqa: E402
from orders.services import notify  # noqa: E402
from tests.fleet.doubles import FaultyProvider  # noqa: E402


def die(*_args: Any, **_kwargs: Any) -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("unreachable")


def work_until(lease_id: int, point: str) -> None:
    """`before:<verb>` and `after:<verb>` at the provider, `login` with the test key in place, `commit:<n>` when the
    result of the n-th step is written and not committed, `mail` when all is committed and the mail is not queued."""
    provider = FaultyProvider()
    providers._PROVIDERS["simulated"] = lambda: provider
    vars(try_login)["check_login"] = lambda **_arguments: ""
    when, _, what = point.partition(":")
    if when == "login":
        vars(try_login)["check_login"] = die
    elif when == "mail":
        vars(notify)["queue_mail"] = die
    elif when == "commit":
        left = [int(what)]

        def free(lease: Any) -> None:
            left[0] -= 1
            if left[0] == 0:
                die()
            release(lease)

        release, work._free = work._free, free
    else:
        getattr(provider, when)[what].append(die)
    advance_lease(lease_id=lease_id)
    if when == "mail":
        app.loader.import_default_modules()
        outbox.drain()


for request in sys.stdin:
    lease, name = request.split()
    child = os.fork()
    if child == 0:
        work_until(int(lease), name)
        os._exit(0)
    _pid, status = os.waitpid(child, 0)
    sys.stdout.write(f"{os.WTERMSIG(status) if os.WIFSIGNALED(status) else 'alive'}\n")
    sys.stdout.flush()
