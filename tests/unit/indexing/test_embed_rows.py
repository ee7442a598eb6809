"""The embed worker on memories: vectors once for each text, one bad row alone, and an index that follows the rows."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from local.controls.fixture_embedder import MODEL
from neve.adapters.embedders.no_embedder import NoEmbedder
from neve.adapters.table_rules import item_size
from neve.domain.documents.change import DocumentChange
from neve.domain.indexing.document_passages import indexed_texts
from neve.domain.indexing.passage import Passage
from neve.domain.memories.text import fingerprint
from neve.domain.records.memories import EmbeddingState, Kind, Priority, Status
from neve.domain.tenants.policy import Policy
from neve.ports.errors import StoreUnavailable
from neve.ports.queue import Message, QueueName
from neve.ports.search import Owner
from neve.ports.table import Expect, Put, WriteOp
from neve.scope import Tenant
from neve.store import idempotency
from neve.store.idempotency import IdempotencyKey, StoredReply
from neve.store.keys import embedder_health
from neve.store.partitions import all_rows
from neve.store.tenants.embedder_health import read_embedder_health
from neve.store.vectors import as_kept, read_vector
from neve.usecases.ask.tenants.user_stats import user_stats
from neve.usecases.tell.documents.write_document import write_document
from neve.usecases.tell.memories.delete_memory import delete_memory
from neve.usecases.tell.memories.import_memories import ImportedRow, import_memories
from neve.usecases.tell.memories.update_memory import MemoryChange, update_memory
from neve.usecases.work.indexing.drain_embeddings import drain_embeddings, read_drain
from neve.usecases.work.indexing.requeue import requeue_pending
from neve.usecases.work.retract.documents.erase_revisions import erase_revisions
from tests.unit.recall.test_recall_legs import OtherModel
from tests.unit.recall_world import RecallWorld
from tests.unlimited import unlimited


@pytest.fixture
def world(new_recall_world: RecallWorld) -> RecallWorld:
    return new_recall_world


def embed_calls(world: RecallWorld) -> list[dict[str, Any]]:
    return [call for call in world.calls.entries("embed") if call["operation"] == "passages"]


def usage(world: RecallWorld, user: str = "ann") -> tuple[int, int]:
    used = user_stats(world.user(user)).usage
    return used.embedded_texts, used.reused_vectors


def health(world: RecallWorld) -> tuple[str, str | None] | None:
    item = world.rows.get(embedder_health(MODEL.tag))
    seen = read_embedder_health(item) if item else None
    return (seen.state, seen.reason) if seen else None


def indexed(world: RecallWorld, user: str = "ann") -> int:
    return world.index.count(Owner(world.tenant.id, user))


def due(world: RecallWorld) -> int:
    job = drain_embeddings(world.scope, None, wait_s=0)
    world.queue.sent.clear()
    return int(job.result["pending"])


def in_between(world: RecallWorld, happens: Callable[[], object]) -> None:
    """Right after the worker's next write to the index."""
    upsert = world.index.upsert

    def then(owner: Owner, passages: Sequence[Passage]) -> None:
        world.index.upsert = upsert  # type: ignore[method-assign]
        upsert(owner, passages)
        happens()

    world.index.upsert = then  # type: ignore[method-assign]


# --- the plain way ------------------------------------------------------------------------------


def test_a_row_is_ready_when_the_index_has_it(world: RecallWorld) -> None:
    tea = world.remember("Mary drinks tea")
    assert world.memory(tea).embedding_state is EmbeddingState.PENDING and due(world) == 1
    world.pump()
    ready = world.memory(tea)
    assert (ready.embedding_state, ready.embedding_model) == (EmbeddingState.READY, "fixture-384")
    assert (ready.rev_at, ready.rev, indexed(world), due(world)) == (None, 1, 1, 0)


