"""Finds which texts of what is erased other rows of the user still use: vectors are kept by content, so that what was
said twice has one."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Set
from dataclasses import replace

from neve.domain.indexing.document_passages import document_passages
from neve.domain.indexing.utterances import utterance_of
from neve.domain.memories.passages import texts_of_memory
from neve.domain.memories.text import fingerprint
from neve.domain.records.sessions import Event
from neve.ports.table import key_of
from neve.scope import UserScope
from neve.store import rows
from neve.store.documents import read_document, text_of
from neve.store.keys import DOCUMENT_REV, EVENT, MEMORY, SESSION, session_of
from neve.store.partitions import all_rows


def texts_of_event(session: str, event: Event) -> Iterator[str]:
    utterance = utterance_of(session, replace(event, taken_back=False))
    return (fingerprint(text) for text in (utterance.texts if utterance else ()))


def used_elsewhere(
    scope: UserScope,
    wanted: Set[str],
    leaving: Callable[[str, int], bool],
    memories: Collection[str] = (),
    revisions: Collection[tuple[str, int]] = (),
) -> set[str]:
    """Give those of ``wanted``, fingerprints of passages, that are found in the user's other events, memories and
    documents: not in the events, by session and seq, that are ``leaving``, nor in ``memories``, nor in ``revisions`` of
    documents, by id and rev. Reads everything that the user has, unless all is found before. Raises
    StoreUnavailable."""
    found = set[str]()
    for texts in _everything(scope, leaving, memories, revisions) if wanted else ():
        found |= wanted & texts
        if len(found) == len(wanted):
            break
    return found


def _everything(
    scope: UserScope,
    leaving: Callable[[str, int], bool],
    memories: Collection[str],
    revisions: Collection[tuple[str, int]],
) -> Iterator[Set[str]]:
    table, keys = scope.ports.table, scope.keys
    for item in all_rows(table, keys.partition, prefix=MEMORY):
        if item["id"] not in memories:
            yield texts_of_memory(rows.read_memory(item))
    for item in all_rows(table, keys.partition, prefix=DOCUMENT_REV):
        revision = read_document(item)
        if (revision.id, revision.rev) in revisions:
            continue
        whole = replace(revision, text=text_of(scope.ports.objects, revision))
        yield {fingerprint(passage.text) for passage in document_passages(whole)}
    for session, event in _user_events(scope):
        if not event.erased and not leaving(session, event.seq):
            yield set(texts_of_event(session, event))


def _user_events(scope: UserScope) -> Iterator[tuple[str, Event]]:
    """Read the events of all sessions, each with its session. Raises StoreUnavailable."""
    table, keys = scope.ports.table, scope.keys
    sessions = [session_of(key_of(row)) for row in all_rows(table, keys.partition, prefix=SESSION)]
    for session in filter(None, sessions):
        for item in all_rows(table, keys.of_session(session).log, prefix=EVENT):
            yield session, rows.read_event(item)
