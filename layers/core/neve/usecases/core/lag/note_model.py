"""Notes at each question to the language model whether it answers: for health, and for the session whose words
wait for it (docs/rules/degradation.md#observer)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import timedelta

from neve.domain.languages import is_known
from neve.domain.times import iso, parse
from neve.ports.engines import Ports
from neve.ports.errors import Conflict, ContentRefused, ModelRefused, ModelUnavailable, StoreUnavailable
from neve.scope import SessionScope
from neve.store import rows
from neve.store.tenants.leg_health import LANGUAGE, OBSERVER, no_leg_trouble, put_leg_trouble

NOTED_EVERY = timedelta(minutes=5)
"""A marker is written at most so often for it (*chosen*)."""


Answers = tuple[type[Exception], ...]
"""Errors that are answers: the model is there."""
REFUSALS: Answers = (ContentRefused,)


@contextmanager
def noting_the_model(ports: Ports, answers: Answers = REFUSALS) -> Iterator[None]:
    """Note whether the observer answered the question that is asked inside: it is said by health, and once in the log.
    That it will not read what it was shown is an answer. Raises what is raised inside."""
    try:
        yield
    except answers:
        raise
    except (ModelUnavailable, ModelRefused) as error:
        _note(ports, str(error))
        raise
    if ports.caches.troubles.worked(OBSERVER):
        with suppress(StoreUnavailable, Conflict):
            ports.table.write([no_leg_trouble(OBSERVER, ports.clock.now())])


@contextmanager
def noting_what_waits(scope: SessionScope, answers: Answers = REFUSALS) -> Iterator[None]:
    """Note as ``noting_the_model`` does, where what the session says next waits for the answer: the marker says so,
    too."""
    try:
        with noting_the_model(scope.ports, answers):
            yield
    except answers:
        raise
    except (ModelUnavailable, ModelRefused):
        with suppress(StoreUnavailable, Conflict):
            _note_marker(scope)
        raise


def note_languages(ports: Ports, messages: Iterable[str]) -> None:
    """Note for health how many of these messages of a user are in languages that the observer does not know."""
    count = sum(not is_known(text, ports.observer_languages) for text in messages)
    reason = "it does not know the language of some messages, which are found word by word but not remembered"
    if count and ports.caches.troubles.note(OBSERVER, "language", reason, count):
        with suppress(StoreUnavailable, Conflict):  # this process knows, and says so again in five minutes
            ports.table.write([put_leg_trouble(LANGUAGE, reason, ports.clock.now(), count)])


def _note(ports: Ports, reason: str) -> None:
    """Note a failure, from the first one on: the adapter has tried again by itself."""
    if ports.caches.troubles.note(OBSERVER, "failing", reason):
        with suppress(StoreUnavailable, Conflict):  # this process knows, and says so again in five minutes
            ports.table.write([put_leg_trouble(OBSERVER, reason, ports.clock.now())])


def _note_marker(scope: SessionScope) -> None:
    """Note it on the marker, once: another writer of the row says so again with its next failure."""
    item, now = scope.ports.table.get(scope.keys.marker), scope.ports.clock.now()
    marker = rows.read_marker(item) if item else None
    if marker and (marker.model_failed_at is None or now - parse(marker.model_failed_at) >= NOTED_EVERY):
        scope.ports.table.write([rows.put_marker(scope.keys, replace(marker, model_failed_at=iso(now)))])