def test_sixteen_texts_a_call_and_fifty_rows_together(world: RecallWorld) -> None:
    for n in range(120):
        world.remember(f"memory number {n}")
    messages = world.dispatch()
    assert len(messages) == 120
    assert world.embed(messages) == {}
    assert [len(call["texts"]) for call in embed_calls(world)] == [16, 16, 16, 2, 16, 16, 16, 2, 16, 4]
    assert usage(world) == (120, 0)


def test_a_message_that_comes_again_does_nothing(world: RecallWorld) -> None:
    world.remember("Mary drinks tea")
    messages = world.dispatch()
    for _ in range(3):
        world.embed([*messages, *messages])
    assert len(embed_calls(world)) == 1 and usage(world) == (1, 0)


def test_identical_text_is_embedded_once_for_a_user(world: RecallWorld) -> None:
    world.remember("Mary drinks tea")
    world.pump()
    world.remember("mary  drinks TEA")
    world.pump()
    assert (len(embed_calls(world)), usage(world)) == (1, (1, 1))
    world.remember("Mary drinks tea", user="bob")
    world.pump()
    assert (len(embed_calls(world)), usage(world, "bob")) == (2, (1, 0))


def test_every_passage_is_embedded_and_a_shortened_row_leaves_none_behind(world: RecallWorld) -> None:
    tea = world.remember("Mary drinks tea.\n\nShe grows roses.\n\nShe lives in Cork.")
    world.pump()
    assert (indexed(world), usage(world)) == (3, (3, 0))
    update_memory(world.user("ann"), tea, MemoryChange({"text": "She grows roses."}), None)
    world.pump()
    assert (indexed(world), usage(world)) == (1, (3, 1)), "the vector of the paragraph that stayed is used again"
    assert world.found("roses", legs=("vector",), threshold=0.0) == [tea]


def test_a_change_of_tags_costs_no_embedding(world: RecallWorld) -> None:
    tea = world.remember("Mary drinks tea")
    world.pump()
    update_memory(world.user("ann"), tea, MemoryChange({"tags": ("hot",)}), None)
    world.pump()
    assert len(embed_calls(world)) == 1
    assert world.memory(tea).embedding_state is EmbeddingState.READY


def test_deleted_and_archived_rows_leave_the_index(world: RecallWorld) -> None:
    gone, archived = world.remember("Mary drinks tea"), world.remember("Mary grows roses")
    world.pump()
    delete_memory(world.user("ann"), gone, None)
    world.change(archived, status=Status.ARCHIVED, rev=2, rev_at=world.ago(seconds=0))
    world.pump()
    assert indexed(world) == 0 and due(world) == 0


@pytest.mark.parametrize("index_knows_of_the_deletion", [True, False])
def test_a_deleted_row_that_is_imported_again_is_recalled_at_once_and_later(
    world: RecallWorld, index_knows_of_the_deletion: bool
) -> None:
    tea = world.remember("Ann likes green tea")
    world.pump()
    for tag in ("a", "b"):
        update_memory(world.user("ann"), tea, MemoryChange({"tags": (tag,)}), None)
    world.pump()
    for times in (1, 2):
        delete_memory(world.user("ann"), tea, None)
        if index_knows_of_the_deletion:
            world.pump()
            assert world.found("green tea") == []
        line = ImportedRow("Ann likes green tea", Kind.MANUAL, id=tea)
        assert import_memories(world.user("ann"), [line]).imported == [tea]
        assert world.found("green tea") == [tea]
        world.pump()
        assert world.memory(tea).rev_at is None
        assert world.memory(tea).rev == 3 + 2 * times, "a deletion is a rev of its own"
        assert world.found("green tea") == [tea]
        assert indexed(world) == 1


def test_without_an_embedder_rows_are_indexed_by_their_words(tmp_path: Path) -> None:
    world = RecallWorld.make(tmp_path, NoEmbedder())
    tea = world.remember("Mary drinks tea")
    world.pump()
    assert (world.memory(tea).embedding_state, indexed(world)) == (EmbeddingState.SKIPPED, 1)
    assert embed_calls(world) == [] and due(world) == 0
    world.close()


