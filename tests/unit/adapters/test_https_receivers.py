"""Receivers of webhooks: to which addresses nothing is sent, whatever their names, and what an attempt says."""

from __future__ import annotations

import datetime
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from neve.adapters.https_receivers import HttpsReceivers, look_up
from neve.domain.outgoing.addresses import is_public

FORBIDDEN = (
    *("10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1", "127.0.0.1", "127.8.8.8", "0.0.0.0", "0.1.2.3"),
    *("169.254.169.254", "169.254.170.2", "100.64.0.1", "100.100.100.200", "168.63.129.16", "192.0.0.192"),
    *("224.0.0.1", "239.255.255.250", "240.0.0.1", "255.255.255.255", "192.0.2.1", "198.18.0.1", "198.51.100.7"),
    *("203.0.113.9", "192.88.99.1", "::", "::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:8.8.8.8", "::8.8.8.8"),
    *("64:ff9b::7f00:1", "64:ff9b::8.8.8.8", "64:ff9b:1::1", "fe80::1", "fec0::1", "fc00::1", "fd00:ec2::254"),
    *("ff02::1", "2001:db8::1", "2001::1", "2002:7f00:1::", "2001:10::1", "100::1", "3fff::1", "5f00::1"),
)
PUBLIC = ("8.8.8.8", "1.1.1.1", "93.184.216.34", "2606:2800:220:1::1", "2a00:1450:4001::200e")


@pytest.mark.parametrize("address", FORBIDDEN)
def test_an_address_that_is_not_public_is_none(address: str) -> None:
    assert not is_public(ip_address(address))


@pytest.mark.parametrize("address", PUBLIC)
def test_an_address_of_the_internet_is_public(address: str) -> None:
    assert is_public(ip_address(address))


# --- without asking anybody -----------------------------------------------------------------------


@pytest.mark.parametrize("address", FORBIDDEN)
def test_a_url_that_names_such_an_address_is_refused_at_once(address: str) -> None:
    host = f"[{address}]" if ":" in address else address
    assert "not public" in str(HttpsReceivers().refusal(f"https://{host}/neve"))


@pytest.mark.parametrize(
    "url",
    [
        *("http://example.com/", "ftp://example.com/", "https://", "https:///x", "example.com", "", "https://a b/"),
        *("https://ada:secret@example.com/", "https://example.com/#here", "https://example.com:99999/", "https://[::1"),
        *("https://exämple.com/", "file:///etc/passwd", "https://[fe80::1%25eth0]/", "//example.com"),
    ],
)
def test_a_url_that_is_none_for_a_webhook_is_refused(url: str) -> None:
    assert HttpsReceivers().refusal(url) is not None


@pytest.mark.parametrize("url", ["https://example.com", "https://example.com:8443/neve?x=1", "https://8.8.8.8/"])
def test_any_other_url_is_taken(url: str) -> None:
    assert HttpsReceivers().refusal(url) is None


def test_one_machine_may_let_itself_be_told() -> None:
    local = HttpsReceivers(allow_loopback=True)
    for url in ("http://127.0.0.1:9000/", "http://localhost/", "https://[::1]/"):
        assert local.refusal(url) is None
    for url in ("http://127.0.0.1:9000/", "http://localhost/", "https://[::1]/"):
        assert HttpsReceivers().refusal(url) is not None
    assert local.refusal("https://10.0.0.1/") is not None
    assert local.refusal("https://169.254.169.254/") is not None


def test_plain_http_goes_to_the_machine_itself_alone() -> None:
    away = HttpsReceivers(allow_loopback=True, lookup=lambda *_: ["8.8.8.8"])
    assert away.post("http://example.com/", {}, b"{}").failure == "address"


# --- names ----------------------------------------------------------------------------------------


def leading_to(*addresses: str) -> HttpsReceivers:
    return HttpsReceivers(lookup=lambda *_: list(addresses))


@pytest.mark.parametrize("address", FORBIDDEN)
def test_a_name_that_leads_to_such_an_address_is_refused_at_the_attempt(address: str) -> None:
    assert leading_to(address).post("https://example.com/", {}, b"{}").failure == "address"


def test_a_name_with_one_such_address_is_refused_as_a_whole() -> None:
    assert leading_to("8.8.8.8", "10.0.0.1").post("https://example.com/", {}, b"{}").failure == "address"


@pytest.mark.parametrize("host", ["2130706433", "0x7f.1", "127.1", "017700000001", "0xa9fea9fe"])
def test_another_way_to_write_an_address_is_refused_as_well(host: str) -> None:
    assert "not public" in str(HttpsReceivers().refusal(f"https://{host}/"))


def test_an_unknown_name_says_so() -> None:
    def unknown(*_: object) -> list[str]:
        raise OSError("no such host")

    assert HttpsReceivers(lookup=unknown).post("https://example.com/", {}, b"{}").failure == "name"


def test_a_resolver_that_hangs_costs_no_more_than_the_time_of_an_attempt() -> None:
    over = threading.Event()

    def slow(*_: object) -> list[str]:
        over.wait(60)
        return ["8.8.8.8"]

    began = time.monotonic()
    assert HttpsReceivers(lookup=slow, timeout_s=0.2).post("https://example.com/", {}, b"{}").failure == "timeout"
    over.set()
    assert time.monotonic() - began < 30


