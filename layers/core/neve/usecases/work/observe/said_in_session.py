"""Reads what else was said in a session, where whose word a text is depends on it (docs/rules/observe.md#trust)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice

from neve.domain.observe.lines import ObservedLine
from neve.domain.observe.trust import SaidHere, events_of, trust_in_doubt
from neve.domain.records.documents import Document
from neve.domain.records.sessions import Event, Spans
from neve.domain.sessions.rendered_blocks import strip_event
from neve.domain.sessions.spans import holds
from neve.observing import Observed, PriorMemory
from neve.scope import SessionScope
from neve.store import rows
from neve.store.documents import read_document, text_of
from neve.store.partitions import all_rows_backwards

SESSION_EVENTS = 1_000
"""The newest of a session that are looked through, and ``SESSION_TOKENS`` of them together (*chosen*: some 1.2 MB)."""
SESSION_TOKENS = 300_000
PUT_AWAY = 40
"""The newest of the results among them that were put away as documents, which are read in one batch (*chosen*)."""

Claim = tuple[str, Sequence[Event]]
"""A text, and the events of its range."""


def with_session(scope: SessionScope, said: SaidHere, claims: Iterable[Claim], retracted: Spans) -> SaidHere:
    """Add the rest of the session to ``said`` where one of the claims is in doubt without it: most are not, and cost
    nothing. Else two reads or a few more: of the log, and of what was put away. Raises StoreUnavailable."""
    if not any(trust_in_doubt(text, within, said) for text, within in claims):
        return said
    return replace(said, further=_session(scope, retracted))


def said_in_pass(
    scope: SessionScope, events: Sequence[Event], prior: Sequence[PriorMemory], observed: Observed, retracted: Spans
) -> SaidHere:
    """Give what the lines and facts of a pass are held against. ``prior``: the memories that were shown with the
    events. Raises StoreUnavailable."""
    said = SaidHere(events, tools=[row.of_tools for row in prior], users=[row.of_users for row in prior])
    claims: list[Claim] = [(line.text, events_of(line, events)) for line in observed.lines]
    for fact in observed.facts:
        seqs = [seq for seq in (fact.seq_from, fact.seq_to) if seq is not None]
        line = ObservedLine(fact.text, min(seqs), max(seqs)) if seqs else None
        claims.append((fact.text, events_of(line, events) if line else ()))
    return with_session(scope, said, claims, retracted)


def _session(scope: SessionScope, retracted: Spans) -> list[Event]:
    """Read it without what is taken back, and what Neve renders."""
    table, keys = scope.ports.table, scope.keys
    found: list[Event] = []
    tokens = 0
    for item in islice(all_rows_backwards(table, keys.log, between=keys.events(1)), SESSION_EVENTS):
        event = None if holds(retracted, item["seq"]) else strip_event(rows.read_event(item))
        if event is not None:
            found.append(event)
            tokens += event.original_tokens
        if tokens > SESSION_TOKENS:
            break
    return _as_printed(scope, found)


def _texts(scope: SessionScope, documents: Mapping[str, Document]) -> dict[str, str]:
    """Give the texts by path. Those that were uploaded are objects, of which the newest are read."""
    texts, left = dict[str, str](), SESSION_TOKENS
    for path, document in documents.items():
        left -= document.tokens if document.text_object else 0
        if left >= 0:
            texts[path] = text_of(scope.ports.objects, document)
    return texts


def _as_printed(scope: SessionScope, events: Sequence[Event]) -> list[Event]:
    """Put back the texts of results that were put away."""
    paths = [event.artifact_path for event in events if event.artifact_path is not None][:PUT_AWAY]
    places = {path: scope.keys.document(path) for path in paths}
    found = scope.ports.table.get_many(list(places.values())) if places else {}
    texts = _texts(scope, {path: read_document(found[key]) for path, key in places.items() if key in found})
    return [
        replace(event, content=texts[event.artifact_path]) if event.artifact_path in texts else event
        for event in events
    ]
