"""Tests reach this machine and nothing else."""

from __future__ import annotations

import socket
import sys
from typing import Any


class NetworkForbidden(Exception):
    """A test reached for something that is not on this machine. Not an OSError: nobody shall take it for an outage."""


def forbid_the_network() -> None:
    """From now on in this process, for good; the processes that it starts are free to connect.

    An audit hook sees every connect and every look-up, whoever makes it, and no library can take it off again."""
    sys.addaudithook(_check)


def _check(event: str, arguments: tuple[Any, ...]) -> None:
    if event in ("socket.connect", "socket.sendto"):
        connecting, address = arguments
        if connecting.family in (socket.AF_INET, socket.AF_INET6) and not _is_here(address[0]):
            raise NetworkForbidden(f"connection to {address}")
    elif event in ("socket.getaddrinfo", "socket.gethostbyname"):
        host = arguments[0]
        if host and not _is_here(host):
            raise NetworkForbidden(f"look-up of {host}")


def _is_here(host: str | bytes) -> bool:
    name = host.decode() if isinstance(host, bytes) else host
    return name in ("localhost", "::1") or name.startswith("127.")
