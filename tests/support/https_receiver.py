"""A receiver of webhooks on this machine, behind TLS, that does what a test tells it."""

import base64
import hashlib
import hmac
import json
import ssl
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from headgate.foundation.settings import settings
from headgate.webhooks import sending

HOST = "localhost"
Answer = Callable[["Handler"], None]


@dataclass(frozen=True)
class Received:
    headers: Mapping[str, str]
    body: bytes

    @property
    def event(self) -> Any:
        return json.loads(self.body)

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]


class Handler(BaseHTTPRequestHandler):
    """One request. `receiver` says how it is answered."""

    protocol_version = "HTTP/1.1"
    receiver: "Receiver"
    got: Received

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.got = Received(headers, body)
        self.receiver.received.append(self.got)
        self.close_connection = True
        try:
            self.receiver.answer(self)
        except OSError:
            # The sender has left.
            return

    do_GET = do_POST

    def log_message(self, format: str, *args: object) -> None:
        pass


@dataclass
class Receiver:
    """`answer` decides what the next requests get; `received` are all that came."""

    port: int
    answer: Answer
    received: list[Received] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"https://{HOST}:{self.port}/hook?key=in-the-address"

    def times(self) -> Counter[str]:
        """How often each message came."""
        return Counter(one.id for one in self.received)


def accept(handler: Handler) -> None:
    status(204)(handler)


def status(code: int, body: bytes = b"", **headers: str) -> Answer:
    def answer(handler: Handler) -> None:
        handler.send_response(code)
        for name, value in headers.items():
            handler.send_header(name.replace("_", "-"), value)
        handler.send_header("content-length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    return answer


def stall(handler: Handler) -> None:
    """No answer, until the sender leaves."""
    handler.connection.settimeout(20)
    handler.connection.recv(1)


def drip(handler: Handler) -> None:
    """A header, a byte at a time, for ever."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\nx-slow: ")
    while True:
        handler.wfile.write(b"a")
        time.sleep(0.1)


def flood(handler: Handler) -> None:
    """A whole answer, with a body that does not end."""
    handler.wfile.write(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")
    while True:
        handler.wfile.write(b"10000\r\n" + b"x" * 0x10000 + b"\r\n")


def headers_without_end(handler: Handler) -> None:
    handler.wfile.write(b"HTTP/1.1 200 OK\r\n")
    while True:
        handler.wfile.write(b"x-more: " + b"y" * 8_000 + b"\r\n")


def lie(handler: Handler) -> None:
    """Something that is not HTTP."""
    handler.wfile.write(b"\x00\x01 200 OK this went well\r\n\r\n")


def hang_up(handler: Handler) -> None:
    """The connection ends without an answer."""


class _Server(ThreadingHTTPServer):
    def handle_error(self, request: object, client_address: object) -> None:
        """Senders that refuse the certificate are expected: they leave no trace on standard error."""


@contextmanager
def receiving(folder: Path, *, names: tuple[str, ...] = (HOST,), trusted: bool = True) -> Iterator[Receiver]:
    """A receiver whose certificate is for these names, by an authority that the sender trusts, or does not.

    Until the end, webhooks may lead to loopback addresses.
    """
    authority, certificate = _certificates(folder, names)
    server = _Server(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    # In the thread of the request: a sender that stalls in the handshake holds up nobody else.
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    receiver = Receiver(server.server_port, accept)
    server.RequestHandlerClass = type("Bound", (Handler,), {"receiver": receiver})
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("HEADGATE_WEBHOOKS_TO_LOOPBACK", "yes")
        if trusted:
            environment.setenv("SSL_CERT_FILE", str(authority))
        settings.cache_clear()
        sending._trust.cache_clear()
        try:
            yield receiver
        finally:
            server.shutdown()
            server.server_close()
            thread.join()
    settings.cache_clear()
    sending._trust.cache_clear()


def verified(received: Received, secret: str) -> list[bool]:
    """Whether each of the signatures is right for the secret, by an implementation of its own."""
    content = f"{received.id}.{received.headers['webhook-timestamp']}.".encode() + received.body
    key = base64.b64decode(secret.removeprefix("whsec_"))
    wanted = "v1," + base64.b64encode(hmac.new(key, content, hashlib.sha256).digest()).decode()
    return [one == wanted for one in received.headers["webhook-signature"].split(" ")]


def _certificates(folder: Path, names: tuple[str, ...]) -> tuple[Path, Path]:
    """The files of an authority, and of a certificate for these names with its key."""
    now = datetime.now(UTC)
    ca_key, key = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    issuer = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "Tests")])

    def builder(subject: x509.Name, public_key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(issuer)
            .public_key(public_key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=1))
            .not_valid_after(now + timedelta(days=1))
        )

    ca = builder(issuer, ca_key.public_key()).add_extension(x509.BasicConstraints(ca=True, path_length=None), True)
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0])])
    alternatives = x509.SubjectAlternativeName([x509.DNSName(name) for name in names])
    leaf = builder(subject, key.public_key()).add_extension(alternatives, False)
    pem = serialization.Encoding.PEM
    authority, certificate = folder / "authority.pem", folder / "receiver.pem"
    authority.write_bytes(ca.sign(ca_key, hashes.SHA256()).public_bytes(pem))
    private = key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    certificate.write_bytes(leaf.sign(ca_key, hashes.SHA256()).public_bytes(pem) + private)
    return authority, certificate
