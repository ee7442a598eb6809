"""E16: is the service able to work, and with which models?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import neve
from neve.domain.words import STEMMED_LANGUAGES
from neve.ports import IndexModel, Ports, StoreUnavailable
from neve.store.embedder_health import read_embedder_health
from neve.store.keys import EMBEDDER_HEALTH

NO_MODEL = "none"


@dataclass(frozen=True, slots=True)
class EmbedderState:
    """``off``: keyword search only, by configuration. ``unavailable``: ``reason`` says why vectors are not being
    made."""

    model: IndexModel
    state: Literal["ready", "unavailable", "off"]
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class IndexState:
    """``match`` False: the index holds vectors of another model, which are never compared."""

    state: Literal["ready", "unavailable"]
    model: IndexModel | None = None
    match: bool | None = None


@dataclass(frozen=True, slots=True)
class Languages:
    """ISO 639-1 codes, ``*`` for any. ``words``: whose inflections the keyword leg knows; it finds words of every other
    as they are written. ``meaning``: of the vector leg. ``observer``: in which statements are recognised."""

    words: tuple[str, ...]
    meaning: tuple[str, ...]
    observer: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Health:
    """``degraded`` when a store does not answer, vectors cannot be made, or the index is of another model."""

    status: Literal["ok", "degraded"]
    version: str
    table: Literal["ready", "unavailable"]
    embedder: EmbedderState
    index: IndexState
    observer: str
    languages: Languages


def service_health(ports: Ports) -> Health:
    """One read of the row store and one question to the index. Raises nothing for a store that is down: it says so."""
    table, embedder = _embedder(ports)
    index = _index(ports, embedder.model)
    fine = table == "ready" and embedder.state != "unavailable" and index.state == "ready" and index.match is not False
    languages = Languages(STEMMED_LANGUAGES, ports.embedder.languages, ports.observer.languages)
    status: Literal["ok", "degraded"] = "ok" if fine else "degraded"
    return Health(status, neve.__version__, table, embedder, index, ports.observer.name, languages)


def _embedder(ports: Ports) -> tuple[Literal["ready", "unavailable"], EmbedderState]:
    model = ports.embedder.model
    state: Literal["ready", "off"] = "off" if model.tag == NO_MODEL else "ready"
    try:
        item = ports.table.get(EMBEDDER_HEALTH)
    except StoreUnavailable:
        return "unavailable", EmbedderState(model, state)
    seen = read_embedder_health(item) if item else None
    if seen is not None and seen.model == model and seen.state == "unavailable":
        return "ready", EmbedderState(model, "unavailable", seen.reason)
    return "ready", EmbedderState(model, state)


def _index(ports: Ports, model: IndexModel) -> IndexState:
    try:
        held = ports.search.model()
    except StoreUnavailable:
        return IndexState("unavailable")
    return IndexState("ready", held, held == model)
