"""A stop and a restart lose no request; each with a control that does."""

import socket

import pytest

from anchorgpu.services.ports import LOCALHOST, free_port
from tests.anchorgpu.processes import wait_for
from tests.anchorgpu.web_servers import SLOW, Clients, ask, first_failure, kill, send, server, stop


def test_a_restart_behind_a_held_socket_loses_nothing() -> None:
    """As with the socket unit of systemd: who comes in between waits. The control is a kill instead of a stop."""
    with socket.create_server((LOCALHOST, 0), backlog=128) as held:
        port = held.getsockname()[1]
        with server(port, held=held) as first, Clients(port) as clients:
            clients.wait_for_more(30)
            assert stop(first) == 0
            before = set(clients.answers)
            with server(port, held=held) as second:
                clients.wait_for_more(30)
                assert clients.lost == []
                assert set(clients.answers) > before  # both have answered
                clients.one_more("/?60")
                clients.wait_for_more(30)
                kill(second)
                wait_for(lambda: bool(clients.lost), seconds=10, what="clients that were cut off")
                # The others wait for a third server, which does not come.
                held.close()


@pytest.mark.parametrize("is_stock", [False, True], ids=["ours", "control: gunicorn's own"])
def test_a_stop_answers_who_was_let_in_and_refuses_the_rest_at_once(is_stock: bool) -> None:
    port = free_port()
    arguments = (*SLOW, "--worker-class", "gthread") if is_stock else SLOW
    with server(port, arguments, WEB_THREADS="2", WEB_GRACE_SECONDS="20") as process:
        # More than there are threads.
        clients = [send(port, "/?1") for _ in range(4)]
        process.terminate()
        failure = first_failure(port)
        is_over = process.poll() is not None
        answers = []
        for client in clients:
            answers.append(client.getresponse().status)
            client.close()
        assert process.wait(20) == 0
    assert answers == [200] * 4
    if is_stock:
        # Let in by the kernel, kept waiting for seconds, and cut off.
        assert not isinstance(failure, ConnectionRefusedError)
    else:
        assert isinstance(failure, ConnectionRefusedError)
        assert not is_over


@pytest.mark.parametrize(("trusted", "scheme"), [("10.0.0.0/8", "http"), ("127.0.0.1", "https")])
def test_only_a_trusted_proxy_says_that_it_was_https(trusted: str, scheme: str) -> None:
    port = free_port()
    with server(port, TRUSTED_PROXIES=trusted):
        assert ask(port, **{"X-Forwarded-Proto": "https"}).split()[1] == scheme
        assert ask(port, **{"X-Forwarded-Ssl": "on"}).split()[1] == "http"
