"""Erases what was deleted to the last byte: the events, what was made of them, and every version of a pack that holds
it (docs/rules/retract.md#erase). In rounds; each may be repeated, and finds what is left."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from neve.domain.ids import is_own_memory_id
from neve.domain.indexing.utterances import texts_of_event
from neve.domain.memories.made_of import left_of_memory
from neve.domain.memories.passages import texts_of_memory
from neve.domain.records.epochs import SessionEpoch
from neve.domain.records.memories import Kind, Memory
from neve.domain.sessions.spans import meets
from neve.ports.table import Delete, Item, Key, Put, Version, WriteOp, key_of
from neve.store import rows
from neve.store.delete_rows import delete_rows
from neve.store.idempotency import answers_about, answers_with_paths
from neve.store.incarnation import still_there
from neve.store.keys import CLIENT_ID, is_summary_key
from neve.store.memories import deleted_ops
from neve.store.partitions import all_rows
from neve.store.sessions.messages import forgotten
from neve.store.transact import batches, item_bytes, transact
from neve.store.vectors import erase_vectors
from neve.usecases.core.images.image_objects import IMAGE_BATCH_SIZE, note_removed, remove_images
from neve.usecases.core.images.shown_images import ShownImages
from neve.usecases.tell.memories.fact_place import place_key
from neve.usecases.work.compact.artifacts import artifacts_of
from neve.usecases.work.export.withdraw_exports import overtaken_exports, withdraw_exports
from neve.usecases.work.retract.documents.erase_revisions import erase_revisions, with_their_vectors
from neve.usecases.work.retract.documents.revert_documents import revisions_to_erase
from neve.usecases.work.retract.purge_packs import DerivedRows
from neve.usecases.work.retract.retracting import ERASED, Retracting

ROUND = 500
"""Events or client ids that are erased without a look at the time."""
BATCH = 24
"""Rows of one transaction: of an event, its client id and its thinking below 100 actions."""
DELETED = 16
"""Memories of one transaction: each takes up to five actions."""
REVISIONS_AT_ONCE = 100
"""*Chosen*: revisions of documents that are erased without a look at the time: each takes some 50 ms."""
COUNTED = ("events", "images", "documents", "revisions", "memories", "vectors", "summaries", "packs", "exports")


def erase_retracted(work: Retracting, made: DerivedRows) -> None:
    """Erase everything, and note the receipt: how many of each were removed, by all workers that ended in time, and
    whether none of it is found afterwards. Raises OutOfTime, whenever little time is left behind some of it: the next
    call finds what is left. Raises UserErased, StoreUnavailable."""
    _Erasing(work, made).run()
    counts = work.counts
    receipt: dict[str, object] = {name: counts[name] for name in COUNTED}
    receipt["vectors"] = counts["vectors"] + counts["document_vectors"]
    work.note(ERASED, result={"erased": receipt | {"rebuilt_packs": [], "verified": not counts["left"]}})


@dataclass
class _Erasing:
    """The work of one worker. ``moved``: whether it has told exports of the deletion, by the user's row."""

    work: Retracting
    made: DerivedRows

    def __post_init__(self) -> None:
        self.scope, self.incarnation = self.work.scope, self.work.incarnation
        self.retraction, self.counts = self.work.retraction, self.work.counts
        self.shown, self.moved = ShownImages(self.scope), False

    def run(self) -> None:
        """Erase in the order in which what is left can be found: memories by the words of events, and what was made of
        another memory or revision before that."""
        table, keys = self.scope.ports.table, self.scope.keys
        for ids in batches(sorted(self.work.touched or (), reverse=True), most=DELETED):
            self.counts["memories"] += transact(self.scope.ports, partial(self._delete, ids))
            self.work.need_time()
        for revisions in batches(revisions_to_erase(self.work), most=REVISIONS_AT_ONCE):
            erasing = partial(erase_revisions, self.scope, revisions)
            erased, vectors = with_their_vectors(self.scope, revisions, erasing)
            self.counts.update(revisions=erased, document_vectors=vectors)
            self.work.need_time()
        found = table.get(keys.epoch)
        epoch = rows.read_epoch(found) if found else SessionEpoch(keys.session)
        if epoch.covers_to is not None:
            self._erase_summaries()
        for events in batches(self._events(), most=ROUND):
            self._erase_events(events)
            self.work.need_time()
        transact(self.scope.ports, self._forget_messages)
        for clients in batches(map(key_of, self._left_client_ids(epoch)), most=ROUND):
            for batch in batches(clients, most=BATCH):
                transact(self.scope.ports, partial(self._unbind, batch))
            self.work.need_time()
        memories = self.made.touched.union(filter(is_own_memory_id, self.made.gone))
        delete_rows(table, list(answers_about(table, keys, memories)))
        if self.work.listed("changed") or self.made.gone:
            # whose documents are gone by now: none that is kept from here on can name one of theirs
            delete_rows(table, list(answers_with_paths(table, keys)))
        self._withdraw_exports()
        self.counts["left"] += sum(1 for _ in self._events()) + len(revisions_to_erase(self.work))
        self.counts["left"] += sum(1 for _ in overtaken_exports(self.scope))

    # --- events ---------------------------------------------------------------------------------

    def _events(self) -> Iterator[Item]:
        """Read the events that still say something, or whose images are still to be removed."""
        log = all_rows(
            self.scope.ports.table, self.scope.keys.log, between=self.scope.keys.events(*self.retraction.span)
        )
        return (item for item in log if not item.get("erased") or rows.images_of_row(item))

    def _erase_events(self, items: Sequence[Item]) -> None:
        """Erase some events: vectors and documents first, as what the event's row says is how they are found; images
        behind it, so that of two events that show one, the last to be blanked finds no other."""
        scope, events = self.scope, [rows.read_event(item) for item in items]
        texts = {text for event in events for text in texts_of_event(scope.session, event)}
        self.counts["vectors"] += erase_vectors(scope.ports.table, scope.keys, texts)
        documents = [scope.keys.document(path) for path in artifacts_of(scope, self.incarnation, events)]
        documents = list(scope.ports.table.get_many(documents)) if documents else []
        delete_rows(scope.ports.table, documents)
        parts = list(batches(items, item_bytes, most=BATCH))
        for part in parts:
            transact(scope.ports, partial(self._blank, part, last=len(items) < ROUND and part is parts[-1]))
        self.counts["events"] += sum(not event.erased for event in events)
        self.counts["documents"] += len(documents)
        self._remove_images(items)

    def _remove_images(self, items: Sequence[Item]) -> None:
        """Remove images of events that are blank by now. In parts, each of which is noted: a worker that is cut off is
        followed there (docs/rules/sessions.md#images)."""
        images = {image for item in items for image in rows.images_of_row(item)}
        for part in batches(sorted(images), most=IMAGE_BATCH_SIZE):
            gone = frozenset(part)
            self.counts["images"] += len(remove_images(self.scope, gone, sent=True, shown=self.shown))
            note_removed(self.scope, items, gone)
            self.work.need_time()

    def _blank(self, items: Sequence[Item], *, last: bool) -> None:
        """Write the rows without their words, the client ids without what they were bound to. With the ``last`` of
        them, nothing is left that an export which begins from then on could read. Raises Conflict."""
        keys = self.scope.keys
        clients = [keys.client_id(item["client_id"]) for item in items if item.get("client_id")]
        found = self.scope.ports.table.get_many([keys.head, *map(key_of, items), *clients])
        head = rows.read_head(found.pop(keys.head, None))
        still_there(head, self.incarnation)
        ops = _unbound(found.pop(key) for key in clients if key in found)
        said = [item for item in found.values() if not item.get("erased")]
        ops += [rows.put_erased(item) for item in said]
        ops += [Delete(keys.thinking(item["seq"])) for item in said]
        if ops:
            moved = replace(head, deletions=head.deletions + 1)
            self.scope.ports.table.write([rows.put_head(keys, moved) if last else rows.check_head(keys, head), *ops])
            self.moved = last

    def _forget_messages(self) -> None:
        """Remove what the session knows the messages again by: a digest of few words can be turned back into them.
        Raises Conflict."""
        table, keys = self.scope.ports.table, self.scope.keys
        if puts := forgotten(table, keys, (self.retraction.span,)):
            head = rows.read_head(table.get(keys.head))
            still_there(head, self.incarnation)
            table.write([rows.check_head(keys, head), *puts])

    def _left_client_ids(self, epoch: SessionEpoch) -> Iterator[Item]:
        """Read the client ids of events that retention has removed: their rows do not name them any more. They are
        looked through only where there may be some."""
        table, keys, (first, last) = self.scope.ports.table, self.scope.keys, self.retraction.span
        if epoch.removed_to < first:
            return
        for client in all_rows(table, keys.log, prefix=CLIENT_ID):
            if "sha" in client and first <= client["seq"] <= last:
                yield client

    def _unbind(self, clients: Sequence[Key]) -> None:
        """Remove what client ids were bound to. Raises Conflict."""
        found = self.scope.ports.table.get_many([self.scope.keys.head, *clients])
        head = rows.read_head(found.pop(self.scope.keys.head, None))
        still_there(head, self.incarnation)
        if ops := _unbound(found.values()):
            self.scope.ports.table.write([rows.check_head(self.scope.keys, head), *ops])

    # --- memories -------------------------------------------------------------------------------

    def _delete(self, ids: Sequence[str]) -> int:
        """Delete memories in one transaction, and give how many there were. Their vectors go behind the row that tells
        the index of it, as those of any memory. Raises Conflict."""
        keys = self.scope.keys
        found = self.scope.ports.table.get_many([keys.head, *map(keys.memory, ids)])
        head = rows.read_head(found.pop(keys.head, None))
        still_there(head, self.incarnation)
        ops: list[WriteOp] = []
        memories = [rows.read_memory(item) for item in found.values()]
        for memory in memories:
            ops += [
                *deleted_ops(keys, memory, self.scope.ports.clock.now(), texts_of_memory(memory)),
                rows.put_deleted_memory(keys, memory, self.retraction.id, left_of_memory(memory)),
            ]
        ops += self._left_places(memories)
        if ops:
            self.scope.ports.table.write([rows.check_head(keys, head), *ops])
        return len(memories)

    def _left_places(self, memories: Sequence[Memory]) -> list[WriteOp]:
        """Give the deletions of facts' places: a place is named by a hash of what was said there."""
        facts = {place_key(self.scope.keys, one.text): one.id for one in memories if one.kind is Kind.FACT}
        places = self.scope.ports.table.get_many(list(facts)) if facts else {}
        own = {memory.id for memory in memories}
        return [Delete(key, Version(row["version"])) for key, row in places.items() if row["memory_id"] in own]

    # --- summaries ------------------------------------------------------------------------------

    def _erase_summaries(self) -> None:
        """Delete the summaries of the epochs before that cover some of it, which no prompt shows any more, and what
        their jobs say of them. What ends before it stays: nothing else may be left of events that retention has
        removed."""
        table = self.scope.ports.table
        old = list(self._summaries())
        for job_id in {item["job_id"] for item in old if is_summary_key(item["sk"]) and "job_id" in item}:
            transact(self.scope.ports, partial(self._without_summary, job_id))
        self.counts["summaries"] += delete_rows(table, [key_of(item) for item in old])

    def _summaries(self) -> Iterator[Item]:
        """Read those summaries, and what stands in for them."""
        table, keys, span = self.scope.ports.table, self.scope.keys, self.retraction.span
        found = (item for prefix in keys.summaries for item in all_rows(table, keys.partition, prefix=prefix))
        for item in found:
            if item["epoch"] < self.retraction.epoch and meets([span], (item["covers_from"], item["covers_to"])):
                yield item

    def _without_summary(self, job_id: str) -> None:
        item = self.scope.ports.table.get(self.scope.keys.job(job_id))
        job = rows.read_job(item) if item else None
        if job and "summary" in job.result:
            left = {name: value for name, value in job.result.items() if name != "summary"}
            self.scope.ports.table.write([rows.put_job(self.scope.keys, replace(job, result=left))])

    # --- exports --------------------------------------------------------------------------------

    def _withdraw_exports(self) -> None:
        """Withdraw them behind all the others: an export that begins from then on reads none of it."""
        moved = self.moved or bool(self.counts["withdrawing"])
        for _ in withdraw_exports(self.scope, self.incarnation, moved=moved):
            self.counts["withdrawing"] = 1
            self.counts["exports"] += 1
            self.work.need_time()


def _unbound(clients: Iterable[Item]) -> list[WriteOp]:
    """Make the writes of client ids without what they were bound to."""
    return [Put({k: v for k, v in one.items() if k != "sha"}, Version(one["version"])) for one in clients]
