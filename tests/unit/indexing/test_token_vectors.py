"""Token vectors: made behind words and vectors for tenants that rerank late, and gone with what they are of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import pytest

from local.controls.fixture_token_encoder import FixtureTokenEncoder
from local.controls.virtual_time import spend
from neve.domain.records.memories import Status
from neve.domain.records.users import UserHead
from neve.domain.tenants.policy import Policy
from neve.domain.times import iso
from neve.ports.queue import Message, QueueName
from neve.ports.table import Delete, Expect, Put, WriteOp
from neve.scope import Tenant, TenantData, TenantScope, UserData
from neve.store import rows
from neve.store.keys import UserKeys, leg_health
from neve.store.partitions import due_rows
from neve.store.rows import put_erased
from neve.store.tenants.leg_health import read_leg_troubles
from neve.store.token_vectors import LATE, LateProgress, TokenVectors, read_late_progress, read_token_vectors
from neve.usecases.background.refill_queues import refill_queues
from neve.usecases.background.sweep_due import sweep_due
from neve.usecases.erase.erase_user import begin_erasure, erase_user
from neve.usecases.indexing import embed_rows as worker
from neve.usecases.indexing.drain_embeddings import drain_embeddings, read_drain
from neve.usecases.indexing.late.encode_items import ITEMS, MAX_PASSAGES
from neve.usecases.indexing.late.look_again import look_again
from neve.usecases.jobs.begin_encoding import encode_again
from neve.usecases.jobs.messages.compaction import message_of_row
from neve.usecases.memories.delete_memory import delete_memory
from neve.usecases.memories.update_memory import MemoryChange, update_memory
from neve.usecases.retract.retract_events import Retract, retract_events
from neve.usecases.retract.run_retraction import run_retraction
from neve.usecases.tenants.read_policy import read_policy
from neve.usecases.tenants.user_stats import user_stats
from neve.usecases.tenants.write_policy import write_policy
from tests.unit.recall_world import RecallWorld, delivered

ANN = UserKeys("acme", "ann")


@pytest.fixture
def world(tmp_path: Path) -> Iterator[RecallWorld]:
    made = RecallWorld.make(tmp_path)
    made.inner_tokens = FixtureTokenEncoder()
    made.with_policy(rerank="late")
    yield made
    made.close()


def held(world: RecallWorld, item_id: str, keys: UserKeys = ANN) -> TokenVectors | None:
    item = world.rows.get(keys.tokens_of(item_id))
    return read_token_vectors(item) if item else None


def encoded(world: RecallWorld, keys: UserKeys = ANN) -> set[str]:
    """The ids that have token vectors."""
    return {item["sk"] for item in world.rows.query(keys.token_vectors, limit=1000).items}


def late_troubles(world: RecallWorld) -> list[str]:
    """As health reads them."""
    found = world.rows.get_many([leg_health("late")])
    return [trouble.reason for trouble in read_leg_troubles(found, world.clock.now())]


def tokens(message: Message) -> bool:
    return bool(message.body["kind"] == "tokens")


def test_memories_and_utterances_are_encoded_behind_their_vectors(world: RecallWorld) -> None:
    world.open()
    world.say("I moved to Lisbon", "Congratulations!")
    memory = world.remember("User lives in Lisbon")
    world.embed(world.dispatch())
    assert encoded(world) == set(), "words and vectors come first"
    queued = [message for queue, message in world.queue.sent if queue is QueueName.EMBED]
    assert queued and all(map(tokens, queued))
    world.pump()
    assert encoded(world) == {memory, "evt:s1:1", "evt:s1:2"}
    made = held(world, "evt:s1:1")
    assert made is not None
    assert made.parts == tuple(FixtureTokenEncoder().encode_passages(["user: I moved to Lisbon"]))
    assert user_stats(world.user()).usage.encoded_texts == 3


def test_a_tenant_that_does_not_rerank_late_pays_for_none(world: RecallWorld) -> None:
    world.with_policy(rerank="linear")
    world.remember("User lives in Lisbon")
    world.pump()
    assert encoded(world) == set()


def test_a_long_message_is_encoded_in_all_its_parts(world: RecallWorld) -> None:
    world.open()
    world.say("\n\n".join(f"paragraph {n} " + "about the harbour and its cranes " * 40 for n in range(5)))
    world.pump()
    made = held(world, "evt:s1:1")
    assert made is not None and len(made.parts) > 1


def test_of_a_message_without_end_the_beginning_is_encoded(world: RecallWorld) -> None:
    world.open()
    world.say(
        "\n\n".join(f"paragraph {n} " + "about the harbour and its cranes " * 50 for n in range(MAX_PASSAGES + 6))
    )
    world.pump()
    made = held(world, "evt:s1:1")
    assert made is not None and len(made.parts) == MAX_PASSAGES


def test_what_is_there_is_not_encoded_again(world: RecallWorld) -> None:
    memory = world.remember("User lives in Lisbon")
    world.pump()
    before = world.rows.get(ANN.tokens_of(memory))
    world.calls.clear()
    again = delivered([Message({"kind": "tokens", **owner(), "incarnation": 0, "ids": [memory]}, group="g")])
    world.broken("late=error")
    assert worker.embed_rows(world, again) == {}, "the encoder was not asked"
    assert world.rows.get(ANN.tokens_of(memory)) == before


def owner() -> dict[str, Any]:
    return {"tenant": "acme", "user": "ann"}


# --- what goes takes them along ---------------------------------------------------------------------


def test_a_deleted_memory_takes_them_along(world: RecallWorld) -> None:
    memory = world.remember("User lives in Lisbon")
    world.pump()
    delete_memory(world.user(), memory, None)
    assert encoded(world) == set()
    world.pump()
    assert encoded(world) == set()


def test_another_text_takes_them_along_at_once_and_gets_its_own(world: RecallWorld) -> None:
    memory = world.remember("User lives in Lisbon")
    world.pump()
    before = held(world, memory)
    update_memory(world.user(), memory, MemoryChange({"text": "User lives in Porto"}), None)
    assert encoded(world) == set()
    world.pump()
    after = held(world, memory)
    assert before is not None and after is not None
    assert (after.fingerprint, after.parts) != (before.fingerprint, before.parts)


def test_another_status_keeps_them(world: RecallWorld) -> None:
    memory = world.remember("User lives in Lisbon")
    world.pump()
    before = held(world, memory)
    update_memory(world.user(), memory, MemoryChange({"tags": ("home",)}), None)
    world.pump()
    assert held(world, memory) == before


def test_a_memory_that_is_deleted_while_it_is_encoded_gets_none(world: RecallWorld) -> None:
    memory = world.remember("User lives in Lisbon")
    world.embed(world.dispatch())
    [message] = [message for message in world.taken(QueueName.EMBED) if tokens(message)]
    world.rows.before_write = lambda: world.rows.write([Delete(ANN.memory(memory))])
    assert worker.embed_rows(world, delivered([message])) == {}
    assert encoded(world) == set()


@pytest.mark.parametrize("gone", ["erased", "removed"])
def test_an_utterance_that_goes_while_it_is_encoded_gets_none(world: RecallWorld, gone: str) -> None:
    world.open()
    world.say("I live in Lisbon")
    world.embed(world.dispatch())
    [message] = [message for message in world.taken(QueueName.EMBED) if tokens(message)]
    event = ANN.of_session("s1").event(1)
    erased = put_erased(world.rows.get(event) or {})
    world.rows.before_write = lambda: world.rows.write([erased if gone == "erased" else Delete(event)])
    assert worker.embed_rows(world, delivered([message])) == {}
    assert encoded(world) == set()


def test_what_is_encoded_once_more_while_it_is_deleted_goes(world: RecallWorld) -> None:
    """Behind the look for what is to go, and before the words went."""
    world.open()
    world.say("I live in Lisbon")
    world.pump()
    vectors = world.rows.get(ANN.tokens_of("evt:s1:1")) or {}
    session = world.user().of_session("s1")
    answer = retract_events(session, Retract(1, 1, "deleted"))
    body = message_of_row(world.rows.get(ANN.job(answer.job_id)) or {}).body
    write = world.rows.write

    def late(ops: Sequence[WriteOp]) -> None:
        if any(isinstance(op, Put) and op.item["type"] == "event" and op.item.get("erased") for op in ops):
            write([Put(vectors, Expect.ANY)])
        write(ops)

    world.rows.write = late  # type: ignore[method-assign]
    run_retraction(session, body)
    assert encoded(world) == set()


def test_an_erased_user_keeps_none_and_a_late_message_makes_none(world: RecallWorld) -> None:
    world.remember("User lives in Lisbon")
    world.pump()
    late = Message({"kind": "tokens", **owner(), "incarnation": 0, "ids": ["evt:s1:1"]}, group="g")
    begin_erasure(world.rows, ANN)
    erase_user(UserData(world, ANN))
    assert encoded(world) == set()
    assert worker.embed_rows(world, delivered([late])) == {}
    assert encoded(world) == set()


# --- an encoder that fails --------------------------------------------------------------------------


def test_what_fails_for_now_is_told_again_and_vectors_are_not_held_up(world: RecallWorld) -> None:
    memory = world.remember("User lives in Lisbon")
    world.broken("late=status:503")
    world.embed(world.dispatch())
    [message] = world.taken(QueueName.EMBED)
    assert set(worker.embed_rows(world, delivered([message]))) == {0}
    assert world.memory(memory).embedding_state == "ready"
    world.broken()
    assert worker.embed_rows(world, delivered([message])) == {}
    assert encoded(world) == {memory}


def test_what_nobody_foresaw_fails_by_itself(world: RecallWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    """The others of its batch would come with it again, and end with it as dead letters."""
    odd, other = world.remember("POISON"), world.remember("User lives in Lisbon")
    world.embed(world.dispatch())
    delivered_to = world.taken(QueueName.EMBED)
    world.remember("User likes tea")
    world.words(world.dispatch())
    batch = [*delivered_to, *world.taken(QueueName.EMBED)]
    whole = FixtureTokenEncoder.encode_passages

    def encode(self: FixtureTokenEncoder, texts: Sequence[str]) -> list[bytes]:
        if "POISON" in texts:
            raise RuntimeError("odd")
        return whole(self, texts)

    monkeypatch.setattr(FixtureTokenEncoder, "encode_passages", encode)
    assert [message.body.get("ids") for message in batch] == [[odd], [other], None]
    failures = worker.embed_rows(world, delivered(batch))
    assert [(position, str(error)) for position, error in failures.items()] == [(0, "odd")]
    assert encoded(world) == {other}


def test_an_utterance_without_a_vector_does_not_keep_the_others_from_being_encoded(world: RecallWorld) -> None:
    """Its message may never succeed, and the one that the sweep sends names what is left."""
    world.open()
    world.say("POISON one", "tea two", "tea three")
    world.faults.replace([{"target": "embed", "fault": "error", "match": "POISON"}])
    assert list(world.embed(world.dispatch())) == [0]
    assert worker.embed_rows(world, delivered(world.taken(QueueName.EMBED))) == {}
    assert encoded(world) == {"evt:s1:2", "evt:s1:3"}


def test_an_encoder_that_somebody_has_to_mend_is_said_by_health_and_a_drain_makes_up_for_it(
    world: RecallWorld,
) -> None:
    memory = world.remember("User lives in Lisbon")
    world.broken("late=status:403")
    world.pump()
    assert encoded(world) == set()
    assert late_troubles(world) == ["injected fault: status 403"]
    world.broken()
    job = drain_embeddings(world.scope, "ann", wait_s=0)
    assert (job.status, job.result["pending"]) == ("running", 1)
    world.pump()
    assert encoded(world) == {memory}
    assert read_drain(world.scope, job.id).status == "done"
    assert late_troubles(world) == []


def reopened(world: RecallWorld, progress: LateProgress | None) -> LateProgress | None:
    """How far a user is said to be, who was so far when something could not be encoded."""
    if progress is not None:
        world.rows.write([progress.put(ANN)])
    world.remember("User lives in Lisbon")
    world.broken("late=status:403")
    world.pump()
    return read_late_progress(world.rows.get(ANN.late_progress))


@pytest.mark.parametrize("progress", [LateProgress("policy 1", "a", 9, done=True), LateProgress("policy 1", "a", 9)])
def test_who_has_something_that_could_not_be_encoded_is_looked_at_again(
    world: RecallWorld, progress: LateProgress
) -> None:
    """From the beginning: it may lie before what was looked at."""
    found = reopened(world, progress)
    assert found is not None and (found.round, found.after, found.items, found.done) == ("policy 1", "", 0, False)
    assert read_policy(world.scope).encoding_users == 1


def test_who_was_never_told_counts_too_once_something_could_not_be_encoded(world: RecallWorld) -> None:
    """A user who came when the policy was late already. It is written once."""
    found = reopened(world, None)
    assert found is not None and read_policy(world.scope).encoding_users == 1
    world.remember("User lives in Porto")
    world.pump()
    assert read_late_progress(world.rows.get(ANN.late_progress)) == found


def test_a_user_who_is_erased_meanwhile_is_not_looked_at_again(
    world: RecallWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    def erased(data: UserData[RecallWorld], incarnation: int) -> None:
        begin_erasure(world.rows, ANN)
        erase_user(data)
        look_again(data, incarnation)

    monkeypatch.setattr(worker, "look_again", erased)
    assert reopened(world, None) is None


def test_a_user_who_is_being_erased_is_not_told(world: RecallWorld) -> None:
    """By a drain of all, between what an erasure has removed and its end: it would leave a row."""
    world.open()
    world.say("I moved to Lisbon.", "Noted.")
    begin_erasure(world.rows, ANN)
    for user in (None, "ann"):
        encode_again(TenantData(world, world.tenant.keys), user, "drain 1")
        world.pump()
    assert world.rows.get(ANN.late_progress) is None


def test_a_batch_without_time_sends_the_rest_again(world: RecallWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    world.open()
    world.say(*(f"line {n}" for n in range(10)))
    world.embed(world.dispatch())
    messages = world.taken(QueueName.EMBED)
    monkeypatch.setattr(worker, "ENCODING_MS", 0)
    assert worker.embed_rows(world, delivered(messages)) == {}
    assert encoded(world) == set()
    rest = world.taken(QueueName.EMBED)
    assert [message.body["ids"] for message in rest] == [message.body["ids"] for message in messages]
    monkeypatch.undo()
    assert worker.embed_rows(world, delivered(rest)) == {}
    assert len(encoded(world)) == 10


# --- a tenant that begins to rerank late --------------------------------------------------------------


@pytest.fixture
def full(world: RecallWorld) -> RecallWorld:
    """Two users with memories and logs from before."""
    world.with_policy(rerank="linear")
    for user in ("ann", "bob"):
        for session in ("s1", "s2"):
            world.open(session, user=user)
            world.say(*(f"line {n} of {user}" for n in range(20)), user=user, session=session)
        for n in range(ITEMS + 4):
            world.remember(f"fact {n} of {user}", user=user)
        world.pump()
    return world


EVERYTHING = 2 * 20 + ITEMS + 4


def test_what_a_tenant_has_is_encoded_when_its_policy_becomes_late(full: RecallWorld) -> None:
    assert encoded(full) == set()
    full.with_policy(rerank="late")
    full.pump()
    for user in ("ann", "bob"):
        assert len(encoded(full, full.tenant.keys.of_user(user))) == EVERYTHING
    assert read_policy(full.scope).encoding_users == 0


def test_what_could_not_be_encoded_is_not_said_to_be(full: RecallWorld) -> None:
    """Nor is a drain done that waits for it."""
    full.with_policy(rerank="late")
    full.broken("late=status:403")
    full.pump()
    assert encoded(full) == set()
    assert read_policy(full.scope).encoding_users == 2
    job = drain_embeddings(full.scope, None, wait_s=0)
    full.pump()
    assert read_drain(full.scope, job.id).result["pending"] == 2
    full.broken()
    again = drain_embeddings(full.scope, None, wait_s=0)
    full.pump()
    assert len(encoded(full)) == EVERYTHING
    assert [read_drain(full.scope, one.id).status for one in (job, again)] == ["done", "done"]


def test_what_could_not_be_encoded_as_it_came_in_is_not_said_to_be(full: RecallWorld) -> None:
    """Of a user whose items were all encoded before."""
    full.with_policy(rerank="late")
    full.pump()
    full.broken("late=status:403")
    full.say("I moved to Porto")
    full.pump()
    full.broken()
    full.say("And I like it")
    full.pump()
    assert len(encoded(full)) == EVERYTHING + 1
    assert read_policy(full.scope).encoding_users == 1
    job = drain_embeddings(full.scope, None, wait_s=0)
    full.pump()
    assert len(encoded(full)) == EVERYTHING + 2
    assert (read_policy(full.scope).encoding_users, read_drain(full.scope, job.id).status) == (0, "done")


def test_how_far_it_is_can_be_read(full: RecallWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    assert read_policy(full.scope).encoding_users is None
    full.with_policy(rerank="late")
    [begin] = [message for message in full.dispatch() if message.body["kind"] == "late_tenant"]
    worker.embed_rows(full, delivered([begin]))
    assert read_policy(full.scope).encoding_users == 2
    [ann, bob] = full.taken(QueueName.EMBED)
    worker.embed_rows(full, delivered([ann]))
    assert read_policy(full.scope).encoding_users == 1
    progress = read_late_progress(full.rows.get(ANN.late_progress))
    assert progress is not None and (progress.done, progress.items) == (True, EVERYTHING)
    worker.embed_rows(full, delivered([bob]))
    assert read_policy(full.scope).encoding_users == 0


def test_it_goes_on_where_it_stopped(full: RecallWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    full.with_policy(rerank="late")
    full.embed(full.dispatch())
    [message, _] = full.taken(QueueName.EMBED)
    calls = 0
    encode = FixtureTokenEncoder.encode_passages

    def slow(self: FixtureTokenEncoder, texts: Any) -> list[bytes]:
        nonlocal calls
        calls += 1
        full.clock.sleep(2)
        return encode(self, texts)

    monkeypatch.setattr(FixtureTokenEncoder, "encode_passages", slow)
    deliveries = 0
    while message is not None:
        deliveries += 1
        assert worker.embed_rows(full, delivered([message])) == {}
        message = next(iter(full.taken(QueueName.EMBED)), None)  # type: ignore[assignment]
    assert deliveries > 3
    assert len(encoded(full)) == EVERYTHING
    assert calls <= EVERYTHING // 4 + 6, "nothing was encoded twice"


def test_of_two_deliveries_of_one_message_one_goes_on(full: RecallWorld) -> None:
    full.with_policy(rerank="late")
    full.embed(full.dispatch())
    [message, _] = full.taken(QueueName.EMBED)

    def twin() -> None:
        worker.embed_rows(full, delivered([message]))

    full.rows.before_write = twin
    assert worker.embed_rows(full, delivered([message])) == {}
    assert len(encoded(full)) == EVERYTHING
    assert user_stats(full.user()).usage.encoded_texts <= EVERYTHING + ITEMS, "at most one page is encoded twice"


def test_a_tenant_of_many_users_is_told_in_parts(full: RecallWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    full.with_policy(rerank="late")
    [begin] = full.dispatch()
    monkeypatch.setattr(worker, "ENCODING_MS", 0)
    worker.embed_rows(full, delivered([begin]))
    [again] = full.taken(QueueName.EMBED)
    assert again.body["after"] == "" and read_policy(full.scope).encoding_users == 1, "the tenant itself"
    monkeypatch.undo()
    after_ann = Message({**again.body, "after": "ann"}, again.group)
    worker.embed_rows(full, delivered([after_ann]))
    assert [message.body["user"] for message in full.taken(QueueName.EMBED)] == ["bob"]
    assert read_policy(full.scope).encoding_users == 1, "bob"


def test_a_tenant_of_very_many_users_is_told_to_its_end(full: RecallWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading past all that were told before takes longer than there is time for."""
    users = [f"user{n:03}" for n in range(900)]
    for user in users:
        full.rows.write([rows.put_head(UserKeys("acme", user), UserHead(created_at=iso(full.clock.now())))])
    full.with_policy(rerank="late")
    messages, told, query = full.dispatch(), list[str](), full.rows.query

    def slow(*args: Any, **kwargs: Any) -> Any:
        spend(worker.ENCODING_MS * 0.3)
        return query(*args, **kwargs)

    monkeypatch.setattr(full.rows, "query", slow)
    for _ in range(10):
        [message] = [one for one in messages if one.body["kind"] == "late_tenant"]
        assert worker.embed_rows(full, delivered([message])) == {}
        messages = full.taken(QueueName.EMBED)
        told += [one.body["user"] for one in messages if one.body["kind"] == "late_user"]
        if len(told) == 2 + len(users):
            break
    assert told == ["ann", "bob", *users]


