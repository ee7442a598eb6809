"""Another embedding model: recall goes on by words, and a new index takes the old one's place (A34 and C26 of
docs/features.md)."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from local.controls.fixture_embedder import FixtureEmbedder
from local.engine.search.search_index import SqliteSearchIndex
from neve.adapters.opensearch.calls import Calls
from neve.adapters.opensearch.client import open_search_client
from neve.adapters.opensearch.index import OpenSearchIndex
from neve.adapters.opensearch.places import create_index, switch_alias
from neve.domain.ids import event_id
from neve.domain.indexing.passage import Passage
from neve.domain.recall.query import shape
from neve.domain.records.memories import EmbeddingState
from neve.ports.errors import EmbeddingRetryable, EmbeddingUnavailable, StoreUnavailable
from neve.ports.queue import QueueName
from neve.ports.search import IndexModel, Owner, SearchFilter, SearchIndex
from neve.ports.table import Delete, key_of
from neve.store import rows
from neve.store.tenants.tenant_rows import TenantRow, put_tenant
from neve.usecases.ask.recall.stages.legs import OTHER_MODEL
from neve.usecases.core.lag.memory_lag import user_lag
from neve.usecases.tell.memories.delete_memory import delete_memory
from neve.usecases.tell.requests.retract_events import Retract, retract_events
from neve.usecases.work.indexing.index_events import EmbedAgain, index_vectors
from neve.usecases.work.indexing.index_memories import index_memories
from neve.usecases.work.indexing.reindex import Reindexed, reindex
from tests.servers import opensearch_url
from tests.unit.recall_world import RecallWorld

NEXT = IndexModel("fixture-next-384", 384)


class NextEmbedder(FixtureEmbedder):
    """Another model of the same dimensions: only its name keeps its vectors from being compared with the old ones."""

    @property
    def model(self) -> IndexModel:
        return NEXT


@dataclass
class Engine:
    """``target``: an empty index for NEXT. ``switch`` puts it where the service finds it."""

    world: RecallWorld
    target: Any
    switch: Callable[[], None]
    refresh: Callable[[], None]
    embedder: NextEmbedder = field(default_factory=NextEmbedder)
    progress: list[Reindexed] = field(default_factory=list)
    """What the last run said, one by one."""

    def pump(self) -> None:
        self.world.pump()
        self.refresh()

    def change_model(self) -> None:
        self.world.inner_embedder = self.embedder

    def tell(self, done: Reindexed) -> None:
        self.progress.append(replace(done))

    def reindex(self, meanwhile: Callable[[], object] = lambda: None) -> None:
        """``meanwhile`` happens when the new index is full and not in use yet."""

        def switch() -> None:
            meanwhile()
            self.switch()

        reindex(self.world, self.target, switch, self.refresh, self.tell)
        self.refresh()

    def indexed(self, user: str = "ann") -> int:
        return int(self.target.count(Owner(self.world.tenant.id, user)))

    def embedded(self) -> list[str]:
        """Texts that were paid for, one by one."""
        calls = self.world.calls.entries("embed")
        return [text for call in calls if call["operation"] == "passages" for text in call["texts"]]

    def by_vector(self, query: str, user: str = "ann") -> list[str]:
        answer = self.world.ask(query, user=user, legs=("vector",), mode="tool", k=10)
        assert answer.degraded == []
        return [hit.id for hit in answer.hits]


@contextmanager
def _sqlite(folder: Path) -> Iterator[Engine]:
    with closing(RecallWorld.make(folder)) as world, closing(SqliteSearchIndex(folder / "next.db", NEXT)) as target:

        def switch() -> None:
            world.search = target

        yield Engine(world, target, switch, lambda: None)


@contextmanager
def _opensearch(folder: Path) -> Iterator[Engine]:
    alias = f"reindex-{uuid.uuid4().hex}"
    with ExitStack() as stack:
        client = stack.enter_context(closing(open_search_client(opensearch_url())))
        calls, world = Calls(client), stack.enter_context(closing(RecallWorld.make(folder)))
        create_index(calls, alias, world.embedder.model, live=True)
        name = create_index(calls, alias, NEXT, live=False)
        world.search = OpenSearchIndex(client, alias, world.embedder.model, wait=False)

        def switch() -> None:
            switch_alias(calls, alias, name)
            world.search = OpenSearchIndex(client, alias, NEXT, wait=False)

        target = OpenSearchIndex(client, name, NEXT, wait=False)

        def refresh() -> None:
            for index in (alias, name):
                calls.refresh(index)

        yield Engine(world, target, switch, refresh)


@pytest.fixture(params=[_sqlite, _opensearch], ids=["sqlite", "opensearch"])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Engine]:
    with request.param(tmp_path) as made:
        enter_tenant(made.world)
        yield made


def enter_tenant(world: RecallWorld) -> None:
    world.rows.write([put_tenant(TenantRow(world.tenant.id, world.ago()))])


class TurnsAway:
    """Refuses the next writes."""

    def __init__(self, index: SearchIndex, times: int) -> None:
        self._index, self._times = index, times

    def __getattr__(self, name: str) -> Any:
        return getattr(self._index, name)

    def upsert(self, owner: Owner, passages: Sequence[Passage]) -> None:
        self._times -= 1
        if self._times >= 0:
            raise StoreUnavailable("search", "429")
        self._index.upsert(owner, passages)


def test_recall_goes_on_by_words_until_the_new_index_is_in_use(engine: Engine) -> None:
    world = engine.world
    old = world.remember("The kayak is blue")
    engine.pump()
    engine.change_model()
    new = world.remember("The tent is green")
    engine.pump()
    for query, expected in (("kayak", old), ("tent", new)):
        answer = world.ask(query)
        assert [hit.id for hit in answer.hits] == [expected] and answer.degraded == [OTHER_MODEL]
    engine.reindex()
    assert world.ask("kayak").degraded == [] == world.ask("tent").degraded
    assert engine.by_vector("kayak blue")[0] == old and engine.by_vector("tent green")[0] == new
    assert engine.indexed() == 2
    for one in (old, new):
        memory = world.memory(one)
        assert (memory.embedding_state, memory.embedding_model) == (EmbeddingState.READY, NEXT.tag)


def test_what_was_said_is_reindexed_with_its_neighbours(engine: Engine) -> None:
    world = engine.world
    world.open()
    world.say(*(f"line{n} about boats" for n in range(60)))
    engine.pump()
    engine.change_model()
    world.say("and a kayak", "a green one")
    engine.pump()
    engine.reindex()
    assert engine.indexed() == 62
    assert engine.by_vector("user and a kayak")[0] == event_id("s1", 61)
    found = [hit.id for hit in world.ask("line59", legs=("lexical",), mode="tool", k=10, rerank="off").hits]
    assert found[0] == event_id("s1", 60) and set(found[1:]) == {event_id("s1", n) for n in (58, 59, 61, 62)}


def test_what_changes_while_the_new_index_is_filled_is_made_up_for(engine: Engine) -> None:
    world = engine.world
    remembered, gone, changed = (world.remember(f"The {thing} is blue") for thing in ("kayak", "tent", "stove"))
    world.remember("The dog sleeps", user="bob")
    world.open()
    world.say("we rowed", "well done")
    engine.pump()
    engine.change_model()

    def meanwhile() -> None:
        delete_memory(world.user("ann"), gone, if_match=None)
        memory = world.memory(changed)
        world.change(changed, text="The cooker is red", rev=memory.rev + 1, rev_at=world.ago())
        world.remember("The axe is sharp")
        world.remember("The cat purrs", user="eve")
        world.say("we swam", "brave")
        close("bob")
        engine.pump()

    def close(user: str) -> None:
        item = world.rows.get(world.tenant.keys.of_user(user).head)
        world.rows.write(
            [rows.put_head(world.tenant.keys.of_user(user), replace(rows.read_head(item), state="closed"))]
        )

    engine.reindex(meanwhile)
    assert engine.by_vector("kayak blue")[0] == remembered
    assert engine.by_vector("cooker red")[0] == changed
    assert gone not in engine.by_vector("tent blue")
    assert world.memory(engine.by_vector("axe sharp")[0]).text == "The axe is sharp"
    assert engine.by_vector("assistant brave")[0] == event_id("s1", 4)
    assert world.memory(engine.by_vector("cat purrs", user="eve")[0], "eve").text == "The cat purrs"
    assert (engine.indexed(), engine.indexed("bob"), engine.indexed("eve")) == (3 + 4, 0, 1)


def test_what_is_taken_back_while_the_new_index_is_filled_is_not_in_it(engine: Engine) -> None:
    world = engine.world
    world.open()
    world.say("we rowed", "well done", "my locker says walrus", "noted that", "we swam", "brave", "we dived", "deep")
    engine.pump()
    engine.change_model()

    def meanwhile() -> None:
        retract_events(world.user().of_session("s1"), Retract(3, 3, "deleted"))
        assert world.words(world.dispatch()) == {}

    engine.reindex(meanwhile)
    taken_back, before, behind = (event_id("s1", n) for n in (3, 2, 4))
    owner = Owner(world.tenant.id, "ann")
    found = world.search.search_text(owner, shape("walrus").text_query, SearchFilter(), 10).candidates
    assert [one.item_id for one in found] == []
    near = engine.by_vector("assistant well done")
    assert taken_back not in near and {before, behind} <= set(near)
    assert engine.indexed() == 7


def test_what_is_removed_while_the_new_index_is_filled_is_not_in_it(engine: Engine) -> None:
    """Its time was over."""
    world = engine.world
    world.open()
    world.say("my locker says walrus", "noted that", "we swam", "brave")
    engine.pump()
    engine.change_model()
    session = world.session.keys

    def meanwhile() -> None:
        epoch = world.rows.get(session.epoch)
        assert epoch is not None
        removed = replace(rows.read_epoch(epoch), covers_from=1, covers_to=2, removed_to=2, removing_to=2)
        removals = [Delete(session.event(seq)) for seq in (1, 2)]
        world.rows.write([rows.put_epoch(world.user().keys, removed, world.clock.now()), *removals])

    engine.reindex(meanwhile)
    assert engine.indexed() == 2
    assert engine.by_vector("user we swam")[0] == event_id("s1", 3)
    owner, walrus = Owner(world.tenant.id, "ann"), shape("walrus").text_query
    assert world.search.search_text(owner, walrus, SearchFilter(), 10).candidates == []


def test_vectors_that_only_the_old_index_got_are_made_for_the_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For the same model. The embedder is down while the new index is filled; before the switch the workers come round
    again. A row does not say which index has its vectors."""
    with _sqlite(tmp_path) as engine, closing(SqliteSearchIndex(tmp_path / "old.db", NEXT)) as old:
        world = engine.world
        enter_tenant(world)
        world.search = old
        engine.change_model()
        kayak = world.remember("The kayak is blue")
        world.open()
        world.say("we rowed", "well done")
        engine.pump()

        def down(*_: object) -> list[bytes]:
            raise EmbeddingUnavailable("down")

        def meanwhile() -> None:
            monkeypatch.undo()
            world.clock.freeze(world.clock.now() + timedelta(hours=1))  # the embedder's back-off is over
            index_memories(world.user().data, {kayak: world.memory(kayak).rev})
            index_vectors(world.user().of_session("s1").data, 1, [(1, 2)])
            assert world.memory(kayak).embedding_state is EmbeddingState.READY

        monkeypatch.setattr(engine.embedder, "embed_passages", down)
        forget_vectors(world)
        engine.reindex(meanwhile)
        assert engine.by_vector("kayak blue") == [kayak]
        assert engine.by_vector("user we rowed")[0] == event_id("s1", 1)