# --- an embedder that fails ---------------------------------------------------------------------


def fail(world: RecallWorld, *faults: dict[str, Any]) -> None:
    world.faults.replace([{"target": "embed", **fault} for fault in faults])


def test_a_busy_embedder_is_asked_three_times(world: RecallWorld) -> None:
    tea = world.remember("Mary drinks tea")
    fail(world, {"fault": "status:429", "times": 2})
    world.pump()
    assert world.memory(tea).embedding_state is EmbeddingState.READY
    assert [call["outcome"] for call in embed_calls(world)] == ["EmbeddingRetryable", "EmbeddingRetryable", "ok"]
    assert world.clock.slept == [0.5, 1.0]


def test_after_three_attempts_the_message_goes_back_and_the_row_is_found_by_its_words(world: RecallWorld) -> None:
    tea = world.remember("Mary drinks oolong")
    fail(world, {"fault": "error"})
    messages = world.dispatch()
    assert list(world.embed(messages)) == [0]
    assert len(embed_calls(world)) == 3
    assert world.memory(tea).embedding_state is EmbeddingState.PENDING and due(world) == 1
    world.clock.move(hours=1)
    assert world.found("oolong", legs=("lexical",)) == [tea]
    fail(world)
    assert world.embed(messages) == {}
    assert world.memory(tea).embedding_state is EmbeddingState.READY


def test_a_refusing_embedder_is_asked_once_and_health_says_why(world: RecallWorld) -> None:
    rows = [world.remember(f"Mary drinks tea {n}") for n in range(3)]
    fail(world, {"fault": "status:403"})
    world.pump()
    assert len(embed_calls(world)) == 1 and world.clock.slept == []
    assert {world.memory(row).embedding_state for row in rows} == {EmbeddingState.FAILED}
    assert health(world) == ("unavailable", "injected fault: status 403")
    world.clock.move(hours=1)
    assert set(world.found("tea", legs=("lexical",))) == set(rows)
    fail(world)
    world.remember("another")
    world.pump()
    assert health(world) == ("ready", None)


def test_the_health_row_is_written_when_it_changes(world: RecallWorld) -> None:
    world.remember("one")
    world.pump()
    assert health(world) is None, "ready is what nobody needs to be told"
    fail(world, {"fault": "status:403"})
    world.remember("two")
    world.pump()
    first = world.rows.get(embedder_health(MODEL.tag))
    world.clock.move(hours=1)
    world.remember("three")
    world.pump()
    assert world.rows.get(embedder_health(MODEL.tag)) == first


def test_one_poison_row_fails_alone(world: RecallWorld) -> None:
    rows = [world.remember(f"memory {n}") for n in range(5)]
    poison = world.remember("POISON memory")
    fail(world, {"fault": "error", "match": "POISON"})
    messages = world.dispatch()
    failures = world.embed(messages)
    assert [messages[at].body["id"] for at in failures] == [poison]
    assert {world.memory(row).embedding_state for row in rows} == {EmbeddingState.READY}
    assert world.memory(poison).embedding_state is EmbeddingState.PENDING


def test_a_row_that_breaks_the_worker_fails_alone(world: RecallWorld) -> None:
    good, bad = world.remember("memory one"), world.remember("memory two")
    upsert = world.index.upsert

    def refuse(owner: Owner, passages: Sequence[Passage]) -> None:
        if any(passage.item_id == bad for passage in passages):
            raise ValueError("unforeseen")
        upsert(owner, passages)

    world.index.upsert = refuse  # type: ignore[method-assign]
    messages = world.dispatch()
    failures = world.embed(messages)
    assert [messages[at].body["id"] for at in failures] == [bad]
    assert world.memory(good).embedding_state is EmbeddingState.READY


def test_a_store_that_is_down_fails_the_whole_batch(world: RecallWorld) -> None:
    for n in range(3):
        world.remember(f"memory {n}")
    messages = world.dispatch()
    world.broken("table=error")
    assert set(world.embed(messages)) == {0, 1, 2}
    assert embed_calls(world) == []
    world.broken()
    assert world.embed(messages) == {}


