"""What a local service runs on: the ports of the product, and the side of the same stores that AWS itself looks after
on a deployed stage (streams and queues with a consumer, time to live)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Protocol

from local.broker import Broker
from local.controls.raw_search import Found
from local.controls.search_cut import SearchCut
from local.engine.file_objects import FileObjects
from local.engine.sqlite_table import Change
from local.stack.servers import RunningServers
from local.template import Template
from neve.ports.engines import Ports


class ChangeFeed(Protocol):
    """See ``SqliteTable``."""

    def read_changes(self, after: int, limit: int) -> list[Change]: ...
    def discard_changes(self, through: int) -> None: ...
    def wait_for_changes(self, timeout_s: float) -> bool: ...
    def catch_up(self) -> None:
        """Until every change that was committed before this call can be read."""


class Engines(Ports, Protocol):
    """``template``: with the queues as they were made. ``uploads``: takes what is sent to a pre-signed address of this
    server; None where the object store has addresses of its own. ``servers``: of its own, which the stores run in; None
    where they are files of this process, or run in servers of somebody else. ``elsewhere``: the folders outside the
    data folder in which the stores keep something."""

    @property
    def template(self) -> Template: ...
    @property
    def changes(self) -> ChangeFeed: ...
    @property
    def broker(self) -> Broker: ...
    @property
    def uploads(self) -> FileObjects | None: ...
    @property
    def servers(self) -> RunningServers | None: ...
    @property
    def elsewhere(self) -> Sequence[Path]: ...
    @property
    def search_cut(self) -> SearchCut:
        """For tests."""

    def stored(self, text: str) -> Sequence[Found]:
        """For tests: what of its own holds a text. Files are read byte by byte, a server is asked by its API for
        everything that it has, once it has let go what was deleted. Nothing may be under way. Raises
        StoreUnavailable."""

    @property
    def holds(self) -> Sequence[str]:
        """What the data folder is damaged without."""

    def take_over(self) -> None:
        """Give back what a dead process was working on, where that can be known. Before anything else works. Raises
        StoreUnavailable."""

    def expire(self, now: datetime) -> object:
        """Remove the rows whose time to live is over, and the last traces of what was deleted, where the stores do not
        do so by themselves."""

    def close(self) -> None:
        """Every port raises StoreUnavailable from now on."""