def forget_vectors(world: RecallWorld) -> None:
    """Those that are kept by their texts: a new index takes them from there."""
    vectors = world.rows.query(world.user().keys.vectors, limit=100).items
    world.rows.write([Delete(key_of(item)) for item in vectors])


def test_what_comes_while_an_index_is_filled_is_in_it_before_it_is_used(engine: Engine) -> None:
    world, tell, late = engine.world, engine.tell, list[str]()
    gone = world.remember("The kayak is blue")
    world.remember("The cooker is red")
    engine.pump()
    engine.change_model()

    def then_something_comes(done: Reindexed) -> None:
        tell(done)
        if not late:
            late.append(world.remember("The axe is sharp"))
            delete_memory(world.user("ann"), gone, if_match=None)
            engine.pump()

    def meanwhile() -> None:
        engine.refresh()
        assert engine.indexed() == 2

    engine.tell = then_something_comes  # type: ignore[method-assign]
    engine.reindex(meanwhile)
    assert engine.by_vector("axe sharp")[0] == late[0] and gone not in engine.by_vector("kayak blue")


def test_what_came_since_is_made_up_for_before_everybody_has_seen_the_switch(engine: Engine) -> None:
    world, refresh, found = engine.world, engine.refresh, list[int]()
    world.remember("The kayak is blue")
    engine.pump()
    engine.change_model()

    def meanwhile() -> None:
        world.remember("The axe is sharp")
        engine.pump()

    def settled() -> None:
        refresh()
        found.append(engine.indexed())

    engine.refresh = settled
    engine.reindex(meanwhile)
    assert found[-2:] == [2, 2]