def test_a_tenant_whose_policy_stays_late_is_not_gone_through_again(full: RecallWorld) -> None:
    full.with_policy(rerank="late")
    full.pump()
    full.with_policy(rerank="late", recall_limit=6)
    assert full.dispatch() == []


def test_the_index_of_those_at_work_holds_nothing_when_all_is_done(full: RecallWorld) -> None:
    full.with_policy(rerank="late")
    full.pump()
    job = drain_embeddings(full.scope, None, wait_s=0)
    assert job.result["pending"] == 1, "the tenant itself, whose users are not told yet"
    full.pump()
    assert read_drain(full.scope, job.id).status == "done"


def test_a_queue_that_was_lost_is_filled_again(full: RecallWorld) -> None:
    full.with_policy(rerank="late")
    full.embed(full.dispatch())
    full.taken(QueueName.EMBED)
    refill_queues(full, lambda _: None)
    full.pump()
    assert len(encoded(full)) == EVERYTHING


def lost(world: RecallWorld, rerank: Literal["linear", "late"]) -> None:
    """A change of the policy whose batch the stream gives up."""
    write_policy(world.scope, Policy(rerank=rerank))
    while changes := world.rows.read_changes(0, 100):
        world.rows.discard_changes(changes[-1].seq)


def swept(world: RecallWorld, minutes: float) -> int:
    world.clock.move(minutes=minutes)
    return sweep_due(world)["encodings"]


