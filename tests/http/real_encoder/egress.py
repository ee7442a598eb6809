"""Processes that cannot reach another machine, and say so when they try."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from local.template import ROOT

HOOK = '''
"""A connection of this process to another machine is refused, and noted in the file of NEVE_EGRESS_NOTES."""

import os
import socket

_connect = socket.socket.connect
_resolve = socket.getaddrinfo
HERE = ("127.0.0.1", "::1", "localhost")


def _note(what):
    with open(os.environ["NEVE_EGRESS_NOTES"], "a", encoding="utf-8") as notes:
        notes.write(f"{what}\\n")
    raise OSError(f"no way out to {what}")


def connect(self, address):
    if self.family in (socket.AF_INET, socket.AF_INET6) and address[0] not in HERE:
        _note(address)
    return _connect(self, address)


def getaddrinfo(host, *more, **named):
    if host not in (None, "", *HERE):
        _note(host)
    return _resolve(host, *more, **named)


socket.socket.connect = connect
socket.socket.connect_ex = connect
socket.getaddrinfo = getaddrinfo
'''


@dataclass(frozen=True, slots=True)
class Egress:
    """``env``: what a process is started with so that it is kept in."""

    env: dict[str, str]
    notes: Path

    def attempts(self) -> str:
        """What was tried so far, one address a line."""
        return self.notes.read_text(encoding="utf-8")


def blocked_egress(folder: Path) -> Egress:
    """``folder`` is made. The block has been tried out: it caught a connection to another machine."""
    hook, notes = folder / "hook", folder / "egress"
    hook.mkdir(parents=True)
    (hook / "sitecustomize.py").write_text(HOOK, encoding="utf-8")
    notes.touch()
    paths = os.pathsep.join([str(hook), str(ROOT / "layers" / "core"), str(ROOT)])
    egress = Egress({"PYTHONPATH": paths, "NEVE_EGRESS_NOTES": str(notes)}, notes)
    refused = subprocess.run(
        [sys.executable, "-c", "import socket; socket.create_connection(('192.0.2.1', 443), 1)"],
        env={**os.environ, **egress.env},
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert b"no way out" in refused.stderr, refused.stderr
    assert "192.0.2.1" in egress.attempts(), "the hook must catch what it is there for"
    notes.write_text("", encoding="utf-8")
    return egress