def test_vectors_of_another_model_are_not_put_into_the_index(world: RecallWorld) -> None:
    world.inner_embedder = OtherModel()
    tea = world.remember("Mary drinks tea")
    world.pump()
    assert (world.memory(tea).embedding_state, indexed(world)) == (EmbeddingState.FAILED, 1)
    assert embed_calls(world) == [] and health(world) is None


# --- races --------------------------------------------------------------------------------------


def test_a_row_deleted_while_it_was_indexed_leaves_the_index(world: RecallWorld) -> None:
    tea = world.remember("Mary drinks tea")
    messages = world.dispatch()
    in_between(world, lambda: delete_memory(world.user("ann"), tea, None))
    assert world.embed(messages) == {}
    assert indexed(world) == 0


def test_a_row_deleted_while_it_was_indexed_leaves_the_index_at_the_rev_that_was_written(world: RecallWorld) -> None:
    """A message that was told of an older rev indexes the row as it is."""
    tea = world.remember("Mary drinks tea")
    messages = world.dispatch()
    update_memory(world.user("ann"), tea, MemoryChange({"text": "Mary drinks rum"}), None)
    in_between(world, lambda: delete_memory(world.user("ann"), tea, None))
    assert world.embed(messages) == {}
    assert indexed(world) == 0


def test_a_row_edited_while_it_was_indexed_stays_pending_for_its_own_message(world: RecallWorld) -> None:
    tea = world.remember("Mary drinks tea")
    messages = world.dispatch()
    in_between(world, lambda: update_memory(world.user("ann"), tea, MemoryChange({"text": "Mary drinks rum"}), None))
    assert world.words(messages) == {}
    edited = world.memory(tea)
    assert (edited.rev, edited.embedding_state) == (2, EmbeddingState.PENDING) and edited.rev_at is not None
    assert (edited.words_at, world.taken(QueueName.EMBED)) == (None, [])
    world.pump()
    assert world.memory(tea).embedding_state is EmbeddingState.READY
    assert world.found("rum", legs=("vector",), threshold=0.0) == [tea]


def vectors_of(world: RecallWorld, *texts: str) -> list[str]:
    """Those of the texts that have one."""
    keys = world.user().keys
    kept = {item["sk"].split("#")[0] for item in all_rows(world.rows, keys.vectors)}
    assert len(kept) == sum(fingerprint(text) in kept for text in texts), "and nothing else has one"
    return [text for text in texts if fingerprint(text) in kept]


def test_a_vector_takes_one_write_unit_and_is_the_same_when_it_is_read(world: RecallWorld) -> None:
    world.remember("Mary drinks tea")
    world.pump()
    keys = world.user().keys
    [item] = all_rows(world.rows, keys.vectors)
    assert item_size(item) <= 1024
    [made] = world.inner_embedder.embed_passages(["Mary drinks tea"])
    assert read_vector(item) == as_kept(made) == as_kept(as_kept(made))
    exact, kept = (struct.unpack("<384f", one) for one in (made, as_kept(made)))
    assert max(abs(a - b) for a, b in zip(exact, kept, strict=True)) < 2**-11


def test_what_was_made_is_counted_once_a_message(world: RecallWorld) -> None:
    world.remember("\n\n".join(f"Mary has {n} cats" for n in range(100, 200)))
    world.pump()
    item = world.rows.get(world.user().keys.usage)
    assert usage(world) == (100, 0) and item is not None and item["version"] == 1


def test_a_deleted_row_leaves_no_vector(world: RecallWorld) -> None:
    tea = world.remember("Mary drinks tea\n\nand eats plums")
    world.remember("Mary rows")
    world.pump()
    delete_memory(world.user(), tea, None)
    world.pump()
    assert vectors_of(world, "Mary drinks tea", "and eats plums", "Mary rows") == ["Mary rows"]


