"""The Receivers port on sockets: one look-up, one connection to exactly the address that was checked, no proxy, no
redirect, and the certificate held against the host's name."""

from __future__ import annotations

import socket
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from http.client import HTTPConnection, HTTPException
from ipaddress import IPv4Address, ip_address
from queue import Empty, SimpleQueue
from urllib.parse import SplitResult, urlsplit

from neve.domain.outgoing.addresses import Address, is_public
from neve.domain.outgoing.webhook import ATTEMPT_S, Attempt, Failure

Lookup = Callable[[str, int], list[str]]
"""The addresses of a host, all of them. Raises OSError."""
Connect = Callable[[tuple[str, int], float], socket.socket]
"""Connects to an address and a port, within so many seconds. Raises OSError."""


class _Refused(Exception):
    def __init__(self, failure: Failure) -> None:
        super().__init__(failure)
        self.failure = failure


def look_up(host: str, port: int) -> list[str]:
    """Ask the resolver for the addresses of a host. Raises OSError."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(address[0]) for *_, address in found))


class HttpsReceivers:
    """The Receivers port. ``allow_loopback``: of one machine alone, ``http`` and receivers on the machine itself.
    ``timeout_s``: of an attempt as a whole, the look-up included."""

    def __init__(
        self,
        *,
        allow_loopback: bool = False,
        lookup: Lookup = look_up,
        connect: Connect = socket.create_connection,
        context: ssl.SSLContext | None = None,
        timeout_s: float = ATTEMPT_S,
    ) -> None:
        self._allow_loopback = allow_loopback
        self._lookup = lookup
        self._connect = connect
        self._context = context
        self._timeout_s = timeout_s

    def refusal(self, url: str) -> str | None:
        """See ``ports.Receivers``."""
        try:
            parts = urlsplit(url)
            host, _ = parts.hostname, parts.port
        except ValueError:
            return "is no URL"
        if not host or not url.isascii() or any(sign.isspace() for sign in url):
            return "must be https:// and a host, in ASCII, without white space"
        if parts.username is not None or parts.password is not None or parts.fragment:
            return "must hold no user, no password and no fragment"
        address = _literal(host)
        if address is not None and not self._may_be_sent_to(address):
            return f"names the address {host}, which is not public"
        if parts.scheme != "https" and not (self._allow_loopback and parts.scheme == "http"):
            return "must begin with https://"
        return None

    def post(self, url: str, headers: Mapping[str, str], body: bytes) -> Attempt:
        """See ``ports.Receivers``. The thread that looks a name up or waits for an answer is left behind where that
        takes too long: its socket is closed."""
        began = time.monotonic()
        answered: SimpleQueue[int | Failure] = SimpleQueue()
        connection = _Connection(began + self._timeout_s, self._connect)

        def attempt() -> None:
            answered.put(self._attempt(connection, urlsplit(url), headers, body))

        threading.Thread(target=attempt, name="receiver", daemon=True).start()
        answer: int | Failure
        try:
            answer = answered.get(timeout=self._timeout_s)
        except Empty:
            connection.give_up()
            answer = "timeout"
        duration_ms = round((time.monotonic() - began) * 1000)
        if isinstance(answer, int):
            return Attempt(answer, None if 200 <= answer < 300 else "status", duration_ms)
        return Attempt(None, answer, duration_ms)

    def _attempt(
        self, connection: _Connection, parts: SplitResult, headers: Mapping[str, str], body: bytes
    ) -> int | Failure:
        try:
            if self.refusal(parts.geturl()) is not None:
                return "address"
            host = str(parts.hostname)
            port = parts.port or (443 if parts.scheme == "https" else 80)
            address = self._checked_address(host, port)
            if parts.scheme == "http" and not ip_address(address).is_loopback:
                return "address"
            connection.open(host, address, port, self._tls() if parts.scheme == "https" else None)
            target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
            return connection.post(target, headers, body)
        except _Refused as refused:
            return refused.failure
        except TimeoutError:
            return "timeout"
        except ssl.SSLError:
            return "tls"
        except (OSError, HTTPException, ValueError):
            return "connection"
        finally:
            connection.give_up()

    def _checked_address(self, host: str, port: int) -> str:
        """Look the host up, once. Raises _Refused for a host that is unknown, and where one of its addresses is not to
        be sent to: a name that leads to both is a trap."""
        try:
            found = self._lookup(host, port)
        except (OSError, UnicodeError):
            raise _Refused("name") from None
        addresses = [_literal(one) for one in found]
        if not addresses:
            raise _Refused("name")
        if any(one is None or not self._may_be_sent_to(one) for one in addresses):
            raise _Refused("address")
        return found[0]

    def _may_be_sent_to(self, address: Address) -> bool:
        return is_public(address) or (self._allow_loopback and address.is_loopback)

    def _tls(self) -> ssl.SSLContext:
        if self._context is None:
            self._context = ssl.create_default_context()
        return self._context


def _literal(host: str) -> Address | None:
    """Read an address, in whatever way it is written (``127.1`` and ``0x7f000001`` are one); None for a name. The zone
    of a link-local one is no part of it."""
    try:
        return ip_address(host.partition("%")[0])
    except ValueError:
        pass
    try:
        return IPv4Address(socket.inet_aton(host))
    except OSError:
        return None


class _Connection:
    """One connection for one request, which another thread may end."""

    def __init__(self, ends_at: float, connect: Connect) -> None:
        self._ends_at = ends_at
        self._connect = connect
        self._http: HTTPConnection | None = None
        self._lock = threading.Lock()
        self._over = False

    def open(self, host: str, address: str, port: int, tls: ssl.SSLContext | None) -> None:
        """Connect to the address; the certificate has to be the host's. Raises OSError, ssl.SSLError."""
        left = self._ends_at - time.monotonic()
        if left <= 0:
            raise TimeoutError
        raw = self._connect((address, port), left)
        http = HTTPConnection(host, port)
        http.default_port = 443 if tls is not None else 80
        http.auto_open = 0  # it would look the name up again, and connect to whatever that says now
        http.sock = raw
        with self._lock:
            self._http = http
            if self._over:
                raw.close()
                raise TimeoutError
        if tls is not None:
            raw.settimeout(max(self._ends_at - time.monotonic(), 0.001))
            http.sock = tls.wrap_socket(raw, server_hostname=host)

    def post(self, target: str, headers: Mapping[str, str], body: bytes) -> int:
        """Send the request, and return the status of the answer, whose body is not read. Raises OSError and
        HTTPException."""
        if self._http is None:
            raise ConnectionError
        self._http.request("POST", target, body, {**headers, "Connection": "close"})
        return self._http.getresponse().status

    def give_up(self) -> None:
        """Close the connection, whoever waits for it."""
        with self._lock:
            self._over = True
            http = self._http
        if http is not None and http.sock is not None:
            with suppress(OSError):
                http.sock.shutdown(socket.SHUT_RDWR)
            http.close()
