"""The index holds what the rows say, whatever was said, changed, taken back and removed, and in whatever order workers
hear of it, twice or not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import count

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from neve.domain.indexing.memory_passages import memory_passages
from neve.domain.indexing.passage import Passage, Source
from neve.domain.indexing.utterances import utterance_of, utterance_passages
from neve.domain.records.sessions import EventType
from neve.domain.sessions.spans import holds
from neve.ports.queue import Message, QueueName
from neve.ports.search import Owner
from neve.scope import SessionScope
from neve.store import rows
from neve.store.keys import EVENT, MEMORY
from neve.store.partitions import all_rows
from neve.usecases.tell.memories.delete_memory import delete_memory
from neve.usecases.tell.memories.update_memory import MemoryChange, update_memory
from neve.usecases.tell.requests.retract_events import Retract, retract_events
from neve.usecases.tell.sessions.append_events import NewEvent, append_events
from neve.usecases.work.indexing.embed_rows import embed_rows
from neve.usecases.work.indexing.indexed_log import gone_from
from tests.simulation.engines.memory_search import MemorySearch
from tests.unit.recall_world import RecallWorld, delivered
from tests.unit.retention import cover, retain_log

USERS, WORDS = count(), count()
CALL = NewEvent(EventType.TOOL_CALL, "", event_data={"tool_use_id": "t", "name": "search", "args": {}})
DONE = st.sampled_from(["say", "say", "take_back", "take_back", "remember", "edit", "delete", "remove"])


@dataclass
class Play:
    """One user. ``heard``: messages of the index queue and the embed queue, which workers may get in any order.
    ``meanwhile``: what is done, and heard of by others, while a worker is about to write into the index."""

    world: RecallWorld
    index: MemorySearch
    session: SessionScope
    heard: list[tuple[QueueName, Message]] = field(default_factory=list)
    last: int = 0
    meanwhile: list[tuple[str, int]] = field(default_factory=list)

    def do(self, what: str, n: int) -> None:
        getattr(self, what)(n)
        self.heard += ((QueueName.INDEX, message) for message in self.world.dispatch())

    def say(self, n: int) -> None:
        """With up to three calls of tools before it: between more, not all neighbours are read."""
        kind = (EventType.USER_MESSAGE, EventType.ASSISTANT_RESPONSE)[n % 2]
        append_events(self.session, [*[CALL] * (n % 4), NewEvent(kind, f"word{n % 5}")])
        self.last += n % 4 + 1

    def take_back(self, n: int) -> None:
        first = n % (self.last or 1) + 1
        if first <= self.last:
            retract_events(self.session, Retract(first, min(self.last, first + n % 5), ("edited", "deleted")[n % 2]))

    def remove(self, n: int) -> None:
        """Their time is over; once."""
        if self.world.rows.get(self.session.keys.event(1)):
            cover(self.session, 1, n % self.last + 1)
            self.world.clock.move(days=40)
            retain_log(self.session)

    def remember(self, _: int) -> None:
        self.world.remember(f"word{next(WORDS)}", user=self.session.user)

    def edit(self, n: int) -> None:
        change = ({"text": f"word{next(WORDS)}"}, {"tags": (f"tag{n}",)})[n % 2]
        for memory_id in self._some(n):
            update_memory(self.session, memory_id, MemoryChange(change), None)

    def delete(self, n: int) -> None:
        for memory_id in self._some(n):
            delete_memory(self.session, memory_id, None)

    def hear(self, n: int) -> None:
        """A worker gets one of the messages, and maybe another one the same once more."""
        if not self.heard:
            return
        queue, message = self.heard[n % len(self.heard)] if n % 3 else self.heard.pop(n % len(self.heard))
        if queue is QueueName.INDEX:
            assert self.world.words([message], again=n % 2 > 0) == {}
        else:
            assert embed_rows(self.world, delivered([message])) == {}
        self.heard += ((QueueName.EMBED, message) for message in self.world.taken(QueueName.EMBED))

    def go_on_meanwhile(self) -> None:
        if self.meanwhile:
            self.do(*self.meanwhile.pop())
            self.hear_all()

    def hear_all(self) -> None:
        while self.heard:
            self.hear(0)

    def _some(self, n: int) -> list[str]:
        found = [item["id"] for item in all_rows(self.world.rows, self.session.keys.partition, prefix=MEMORY)]
        return found[n % len(found) :][:1] if found else []

    # --- what is compared -----------------------------------------------------------------------

    def found(self) -> set[Passage]:
        stored = self.index.stored.get(self.session.keys.owner, {}).values()
        assert all(one.vector is not None for one in stored)
        return {replace(one, vector=None, version=1 if one.source is Source.EVENT else one.version) for one in stored}

    def wanted(self) -> Iterator[Passage]:
        table, keys = self.world.rows, self.session.keys
        for item in all_rows(table, keys.partition, prefix=MEMORY):
            yield from memory_passages(rows.read_memory(item))
        epoch = table.get(keys.epoch)
        gone = gone_from(rows.read_epoch(epoch)) if epoch else ()
        left = [item for item in all_rows(table, keys.log, prefix=EVENT) if not holds(gone, item["seq"])]
        uttered = (utterance_of(keys.session, rows.read_event(item)) for item in left)
        yield from utterance_passages([one for one in uttered if one])


NUMBER = st.integers(0, 59)
STEP = st.tuples(DONE, NUMBER, st.lists(NUMBER, max_size=4), st.lists(st.tuples(DONE, NUMBER), max_size=1))
"""What is done, to which, which messages are heard then, and what is done while a worker writes."""

Step = tuple[str, int, list[int], list[tuple[str, int]]]


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=st.lists(STEP, max_size=9))
def test_the_index_is_what_the_rows_say(world: RecallWorld, steps: list[Step]) -> None:
    user = f"user{next(USERS)}"
    world.with_policy(retention_days=30)
    world.search = index = MemorySearch(world.embedder.model)
    upsert, late = index.upsert, list[Sequence[Passage]]()

    def remembering(owner: Owner, passages: Sequence[Passage]) -> None:
        late.append(passages)
        play.go_on_meanwhile()
        upsert(owner, passages)

    index.upsert = remembering  # type: ignore[method-assign]
    world.open(user=user)
    play = Play(world, index, world.user(user).of_session("s1"))
    for what, n in (*(("say", n) for n in range(6)), ("remember", 0)):
        play.do(what, n)
    play.hear_all()
    for what, n, heard, meanwhile in steps:
        play.do(what, n)
        play.meanwhile = list(meanwhile)
        for one in heard:
            play.hear(one)
    play.hear_all()
    for passages in late:  # of workers that were taken for dead
        upsert(play.session.keys.owner, passages)
    assert play.found() == set(play.wanted())