def test_a_deleted_row_of_very_many_passages_leaves_no_vector_either(world: RecallWorld) -> None:
    """A query for each of them would take longer than a worker lives."""
    numbers = [str(n) for n in range(10_000, 11_500)]
    world.remember("Mary rows")
    world.pump()
    long, keys = world.remember("\n\n".join(numbers)), world.user().keys
    kept = [keys.vector(fingerprint(one), "another-model") for one in numbers]
    for start in range(0, len(kept), 100):
        world.rows.write([Put({"pk": key.pk, "sk": key.sk, "type": "vector"}) for key in kept[start : start + 100]])
    delete_memory(world.user(), long, None)
    world.rows.calls.clear()
    world.pump()
    assert vectors_of(world, "10000", "11499", "Mary rows") == ["Mary rows"]
    assert world.rows.calls["query"] < 100


def test_a_deleted_row_leaves_no_answer_to_its_changes(world: RecallWorld) -> None:
    tea, other = world.remember("Mary drinks tea"), world.remember("Mary rows")
    world.pump()
    keys, now = world.user().keys, world.clock.now()
    calls = [
        (verb, f"{path.format(one)}")
        for one in (tea, other)
        for verb, path in (("PATCH", "memories/{}"), ("POST", "memories/{}/evolve"), ("POST", "inbox/{}/edit"))
    ]
    for verb, path in calls:
        key = IdempotencyKey(f"{verb} /v1/users/ann/{path}", "k", "sha")
        world.rows.write(
            [idempotency.done(keys, key, StoredReply(200, {"text": "Mary drinks tea"}), now, Expect.ABSENT)]
        )
    delete_memory(world.user(), tea, None)
    world.pump()
    left = [item["sk"] for item in all_rows(world.rows, keys.answers)]
    assert sorted(left) == sorted(f"{verb} /v1/users/ann/{path}#k" for verb, path in calls if other in path)