def test_a_policy_whose_change_the_stream_gave_up_is_found_by_the_sweep(full: RecallWorld) -> None:
    lost(full, "late")
    assert read_policy(TenantScope(full, Tenant("acme", Policy(rerank="late")))).encoding_users == 1
    assert swept(full, 5) == 0, "its change may be on its way"
    assert swept(full, 20) == 1
    assert swept(full, 5) == 0, "and so may the message"
    full.pump()
    for user in ("ann", "bob"):
        assert len(encoded(full, full.tenant.keys.of_user(user))) == EVERYTHING
    assert swept(full, 25) == 0


def test_a_message_of_the_sweep_that_is_lost_is_sent_again(full: RecallWorld) -> None:
    lost(full, "late")
    assert swept(full, 25) == 1
    full.taken(QueueName.EMBED)
    assert swept(full, 25) == 1


def test_a_tenant_that_is_being_told_is_left_alone(full: RecallWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    write_policy(full.scope, Policy(rerank="late"))
    [begin] = [message for message in full.dispatch() if message.body["kind"] == "late_tenant"]
    full.clock.move(minutes=25)
    monkeypatch.setattr(worker, "ENCODING_MS", 0)
    worker.embed_rows(full, delivered([begin]))
    assert swept(full, 5) == 0
    assert [message.body["kind"] for message in full.taken(QueueName.EMBED)] == ["late_tenant"]


def test_a_policy_that_is_not_late_any_more_has_nothing_encoded(full: RecallWorld) -> None:
    lost(full, "late")
    lost(full, "linear")
    assert swept(full, 25) == 0
    assert not any(message.body["kind"] == "late_tenant" for message in full.taken(QueueName.EMBED))
    assert list(due_rows(full.rows, LATE)) == []


def test_what_cannot_be_recalled_is_not_encoded(world: RecallWorld) -> None:
    memory = world.remember("User lives in Lisbon")
    update_memory(world.user(), memory, MemoryChange({"status": Status.ARCHIVED}), None)
    world.pump()
    assert encoded(world) == set()
