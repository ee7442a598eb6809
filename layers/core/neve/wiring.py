"""The composition root. A process has its engines once; functions ask for ``ports()`` and never build one.

A deployed function works on the managed stores that its environment names (``aws_ports``); ``local/`` installs other
engines first. A port is built when it is first read, so that a function pays only for those that it uses."""

from __future__ import annotations

import os

from neve.config import Settings
from neve.ports import Ports

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
