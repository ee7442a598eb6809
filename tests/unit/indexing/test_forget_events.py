"""The index worker on a retraction: whose passages carry words of what was taken back, and what they carry then
(docs/rules/retract.md#index)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from neve.domain.ids import event_id
from neve.domain.indexing.passage import Passage
from neve.domain.memories.text import fingerprint
from neve.domain.records.sessions import EventType
from neve.ports.errors import StoreUnavailable
from neve.ports.queue import Message, QueueName
from neve.ports.search import Owner
from neve.store.partitions import all_rows
from neve.store.vectors import put_vector
from neve.usecases.core.jobs.messages.compaction import message_of_row
from neve.usecases.tell.requests.retract_events import Retract, retract_events
from neve.usecases.tell.sessions.append_events import NewEvent, append_events
from neve.usecases.work.indexing.embed_rows import embed_rows
from neve.usecases.work.retract.run_retraction import run_retraction
from tests.unit.recall_world import RecallWorld, delivered

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
    messages = [message for message in world.dispatch() if "retraction" in message.body]
    assert world.words(messages) == {}
    return messages


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


def test_a_worker_that_died_before_it_looked_again_is_followed_by_one_that_does(world: RecallWorld) -> None:
    """The vector was kept behind the deletion's search for it, and nothing else knows of it."""
    session, upsert = world.user().of_session("s1"), world.index.upsert
    world.say("my sister plays", "Noted.")
    assert world.words(world.dispatch()) == {}
    queued = world.taken(QueueName.EMBED)

    def deleted_then_dead(owner: Owner, passages: Sequence[Passage]) -> None:
        asked = retract_events(session, Retract(1, 1, "deleted"))
        run_retraction(session, message_of_row(world.rows.get(session.keys.job(asked.job_id)) or {}).body)
        world.table.write_each([put_vector(session.keys, fingerprint("my sister plays"), "m", bytes(8))])
        raise StoreUnavailable("search", "the worker dies here")

    world.index.upsert = deleted_then_dead  # type: ignore[method-assign]
    assert embed_rows(world, delivered(queued)) != {}
    world.index.upsert = upsert  # type: ignore[method-assign]
    kept = [item["sk"] for item in all_rows(world.rows, session.keys.vectors)]
    assert any(sk.startswith(fingerprint("my sister plays")) for sk in kept)
    assert embed_rows(world, delivered(queued, again=True)) == {}
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
