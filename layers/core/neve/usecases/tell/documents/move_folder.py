"""Moves all documents below a path to another one (docs/rules/documents.md#moving)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from neve.domain.documents.change import DocumentChange, changed_document
from neve.domain.documents.paths import folders_of, is_below
from neve.domain.errors import NeveError, invalid, not_found
from neve.domain.records.documents import Document
from neve.domain.times import iso
from neve.ports.errors import Conflict
from neve.ports.table import WriteOp
from neve.scope import UserScope
from neve.store import rows
from neve.store.documents import read_document, text_of, written_ops
from neve.store.pins import note_pins
from neve.store.transact import transact
from neve.usecases.ask.documents.list_documents import MAX_SCANNED, heads_below
from neve.usecases.core.privacy.admit import admit_path
from neve.usecases.tell.documents.document_writes import writable_path
from neve.usecases.tell.documents.free_path import refuse_below

IN_ONE_TRANSACTION = 12
"""*Follows*: with texts of 300 KB below 4 MB, with six operations each below 100 (*limit*, DynamoDB, both)."""
TIME_LIMIT_MS = 15_000
"""*Chosen*: the gateway waits 29 s."""
NOTHING_ELSE = DocumentChange()


@dataclass(frozen=True, slots=True)
class MovedDocuments:
    """The outcome of a call. ``moved``: each as it is now, with the path where it was. ``more``: whether some are left:
    call again."""

    moved: list[tuple[str, Document]] = field(default_factory=list)
    more: bool = False


def move_folder(scope: UserScope, path: str, to: str) -> MovedDocuments:
    """Move the document at ``path`` or those below it, in the order of their paths, 12 in a transaction, as far as
    there is time. Nothing moves where one of them cannot; a document that is superseded moves, too. A call that broke
    off is repeated. Raises document_not_found, validation_failed, pii_blocked, conflict (something is where one of them
    would be, or above or below that; it is named), erasing, user_closed, StoreUnavailable."""
    ends_ms = scope.ports.clock.monotonic_ms() + TIME_LIMIT_MS
    admit_path(scope, "to", to)
    path, to = writable_path(path), writable_path(to, "to")
    if to == path or is_below(to, path):
        raise invalid("to", "must not be the path itself, or below it")
    places = {one: writable_path(to + one.removeprefix(path), "to") for one in _paths_below(scope, path, "path")}
    if not places:
        raise not_found("document", path)
    refuse_below(scope.ports.table, scope.keys, to)
    _refuse_occupied(set(places.values()), set(_paths_below(scope, to, "to")))
    done = MovedDocuments()
    for start in range(0, len(places), IN_ONE_TRANSACTION):
        some = list(places.items())[start : start + IN_ONE_TRANSACTION]
        if start and scope.ports.clock.monotonic_ms() >= ends_ms:
            return replace(done, more=True)
        done.moved.extend(transact(scope.ports, _Moving(scope, dict(some), scope.ports.ids.token()).attempt))
    return done


def _paths_below(scope: UserScope, path: str, name: str) -> list[str]:
    heads = heads_below(scope.ports.table, scope.keys, path)
    found = [head.path for head in islice(heads, MAX_SCANNED + 1)]
    if len(found) > MAX_SCANNED:
        raise invalid(name, f"must hold at most {MAX_SCANNED} documents: move those of its folders one by one")
    return found


def _refuse_occupied(targets: Collection[str], there: Collection[str]) -> None:
    """Refuse targets at, above or below which something is. ``there``: documents where they are to be. Raises
    conflict."""
    for target in sorted(targets):
        for occupied in (target, *folders_of(target)):
            if occupied in there:
                raise NeveError("conflict", f"There is a document at '{occupied}' already.")
    for other in sorted(there):
        for folder in folders_of(other):
            if folder in targets:
                raise NeveError("conflict", f"'{folder}' is a folder: there is a document at '{other}'.")


@dataclass
class _Moving:
    """One transaction of a call. ``places``: where each goes, by where it is. ``write_id`` names this call on the rows
    (ADR 4)."""

    scope: UserScope
    places: Mapping[str, str]
    write_id: str

    def attempt(self) -> list[tuple[str, Document]]:
        """Move those that are there: what was moved or deleted meanwhile is left out, but for what this call moved.
        Raises Conflict."""
        scope, keys, table = self.scope, self.scope.keys, self.scope.ports.table
        paths = [*self.places, *self.places.values()]
        found = table.get_many([keys.head, *map(keys.document, dict.fromkeys(paths))])
        rows.writable(user := rows.read_head(found.get(keys.head)))
        heads = {path: read_document(found[keys.document(path)]) for path in paths if keys.document(path) in found}
        own = [(a, heads[b]) for a, b in self.places.items() if b in heads and heads[b].write_id == self.write_id]
        if own:
            return own
        leaving = [heads[path] for path in self.places if path in heads]
        ops: list[WriteOp] = []
        moved: list[tuple[str, Document]] = []
        for before in self._with_texts(leaving):
            to = self.places[before.path]
            if to in heads:
                raise NeveError("conflict", f"There is a document at '{to}' already.")
            after, written = self._written(before, to)
            ops += written
            moved.append((before.path, after))
        if moved:
            table.write([rows.guard_user(keys, user, scope.ports.clock.now()), *ops])
        return moved

    def _with_texts(self, heads: Sequence[Document]) -> Iterable[Document]:
        keys = self.scope.keys
        places = {head.path: keys.document_rev(str(head.id), head.rev) for head in heads}
        found = self.scope.ports.table.get_many(list(places.values())) if places else {}
        for head in heads:
            if places[head.path] not in found:
                raise Conflict  # it was written or deleted meanwhile
            revision = read_document(found[places[head.path]])
            yield replace(head, text=text_of(self.scope.ports.objects, revision))

    def _written(self, before: Document, to: str) -> tuple[Document, list[WriteOp]]:
        now = iso(self.scope.ports.clock.now())
        after = replace(changed_document(before, to, NOTHING_ELSE, now, self.scope.count), write_id=self.write_id)
        note_pins(self.scope.ports.table, self.scope.keys, before, after, now)
        return after, written_ops(self.scope.keys, before, after, None)
