"""Archived events whose time is over."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from neve.domain.indexing.passage import Passage
from neve.domain.indexing.utterances import Utterance
from neve.domain.jobs.time_limits import LEASE_S
from neve.domain.jobs.time_share import TimeShare
from neve.domain.recall.query import shape
from neve.domain.records.documents import Document
from neve.domain.records.sessions import EventType
from neve.domain.tenants.policy import Policy
from neve.domain.times import iso
from neve.ports.queue import Message, QueueName
from neve.ports.search import Owner, SearchFilter
from neve.ports.table import Expect
from neve.scope import SessionScope, TenantScope
from neve.store import rows
from neve.store.incarnation import UserErased
from neve.store.partitions import all_rows
from neve.store.tenants.tenant_rows import TenantRow, put_tenant
from neve.usecases.ask.sessions.list_events import list_events
from neve.usecases.tell.sessions.append_events import NewEvent, append_events
from neve.usecases.work.compact import retain_logs
from neve.usecases.work.compact.artifacts import event_path, store_artifacts
from neve.usecases.work.compact.retain_logs import send_expired
from neve.usecases.work.indexing.changed_events import write_beside
from neve.usecases.work.indexing.indexed_log import IndexedLog, read_log
from neve.workers.job_worker import work
from tests.unit.recall_world import RecallWorld
from tests.unit.retention import cover, retain_log, with_images
from tests.unlimited import unlimited

ARTIFACT = "/artifacts/s1/3"


@pytest.fixture
def world(new_recall_world: RecallWorld) -> RecallWorld:
    new_recall_world.with_policy(retention_days=30)
    new_recall_world.open()
    return new_recall_world


@pytest.fixture
def session(world: RecallWorld) -> SessionScope:
    return world.user().of_session("s1")


def sweep(world: RecallWorld) -> int:
    sent = send_expired(world, unlimited())
    messages = [message for queue, message in world.queue.sent if queue is QueueName.JOBS]
    world.queue.sent = []
    for message in messages:
        work(world, message.body, lambda: 900.0)
    return sent


def seqs(session: SessionScope) -> list[int]:
    return [event.seq for event in list_events(session, 1, 200).events]


def test_only_archived_events_past_their_time_go(world: RecallWorld, session: SessionScope) -> None:
    for word in ("Lisbon", "Porto", "Faro"):
        world.say(f"I moved to {word}.", "Noted.")
        world.clock.move(days=10)
    world.pump()
    cover(session, 1, 5)
    world.clock.move(days=15)  # 45, 35 and 25 days
    assert world.found("Lisbon") != []
    assert sweep(world) == 1
    page = list_events(session, 1, 50)
    assert [event.seq for event in page.events] == [5, 6]
    assert (page.removed, page.covers) == ((1, 4), (1, 5))
    assert (world.found("Lisbon"), world.found("Faro")[0]) == ([], "evt:s1:5")
    assert world.index.count(session.keys.owner) == 2
    assert sweep(world) == 0, "the next one is not old enough"
    world.clock.move(days=10)
    assert sweep(world) == 1
    assert seqs(session) == [6], "what no summary covers stays, however old it is"
    world.clock.move(days=100)
    assert sweep(world) == 0
    world.say("I am back.", "Welcome.")
    assert seqs(session) == [6, 7, 8], "seqs go on"


def test_what_stays_beside_removed_events_is_found_by_none_of_their_words(
    world: RecallWorld, session: SessionScope
) -> None:
    world.say("I moved to Porto.", "Noted.")
    world.clock.move(days=40)
    world.say("I like the river.", "Noted.", "And the wine.", "Good.")
    world.pump()
    cover(session, 1, 4)
    owner, porto = session.keys.owner, shape("Porto").text_query
    assert {one.item_id for one in world.index.search_text(owner, porto, SearchFilter(), 9).candidates} == {
        f"evt:s1:{seq}" for seq in (1, 2, 3)
    }
    assert sweep(world) == 1
    assert world.index.search_text(owner, porto, SearchFilter(), 9).candidates == []
    near = world.index.search_vector(owner, world.embedder.embed_query("river"), SearchFilter(), 9)
    assert {one.item_id for one in near} == {f"evt:s1:{seq}" for seq in (3, 4, 5, 6)}
    assert world.found("river")[0] == "evt:s1:3"


def test_nor_does_the_beginning_that_a_compaction_leaves_hold_them(world: RecallWorld, session: SessionScope) -> None:
    world.say("I like the river.", "Noted.", "I moved to Porto.", "To Porto.")
    world.clock.move(days=40)
    world.say("And the wine.", "Good.", "And you?", "Fine.")
    world.pump()
    cover(session, 3, 6)
    owner, porto = session.keys.owner, shape("Porto").text_query
    assert {"evt:s1:1", "evt:s1:2"} < {
        one.item_id for one in world.index.search_text(owner, porto, SearchFilter(), 9).candidates
    }
    assert sweep(world) == 1
    assert seqs(session) == [1, 2, 5, 6, 7, 8]
    assert world.index.search_text(owner, porto, SearchFilter(), 9).candidates == []
    near = world.index.search_vector(owner, world.embedder.embed_query("river"), SearchFilter(), 9)
    assert {one.item_id for one in near} == {f"evt:s1:{seq}" for seq in (1, 2, 5, 6, 7, 8)}


def long_log_whose_first_vectors_are_late(world: RecallWorld, session: SessionScope) -> list[Message]:
    """What makes them. All but the first and the last two of 22 events may go."""
    world.say("I like the river.", "Noted.", "I moved to Porto.", "To Porto.")
    world.words(world.dispatch())
    late = world.taken(QueueName.EMBED)
    for _ in range(8):
        world.say("And then?", "More.")
    world.pump()
    world.clock.move(days=40)
    world.say("And the wine.", "Good.")
    world.pump()
    cover(session, 3, 20)
    return late


def test_what_stays_beside_many_removed_events_gets_its_vector_behind_their_removal(
    world: RecallWorld, session: SessionScope
) -> None:
    """Whoever makes it finds the neighbours that the removal found, which are far behind."""
    late = long_log_whose_first_vectors_are_late(world, session)
    assert sweep(world) == 1
    assert seqs(session) == [1, 2, 21, 22]
    assert world.embed(late) == {}
    near = world.index.search_vector(session.keys.owner, world.embedder.embed_query("river"), SearchFilter(), 9)
    assert {one.item_id for one in near} == {f"evt:s1:{seq}" for seq in (1, 2, 21, 22)}


def test_nor_is_a_vector_lost_by_a_removal_beside_its_making(
    world: RecallWorld, session: SessionScope, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The session is read before the removal, and its log behind it."""
    late = long_log_whose_first_vectors_are_late(world, session)
    around = IndexedLog.utterances_around

    def removed_first(*given: Any, **more: Any) -> Sequence[Utterance]:
        monkeypatch.undo()
        assert sweep(world) == 1
        return around(*given, **more)

    monkeypatch.setattr(IndexedLog, "utterances_around", removed_first)
    assert world.embed(late) == {}
    near = world.index.search_vector(session.keys.owner, world.embedder.embed_query("river"), SearchFilter(), 9)
    assert {one.item_id for one in near} == {f"evt:s1:{seq}" for seq in (1, 2, 21, 22)}


