"""One leg of the search index made to fail beneath its adapter, which has to notice by itself: requests that nobody
answers, a table that is not in the file."""

from __future__ import annotations

import socket
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol

from neve.adapters.opensearch.client import open_search_client

if TYPE_CHECKING:
    from opensearchpy import OpenSearch

Leg = Literal["lexical", "vector"]
LEGS: tuple[Leg, ...] = ("lexical", "vector")
HOST = "127.0.0.1"


class SearchCut(Protocol):
    def cut(self, leg: Leg | None) -> None:
        """From now on this leg fails and no other; None: none does. Raises ValueError for a leg that this engine
        answers from memory."""


class ServerCut:
    """Sends the searches of one leg to an address where nobody listens."""

    def __init__(self, client: OpenSearch) -> None:
        """``client``: its requests pass through here from now on."""
        self._leg: Leg | None = None
        direct = client.transport.perform_request

        def send(method: str, url: str, *given: Any, **more: Any) -> Any:
            refused = self._leg is not None and self._leg == _leg_of(url, more.get("body"))
            return (self._astray if refused else direct)(method, url, *given, **more)

        vars(client.transport)["perform_request"] = send

    def cut(self, leg: Leg | None) -> None:
        self._leg = leg

    def _astray(self, *given: Any, **more: Any) -> Any:
        with closing(socket.socket()) as taken:
            taken.bind((HOST, 0))  # and nobody listens
            with closing(open_search_client(f"http://{HOST}:{taken.getsockname()[1]}")) as client:
                return client.transport.perform_request(*given, **more)


class FileCut:
    """Renames the table of the passages, where phrases are looked up while keywords and vectors are in memory."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def cut(self, leg: Leg | None) -> None:
        if leg == "vector":
            raise ValueError("the embedded engine compares vectors in memory")
        before, after = ("passages", "passages_cut") if leg else ("passages_cut", "passages")
        with closing(sqlite3.connect(self._path, isolation_level=None)) as connection:
            if connection.execute("SELECT 1 FROM sqlite_schema WHERE name = ?", (before,)).fetchone():
                connection.execute(f"ALTER TABLE {before} RENAME TO {after}")


def _leg_of(url: str, body: Any) -> Leg | None:
    """Of a request to OpenSearch."""
    if not url.endswith("/_search") or not isinstance(body, dict):
        return None
    return "vector" if "knn" in body["query"] else "lexical"