def test_a_row_on_its_way_to_the_old_index_still_gets_there(engine: Engine) -> None:
    """Else recall would miss it until the switch."""
    world = engine.world
    engine.change_model()
    waiting = world.remember("The kayak is blue")

    def meanwhile() -> None:
        assert world.memory(waiting).rev_at is not None and engine.indexed() == 0
        engine.pump()
        assert [hit.id for hit in world.ask("kayak", legs=("lexical",)).hits] == [waiting]

    engine.reindex(meanwhile)
    assert engine.by_vector("kayak blue") == [waiting]


def test_vectors_on_their_way_to_the_old_index_still_get_there(tmp_path: Path) -> None:
    """For the same model. Else what was said is not found by meaning until the switch, and never if the run breaks
    off."""
    with _sqlite(tmp_path) as engine, closing(SqliteSearchIndex(tmp_path / "old.db", NEXT)) as old:
        world = engine.world
        enter_tenant(world)
        world.search = old
        engine.change_model()
        world.open()
        world.say("we rowed", "well done")
        world.words(world.dispatch())
        on_their_way = world.taken(QueueName.EMBED)

        def meanwhile() -> None:
            assert engine.indexed() == 2
            assert world.embed(on_their_way) == {}
            assert engine.by_vector("user we rowed")[0] == event_id("s1", 1)
            raise StoreUnavailable("search", "broken off")

        with pytest.raises(StoreUnavailable):
            engine.reindex(meanwhile)


