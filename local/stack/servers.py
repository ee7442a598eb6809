"""Starts the servers of one data folder on loopback and stops them again.

No server outlives its launcher: each one ends when the pipe to its standard input closes, which the system sees to even
when the launcher is killed. What a server has acknowledged is there at the next start on the same folder, also after a
``kill -9``. One opener per folder: the caller holds the folder's lock."""

from __future__ import annotations

import os
import socket
import subprocess
import tempfile
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from local.stack.archives import Archive, keep, missing_archives, to_be_made
from local.stack.jars import LAST_OUTPUT, CannotFetch, Server, available, fetched_jars
from local.stack.launches import Launch, launch_of

__all__ = ["CannotFetch", "DidNotStart", "RunningServers", "Server", "available", "start_servers"]

HOST: Final = "127.0.0.1"
START_S: Final = 600.0
"""The slowest of them is up after 5 s on an idle machine with two cores, and after 90 s on one with far too much to do.
One that fails says so before; one that hangs is given up after this."""
STOP_S: Final = 120.0
"""All of them are down after 0.7 s on an idle machine with two cores."""
LOOK_S: Final = 0.02
ANSWER_S: Final = 5.0
ATTEMPTS: Final = 5
"""Somebody else may take a port between our look at it and the server's own bind."""
PORT_TAKEN: Final = ("Address already in use", "BindException", "Failed to bind")


class DidNotStart(Exception):
    """A server ended, or did not answer within ``START_S``; the message holds the end of its log."""


class RunningServers:
    """Also a context manager that stops them at its end."""

    def __init__(self, running: Sequence[_Running]) -> None:
        self._running = running
        self._by_name = {one.server: one for one in running}

    @property
    def urls(self) -> Mapping[Server, str]:
        """The base URL of every server, without a slash at the end."""
        return {running.server: running.url for running in self._running}

    @property
    def pids(self) -> Mapping[Server, int]:
        return {running.server: running.process.pid for running in self._running}

    def restart(self, server: Server, *, kill: bool = False) -> None:
        """On the same port and data, so that clients keep their address; returns when it answers again. ``kill``: with
        ``kill -9`` instead of an orderly stop. One restart of a server at a time. Raises DidNotStart, in which case it
        stays down, and KeyError for a server that is not among these."""
        self._by_name[server].restart(kill=kill)

    def stop(self) -> None:
        """Orderly, all at once; a server that takes longer than ``STOP_S`` is killed. Harmless when repeated."""
        for running in self._running:
            running.process.terminate()
        end = time.monotonic() + STOP_S
        for running in self._running:
            running.wait_until(end)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def start_servers(servers: Collection[Server], data: Path, *, for_many: bool = False) -> RunningServers:
    """Returns when all of them answer. ``for_many``: several services will work on them, see ``launch_of``.
    ``data/<server>`` holds what a server keeps, ``data/<server>.log`` what it says.

    Fetches the servers first when that was never done. Raises CannotFetch, and DidNotStart, in which case none of them
    is left running."""
    jars = fetched_jars()
    return _start([_Running(server, jars, data, for_many=for_many) for server in servers])


def make_archives() -> None:
    """The class archives that are missing: starts and stops the servers that have one. Raises what ``start_servers``
    raises."""
    jars = fetched_jars()
    missing = {server: to_be_made(jars, server) for server in missing_archives(jars)}
    with tempfile.TemporaryDirectory(prefix="neve-archives-") as data:
        _start([_Running(server, jars, Path(data), archive) for server, archive in missing.items()]).stop()
    for server, archive in missing.items():
        keep(jars, server, archive)


def _start(servers: Collection[_Running]) -> RunningServers:
    started: list[_Running] = []
    try:
        for running in servers:
            running.start()
            started.append(running)
        return RunningServers([running.when_ready() for running in started])
    except BaseException:
        RunningServers(started).stop()
        raise


@dataclass(slots=True)
class _Running:
    """One server's process; a start is over with ``when_ready``."""

    server: Server
    jars: Path
    data: Path
    to_write: Archive | None = None
    for_many: bool = False
    port: int = 0
    launch: Launch = field(init=False)
    process: subprocess.Popen[bytes] = field(init=False)
    output_before: int = 0
    """Bytes of the log when the process was started: what follows is its own."""

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}"

    @property
    def log(self) -> Path:
        return self.data / f"{self.server}.log"

    def start(self, port: int | None = None) -> None:
        """Of its own session: a Ctrl-C in the terminal is for the launcher, which stops its servers last. ``port``
        None: a free one."""
        folder = self.data / self.server
        folder.mkdir(parents=True, exist_ok=True)
        self.port = free_port() if port is None else port
        self.launch = launch_of(
            self.server, self.jars, folder.absolute(), self.port, self.to_write, for_many=self.for_many
        )
        with self.log.open("ab") as log:
            self.output_before = log.tell()
            self.process = subprocess.Popen(
                self.launch.command,
                env={**os.environ, **self.launch.environment},
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    def restart(self, *, kill: bool) -> None:
        """Raises DidNotStart."""
        if kill:
            self.kill()
        else:
            self.process.terminate()
            self.wait_until(time.monotonic() + STOP_S)
        port = self.port
        self.start(port)
        self.when_ready(port)

    def when_ready(self, port: int | None = None) -> Self:
        """Started again as long as somebody else has its port: on another one, or on ``port`` where it must be that
        one. Raises DidNotStart."""
        for attempt in range(1, ATTEMPTS + 1):
            failure = self._failure()
            if failure is None:
                return self
            self.kill()
            if attempt == ATTEMPTS or not any(sign in self.log_text() for sign in PORT_TAKEN):
                break
            self.start(port)
        raise DidNotStart(f"{self.server} {failure}; its log {self.log} ends with\n{self.log_text()[-LAST_OUTPUT:]}")

    def _failure(self) -> str | None:
        """Waits for it. What went wrong, None when it works."""
        end = time.monotonic() + START_S
        while time.monotonic() < end:
            code, output = self.process.poll(), self.log_text()
            if code is not None:
                return f"ended with exit code {code}"
            status = self._status() if self.launch.ready_line in output else None
            if status is not None:
                return None if status == self.launch.status else f"answered with HTTP status {status}"
            time.sleep(LOOK_S)
        return f"did not answer within {START_S:.0f} s"

    def log_text(self) -> str:
        with self.log.open("rb") as log:
            log.seek(self.output_before)
            return log.read().decode(errors="replace")

    def kill(self) -> None:
        self.process.kill()
        self._reap()

    def wait_until(self, end: float) -> None:
        """For its orderly end; ``end`` is a ``time.monotonic()``, after which it is killed."""
        try:
            self.process.wait(max(0.0, end - time.monotonic()))
        except subprocess.TimeoutExpired:
            self.process.kill()
        self._reap()

    def _reap(self) -> None:
        self.process.wait()
        if self.process.stdin is not None:
            self.process.stdin.close()

    def _status(self) -> int | None:
        """Of its answer to the probe, None without one."""
        method = "GET" if self.launch.body is None else "POST"
        with closing(HTTPConnection(HOST, self.port, timeout=ANSWER_S)) as connection:
            try:
                connection.request(method, self.launch.probe, self.launch.body, self.launch.headers)
                return connection.getresponse().status
            except (OSError, HTTPException):
                return None


def free_port() -> int:
    """A port of loopback that nobody listens on at the moment."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        port: int = probe.getsockname()[1]
        return port
