"""Stage 1: large tool results become documents of their own (docs/rules/compact.md#stale-tool-results). First the
document, then the event, so that at every moment the exact text can be read from one of them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from neve.domain.compact.stale import artifact_path, placeholder, stale_results, stale_to
from neve.domain.records.documents import Document
from neve.domain.records.memories import EmbeddingState, Provenance
from neve.domain.records.sessions import Event, EventType
from neve.domain.sessions.spans import blanked, holds
from neve.domain.sessions.transcript import event_text, images_of
from neve.domain.times import iso
from neve.domain.tokens import IMAGE_TOKENS
from neve.ports.table import Check, Item, Key, Version, WriteOp
from neve.scope import SessionScope
from neve.store import rows
from neve.store.incarnation import UserErased, still_there
from neve.store.partitions import all_rows
from neve.store.transact import batches, transact

BATCH_EVENTS = 40
"""Events of one transaction, with a document for each (*follows*: 100 actions)."""


def event_path(scope: SessionScope, incarnation: int, seq: int) -> str:
    return artifact_path(scope.tenant.id, scope.user, scope.session, incarnation, seq)


def artifacts_of(scope: SessionScope, incarnation: int, events: Iterable[Event]) -> Iterator[str]:
    """Give the paths of the events' texts below ``/artifacts/``. A result's row may not say yet that it is being put
    away."""
    for event in events:
        if event.artifact_path is not None or event.event_type is EventType.TOOL_RESULT:
            yield event.artifact_path or event_path(scope, incarnation, event.seq)


def placeholder_tokens(scope: SessionScope, event: Event, *, pruned: bool) -> int:
    """Count what the event takes in a prompt. ``pruned``: that it is put away now."""
    if not pruned and not event.pruned:
        return event.original_tokens
    path = event.artifact_path or event_path(scope, 1, event.seq)
    return scope.count(placeholder(path)) + IMAGE_TOKENS * len(images_of(event))


def store_artifacts(scope: SessionScope, incarnation: int, results: Sequence[Event]) -> None:
    """Store a document for each of these results that has none yet. Raises UserErased, StoreUnavailable; what was
    written stays, and the same step finds it again."""
    for batch in event_parts(results):
        transact(scope.ports, partial(_store, scope, incarnation, batch))


def _store(scope: SessionScope, incarnation: int, results: Sequence[Event]) -> None:
    keys, now = scope.keys, iso(scope.ports.clock.now())
    paths = {event.seq: event_path(scope, incarnation, event.seq) for event in results}
    found = scope.ports.table.get_many([keys.head, keys.epoch, *(keys.document(path) for path in paths.values())])
    head = rows.read_head(found.get(keys.head))
    still_there(head, incarnation)
    if keys.epoch not in found:
        raise UserErased
    epoch = rows.read_epoch(found[keys.epoch])
    documents = [
        Document(
            path=paths[event.seq],
            text=event_text(event),
            tokens=event.original_tokens - IMAGE_TOKENS * len(images_of(event)),
            rev=1,
            created_at=now,
            session_id=scope.session,
            seq=event.seq,
            provenance=Provenance("tool", scope.session, event.seq, event.seq, trust="tool"),
            embedding_state=EmbeddingState.SKIPPED,
        )
        for event in results
        if keys.document(paths[event.seq]) not in found
        and not holds(epoch.retracted, event.seq)
        and event.seq > epoch.removed_to
    ]
    if documents:
        puts = [rows.put_artifact(keys, document) for document in documents]
        # what is deleted meanwhile must not come back as a document
        as_read = Check(keys.epoch, Version(epoch.version))
        scope.ports.table.write([rows.check_head(keys, head), as_read, *puts])


def pruned_events(scope: SessionScope, incarnation: int, found: Mapping[Key, Item]) -> list[WriteOp]:
    """Give the operations that take the text of these events' rows out of the log. Their documents are there."""
    return [
        rows.put_pruned(item, placeholder(path), path)
        for item in found.values()
        if not item.get("pruned") and not item.get("erased")
        for path in (event_path(scope, incarnation, int(item["seq"])),)
    ]


def put_away_covered(scope: SessionScope, incarnation: int) -> None:
    """Put away what tools printed in the covered part of the log, which no prompt shows any more. Goes on where an
    earlier compaction was interrupted. Raises UserErased, StoreUnavailable."""
    keys = scope.keys
    found = scope.ports.table.get(keys.epoch)
    if found is None:
        raise UserErased
    epoch = rows.read_epoch(found)
    if epoch.covers_from is None or epoch.covers_to is None or epoch.pruned_to >= epoch.covers_to:
        return
    first = max(epoch.covers_from, epoch.pruned_to + 1)
    log = all_rows(scope.ports.table, keys.log, between=keys.events(first))
    events = blanked(map(rows.read_event, log), epoch.retracted)
    last = min(epoch.covers_to, stale_to(events))
    results = [event for event in stale_results(events) if event.seq <= last]
    store_artifacts(scope, incarnation, results)
    for batch in event_parts(results):
        transact(scope.ports, partial(_prune, scope, incarnation, batch))
    if last > epoch.pruned_to:
        transact(scope.ports, partial(_note, scope, incarnation, last))


def _prune(scope: SessionScope, incarnation: int, results: Sequence[Event]) -> None:
    """Take the texts of results out of the log. Those that were taken back since the log was read have no document, and
    stay as they are."""
    keys = scope.keys
    wanted = {keys.event(event.seq): event.seq for event in results}
    found = scope.ports.table.get_many([keys.head, keys.epoch, *wanted])
    head = rows.read_head(found.get(keys.head))
    still_there(head, incarnation)
    if keys.epoch not in found:
        raise UserErased
    retracted = rows.read_epoch(found[keys.epoch]).retracted
    left = {key: found[key] for key, seq in wanted.items() if key in found and not holds(retracted, seq)}
    ops = pruned_events(scope, incarnation, left)
    if ops:
        scope.ports.table.write([rows.check_head(keys, head), *ops])


def _note(scope: SessionScope, incarnation: int, pruned_to: int) -> None:
    keys = scope.keys
    found = scope.ports.table.get_many([keys.head, keys.epoch])
    head = rows.read_head(found.get(keys.head))
    still_there(head, incarnation)
    epoch = rows.read_epoch(found[keys.epoch])
    if epoch.pruned_to < pruned_to:
        noted = rows.put_epoch(keys, replace(epoch, pruned_to=pruned_to), scope.ports.clock.now())
        scope.ports.table.write([rows.check_head(keys, head), noted])


def event_parts(results: Sequence[Event]) -> Iterator[list[Event]]:
    """Cut results into parts that one transaction can hold, be it as events or as documents."""
    return batches(results, event_bytes, most=BATCH_EVENTS)


def event_bytes(event: Event) -> int:
    """Count about as many bytes as its row has; one event has at most 256 KiB."""
    return len(str(event.content).encode()) + len(str(event.event_data).encode())
