"""E16: is the service able to work, and with which models?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import neve
from neve.domain.languages import LANGUAGES
from neve.ports.engines import Ports
from neve.ports.errors import StoreUnavailable
from neve.ports.search import IndexModel
from neve.ports.table import Item, Key
from neve.store.keys import embedder_health, leg_health
from neve.store.tenants.embedder_health import read_embedder_health
from neve.store.tenants.leg_health import REPORTED, SEARCH_LARGE, read_leg_troubles
from neve.troubles import Trouble

NO_MODEL = "none"


@dataclass(frozen=True, slots=True)
class EmbedderState:
    """The state of the encoder. ``off``: keyword search only, by configuration. ``loading``: this process has not got
    its encoder yet. ``unavailable``: ``reason`` says why vectors are not being made."""

    model: IndexModel
    state: Literal["ready", "loading", "unavailable", "off"]
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class IndexState:
    """The state of the search index. ``match`` False: the index holds vectors of another model, which are never
    compared."""

    state: Literal["ready", "unavailable"]
    model: IndexModel | None = None
    match: bool | None = None


@dataclass(frozen=True, slots=True)
class Languages:
    """The languages of each part, as ISO 639-1 codes, ``*`` for any. ``words``: whose inflections the keyword leg
    knows; it finds words of every other as they are written. ``meaning``: of the vector leg. ``observer``: in which
    statements are recognised."""

    words: tuple[str, ...]
    meaning: tuple[str, ...]
    observer: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Health:
    """The state of the service: ``degraded`` when a store does not answer, vectors cannot be made, the index is of
    another model, or something in ``troubles`` stands but a ``language`` or ``search_large``. ``loading`` when all that
    is missing is the encoder of a process that has just started. ``multi``: the encoder of tenants whose policy asks
    for many languages."""

    status: Literal["ok", "loading", "degraded"]
    version: str
    table: Literal["ready", "unavailable"]
    embedder: EmbedderState
    index: IndexState
    observer: str
    languages: Languages
    troubles: tuple[Trouble, ...] = ()
    multi: EmbedderState | None = None


def service_health(ports: Ports) -> Health:
    """Ask the row store in one batch read, and the index once. Raises nothing for a store that is down: it says so."""
    own = ports.caches.troubles.active()
    found = _rows(ports)
    embedder = _embedder(ports.embedder.model, found, is_loading=any(t.kind == "loading" for t in own))
    multi = _embedder(ports.multi.model, found) if ports.multi else None
    index = _index(ports, embedder.model)
    of_legs = [] if found is None else read_leg_troubles(found, ports.clock.now())
    troubles = {(t.what, t.kind): t for t in (*of_legs, *own) if t.kind != "loading"}
    encoders = "unavailable" not in (embedder.state, multi and multi.state)
    broken = any(kind != "language" and what != SEARCH_LARGE for what, kind in troubles)
    fine = encoders and index.state == "ready" and index.match is not False and not broken
    return Health(
        status="degraded" if found is None or not fine else "loading" if embedder.state == "loading" else "ok",
        version=neve.__version__,
        table="unavailable" if found is None else "ready",
        embedder=embedder,
        multi=multi,
        index=index,
        observer=ports.observer.name,
        languages=Languages(LANGUAGES, ports.embedder.languages, ports.observer_languages),
        troubles=tuple(troubles.values()),
    )


def _rows(ports: Ports) -> dict[Key, Item] | None:
    """Read what other processes have said. None: the row store does not answer."""
    try:
        models = [one.model.tag for one in (ports.embedder, ports.multi) if one]
        return ports.table.get_many([*map(embedder_health, models), *map(leg_health, REPORTED)])
    except StoreUnavailable:
        return None


def _embedder(model: IndexModel, found: dict[Key, Item] | None, *, is_loading: bool = False) -> EmbedderState:
    item = (found or {}).get(embedder_health(model.tag))
    seen = read_embedder_health(item) if item else None
    if seen is not None and seen.state == "unavailable":
        return EmbedderState(model, "unavailable", seen.reason)
    return EmbedderState(model, "off" if model.tag == NO_MODEL else "loading" if is_loading else "ready")


def _index(ports: Ports, model: IndexModel) -> IndexState:
    try:
        held = ports.search.model()
    except StoreUnavailable:
        return IndexState("unavailable")
    return IndexState("ready", held, held == model)
