"""S36: an address that others gave us leads nowhere inside: not as text, not as a name, not later, not by redirect."""

import ipaddress
import socket
import ssl
import time
from pathlib import Path
from threading import BoundedSemaphore, Event, Thread

import pytest
from pytest_django import Settings

from core import outward, outward_target
from core.errors import Refusal
from core.outward import Answer, post
from core.outward_target import Target, Unresolved, check_reachable, is_public, parse_target, resolve
from tests.core import receiver
from tests.core.receiver import NAME, OK, PUBLIC, Net

URL = f"https://{NAME}/hook?x=1"

INVALID = [
    "", "hooks.example.com", "//hooks.example.com/", "https:hooks.example.com", "https://", "https:///x",
    "javascript:1",
    "https://user:pass@hooks.example.com/", "https://@hooks.example.com/", "https://hooks.example.com@10.0.0.1/",
    "https://hooks.example.com/#part", "https://hooks.example.com:6379/", "https://hooks.example.com:80/",
    "https://hooks.example.com:22/", "https://hooks.example.com:99999/", "https://hooks.example.com:0/",
    "https://hooks.example.com/a b", "https://hooks.example.com/\n", "https://hooks.example.com\\@10.0.0.1/",
    "https://2130706433/", "https://0x7f000001/", "https://0x7f.0.0.1/", "https://0177.0.0.1/", "https://127.1/",
    "https://1.2.3/", "https://93.184.215.14/", "https://[2606:4700::1111]/", "https://127。0。0。1/",
    "https://①②⑦.0.0.1/", "https://a..example.com/", "https://-a-.example.com/",
    "https://" + "a" * 64 + ".example.com/",
    "https://hooks.example.com/" + "a" * 2000, "file:///etc/passwd", "https://[::1/", "https://[fe80::1%25eth0]x/",
    "https://hooks.example.com/\u202e", "https://hooks.example.com.0x1/",
]  # fmt: skip
NOT_HTTPS = ["http://hooks.example.com/", "ftp://hooks.example.com/", "gopher://hooks.example.com:70/_x",
             "file://hooks.example.com/etc/passwd", "http://127.0.0.1:8000/"]  # fmt: skip
INWARD = [
    "https://127.0.0.1/", "https://127.0.0.2:8443/", "https://0.0.0.0/", "https://10.0.0.1/", "https://172.16.0.1/",
    "https://192.168.1.1/", "https://169.254.169.254/latest/meta-data", "https://100.64.0.1/", "https://[::1]/",
    "https://[::]/", "https://[::ffff:127.0.0.1]/", "https://[::ffff:7f00:1]/", "https://[::127.0.0.1]/",
    "https://[fe80::1]/", "https://[fc00::1]/", "https://[fe80::1%25eth0]/", "https://[64:ff9b::7f00:1]/",
    "https://[2002:7f00:1::]/", "https://localhost/", "https://LOCALHOST./", "https://a.localhost/", "https://intranet/",
    "https://printer.local/", "https://metadata.google.internal/", "https://255.255.255.255/", "https://224.0.0.1/",
]  # fmt: skip


@pytest.mark.parametrize(
    ("urls", "code", "status"),
    [(INVALID, "invalid_url", 400), (NOT_HTTPS, "url_not_https", 400), (INWARD, "url_inward", 422)],
    ids=["invalid", "not https", "inward"],
)
def test_what_can_be_seen_is_refused_as_text(urls: list[str], code: str, status: int) -> None:
    got = {}
    for url in urls:
        with pytest.raises(Refusal) as refused:
            parse_target(url)
        got[url] = (refused.value.code, refused.value.status, refused.value.field)
    assert got == dict.fromkeys(urls, (code, status, "url"))


@pytest.mark.parametrize(
    ("url", "kept"),
    [
        (URL, URL),
        ("HTTPS://Hooks.Example.COM.", "https://hooks.example.com/"),
        ("https://hooks.example.com:443/", "https://hooks.example.com/"),
        ("https://hooks.example.com:8443/a?b=%2F", "https://hooks.example.com:8443/a?b=%2F"),
        ("https://bücher.example/ä", "https://xn--bcher-kva.example/%C3%A4"),
        ("https://straße.example/", "https://xn--strae-oqa.example/"),
    ],
)
def test_ordinary_addresses_pass_in_one_form(url: str, kept: str) -> None:
    assert parse_target(url).url == kept
    assert parse_target(kept).url == kept


