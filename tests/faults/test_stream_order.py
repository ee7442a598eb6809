"""Change records that come twice, in the wrong order and mixed, through the real outbox, index and embed functions:
whatever the order, the search index ends in the state of the rows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from functions.outbox import app as outbox_app
from local.engine.sqlite_table import Change
from local.workers.worker_events import stream_event
from neve import wiring
from neve.domain.indexing.passage import Passage
from neve.domain.recall.query import shape
from neve.domain.records.memories import Memory
from neve.ports.queue import Message, QueueName
from neve.ports.search import Owner, SearchFilter, SearchIndex
from neve.usecases.tell.memories.delete_memory import delete_memory
from neve.usecases.tell.memories.update_memory import MemoryChange, update_memory
from tests.faults.deliveries import deliver
from tests.unit.recall_world import RecallWorld

SHUFFLED = settings(
    max_examples=40,
    derandomize=True,
    database=None,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)


def delivered(world: RecallWorld) -> list[Change]:
    return world.rows.read_changes(0, 1000)


def queued(world: RecallWorld, batches: Sequence[Sequence[Change]]) -> list[Message]:
    """What the outbox function puts on the index queue for these batches of a stream."""
    for batch in batches:
        assert outbox_app.handler(stream_event(batch), None) == {"batchItemFailures": []}
    return world.taken(QueueName.INDEX)


def handled(world: RecallWorld, words: Sequence[Message], order: st.DataObject | None = None) -> None:
    """Each by itself, as the functions get them when they come apart, and the vectors that they lead to; in any order
    that is drawn, else one after the other."""
    waiting = [(QueueName.INDEX, message) for message in words]
    while waiting:
        at = order.draw(st.integers(0, len(waiting) - 1), label="next") if order else 0
        queue, message = waiting.pop(at)
        assert deliver(queue, [message]) == []
        waiting += [(QueueName.EMBED, later) for later in world.taken(QueueName.EMBED)]


def edit(world: RecallWorld, memory_id: str, text: str) -> None:
    update_memory(world.user("ann"), memory_id, MemoryChange({"text": text}), None)


def found(world: RecallWorld, query: str) -> list[tuple[str, str]]:
    """What recall answers from the index alone: ids and texts."""
    hits = world.ask(query, threshold=0.0, k=50).hits
    return sorted((hit.id, hit.text) for hit in hits)


def index_is_as_the_rows(world: RecallWorld, *memories: Memory) -> None:
    for memory in memories:
        assert world.memory(memory.id).rev_at is None, "the row waits for the index"
    expected = sorted((memory.id, memory.text) for memory in memories)
    utterances = [(f"evt:s1:{n}", text) for n, text in enumerate(("a kayak again", "Noted, a dinghy."), start=1)]
    assert found(world, "kayak tent canoe dinghy") == sorted([*expected, *utterances])
    assert world.index.count(Owner(world.tenant.id, "ann")) == len(expected) + len(utterances)


def lives_of_three_memories(world: RecallWorld) -> tuple[str, str, str]:
    """One is written twice over, one is deleted, one stays; and a turn is said."""
    world.open()
    edited, deleted, memory = (world.remember(f"a kayak {word}") for word in ("red", "green", "blue"))
    edit(world, edited, "a tent")
    world.say("a kayak again", "Noted, a dinghy.")
    delete_memory(world.user("ann"), deleted, None)
    edit(world, edited, "a canoe")
    return edited, deleted, memory


def in_a_world(check: Callable[[RecallWorld], None]) -> None:
    before = list(wiring._installed)
    with TemporaryDirectory() as folder, closing(RecallWorld.make(Path(folder))) as world:
        wiring.install(world)
        check(world)
    wiring._installed[:] = before


@SHUFFLED
@given(st.data())
def test_records_in_any_order_and_number(data: st.DataObject) -> None:
    """A shard tells a row's changes in order, but a batch that failed comes again behind later ones, and the messages
    of a standard queue come as they like."""

    def check(world: RecallWorld) -> None:
        edited, _, remaining = lives_of_three_memories(world)
        changes = delivered(world)
        twice = data.draw(st.permutations([*changes, *changes]), label="records")
        size = data.draw(st.integers(1, len(twice)), label="batch")
        messages = queued(world, [twice[at : at + size] for at in range(0, len(twice), size)])
        again = data.draw(st.lists(st.sampled_from(messages), max_size=5), label="messages that come twice")
        handled(world, [*messages, *again], order=data)
        index_is_as_the_rows(world, world.memory(edited), world.memory(remaining))

    in_a_world(check)


@SHUFFLED
@given(st.data())
def test_workers_between_the_changes(data: st.DataObject) -> None:
    """Some messages are handled before the next change, others only at the end, by then about an older rev."""

    def check(world: RecallWorld) -> None:
        late: list[Message] = []
        seen = 0

        def work() -> None:
            nonlocal seen
            changes = [change for change in delivered(world) if change.seq > seen]
            seen = changes[-1].seq if changes else seen
            for message in queued(world, [changes] if changes else []):
                if data.draw(st.booleans(), label="at once"):
                    handled(world, [message])
                late.append(message)

        world.open()
        world.say("a kayak again", "Noted, a dinghy.")
        edited, deleted, remembered = (world.remember(f"a kayak {word}") for word in ("red", "green", "blue"))
        work()
        edit(world, edited, "a tent")
        work()
        delete_memory(world.user("ann"), deleted, None)
        edit(world, edited, "a canoe")
        work()
        handled(world, late, order=data)
        index_is_as_the_rows(world, world.memory(edited), world.memory(remembered))

    in_a_world(check)


# --- a worker that is overtaken while it writes ---------------------------------------------------


class SlowIndex:
    """Before the next write something else happens, as to a worker that had read the row and was then held up."""

    def __init__(self, inner: SearchIndex, meanwhile: Callable[[], None]) -> None:
        self._inner, self._meanwhile = inner, [meanwhile]

    def upsert(self, owner: Owner, passages: Sequence[Passage]) -> None:
        while self._meanwhile:
            self._meanwhile.pop()()
        self._inner.upsert(owner, passages)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


@pytest.fixture(params=[QueueName.INDEX, QueueName.EMBED])
def overtaken(request: pytest.FixtureRequest, world: RecallWorld) -> Callable[[str, Callable[[], None]], None]:
    """Handles a memory's first message, about its words or its vector, while ``meanwhile`` and all that it leads to
    are handled to their end."""

    def run(memory_id: str, meanwhile: Callable[[], None]) -> None:
        [message] = [m for m in queued(world, [delivered(world)]) if m.body["id"] == memory_id]
        if request.param is QueueName.EMBED:
            assert deliver(QueueName.INDEX, [message]) == []
            [message] = world.taken(QueueName.EMBED)
        inner = world.search

        def others() -> None:
            meanwhile()
            world.search = inner
            handled(world, queued(world, [delivered(world)]))

        world.search = SlowIndex(inner, others)
        assert deliver(request.param, [message]) == []
        later = world.taken(QueueName.EMBED)
        assert later == [] or deliver(QueueName.EMBED, later) == []

    return run


def test_an_older_rev_never_overwrites_a_newer_one(world: RecallWorld, overtaken: Callable[..., None]) -> None:
    identifier = world.remember("a kayak")
    overtaken(identifier, lambda: edit(world, identifier, "a canoe"))
    assert found(world, "kayak canoe") == [(identifier, "a canoe")]
    owner, words = Owner(world.tenant.id, "ann"), shape("kayak canoe").text_query
    [candidate] = world.index.search_text(owner, words, SearchFilter(), 10).candidates
    assert (candidate.item_id, candidate.version) == (identifier, world.memory(identifier).rev)


def test_a_deletion_is_not_undone(world: RecallWorld, overtaken: Callable[..., None]) -> None:
    identifier = world.remember("a kayak")

    def delete() -> None:
        delete_memory(world.user("ann"), identifier, None)

    overtaken(identifier, delete)
    assert found(world, "kayak") == []
    assert world.index.count(Owner(world.tenant.id, "ann")) == 0
