"""The composition root. A process installs its engines once; functions ask for ``ports()`` and never build one.

``local/`` installs the embedded engines. A port is built when it is first read, so that a function pays only for those
that it uses."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from neve.domain.policy import Policy
from neve.observing import Observer
from neve.ports import Clock, Embedder, Ids, ObjectStore, Queue, SearchIndex, Table, Tasks
from neve.store.keys import Keys


class Ports(Protocol):
    """Everything a use case may ask for."""

    @property
    def table(self) -> Table: ...
    @property
    def objects(self) -> ObjectStore: ...
    @property
    def queue(self) -> Queue: ...
    @property
    def search(self) -> SearchIndex: ...
    @property
    def embedder(self) -> Embedder: ...
    @property
    def observer(self) -> Observer: ...
    @property
    def clock(self) -> Clock: ...
    @property
    def ids(self) -> Ids: ...
    @property
    def tasks(self) -> Tasks: ...


@dataclass(frozen=True)
class Tenant:
    """The verified caller's tenant with the policy in force (at most 60 s old)."""

    id: str
    policy: Policy

    @cached_property
    def keys(self) -> Keys:
        return Keys(self.id)


_installed: list[Ports] = []


def install(ports: Ports) -> None:
    """Replace the process's engines."""
    _installed[:] = [ports]


def ports() -> Ports:
    """The installed engines. Raises RuntimeError when the process never installed any."""
    if not _installed:
        raise RuntimeError("no engines installed: call neve.wiring.install() before the first event")
    return _installed[0]
