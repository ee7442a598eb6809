"""Documents: those of a user together are a map with compare-and-set, and their rows belong together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING

from neve.domain.indexing.document_passages import document_passages
from neve.domain.indexing.passage import Passage
from neve.domain.records.documents import Document
from neve.domain.records.memories import EmbeddingState, Status
from neve.store.documents import PLACE, is_searched, read_document
from neve.store.keys import DOCUMENT, DOCUMENT_PLACE, DOCUMENT_REV, UserKeys
from neve.store.rows import RETRACTION
from neve.store.vectors import as_kept
from tests.simulation.checks.knowledge.long_texts import stored_text
from tests.simulation.checks.linearizable import UNKNOWN, Model, Operation, linearizable
from tests.simulation.checks.replay import Found, of_kind, rows_of
from tests.simulation.clients.history import Did
from tests.simulation.clients.shelving import CREATE, DELETE, MOVE, READ, WRITE
from tests.simulation.machine.scripted import vector_of

if TYPE_CHECKING:
    from tests.simulation.run import Run

State = frozenset[tuple[str, int, str]]
"""Path, rev and text of every document."""
NOTHING: State = frozenset()
NOT_FOUND, OTHER_REV = "document_not_found", "precondition_failed"


def documents_are_linearizable(run: Run) -> Found:
    """Every call about the documents of a user can have taken effect at one moment between its begin and its end, moves
    between two paths included."""
    for keys in run.history.users():
        if keys in run.erased:
            continue
        about = [
            did
            for did in run.history.of(CREATE, WRITE, READ, MOVE, DELETE)
            if (did.keys.tenant, did.keys.user) == (keys.tenant, keys.user)
        ]
        operations = list(map(_operation, about))
        if not linearizable(operations, Model(NOTHING, _after)):
            yield f"{keys.partition}: no order explains {[(one.asked, one.answer) for one in operations]}"


def _operation(did: Did) -> Operation:
    asked = (did.what, did.given)
    if did.outcome == "unknown":
        return Operation(did.began_s, inf, asked, UNKNOWN)
    answer: object = did.code
    if did.ok:
        answer = None if did.what == DELETE else (did.value.path, did.value.rev, did.value.text)
    return Operation(did.began_s, did.ended_s, asked, answer)


def _after(state: State, operation: Operation) -> Iterator[State]:
    """Whoever names no rev creates, or reads."""
    what, given = operation.asked
    here = next((one for one in state if one[0] == given[0]), None)
    answer = operation.answer
    if what == READ:
        if answer is UNKNOWN or answer == (here or NOT_FOUND):
            yield state
        return
    refusal = _refusal(what, given, here)
    if refusal is not None:
        if answer in (UNKNOWN, refusal):
            yield state
        return
    written = _written(what, given, here)
    if what == MOVE and any(one[0] == written[0] for one in state if written):
        if answer is UNKNOWN:
            yield state
    elif answer is UNKNOWN or answer == written:
        yield (state - {here} if here else state) | ({written} if written else set())


def _refusal(what: str, given: tuple[object, ...], here: tuple[str, int, str] | None) -> str | None:
    if what == CREATE:
        return OTHER_REV if here else None
    if here is None:
        return OTHER_REV if what == WRITE else NOT_FOUND
    return None if here[1] == given[1] else OTHER_REV


def _written(what: str, given: tuple[object, ...], here: tuple[str, int, str] | None) -> tuple[str, int, str] | None:
    if what == CREATE or here is None:
        return (str(given[0]), 1, str(given[1]))
    if what == WRITE:
        return (here[0], here[1] + 1, str(given[2]))
    return (str(given[2]), here[1] + 1, here[2]) if what == MOVE else None


# --- rows -----------------------------------------------------------------------------------------


def heads_of(run: Run, keys: UserKeys) -> list[Document]:
    """Those that are searched."""
    return [read_document(item) for item in rows_of(run, keys.partition, DOCUMENT) if is_searched(item)]


def a_document_has_its_rows_and_no_others(run: Run) -> Found:
    """A place that names head and rev, and every revision from the first on, but for those that a deletion erased;
    nothing of one that is gone."""
    for keys in run.history.users():
        heads = {str(head.id): head for head in heads_of(run, keys)}
        places = {item["id"]: (item["path"], item["rev"]) for item in rows_of(run, keys.partition, DOCUMENT_PLACE)}
        if places != {i: (head.path, head.rev) for i, head in heads.items()}:
            yield f"{keys.partition}: places {places}, heads {heads}"
        stored = {item["sk"] for item in rows_of(run, keys.partition, DOCUMENT_REV)}
        named = {keys.document_rev(i, n + 1).sk for i, head in heads.items() for n in range(head.rev)}
        in_force = {keys.document_rev(i, head.rev).sk for i, head in heads.items()}
        missing = named - stored if not _erases(run, keys) else in_force - stored
        if missing or stored - named:
            yield f"{keys.partition}: revisions {sorted(missing)} are missing, {sorted(stored - named)} too many"


def _erases(run: Run, keys: UserKeys) -> bool:
    """Whether the user has deleted something that was said."""
    of_user = (item for _, item in of_kind(run, RETRACTION) if item["pk"].startswith(keys.partition))
    return any(item["reason"] == "deleted" for item in of_user)


def every_document_is_settled(run: Run) -> Found:
    """When calm none waits for the index."""
    for keys in run.history.users():
        yield from (f"{one.path}: rev {one.rev} is not in the index" for one in heads_of(run, keys) if one.rev_at)


def a_document_goes_from_rev_to_rev(run: Run) -> Found:
    for old, new in of_kind(run, PLACE):
        if old is not None and new["rev"] not in (old["rev"], old["rev"] + 1):
            yield f"{new['id']}: from {old['rev']} to {new['rev']}"


def indexed_passages(run: Run, keys: UserKeys) -> Iterator[Passage]:
    """What the index has to have of them. A revision that is missing is told of by another rule."""
    for head in heads_of(run, keys):
        revision = run.cloud.table.rows.get(keys.document_rev(str(head.id), head.rev))
        if head.status is not Status.ARCHIVED and revision is not None:
            ready = head.embedding_state is EmbeddingState.READY
            passages = document_passages(replace(head, text=stored_text(run, read_document(revision))))
            yield from (replace(one, vector=as_kept(vector_of(one.text)) if ready else None) for one in passages)


INVARIANTS = (
    documents_are_linearizable,
    a_document_has_its_rows_and_no_others,
    every_document_is_settled,
    a_document_goes_from_rev_to_rev,
)