# --- a receiver on this machine ---------------------------------------------------------------------


class Asked(ThreadingHTTPServer):
    requests: list[tuple[str, dict[str, str], bytes]]
    connections: int


Server = Callable[..., Any]


@pytest.fixture
def server(tmp_path: Path) -> Callable[..., Any]:
    """Starts one, which answers with a status and headers; by TLS where a context is given."""

    @contextmanager
    def started(
        status: int = 204, headers: dict[str, str] | None = None, hang: threading.Event | None = None, tls: Any = None
    ) -> Iterator[Asked]:
        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                made.requests.append((self.path, {k.lower(): v for k, v in self.headers.items()}, body))
                if hang is not None:
                    for _ in range(600):  # a byte now and then: no single read takes too long
                        if hang.wait(0.05):
                            return
                        try:
                            self.wfile.write(b"H")
                        except OSError:
                            return
                self.send_response(status)
                for name, value in (headers or {}).items():
                    self.send_header(name, value)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        made = Asked(("127.0.0.1", 0), Handler)
        made.requests, made.daemon_threads = [], True
        if tls is not None:
            made.socket = tls.wrap_socket(made.socket, server_side=True)
        thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield made
        finally:
            made.shutdown()
            made.server_close()
            thread.join()

    return started


def test_a_request_has_its_headers_its_body_and_the_name_of_the_host(server: Server) -> None:
    receivers = HttpsReceivers(allow_loopback=True, lookup=lambda *_: ["127.0.0.1"])
    with server() as made:
        port = made.server_address[1]
        attempt = receivers.post(f"http://hooks.example.com:{port}/neve?x=1", {"webhook-id": "out_1"}, b'{"a":1}')
    assert (attempt.status, attempt.delivered) == (204, True)
    [(path, headers, body)] = made.requests
    assert (path, body, headers["webhook-id"]) == ("/neve?x=1", b'{"a":1}', "out_1")
    assert headers["host"] == f"hooks.example.com:{port}"


def test_the_name_is_looked_up_once_and_what_was_checked_is_what_is_connected_to() -> None:
    """A name that is public when it is checked, and the machine itself a moment later."""
    answers = iter((["8.8.8.8"], ["127.0.0.1"]))
    asked: list[str] = []
    reached: list[str] = []

    def rebinding(host: str, _: int) -> list[str]:
        asked.append(host)
        return next(answers)

    def connect(address: tuple[str, int], _: float) -> socket.socket:
        reached.append(address[0])
        raise ConnectionRefusedError

    receivers = HttpsReceivers(lookup=rebinding, connect=connect)
    assert receivers.post("https://evil.example/", {}, b"{}").failure == "connection"
    assert (asked, reached) == (["evil.example"], ["8.8.8.8"])


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_an_answer_and_is_not_followed(server: Server, status: int) -> None:
    local = HttpsReceivers(allow_loopback=True)
    with server() as target, server(status, {"Location": f"http://127.0.0.1:{target.server_address[1]}/"}) as made:
        attempt = local.post(f"http://127.0.0.1:{made.server_address[1]}/", {}, b"{}")
        assert (attempt.status, attempt.failure) == (status, "status")
        assert target.requests == []


def test_a_receiver_that_sends_a_byte_now_and_then_is_cut_off(server: Server) -> None:
    over = threading.Event()
    with server(hang=over) as made:
        attempt = HttpsReceivers(allow_loopback=True, timeout_s=0.3).post(
            f"http://127.0.0.1:{made.server_address[1]}/", {}, b"{}"
        )
        over.set()
    assert (attempt.status, attempt.failure) == (None, "timeout")


def test_a_port_that_nobody_listens_on_says_so(server: Server) -> None:
    with server() as made:
        port = made.server_address[1]
    assert HttpsReceivers(allow_loopback=True).post(f"http://127.0.0.1:{port}/", {}, b"{}").failure == "connection"


def certificate(folder: Path, name: str) -> tuple[ssl.SSLContext, Path]:
    """A server's context with a certificate of this name, and the file of what to trust."""
    key = ec.generate_private_key(ec.SECP256R1())
    issued = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.datetime.now(datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(issued)
        .issuer_name(issued)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    trusted, secret = folder / "trusted.pem", folder / "key.pem"
    trusted.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    secret.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(trusted, secret)
    return context, trusted


def test_the_certificate_is_held_against_the_name_and_not_the_address(server: Server, tmp_path: Path) -> None:
    served, trusted = certificate(tmp_path, "hooks.example.com")

    def receivers(context: ssl.SSLContext | None) -> HttpsReceivers:
        return HttpsReceivers(allow_loopback=True, lookup=lambda *_: ["127.0.0.1"], context=context)

    trusting = ssl.create_default_context(cafile=str(trusted))
    with server(tls=served) as made:
        port = made.server_address[1]
        assert receivers(trusting).post(f"https://hooks.example.com:{port}/", {}, b"{}").delivered
        assert receivers(trusting).post(f"https://other.example.com:{port}/", {}, b"{}").failure == "tls"
        assert receivers(None).post(f"https://hooks.example.com:{port}/", {}, b"{}").failure == "tls"
    assert len(made.requests) == 1


def test_the_resolver_gives_the_addresses_of_a_host() -> None:
    assert look_up("127.0.0.1", 80) == ["127.0.0.1"]
