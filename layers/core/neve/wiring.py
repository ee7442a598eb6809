"""The composition root. A process has its engines once; functions ask for ``ports()`` and never build one.

A deployed function works on the managed stores that its environment names (``aws_ports``); ``local/`` installs other
engines first. A port is built when it is first read, so that a function pays only for those that it uses. Under Lambda
that is at INIT (``prepare``), where a start has a full vCPU and no caller waits with a budget."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Protocol, runtime_checkable

from neve.config import Settings, SettingsError, stage_of
from neve.ports.engines import Ports
from neve.ports.errors import EmbeddingRetryable, EmbeddingUnavailable
from neve.ports.models import Embedder

LAMBDA = "AWS_LAMBDA_FUNCTION_NAME"
_installed: list[Ports] = []
_cold_start_ms: list[float] = []


@runtime_checkable
class Loads(Protocol):
    """An embedder that has something to load before its first text."""

    def load(self) -> bool:
        """Load once; others wait for it. False when it was there already. Raises EmbeddingUnavailable."""


def install(ports: Ports) -> None:
    """Replace the process's engines."""
    _installed[:] = [ports]


def ports() -> Ports:
    """Give the installed engines, else the managed stores. Raises SettingsError for an environment that cannot be."""
    if not _installed:
        from neve.aws_ports import AwsPorts

        install(AwsPorts(Settings.from_environment(os.environ)))
    return _installed[0]


def stage() -> str:
    """Give the name of the stage that the process belongs to."""
    return stage_of(os.environ)


def prepare() -> Callable[[], Ports]:
    """Prepare a function, when its module is imported. Under Lambda: make every client that the environment names, and
    load the encoder. What cannot be made is left to the first call, which says what is wrong with it. Elsewhere
    nothing: engines were installed, or will be. Returns ``ports``."""
    if _installed or LAMBDA not in os.environ:
        return ports
    from neve.aws_ports import AwsPorts

    began = time.perf_counter()
    try:
        engines = AwsPorts(Settings.from_environment(os.environ))
        install(engines)
        engines.make_all()
        _load_encoder(engines.embedder)
    except (SettingsError, EmbeddingUnavailable):
        pass
    _cold_start_ms.append((time.perf_counter() - began) * 1000)
    return ports


def ready(embedder: Embedder) -> float | None:
    """Wait until the process can work at full speed with the caller's embedder; a call's own budget starts behind this.
    How many milliseconds the
    start of the process has cost, for its first call; None for every other. Never raises."""
    began = time.perf_counter()
    try:
        waited = _load_encoder(embedder)
    except (EmbeddingUnavailable, EmbeddingRetryable):
        return None  # the vector leg says so
    waited_ms = (time.perf_counter() - began) * 1000
    if _cold_start_ms:
        return _cold_start_ms.pop() + waited_ms
    return waited_ms if waited else None


def _load_encoder(embedder: Embedder) -> bool:
    return isinstance(embedder, Loads) and embedder.load()
