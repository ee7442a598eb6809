"""The index worker on a retraction: whose passages carry words of what was taken back, and what they carry then
(docs/rules/retract.md#index)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from neve.domain.ids import event_id
from neve.domain.indexing.passage import Passage
from neve.domain.records.sessions import EventType
from neve.ports.queue import Message, QueueName
from neve.ports.search import Owner
from neve.store.partitions import all_rows
from neve.usecases.core.jobs.messages.compaction import message_of_row
from neve.usecases.tell.requests.retract_events import Retract, retract_events
from neve.usecases.tell.sessions.append_events import NewEvent, append_events
from neve.usecases.work.indexing import index_events
from neve.usecases.work.retract.run_retraction import run_retraction
from tests.unit.recall_world import RecallWorld

CALL = NewEvent(EventType.TOOL_CALL, "", event_data={"tool_use_id": "t", "name": "search", "args": {}})
Context = dict[int, dict[int, str]]


@pytest.fixture
def context(world: RecallWorld, monkeypatch: pytest.MonkeyPatch) -> Context:
    """By seq, what its passage in the index carries of its neighbours, by distance."""
    versions: dict[int, int] = {}
    carried: Context = {}
    upsert = world.index.upsert

    def remembering(owner: Owner, passages: Sequence[Passage]) -> None:
        upsert(owner, passages)
        for one in passages:
            assert one.seq_from is not None
            if one.document_version >= versions.get(one.seq_from, 0):
                versions[one.seq_from] = one.document_version
                carried[one.seq_from] = {near.distance: near.text.partition(": ")[2] for near in one.neighbours}

    monkeypatch.setattr(world.index, "upsert", remembering)
    return carried


def append(world: RecallWorld, *events: str | int, together: bool = False) -> None:
    """What a user says, or so many calls of tools; each indexed before the next, or all ``together``."""
    for given in events:
        new = [CALL] * given if isinstance(given, int) else [NewEvent(EventType.USER_MESSAGE, given)]
        append_events(world.user().of_session("s1"), new)
        if not together:
            world.pump()
    world.pump()


def retract(world: RecallWorld, first: int, last: int) -> list[Message]:
    """The messages of the retraction, which were worked off."""
    retract_events(world.user().of_session("s1"), Retract(first, last, "deleted"))
    messages = [message for message in world.dispatch() if message.body["kind"] == "retraction"]
    assert world.words(messages) == {}
    return messages


def test_a_passage_behind_a_hole_keeps_the_words_behind_it(world: RecallWorld, context: Context) -> None:
    append(world, "one", 1, "three", 1, "five", 1, "seven", 2, "ten")
    assert context[5] == {-2: "one", -1: "three", 1: "seven", 2: "ten"}
    retract(world, 1, 1)
    assert context[3] == {1: "five", 2: "seven"}
    assert context[5] == {-1: "three", 1: "seven", 2: "ten"}


def test_what_is_appended_while_words_around_a_hole_are_read_leaves_no_gap(
    world: RecallWorld, context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The log ended where the first reading ended, and has gone on before the second one."""
    append(world, "one", "two", "three")
    keys, query = world.user().of_session("s1").keys, world.rows.query
    retract(world, 1, 1)

    def then_more(partition: str, **given: Any) -> Any:
        page = query(partition, **given)
        monkeypatch.setattr(world.rows, "query", query)
        append_events(world.user().of_session("s1"), [NewEvent(EventType.USER_MESSAGE, f"more {n}") for n in range(9)])
        return page

    monkeypatch.setattr(world.rows, "query", then_more)
    found = [one.seq for one in index_events.utterances_around(world.rows, keys, 1, 2, 2, holes=False)]
    assert found == list(range(2, len(found) + 2)) and len(found) > 3


def test_a_passage_before_a_hole_keeps_the_words_before_it(world: RecallWorld, context: Context) -> None:
    append(world, "one", 5, "seven", 5, "thirteen", 5, "nineteen", 5, "twenty-five")
    retract(world, 25, 25)
    assert context[13] == {-2: "one", -1: "seven", 1: "nineteen"}
    assert context[19] == {-2: "seven", -1: "thirteen"}


