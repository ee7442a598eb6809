"""The composition root. A process has its engines once; functions ask for ``ports()`` and never build one.

A deployed function works on the managed stores that its environment names (``aws_ports``); ``local/`` installs other
engines first. A port is built when it is first read, so that a function pays only for those that it uses."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

from neve.config import Settings
from neve.domain.tenants.policy import Policy
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
    """The installed engines, else the managed stores. Raises SettingsError for an environment that cannot be."""
    if not _installed:
        from neve.aws_ports import AwsPorts

        install(AwsPorts(Settings.from_environment(os.environ)))
    return _installed[0]
