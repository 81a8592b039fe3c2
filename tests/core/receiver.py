"""A receiver of ours behind a public name: a resolver and a connection that tests direct, and a local TLS server."""

import re
import socket
import ssl
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event, Thread

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from core import outward, outward_target

PUBLIC = "93.184.215.14"
NAME = "hooks.example.com"
OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

Answerer = Callable[[socket.socket], None]


@dataclass
class Net:
    """Names and what they resolve to (the last list stays), and which addresses were connected to."""

    names: dict[str, list[list[str]]] = field(default_factory=dict)
    connected: list[tuple[str, int]] = field(default_factory=list)
    port: int = 0

    def resolve(self, host: str, port: int) -> list[str]:
        answers = self.names.get(host)
        if not answers:
            raise socket.gaierror("unknown")
        return answers.pop(0) if len(answers) > 1 else answers[0]


def use(monkeypatch: pytest.MonkeyPatch) -> Net:
    """A net in which connections to any address end at `net.port` of this machine."""
    net = Net({NAME: [[PUBLIC]]})

    def connect(address: str, port: int, seconds: float) -> socket.socket:
        net.connected.append((address, port))
        if not net.port:
            raise ConnectionRefusedError
        return socket.create_connection(("127.0.0.1", net.port), timeout=seconds)

    monkeypatch.setattr(outward_target, "_ask", net.resolve)
    monkeypatch.setattr(outward, "_open", connect)
    return net


def certificate(folder: Path, name: str = NAME) -> tuple[Path, Path]:
    """A certificate of that name, signed by itself, and its key."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    chain, private = folder / f"{name}.pem", folder / f"{name}.key"
    chain.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    private.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return chain, private


@dataclass
class Served:
    """What the server got; `over` ends an answer that waits."""

    requests: list[bytes] = field(default_factory=list)
    names: list[str | None] = field(default_factory=list)
    over: Event = field(default_factory=Event)


def _read_request(encrypted: ssl.SSLSocket) -> bytes:
    """All of it: a server that closes before has not answered."""
    text = b""
    while not (found := re.search(rb"(?i)content-length: (\d+).*?\r\n\r\n(.*)", text, re.DOTALL)) or len(
        found[2]
    ) < int(found[1]):
        more = encrypted.recv(65536)
        if not more:
            break
        text += more
    return text


@contextmanager
def tls_server(net: Net, pair: tuple[Path, Path], answer: bytes | Answerer = OK) -> Iterator[Served]:
    """Answers each connection the same way, one after the other."""
    served = Served()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*pair)
    context.sni_callback = lambda _sock, name, _context: served.names.append(name)
    listener = socket.create_server(("127.0.0.1", 0))
    net.port = listener.getsockname()[1]

    def run() -> None:
        while True:
            try:
                plain, _ = listener.accept()
            except OSError:
                return
            plain.settimeout(1)  # a caller that has gone is not always told of
            try:
                with context.wrap_socket(plain, server_side=True) as encrypted:
                    served.requests.append(_read_request(encrypted))
                    if callable(answer):
                        answer(encrypted)
                    else:
                        encrypted.sendall(answer)
            except OSError:
                plain.close()

    thread = Thread(target=run, daemon=True)
    thread.start()
    try:
        yield served
    finally:
        served.over.set()
        listener.shutdown(socket.SHUT_RDWR)
        listener.close()
        thread.join(timeout=10)
