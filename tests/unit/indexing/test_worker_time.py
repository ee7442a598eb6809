"""An embed worker that ends before its batch is done: nothing is lost, paid for twice, or counted as a failure."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pytest

from local.controls.faults import FaultySearch
from local.limits.mortal_ports import Killed, MortalPorts, seconds_left
from neve.domain.indexing.passage import Passage
from neve.domain.records.memories import EmbeddingState
from neve.observing import SecondsLeft
from neve.ports.errors import StoreUnavailable
from neve.ports.queue import Message, QueueName
from neve.ports.search import Owner
from neve.usecases.work.indexing.embed_rows import embed_rows
from neve.usecases.work.indexing.index_rows import index_rows
from neve.usecases.work.indexing.vectors.embed_texts import BATCH
from neve.usecases.work.indexing.vectors.worker_time import RESERVE_S
from tests.unit.indexing.test_embed_rows import embed_calls, fail, usage
from tests.unit.recall_world import RecallWorld, delivered

TIMEOUT_S = 60.0


def time_for(world: RecallWorld, calls: int) -> SecondsLeft:
    """A worker whose time is up behind so many calls of the embedder from now on."""
    before = len(embed_calls(world))
    return lambda: TIMEOUT_S if len(embed_calls(world)) < before + calls else RESERVE_S - 0.1


def waiting(world: RecallWorld) -> list[Message]:
    """For the embed worker, of everything that was written so far."""
    assert world.words(world.dispatch()) == {}
    return world.taken(QueueName.EMBED)


def rounds(world: RecallWorld, messages: list[Message], *, calls: int) -> int:
    """How many workers it takes, each with time for so many calls."""
    for n in range(1, 100):
        assert embed_rows(world, delivered(messages), time_for(world, calls)) == {}
        messages = world.taken(QueueName.EMBED)
        if not messages:
            return n
    raise AssertionError("it goes round for ever")


def test_one_worker_after_another_embeds_a_long_log_and_pays_for_no_text_twice(world: RecallWorld) -> None:
    for start in range(0, 96, 48):
        world.say(*(f"utterance number {n}" for n in range(start, start + 48)))
    messages = waiting(world)
    assert rounds(world, messages, calls=1) > 96 // BATCH
    assert usage(world)[0] == 96
    assert world.found("utterance number 95", legs=("vector",), threshold=0.0)
    assert sum(len(call["texts"]) for call in embed_calls(world)) == 96


def test_memories_and_sessions_of_several_users_come_to_their_end(world: RecallWorld) -> None:
    world.open(user="bob")
    for n in range(40):
        world.remember(f"memory number {n}")
        world.remember(f"memory number {n}", user="bob")
    world.say(*(f"utterance {n}" for n in range(30)), user="bob")
    messages = waiting(world)
    rounds(world, messages, calls=2)
    assert (usage(world)[0], usage(world, "bob")[0]) == (40, 70)
    assert embed_rows(world, delivered(messages), time_for(world, 0)) == {}, (
        "all is done: there is nothing to have time for"
    )
    assert world.taken(QueueName.EMBED) == []


def test_whoever_only_fails_does_not_go_round_without_a_pause(world: RecallWorld) -> None:
    """There is no time left behind the first step, but another worker would not get on at once either."""
    for start in range(0, 96, 48):
        world.say(*(f"BUSY {n}" for n in range(start, start + 48)))
    fail(world, {"fault": "error", "match": "BUSY"})
    messages = waiting(world)
    assert list(embed_rows(world, delivered(messages), time_for(world, 4 * 3 + 50))) == [0, 1]
    assert world.taken(QueueName.EMBED) == []


def test_a_text_that_fails_does_not_keep_a_long_log_from_going_on(world: RecallWorld) -> None:
    world.say("BUSY one", *(f"utterance number {n}" for n in range(47)))
    world.say(*(f"utterance number {n}" for n in range(47, 95)))
    fail(world, {"fault": "error", "match": "BUSY"})
    messages = waiting(world)
    assert embed_rows(world, delivered(messages), time_for(world, 3 + 16 + 2 + 1)) == {}
    messages = world.taken(QueueName.EMBED)
    assert messages, "sent again at once"
    assert list(embed_rows(world, delivered(messages))) == list(range(len(messages)))
    assert usage(world)[0] == 95


def test_what_is_sent_again_stands_in_its_users_group(world: RecallWorld) -> None:
    world.remember("Mary drinks tea")
    [message] = waiting(world)
    assert embed_rows(world, delivered([message]), time_for(world, 0)) == {}
    assert world.taken(QueueName.EMBED) == [message]
    assert embed_calls(world) == []


class SlowSearch(FaultySearch):
    """A long passage is written in 40 ms of the time of a worker, which dies when that is over."""

    used_s = 0.0

    def upsert(self, owner: Owner, passages: Sequence[Passage]) -> None:
        self.used_s += 0.04 * len(passages)
        if self.used_s > TIMEOUT_S:
            raise Killed
        super().upsert(owner, passages)


def workers_of(world: RecallWorld, messages: list[Message], name: QueueName) -> int:
    """How many workers of a queue write these, each in its own time."""
    work, workers = index_rows if name is QueueName.INDEX else embed_rows, 0
    while messages:
        search = SlowSearch(world.index, world.faults)
        world.search, workers = search, workers + 1
        left = partial(lambda one: TIMEOUT_S - one.used_s, search)
        assert work(world, delivered(messages), left) == {}
        messages = world.taken(name)
    return workers


def test_long_rows_are_written_by_one_worker_after_another(world: RecallWorld) -> None:
    """All together they take 64 s: whoever wrote them so would never come to the end."""
    long = [world.remember("\n\n".join(f"row {n} part {part}" for part in range(200))) for n in range(8)]
    assert workers_of(world, world.dispatch(), QueueName.INDEX) == 2
    assert all(world.memory(one).words_at for one in long)
    assert workers_of(world, world.taken(QueueName.EMBED), QueueName.EMBED) == 2
    assert {world.memory(one).embedding_state for one in long} == {EmbeddingState.READY}


def test_words_too_are_left_to_the_next_worker_where_there_is_no_time(world: RecallWorld) -> None:
    """Each worker has time for one step of a long log, or for the memories of one user."""
    for start in range(0, 144, 48):
        world.say(*(f"utterance number {n}" for n in range(start, start + 48)))
    world.remember("Mary drinks tea")
    messages, workers = world.dispatch(), 0
    while messages:
        left = iter([TIMEOUT_S, *[RESERVE_S - 0.1] * 10])
        assert index_rows(world, delivered(messages), lambda left=left: next(left)) == {}  # type: ignore[misc]
        messages, workers = world.taken(QueueName.INDEX), workers + 1
    assert workers == 4
    assert world.found("utterance number 143") and world.found("Mary drinks tea")


def test_what_cannot_be_sent_again_is_delivered_again(world: RecallWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    world.remember("Mary drinks tea")
    [message] = waiting(world)

    def down(*_: object) -> None:
        raise StoreUnavailable("queue", "down")

    monkeypatch.setattr(world.queue, "send", down)
    failures = embed_rows(world, delivered([message]), time_for(world, 0))
    assert isinstance(failures[0], StoreUnavailable)


def test_a_worker_whose_time_is_over_while_the_embedder_works_writes_nothing(
    world: RecallWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    identifier = world.remember("a kayak trip on the river")
    messages, embed, left = waiting(world), world.inner_embedder.embed_passages, [TIMEOUT_S]

    def too_slow(texts: Sequence[str]) -> list[bytes]:
        left[0] = 0.0
        return embed(texts)

    monkeypatch.setattr(world.inner_embedder, "embed_passages", too_slow)
    token = seconds_left.set(lambda: left[0])
    try:
        with pytest.raises(Killed):
            embed_rows(MortalPorts(world), delivered(messages), lambda: TIMEOUT_S)
    finally:
        seconds_left.reset(token)
    assert world.memory(identifier).embedding_state is EmbeddingState.PENDING
    assert world.found("kayak", legs=("vector",), threshold=0.0) == []
    monkeypatch.undo()
    assert embed_rows(world, delivered(messages)) == {}
    assert world.memory(identifier).embedding_state is EmbeddingState.READY
