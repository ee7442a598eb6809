"""The whole local service: a data folder, the engines on it, the functions, their workers and the HTTP server."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import cast

from local.backend import Choices, EmbeddedPorts
from local.bootstrap import ready_key
from local.console.address import console_address
from local.controls.controls import ControlledPorts, Controls
from local.controls.routes import TestControls
from local.datafolder import DataFolderError, open_data_folder
from local.engine.sqlite_file import damage_of
from local.engine.sqlite_table import Change
from local.engines import Engines
from local.front import Front
from local.functions import Functions
from local.http.gateway import Gateway
from local.http.in_process import InProcess
from local.http.server import HOST, HttpServer
from local.limits.alarms import Alarms
from local.limits.mortal_ports import MortalPorts
from local.limits.points import Points
from local.recovery.rebuild import rebuild_lost, settle_search
from local.template import ROOT, StreamSource, Template, own_template
from local.workers.deliveries import Deliveries
from local.workers.driver import Driver, Sources
from local.workers.failure_log import report
from local.workers.queue_worker import QueueWorker
from local.workers.requests_first import RequestsFirst
from local.workers.stream_worker import GiveUp, StreamWorker
from local.workers.worker_events import given_up_message
from neve import wiring
from neve.adapters.embedders.bge_small import BgeSmall
from neve.adapters.o200k import BPE_DIR_VARIABLE
from neve.ports.engines import Ports
from neve.ports.errors import EmbeddingUnavailable
from neve.ports.queue import Message, QueueName
from neve.workers.cut_off import tell_of_cut_off
from neve_mcp import in_process

LOADED_LATE = ("mcp",)
"""Functions that their first request loads: 0.8 s of processor time, which most starts have no use for."""
WARM_UP_S = 30.0
"""The longest that a stop waits for the encoder, which takes 0.5 s to load on an idle machine."""
OpenEngines = Callable[[Path, Template, str, Choices], Engines]
"""The engines on a data folder, for a service at a base URL."""


class Service:
    """Raises OSError for a port that is taken, and DataFolderError. Nothing runs before ``start``."""

    def __init__(
        self,
        data: Path,
        port: int,
        choices: Choices,
        *,
        test_controls: bool,
        open_engines: OpenEngines = EmbeddedPorts,
        new_key: bool = False,
    ) -> None:
        with ExitStack() as opened:
            self._server = HttpServer(port)
            opened.callback(self._server.stop)
            self.url = f"http://{HOST}:{self._server.port}"
            self.folder = open_data_folder(data)
            opened.callback(self.folder.close)
            opened.enter_context(_kept_in(self.folder.path))
            self._engines = open_engines(self.folder.path, own_template(), self.url, choices)
            self._template = self._engines.template
            opened.callback(self._engines.close)
            self.folder.must_hold(self._engines.holds)
            self.api_key = ready_key(self._engines, self.folder.path, anew=new_key)
            opened.pop_all()
        self._controls = Controls() if test_controls else None
        self._ports: Ports = ControlledPorts(self._engines, self._controls) if self._controls else self._engines
        os.environ.setdefault(BPE_DIR_VARIABLE, str(ROOT / "layers" / "tokens" / "bpe"))
        os.environ.setdefault("POWERTOOLS_METRICS_DISABLED", "true")
        self.points = self._make_points()
        self._functions = Functions(self._template.functions, self.points, self._monotonic, self._cut_off)
        self._deliveries = Deliveries(self._functions.invoke, self._template.queue_sources)
        self._requests = RequestsFirst()
        self._driver = self._make_driver()
        self._stopping = False
        self.rebuilding = False
        self._warming = threading.Thread(target=self._warm_up, name="warm-up", daemon=True)

    def start(self) -> None:
        """Answers requests once this returns; the functions and the encoder are loaded meanwhile. Raises what
        ``rebuild_lost`` raises, and DataFolderError."""
        wiring.install(MortalPorts(self._ports))
        if isinstance(self._engines.embedder, BgeSmall):
            self._engines.caches.troubles.note("embedder", "loading", "the encoder is being loaded")
        self.rebuilding = True
        with _kept_in(self.folder.path):
            rebuild_lost(self._engines, self.folder)
            settle_search(self._engines, self.folder)
        self.rebuilding = False
        self._engines.take_over()
        gateway = Gateway(self._template, self._functions.invoke, self.points, self._ports.clock.now)
        in_process.install(InProcess(gateway))
        self._server.start(Front(gateway, self._engines.uploads, self._test_controls()), self._requests.one)
        self._driver.start(schedules=self._controls is None)
        self._warming.start()
        if self.folder.unread:
            threading.Thread(target=self._read_through, name="read-through", daemon=True).start()

    def stop(self) -> bool:
        """Finish what is in flight, then close everything. False when something did not finish in time: then threads
        are still at work, and the process must end without the interpreter's own end, which would abort under them."""
        self._stopping = True
        answered = self._server.stop()
        if self._controls is not None:
            self._controls.holds.release_all()
        finished = self._driver.stop() and answered and self._warmed_up()
        self._engines.close()
        self.folder.close()
        return finished

    def console_address(self) -> str:
        """With a token that is good for an hour from now."""
        return console_address(self._ports, self.url, self.api_key.text)

    def _make_points(self) -> Points:
        """By the clock of a test, which does not count what it breaks on purpose."""
        if self._controls is None:
            return Points(self._engines.clock.now)
        return Points(self._controls.clock.now, self._controls.faults.none)

    def _cut_off(self, function: str) -> None:
        """Of a call its caller is told."""
        if function in self._driver.workers:
            tell_of_cut_off(self._engines, function)

    def _monotonic(self) -> float:
        """Seconds by which a function's time is measured: a test's own, so that a slow machine ends no function."""
        return time.monotonic() if self._controls is None else self._controls.clock.monotonic_ms() / 1000

    def _make_driver(self) -> Driver:
        clock, invoke, template = self._engines.clock, self._functions.invoke, self._template
        remember = self._deliveries.remember if self._controls else None
        remember_changes = self._deliveries.remember_changes if self._controls else None
        streams = [
            StreamWorker(source, self._engines.changes, invoke, self._given_up(source), remember_changes)
            for source in template.stream_sources
        ]
        queues = [
            QueueWorker(source, template.queues[source.queue], self._engines.broker, clock, invoke, remember)
            for source in template.queue_sources
        ]
        held = self._controls.holds.inside if self._controls else _never
        sources = Sources(streams, queues, template.schedules)
        requests = None if self._controls else self._requests
        return Driver(sources, invoke, self._ports.clock, held, self._engines.expire, requests)

    def _given_up(self, source: StreamSource) -> GiveUp:
        def dead_letter(changes: Sequence[Change], attempts: int) -> None:
            if source.on_failure is not None:
                body = given_up_message(source.function, changes, attempts)
                self._engines.queue.send(cast("QueueName", source.on_failure), [Message(body, source.function)])

        return dead_letter

    def _test_controls(self) -> TestControls | None:
        if self._controls is None:
            return None
        alarms = Alarms(self._template.alarms, self.points)
        return TestControls(self._controls, self._driver, self._deliveries, self._engines, self.folder.path, alarms)

    def _warmed_up(self) -> bool:
        """Loading the encoder cannot be broken off, and native code in a thread that the interpreter's end takes away
        ends the whole process with SIGABRT."""
        if self._warming.ident is not None:
            self._warming.join(WARM_UP_S)
        return not self._warming.is_alive()

    def _warm_up(self) -> None:
        try:
            for name in self._template.functions:
                if self._stopping:
                    return
                if name not in LOADED_LATE:
                    self._functions.load(name)
            if not self._stopping and isinstance(self._engines.embedder, BgeSmall):
                self._engines.embedder.load()
        except EmbeddingUnavailable:
            return  # said at the start, and by health
        except Exception as error:
            report("warming up", error)
        finally:
            self._engines.caches.troubles.over("embedder", "loading")

    def _read_through(self) -> None:
        """The large databases that were stopped in order. Damage is said by health, and mended by the next start."""
        for file in self.folder.unread:
            damage = damage_of(file, thorough=True)
            if damage is not None:
                self.folder.distrust()
                reason = f"{damage}; the next start mends what can be made again"
                self._engines.caches.troubles.note(file.stem, "damaged", reason)


@contextmanager
def _kept_in(folder: Path) -> Iterator[None]:
    """A file that cannot be read or written, as on a full disk, is no port that is taken. Raises DataFolderError."""
    try:
        yield
    except OSError as error:
        raise DataFolderError(f"The data folder {folder} cannot be used: {error}") from error


def _never(_: str) -> int:
    return 0