def test_which_addresses_are_public() -> None:
    public = [PUBLIC, "1.1.1.1", "2606:4700::1111", "::ffff:1.1.1.1", "64:ff9b::101:101"]
    inner = [
        "127.0.0.1", "10.1.2.3", "169.254.169.254", "100.64.0.1", "192.0.0.8", "192.88.99.1",
        "198.18.0.1", "203.0.113.1",
        "224.0.0.1", "239.1.1.1", "240.0.0.1", "0.0.0.1", "::", "::1", "::ffff:10.0.0.1", "::10.0.0.1", "fe80::1",
        "fec0::1", "fd00::1", "ff02::1", "64:ff9b::a00:1", "64:ff9b:1::1", "2001:db8::1", "2001::1", "2002:a00:1::",
        "3fff::1", "100::1", "5f00::1",
    ]  # fmt: skip
    found = {text: is_public(ipaddress.ip_address(text)) for text in [*public, *inner]}
    assert found == dict.fromkeys(public, True) | dict.fromkeys(inner, False)


@pytest.fixture
def net(monkeypatch: pytest.MonkeyPatch) -> Net:
    return receiver.use(monkeypatch)


@pytest.mark.parametrize(
    "addresses", [["10.0.0.1"], [PUBLIC, "10.0.0.1"], ["::1"], ["::ffff:169.254.169.254"], ["fe80::1%eth0"]]
)
def test_a_public_name_that_leads_inside_is_refused_at_save_and_never_connected(
    net: Net, addresses: list[str]
) -> None:
    net.names[NAME] = [addresses]
    with pytest.raises(Refusal, match="url_inward"):
        check_reachable(parse_target(URL))
    assert send().error == "inward_target"
    assert net.connected == []


def test_a_name_without_an_address_may_be_saved_and_fails_at_each_call(net: Net) -> None:
    net.names.clear()
    check_reachable(parse_target(URL))
    assert send().error == "dns_failed"


def test_a_name_server_that_hangs_holds_nobody_up(net: Net, monkeypatch: pytest.MonkeyPatch) -> None:
    answered = Event()

    def hang(_host: str, _port: int) -> list[str]:
        answered.wait(10)
        return []

    monkeypatch.setattr(outward_target, "LOOKUP_SECONDS", 0.05)
    monkeypatch.setattr(outward_target, "_ask", hang)
    with pytest.raises(Unresolved, match="dns_timeout"):
        resolve(parse_target(URL))
    answered.set()