@pytest.mark.parametrize("to_the_end", [True, False])
def test_no_vector_is_kept_of_what_was_removed_while_it_was_made(
    world: RecallWorld, session: SessionScope, monkeypatch: pytest.MonkeyPatch, to_the_end: bool
) -> None:
    """Whoever made it had read the log before, and looks again behind it; also where the removal stands still."""
    world.say("I moved to Porto.", "Noted.")
    world.words(world.dispatch())
    late = world.taken(QueueName.EMBED)
    world.clock.move(days=40)
    cover(session, 1, 1)
    passages = world.inner_embedder.embed_passages

    def removed_first(texts: Sequence[str]) -> list[bytes]:
        world.inner_embedder.embed_passages = passages  # type: ignore[method-assign]
        if not to_the_end:
            monkeypatch.setattr(retain_logs, "_removal", stands_still)
        with contextlib.suppress(InterruptedError):
            retain_log(session)
        return passages(texts)

    def stands_still(*_: object) -> None:
        raise InterruptedError

    world.inner_embedder.embed_passages = removed_first  # type: ignore[method-assign]
    assert world.embed(late) == {}
    assert len(list(all_rows(world.rows, session.keys.vectors))) == 1, "of what was answered"


def test_what_stays_beside_removed_events_does_not_come_back_behind_an_erasure(
    world: RecallWorld, session: SessionScope, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.say("I moved to Porto.", "Noted.", "I like the river.", "Noted.")
    world.pump()
    owner, upsert = session.keys.owner, world.index.upsert
    read = read_log(session.data, 1)
    log = replace(read, epoch=replace(read.epoch, removing_to=2))

    def erased_meanwhile(of: Owner, passages: Sequence[Passage]) -> None:
        head = world.rows.get(session.keys.head)
        world.rows.write([rows.put_head(world.user().keys, replace(rows.read_head(head), state="erasing"))])
        world.index.erase(owner)
        upsert(of, passages)

    monkeypatch.setattr(world.index, "upsert", erased_meanwhile)
    with pytest.raises(UserErased):
        write_beside(session.data, log, (1, 2))
    assert world.index.count(owner) == 0


def test_a_worker_that_read_the_log_before_brings_no_words_back(
    world: RecallWorld, session: SessionScope, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It stood still with the vectors of the messages beside them, which get theirs all the same."""
    world.say("I like the river.", "Noted.", "I moved to Porto.", "To Porto.", "And the wine.", "Good.")
    assert world.words(world.dispatch()) == {}
    vectors = world.taken(QueueName.EMBED)
    cover(session, 3, 4)
    world.clock.move(days=40)
    owner, porto, upsert = session.keys.owner, shape("Porto").text_query, world.index.upsert

    def removed_meanwhile(owner: Owner, passages: Sequence[Passage]) -> None:
        monkeypatch.setattr(world.index, "upsert", upsert)
        assert any("Porto" in neighbour.text for one in passages for neighbour in one.neighbours)
        assert sweep(world) == 1
        upsert(owner, passages)

    monkeypatch.setattr(world.index, "upsert", removed_meanwhile)
    assert world.embed(vectors) == {}
    assert seqs(session) == [1, 2, 5, 6]
    assert world.index.search_text(owner, porto, SearchFilter(), 9).candidates == []
    near = world.index.search_vector(owner, world.embedder.embed_query("river"), SearchFilter(), 9)
    assert {one.item_id for one in near} == {f"evt:s1:{seq}" for seq in (1, 2, 5, 6)}


def test_artifacts_and_vectors_go_along(world: RecallWorld, session: SessionScope) -> None:
    world.say("Look it up.", "Noted.")
    world.pump()
    keys, now = session.keys, iso(world.clock.now())
    artifact = Document(ARTIFACT, "what the tool said", 4, 1, now, session_id="s1", seq=2)
    event = world.rows.get(keys.event(2)) or {}
    world.rows.write([rows.put_artifact(keys, artifact), rows.put_pruned(event, "Noted.", ARTIFACT)])
    cover(session, 1, 2)
    assert list(world.rows.query(keys.vectors, limit=10).items) != []
    world.clock.move(days=31)
    sweep(world)
    assert world.rows.get(keys.document(ARTIFACT)) is None
    assert world.rows.query(keys.vectors, limit=10).items == []


def test_an_output_that_is_put_away_under_the_removal_leaves_no_artifact(
    world: RecallWorld, session: SessionScope, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its row does not say yet that there is one; and who comes later finds that the event is gone."""
    data = {"tool_use_id": "t1", "name": "search"}
    call = NewEvent(EventType.TOOL_CALL, "", event_data={**data, "input": {}})
    append_events(session, [call, NewEvent(EventType.TOOL_RESULT, "what the tool said", event_data=data)])
    result = rows.read_event(world.rows.get(session.keys.event(2)) or {})
    artifact, forget = session.keys.document(event_path(session, 1, 2)), retain_logs._leave_index

    def meanwhile(*given: Any) -> None:
        store_artifacts(session, 1, [result])
        assert world.rows.get(artifact) is not None
        forget(*given)

    monkeypatch.setattr(retain_logs, "_leave_index", meanwhile)
    cover(session, 1, 2)
    world.clock.move(days=31)
    sweep(world)
    assert (seqs(session), world.rows.get(artifact)) == ([], None)
    store_artifacts(session, 1, [result])
    assert world.rows.get(artifact) is None


def test_a_clock_that_is_years_ahead_keeps_nothing_from_it(world: RecallWorld, session: SessionScope) -> None:
    at = ["2099-01-01T00:00:00.000Z", None, iso(world.clock.now() + timedelta(hours=14))]
    events = [NewEvent(EventType.USER_MESSAGE, "Lisbon", created_at=one) for one in at]
    append_events(session, events)
    said = [event.created_at for event in list_events(session, 1, 10).events]
    assert said == [iso(world.clock.now()), iso(world.clock.now()), at[2]], "a wrong zone is no wrong day"
    cover(session, 1, 3)
    world.clock.move(days=40)
    assert sweep(world) == 1
    assert seqs(session) == []


def test_without_the_policy_everything_stays(world: RecallWorld, session: SessionScope) -> None:
    world.with_policy()
    world.say("I moved to Lisbon.", "Noted.")
    cover(session, 1, 2)
    world.clock.move(days=3_000)
    assert sweep(world) == 0
    assert seqs(session) == [1, 2]


@pytest.mark.parametrize(("most", "left"), [(1, True), (2, False)])
def test_more_sessions_of_a_tenant_than_one_sweep_sends_are_told(
    world: RecallWorld, session: SessionScope, monkeypatch: pytest.MonkeyPatch, most: int, left: bool
) -> None:
    monkeypatch.setattr(retain_logs, "SESSION_BATCH_SIZE", most)
    world.open("s2")
    for name in ("s1", "s2"):
        world.say("One.", "Two.", session=name)
        cover(world.user().of_session(name), 1, 2)
    world.clock.move(days=31)
    share = unlimited()
    assert (send_expired(world, share), share.left) == (most, left)


def test_no_tenant_is_always_behind_the_end_of_the_time(
    world: RecallWorld, session: SessionScope, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.rows.write([put_tenant(TenantRow("zeta", iso(world.clock.now()), Policy(retention_days=30)))])
    sent: list[str] = []

    def send(scope: TenantScope, *_: object) -> int:
        sent.append(scope.tenant.id)
        return 0

    monkeypatch.setattr(retain_logs, "_send_of", send)
    for token in ("00", "01"):
        monkeypatch.setattr(world.ids, "token", lambda token=token: token)
        share = TimeShare(lambda: 0.0, 1.0)
        send_expired(world, share)
        assert share.left
    assert sorted(sent) == ["acme", "zeta"]


def test_an_image_that_is_shown_again_stays(world: RecallWorld, session: SessionScope) -> None:
    """In the same session, and in another one."""
    keys = session.keys
    names = [keys.image_object(name) for name in ("once", "again", "elsewhere")]
    for name in names:
        world.objects.put(name, b"png", content_type="image/png")

    def shown(*objects: str) -> list[dict[str, str]]:
        return [{"type": "image", "media_type": "image/png", "object": name} for name in objects]

    world.say("First.", "Noted.")
    world.say("Second.", "Noted.")
    other = world.user().of_session("s2").keys
    world.open(session="s2")
    world.say("Third.", "Noted.", session="s2")
    for at, seq, objects in ((keys, 1, names), (keys, 3, names[1:2]), (other, 1, names[2:])):
        event = rows.read_event(world.rows.get(at.event(seq)) or {})
        world.rows.write([replace(rows.put_event(at, replace(event, content=shown(*objects)), 1), expect=Expect.ANY)])
    cover(session, 1, 2)
    world.clock.move(days=31)
    sweep(world)
    assert world.objects.list(keys.images_prefix) == sorted(names[1:])


def test_an_image_goes_behind_its_event_when_the_policy_ends_meanwhile(
    world: RecallWorld, session: SessionScope
) -> None:
    """The worker was killed: what says which image it was is there until it is gone, whatever the policy says by
    then."""
    keys, name = session.keys, session.keys.image_object("one")
    world.say("Look.", "Noted.")
    block = {"type": "image", "media_type": "image/png", "object": name}
    event = replace(rows.read_event(world.rows.get(keys.event(1)) or {}), content=[block])
    world.rows.write([replace(rows.put_event(keys, event, 1), expect=Expect.ANY)])
    cover(session, 1, 2)
    world.clock.move(days=31)

    def killed(key: str) -> None:
        raise KeyboardInterrupt

    world.objects.put(name, b"png", content_type="image/png")
    world.objects.delete = killed  # type: ignore[method-assign]
    with pytest.raises(KeyboardInterrupt):
        sweep(world)
    del world.objects.delete
    assert rows.images_of_row(world.rows.get(keys.event(1)) or {}) == [name]
    assert list_events(session, 1, 10).events[0].content == []
    world.with_policy()
    world.clock.move(seconds=LEASE_S)
    retain_log(world.user().of_session("s1"))
    assert world.objects.list(keys.images_prefix) == []
    assert seqs(session) == [], "what has begun comes to its end"


def test_no_event_is_read_again_for_each_batch_of_images(
    world: RecallWorld, session: SessionScope, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of all that the user has: each batch looks twice for who shows its images."""
    monkeypatch.setattr(retain_logs, "EVENT_BATCH_SIZE", 2)
    world.open(session="other")
    world.say(*(f"Turn {n}." for n in range(60)), session="other")
    world.say(*(f"Turn {n}." for n in range(20)))
    with_images(session, 20)
    cover(session, 1, 20)
    world.clock.move(days=31)
    read, query, log = [0], world.rows.query, world.user().of_session("other").keys.log

    def counting(partition: str, **more: Any) -> Any:
        page = query(partition, **more)
        read[0] += len(page.items) if partition == log else 0
        return page

    monkeypatch.setattr(world.rows, "query", counting)
    assert retain_log(session) == 20
    assert read[0] == 60