def test_what_nobody_embedded_before_the_switch_is_noted_behind_it(engine: Engine) -> None:
    world = engine.world
    world.open()
    world.say("we rowed", "well done")
    world.words(world.dispatch())
    world.taken(QueueName.EMBED)  # lost
    engine.change_model()
    engine.reindex()
    assert user_lag(world.user()).unembedded == 0
    assert engine.by_vector("user we rowed")[0] == event_id("s1", 1)


def test_a_run_can_be_repeated_and_pays_for_no_text_twice(engine: Engine) -> None:
    world = engine.world
    world.remember("The kayak is blue")
    world.open()
    world.say("we rowed", "well done")
    engine.pump()
    engine.change_model()
    engine.reindex()
    paid = engine.embedded()
    assert Counter(paid) == dict.fromkeys(paid, 2) and len(paid) == 2 * 3  # once for each model
    found = engine.by_vector("kayak blue")
    engine.reindex()
    assert engine.by_vector("kayak blue") == found and engine.indexed() == 3
    assert engine.embedded() == paid


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        ({"fault": "status:401"}, EmbeddingUnavailable),
        ({"fault": "error"}, EmbeddingRetryable),
        ({"fault": "error", "match": "The kayak"}, EmbedAgain),
        ({"fault": "error", "match": "we rowed"}, EmbedAgain),
    ],
    ids=["refused", "down", "no vector for a memory", "no vector for an utterance"],
)
def test_nothing_is_switched_to_an_index_that_lacks_vectors(
    engine: Engine, fault: dict[str, str], error: type[Exception]
) -> None:
    world = engine.world
    world.remember("The kayak is blue")
    world.open()
    world.say("we rowed")
    engine.pump()
    engine.change_model()
    switched: list[int] = []
    world.faults.replace([{"target": "embed", **fault}])
    with pytest.raises(error):
        engine.reindex(lambda: switched.append(1))
    assert switched == []
    world.broken()
    engine.reindex(lambda: switched.append(1))
    assert switched == [1] and engine.indexed() == 2 and len(engine.by_vector("kayak rowed")) == 2


def test_a_new_index_that_turns_writes_away_for_a_while_is_waited_for(engine: Engine) -> None:
    world = engine.world
    world.remember("The kayak is blue")
    engine.pump()
    engine.change_model()
    engine.target = TurnsAway(engine.target, 2)
    engine.reindex()
    assert world.clock.slept == [1.0, 2.0] and engine.indexed() == 1
    engine.target = TurnsAway(engine.target, 100)
    with pytest.raises(StoreUnavailable):
        engine.reindex()


def test_it_says_how_far_it_is(engine: Engine) -> None:
    world = engine.world
    for n in range(51):
        world.remember(f"The kayak has number {n}")
    world.remember("The dog sleeps", user="bob")
    world.open()
    world.say("we rowed")
    engine.pump()
    engine.change_model()
    engine.reindex()
    steps = [Reindexed(1, 50), Reindexed(1, 51), Reindexed(1, 51, 1), Reindexed(2, 52, 1)]
    assert engine.progress == steps


def test_an_index_for_another_model_is_refused(engine: Engine) -> None:
    with pytest.raises(ValueError, match="fixture-next-384"):
        engine.reindex()