@pytest.mark.parametrize("together", [False, True])
@pytest.mark.parametrize("calls", [7, 8, 15, 19, 40, 60])
def test_words_leave_passages_behind_many_calls_of_tools(
    world: RecallWorld, context: Context, calls: int, together: bool
) -> None:
    append(world, "one", calls, "two", calls, "three", together=together)
    middle = calls + 2
    retract(world, middle, middle)
    assert "two" not in str(context[1]) and "two" not in str(context[middle + calls + 1])


def test_words_leave_passages_on_the_other_side_of_what_was_taken_back_before(
    world: RecallWorld, context: Context
) -> None:
    append(world, "one", 6, "secret", *("other", 2) * 12, "last", together=True)
    retract(world, 9, 44)
    assert context[45][-1] == "secret" and context[8][1] == "last"
    retract(world, 8, 8)
    assert (context[1], context[45]) == ({1: "last"}, {-1: "one"})


def test_who_came_after_the_retraction_keeps_its_rev(world: RecallWorld, context: Context) -> None:
    """A worker that was taken for dead goes on behind the one that did its work."""
    keys = world.user().of_session("s1").keys
    append(world, "one", "two", "three")
    messages = retract(world, 2, 2)
    append(world, "four")
    before = {seq: (world.rows.get(keys.event(seq)) or {}).get("rev") for seq in (1, 3, 4)}
    assert world.words(messages) == {}
    assert {seq: (world.rows.get(keys.event(seq)) or {}).get("rev") for seq in (1, 3, 4)} == before
    assert before[3] is not None and before[4] is None
    assert context[4] == {-1: "three", -2: "one"}


def test_many_long_events_are_taken_back_in_transactions_of_their_bytes(world: RecallWorld) -> None:
    """Fifty of 100 KB are 5 MB: a transaction holds four."""
    world.open()
    scope, long = world.user().of_session("s1"), "word " * 20_000
    for n in range(50):
        append_events(scope, [NewEvent(EventType.TOOL_RESULT, f"{n} {long}", event_data={"tool_use_id": f"t{n}"})])
    retract_events(scope, Retract(1, 50, "edited"))
    messages = [message for message in world.dispatch() if message.body["kind"] == "retraction"]
    assert world.words(messages) == {}
    assert all((world.rows.get(scope.keys.event(seq)) or {})["taken_back"] for seq in range(1, 51))


@pytest.mark.parametrize("erased", [True, False])
def test_no_vector_is_kept_of_what_was_deleted_while_it_was_made(world: RecallWorld, erased: bool) -> None:
    """Who made it had read the log before; also where the job has looked for vectors already, and for nothing else."""
    session, passages = world.user().of_session("s1"), world.inner_embedder.embed_passages
    world.say("my sister plays", "Noted.")
    assert world.words(world.dispatch()) == {}
    queued = world.taken(QueueName.EMBED)

    def deleted_first(texts: Sequence[str]) -> list[bytes]:
        world.inner_embedder.embed_passages = passages  # type: ignore[method-assign]
        asked = retract_events(session, Retract(1, 1, "deleted"))
        if erased:
            run_retraction(session, message_of_row(world.rows.get(session.keys.job(asked.job_id)) or {}).body)
        return passages(texts)

    world.inner_embedder.embed_passages = deleted_first  # type: ignore[method-assign]
    assert world.embed(queued) == {}
    assert len(list(all_rows(world.rows, session.keys.vectors))) == 1, "of what was answered"


def test_a_neighbour_in_the_same_words_is_embedded_again(world: RecallWorld) -> None:
    """Vectors are kept by content, and the deletion takes that of both."""
    append(world, "roses and rum", "roses and rum")
    session = world.user().of_session("s1")
    asked = retract_events(session, Retract(1, 1, "deleted"))
    run_retraction(session, message_of_row(world.rows.get(session.keys.job(asked.job_id)) or {}).body)
    assert list(all_rows(world.rows, session.keys.vectors)) == []
    assert world.words(world.dispatch()) == {}
    assert world.embed(world.taken(QueueName.EMBED)) == {}
    assert world.found("rum", legs=("vector",), threshold=0.0) == [event_id("s1", 2)]
    assert len(list(all_rows(world.rows, session.keys.vectors))) == 1