def test_slow_name_servers_take_few_threads_of_those_who_save(
    net: Net, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One who saves while others wait is not held up; each call judges the name all the same."""
    net.names[NAME] = [["10.0.0.1"]]
    monkeypatch.setattr(outward_target, "_lookups", BoundedSemaphore(1))
    with outward_target._lookups:
        check_reachable(parse_target(URL))
        assert send().error == "inward_target"
    for _again in range(2):
        with pytest.raises(Refusal, match="url_inward"):
            check_reachable(parse_target(URL))


def test_a_name_that_changes_after_it_was_saved_is_judged_again(net: Net) -> None:
    net.names[NAME] = [[PUBLIC], ["127.0.0.1"]]
    target = parse_target(URL)
    check_reachable(target)
    assert post(target, body=b"{}", headers={}).error == "inward_target"
    assert net.connected == []


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return receiver.certificate(tmp_path_factory.mktemp("tls"))


@pytest.fixture
def trusted(monkeypatch: pytest.MonkeyPatch, pair: tuple[Path, Path]) -> None:
    """Our own authority beside those of the system, as a context that checks all the same."""
    context = ssl.create_default_context(cafile=str(pair[0]))
    monkeypatch.setattr(outward, "_context", lambda _hour: context)


def send(url: str = URL) -> Answer:
    return post(parse_target(url), body=b'{"a":1}', headers={"webhook-id": "evt_1"})


def test_ordinary_https_works_and_goes_to_the_address_that_was_checked(
    net: Net, pair: tuple[Path, Path], trusted: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    with receiver.tls_server(net, pair) as served:
        answer = send()
    assert (answer.status, answer.error) == (200, "")
    assert net.connected == [(PUBLIC, 443)]
    assert served.names == [NAME]
    head, _, body = served.requests[0].partition(b"\r\n\r\n")
    assert head.startswith(b"POST /hook?x=1 HTTP/1.1\r\n")
    assert b"\r\nHost: hooks.example.com\r\n" in head
    assert b"webhook-id: evt_1" in head
    assert head.count(b"Host:") == 1
    assert body == b'{"a":1}'


def test_a_certificate_of_nobody_we_trust_is_refused(net: Net, pair: tuple[Path, Path]) -> None:
    with receiver.tls_server(net, pair) as served:
        assert send().error == "tls_failed"
    assert served.requests == []


def test_a_certificate_of_another_name_is_refused(net: Net, pair: tuple[Path, Path], trusted: None) -> None:
    net.names["other.example.com"] = [[PUBLIC]]
    with receiver.tls_server(net, pair) as served:
        assert send("https://other.example.com/").error == "tls_failed"
    assert served.requests == []


def test_a_redirect_is_an_answer_and_is_not_followed(
    net: Net, pair: tuple[Path, Path], trusted: None
) -> None:
    to = b"HTTP/1.1 302 Found\r\nLocation: https://169.254.169.254/\r\nContent-Length: 0\r\n\r\n"
    with receiver.tls_server(net, pair, to):
        assert send().status == 302
    assert net.connected == [(PUBLIC, 443)]


def drip(encrypted: socket.socket) -> None:
    encrypted.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n")
    for _ in range(1000):
        encrypted.sendall(b"x")
        Event().wait(0.02)


def endless_head(encrypted: socket.socket) -> None:
    while True:
        encrypted.sendall(b"HTTP/1.1 100 Continue\r\n\r\n" * 100)


def no_answer(encrypted: socket.socket) -> None:
    encrypted.recv(1)


def large(encrypted: socket.socket) -> None:
    encrypted.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    for _ in range(10_000):
        encrypted.sendall(b"x" * 65536)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (drip, (None, "timeout")),
        (no_answer, (None, "timeout")),
        (endless_head, (None, "timeout")),
        (large, (200, "")),
        (b"SSH-2.0-OpenSSH\r\n", (None, "bad_answer")),
        (b"", (None, "bad_answer")),
        (b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 200 + b"\r\n", (None, "bad_answer")),
        (b"HTTP/1.1 200 " + b"x" * 70_000, (None, "bad_answer")),
        (b"HTTP/1.1 99999 x\r\n\r\n", (None, "bad_answer")),
        (OK.replace(b"200 OK", b"503 no"), (503, "")),
    ],
)
def test_a_hostile_receiver_costs_bounded_time_and_memory(
    net: Net,
    pair: tuple[Path, Path],
    trusted: None,
    monkeypatch: pytest.MonkeyPatch,
    answer: bytes | receiver.Answerer,
    expected: tuple[int | None, str],
) -> None:
    monkeypatch.setattr(outward, "TOTAL_SECONDS", 0.4)
    started = time.monotonic()
    with receiver.tls_server(net, pair, answer):
        got = send()
        assert time.monotonic() - started < 2
    assert (got.status, got.error) == expected


def test_a_server_that_never_ends_its_handshake_is_cut_off(net: Net, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outward, "TOTAL_SECONDS", 0.2)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        net.port = listener.getsockname()[1]
        assert send().error == "timeout"


def test_nobody_there(net: Net) -> None:
    assert send().error == "connect_failed"


def test_the_receiver_on_this_machine_is_for_a_demo_that_says_so(settings: Settings) -> None:
    assert settings.DEMO
    assert settings.WEBHOOK_LOOPBACK is False
    local = "http://127.0.0.1:9000/hook"
    settings.WEBHOOK_LOOPBACK = True
    assert parse_target(local) == Target("http", "127.0.0.1", 9000, "/hook", loopback=True)
    for url in (
        "http://127.0.0.1/",
        "http://127.0.0.1:80/",
        "http://10.0.0.1:9000/",
        "http://127.0.0.2:9000/",
    ):
        with pytest.raises(Refusal):
            parse_target(url)
    settings.DEMO = False
    with pytest.raises(Refusal):
        parse_target(local)


def test_the_receiver_of_a_demo_hears_plain_http_and_nothing_of_a_name_that_leads_out(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.WEBHOOK_LOOPBACK = True
    with socket.create_server(("127.0.0.1", 0)) as listener:
        target = parse_target(f"http://localhost:{listener.getsockname()[1]}/in")
        answered = Thread(target=_answer_once, args=[listener])
        answered.start()
        assert post(target, body=b"{}", headers={}).status == 200
        answered.join(timeout=10)
    monkeypatch.setattr(outward_target, "_ask", lambda _host, _port: [PUBLIC])
    assert post(target, body=b"{}", headers={}).error == "inward_target"


def _answer_once(listener: socket.socket) -> None:
    caller, _address = listener.accept()
    with caller:
        caller.settimeout(5)
        text = b""
        while not text.endswith(b"{}"):
            text += caller.recv(4096)
        caller.sendall(OK)
