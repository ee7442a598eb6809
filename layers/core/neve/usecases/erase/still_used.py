"""Which texts and images of what is erased somebody else of the user still uses: vectors are kept by content, and so
are images, so that what was said twice has them once."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace

from neve.domain.memories.passages import passages_of
from neve.domain.observe.text import fingerprint
from neve.domain.records import Event, Memory
from neve.domain.sessions.transcript import images_of
from neve.ports import key_of
from neve.scope import UserScope
from neve.store import rows
from neve.store.documents import read_document, text_of
from neve.store.keys import DOCUMENT_REV, EVENT, MEMORY, SESSION, session_of
from neve.store.partitions import all_rows
from neve.usecases.documents.document_passages import document_passages
from neve.usecases.indexing.utterances import utterance_of


@dataclass(frozen=True)
class Used:
    """``texts``: fingerprints of passages, as vectors are kept by; ``images``: names of objects."""

    texts: set[str]
    images: set[str]

    def __bool__(self) -> bool:
        return bool(self.texts or self.images)


def texts_of_event(session: str, event: Event) -> Iterator[str]:
    said = utterance_of(session, replace(event, taken_back=False))
    return (fingerprint(text) for text in (said.texts if said else ()))


def texts_of_memory(memory: Memory) -> Iterator[str]:
    return (fingerprint(part.text) for part in passages_of(memory))


def used_elsewhere(
    scope: UserScope,
    wanted: Used,
    leaving: Callable[[str, int], bool],
    memories: Collection[str] = (),
    revisions: Collection[tuple[str, int]] = (),
) -> Used:
    """Those of ``wanted`` that are found in the user's other events, memories and documents: not in the events, by
    session and seq, that are ``leaving``, nor in ``memories``, nor in ``revisions`` of documents, by id and rev. Reads
    everything that the user has, unless all is found before. Raises StoreUnavailable."""
    found = Used(set(), set())
    for one in _everything(scope, leaving, memories, revisions) if wanted else ():
        found.texts.update(wanted.texts & one.texts)
        found.images.update(wanted.images & one.images)
        if found == wanted:
            break
    return found


def _everything(
    scope: UserScope,
    leaving: Callable[[str, int], bool],
    memories: Collection[str],
    revisions: Collection[tuple[str, int]],
) -> Iterator[Used]:
    table, keys = scope.ports.table, scope.keys
    for item in all_rows(table, keys.partition, prefix=MEMORY):
        if item["id"] not in memories:
            yield Used(set(texts_of_memory(rows.read_memory(item))), set())
    for item in all_rows(table, keys.partition, prefix=DOCUMENT_REV):
        revision = read_document(item)
        if (revision.id, revision.rev) in revisions:
            continue
        whole = replace(revision, text=text_of(scope.ports.objects, revision))
        yield Used({fingerprint(passage.text) for passage in document_passages(whole)}, set())
    sessions = [session_of(key_of(item)) for item in all_rows(table, keys.partition, prefix=SESSION)]
    for session in filter(None, sessions):
        for item in all_rows(table, keys.of_session(session).log, prefix=EVENT):
            event = rows.read_event(item)
            if not event.erased and not leaving(session, event.seq):
                yield Used(
                    set(texts_of_event(session, event)),
                    {block["object"] for block in images_of(event) if "object" in block},
                )