def test_a_worker_that_dies_before_the_vectors_are_gone_is_followed_by_another(
    world: RecallWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    tea = world.remember("Mary drinks tea")
    world.pump()
    delete_memory(world.user(), tea, None)
    messages = world.dispatch()

    def down(*_: Any) -> int:
        raise StoreUnavailable("table", "down")

    with monkeypatch.context() as patched:
        patched.setattr("neve.usecases.work.indexing.index_memories.erase_vectors", down)
        assert list(world.words(messages)) == [0]
    assert vectors_of(world, "Mary drinks tea") == ["Mary drinks tea"]
    assert world.words(messages, again=True) == {}
    assert vectors_of(world, "Mary drinks tea") == []


def test_a_row_deleted_while_it_was_embedded_leaves_no_vector(world: RecallWorld) -> None:
    tea = world.remember("Mary drinks tea")
    messages = world.dispatch()
    assert world.words(messages) == {}

    def deleted() -> None:
        delete_memory(world.user(), tea, None)
        world.words(world.dispatch())

    in_between(world, deleted)
    assert world.embed(messages) == {}
    assert vectors_of(world, "Mary drinks tea") == []


def test_an_edit_takes_the_vectors_of_what_is_no_longer_said(world: RecallWorld) -> None:
    tea = world.remember("Mary drinks tea\n\nand eats plums")
    world.pump()
    update_memory(world.user(), tea, MemoryChange({"text": "Mary drinks rum\n\nand eats plums"}), None)
    said = ("Mary drinks tea", "and eats plums", "Mary drinks rum")
    assert vectors_of(world, *said) == ["and eats plums"]
    world.pump()
    assert vectors_of(world, *said) == ["and eats plums", "Mary drinks rum"]


def test_an_edit_while_a_row_is_embedded_leaves_no_vector_of_the_words_before(world: RecallWorld) -> None:
    tea = world.remember("Mary drinks tea")
    messages = world.dispatch()
    assert world.words(messages) == {}
    in_between(world, lambda: update_memory(world.user(), tea, MemoryChange({"text": "Mary drinks rum"}), None))
    assert world.embed(messages) == {}
    assert vectors_of(world, "Mary drinks tea") == []


def test_a_revision_that_is_erased_while_it_is_embedded_leaves_no_vector(world: RecallWorld) -> None:
    """As behind a deleted message that a librarian had written it of; others stay, and so do their vectors."""
    path, ann = "/notes/tea", world.user()
    first = write_document(ann, path, DocumentChange(text="Mary drinks tea")).document
    messages = world.dispatch()
    assert world.words(messages) == {}

    def erased() -> None:
        write_document(ann, path, DocumentChange(text="Mary drinks rum"))
        erase_revisions(ann, [(str(first.id), 1)])

    in_between(world, erased)
    assert world.embed(messages) == {}
    assert vectors_of(world, *indexed_texts(first)) == []


def test_what_says_the_same_as_something_deleted_is_embedded_once_more(world: RecallWorld) -> None:
    tea, same = world.remember("Mary drinks tea"), world.remember("Mary drinks tea")
    world.pump()
    delete_memory(world.user(), tea, None)
    world.pump()
    update_memory(world.user(), same, MemoryChange({"tags": ("drinks",)}), None)
    world.pump()
    assert world.found("Mary drinks tea", legs=("vector",), threshold=0.0) == [same]


def test_a_citation_while_it_was_indexed_is_kept(world: RecallWorld) -> None:
    tea = world.remember("Mary drinks tea")
    messages = world.dispatch()
    in_between(world, lambda: setattr(world.rows, "before_write", cite))

    def cite() -> None:
        world.change(tea, last_used_at="2027-01-01T00:00:00.000Z")

    assert world.embed(messages) == {}
    row = world.memory(tea)
    assert (row.embedding_state, row.last_used_at) == (EmbeddingState.READY, "2027-01-01T00:00:00.000Z")


# --- queueing again -----------------------------------------------------------------------------


def lost(world: RecallWorld) -> None:
    """The messages of everything so far never arrive."""
    world.dispatch()


def queued(world: RecallWorld) -> list[Message]:
    sent = [message for _, message in world.queue.sent]
    world.queue.sent.clear()
    return sent


def test_the_sweep_queues_lost_rows_again_important_ones_first(world: RecallWorld) -> None:
    low = world.remember("low", priority=Priority.LOW)
    high = world.remember("high", priority=Priority.HIGH)
    medium = world.remember("medium", priority=Priority.MEDIUM)
    lost(world)
    older_than = world.clock.now()
    world.clock.move(minutes=20)
    fresh = world.remember("written just now")
    lost(world)
    assert requeue_pending(world, older_than, unlimited()) == 3
    messages = queued(world)
    assert [message.body["id"] for message in messages] == [high, medium, low]
    assert world.dispatch() == [], "the stamp is not a new rev"
    assert world.embed(messages) == {}
    assert world.memory(high).embedding_state is EmbeddingState.READY
    assert world.memory(fresh).embedding_state is EmbeddingState.PENDING


def test_the_sweep_queues_a_row_once_in_five_minutes(world: RecallWorld) -> None:
    world.remember("tea")
    lost(world)
    world.clock.move(minutes=20)
    swept = [requeue_pending(world, world.clock.now(), unlimited())]
    world.clock.move(minutes=4, seconds=59)
    swept.append(requeue_pending(world, world.clock.now(), unlimited()))
    world.clock.move(seconds=1)
    swept.append(requeue_pending(world, world.clock.now(), unlimited()))
    assert swept == [1, 0, 1]


def test_the_sweep_leaves_failed_rows_to_whoever_asks(world: RecallWorld) -> None:
    tea = world.remember("tea")
    fail(world, {"fault": "status:403"})
    world.pump()
    world.clock.move(days=1)
    assert requeue_pending(world, world.clock.now(), unlimited()) == 0
    fail(world)
    job = drain_embeddings(world.scope, "ann", wait_s=0)
    assert (job.kind, job.status, job.result) == ("drain_embeddings", "running", {"queued": 1, "pending": 1})
    assert world.memory(tea).embedding_state is EmbeddingState.PENDING
    assert world.embed(queued(world)) == {}
    assert world.memory(tea).embedding_state is EmbeddingState.READY
    ended = read_drain(world.scope, job.id)
    assert (ended.status, ended.result, due(world)) == ("done", {"queued": 1, "pending": 0}, 0)


def test_a_drain_answers_in_time_and_says_that_more_is_left(world: RecallWorld) -> None:
    """Each row takes ten seconds to be stamped: two of three are queued, and nothing is waited for beyond its time."""
    for text in ("tea", "coffee", "milk"):
        world.remember(text)
    lost(world)
    began_ms, write = world.clock.monotonic_ms(), world.rows.write

    def slow(ops: Sequence[WriteOp]) -> None:
        world.clock.sleep(10)
        write(ops)

    with pytest.MonkeyPatch.context() as slowed:
        slowed.setattr(world.rows, "write", slow)
        job = drain_embeddings(world.scope, None, wait_s=25)
    assert (job.status, job.result) == ("running", {"queued": 2, "pending": 3, "left": True})
    assert len(queued(world)) == 2
    assert world.clock.monotonic_ms() - began_ms <= 36_000, "the row of the job is the last write"
    assert "left" not in drain_embeddings(world.scope, None, wait_s=0).result


def test_a_drain_is_of_one_tenant_and_if_asked_of_one_user(world: RecallWorld) -> None:
    anns, bobs = world.remember("tea"), world.remember("tea", user="bob")
    lost(world)
    theirs = RecallWorld(
        world.rows, world.objects, world.index, world.faults, world.clock, world.calls, world.inner_embedder
    )
    theirs.tenant = Tenant("other", Policy())
    theirs.remember("tea")
    lost(theirs)
    assert drain_embeddings(world.scope, "bob", wait_s=0).result["queued"] == 1
    assert [message.body["id"] for message in queued(world)] == [bobs]
    assert drain_embeddings(world.scope, None, wait_s=0).result["queued"] == 2
    assert {message.body["id"] for message in queued(world)} == {anns, bobs}


def test_a_drain_that_waits_ends_when_nothing_is_pending(world: RecallWorld) -> None:
    world.remember("tea", kind=Kind.NOTE)
    lost(world)
    send = world.queue.send

    def at_once(queue: Any, messages: Sequence[Message]) -> None:
        send(queue, messages)
        world.embed(messages)

    world.queue.send = at_once  # type: ignore[method-assign]
    job = drain_embeddings(world.scope, "ann", wait_s=20)
    assert (job.status, job.result) == ("done", {"queued": 1, "pending": 0})


def test_a_row_that_is_cited_at_the_same_time_is_queued_with_its_citation(world: RecallWorld) -> None:
    tea = world.remember("tea")
    lost(world)
    world.clock.move(minutes=20)
    world.rows.before_write = lambda: world.change(tea, last_used_at="2027-01-01T00:00:00.000Z")
    assert requeue_pending(world, world.clock.now(), unlimited()) == 1
    row = world.memory(tea)
    assert (row.last_used_at, row.embed_queued_at) == ("2027-01-01T00:00:00.000Z", "2026-03-10T09:50:00.000Z")


def test_a_row_that_was_indexed_or_deleted_at_the_same_time_is_not_queued(world: RecallWorld) -> None:
    indexed_now, deleted_now = world.remember("tea"), world.remember("coffee")
    lost(world)
    world.clock.move(minutes=20)
    world.rows.before_write = lambda: world.change(indexed_now, embedding_state=EmbeddingState.READY, rev_at=None)
    assert requeue_pending(world, world.clock.now(), unlimited()) == 1
    world.clock.move(minutes=20)

    def delete() -> None:
        delete_memory(world.user("ann"), deleted_now, None)

    world.rows.before_write = delete
    assert requeue_pending(world, world.clock.now(), unlimited()) == 0
