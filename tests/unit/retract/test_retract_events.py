"""E2 retract: the commit, its repeats, and what is seen at once (docs/rules/retract.md#commit)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from neve.domain.errors import NeveError
from neve.domain.records.markers import Scene
from neve.domain.records.retractions import RetractReason
from neve.domain.records.sessions import EventType
from neve.ports.table import Key
from neve.store import rows
from neve.store.idempotency import IdempotencyKey
from neve.usecases.ask.sessions.list_events import list_events
from neve.usecases.core.jobs.messages.compaction import message_of_row
from neve.usecases.tell.requests.retract_events import Retract, Retracted, retract_events
from neve.usecases.tell.sessions.append_events import NewEvent, append_events
from neve.usecases.work.retract.run_retraction import run_retraction
from tests.unit.world import World


@pytest.fixture
def world(tmp_path: Path) -> World:
    world = World.make(tmp_path)
    world.open()
    world.say("one", "two", "three", "four", "five", "six")
    return world


def retract(
    world: World, first: int, last: int | None = None, reason: RetractReason = "edited", **more: Any
) -> Retracted:
    return retract_events(world.user().of_session("s1"), Retract(first, last, reason), **more)


def retracted(world: World) -> list[int]:
    page = list_events(world.user().of_session("s1"), 1, 100)
    return [event.seq for event in page.events if any(first <= event.seq <= last for first, last in page.retracted)]


def test_a_part_of_the_log_is_marked_and_stays_where_it_is(world: World) -> None:
    answer = retract(world, 4, 5)
    assert (answer.from_seq, answer.to_seq, answer.epoch) == (4, 5, 1)
    assert retracted(world) == [4, 5]
    keys = world.user().keys.of_session("s1")
    found = world.table.get_many([keys.session_head, keys.marker, keys.epoch])
    lists = [rows.read_session(found[keys.session_head]).retracted, rows.read_marker(found[keys.marker]).retracted]
    assert [*lists, rows.read_epoch(found[keys.epoch]).retracted] == [((4, 5),)] * 3
    assert world.say("seven").seqs == [7]


@pytest.mark.parametrize(("first", "goes_on"), [(2, False), (5, True)])
def test_a_scene_ends_with_what_may_have_set_it(world: World, first: int, goes_on: bool) -> None:
    """Until the session is observed again nobody knows who set it; what was not observed did not."""
    scene, keys = Scene("2026-03-10T12:00:00.000000Z", both=True), world.user().keys
    before = rows.read_marker(world.table.get_many([keys.of_session("s1").marker])[keys.of_session("s1").marker])
    world.table.write([rows.put_marker(keys, replace(before, observed_seq=4, scene=scene))])
    retract(world, first)
    after = world.table.get_many([keys.of_session("s1").marker])[keys.of_session("s1").marker]
    assert rows.read_marker(after).scene == (scene if goes_on else None)


def test_one_read_and_one_write_of_few_operations(world: World) -> None:
    world.table.calls.clear()
    retract(world, 2, idempotency_key=IdempotencyKey("POST /x", "k", "sha"))
    assert world.table.calls == {"get_many": 1, "write": 1}


def test_the_end_of_the_log_is_that_of_the_first_call(world: World) -> None:
    first = retract(world, 5)
    assert first.to_seq == 6
    world.say("seven", "eight")
    assert retract(world, 5) == first
    assert retract(world, 5, 6) == first
    assert retracted(world) == [5, 6]
    assert retract(world, 5, 8).to_seq == 8


def test_a_deletion_is_no_repeat_of_an_edit_but_the_other_way_round(world: World) -> None:
    edited = retract(world, 5)
    world.say("seven")
    deleted = retract(world, 5, reason="deleted")
    assert (deleted.to_seq, deleted.epoch) == (6, edited.epoch + 1)
    assert retract(world, 5, reason="deleted") == deleted
    assert retract(world, 5) == edited


def test_an_idempotency_key_answers_what_it_answered(world: World) -> None:
    key = IdempotencyKey("POST /x", "k", "sha")
    first = retract(world, 5, idempotency_key=key)
    assert retract(world, 5, idempotency_key=key) == first
    with pytest.raises(NeveError, match="idempotency_mismatch"):
        retract(world, 5, 6, idempotency_key=replace(key, body_sha="other"))


@pytest.mark.parametrize(("first", "last", "field"), [(7, None, "from_seq"), (5, 7, "to_seq"), (5, 4, "to_seq")])
def test_seqs_that_are_not_in_the_log_are_refused(world: World, first: int, last: int | None, field: str) -> None:
    with pytest.raises(NeveError) as refused:
        retract(world, first, last)
    assert [error.field for error in refused.value.errors] == [field]
    assert retracted(world) == []


def test_an_append_that_comes_between_is_taken_along(world: World) -> None:
    def append() -> None:
        world.say("seven")

    world.table.before_write = append
    assert retract(world, 5).to_seq == 7


def test_a_lost_answer_is_no_second_retraction(world: World) -> None:
    world.table.lose_response = True
    assert retract(world, 5).epoch == 1


def named(text: str) -> NewEvent:
    return NewEvent(EventType.USER_MESSAGE, text, client_id="m7")


def test_a_client_id_stays_bound(world: World) -> None:
    scope = world.user().of_session("s1")
    assert append_events(scope, [named("seven")]).seqs == [7]
    retract(world, 7)
    again = append_events(scope, [named("seven"), NewEvent(EventType.USER_MESSAGE, "eight")])
    assert (again.seqs, again.retracted) == ([7, 8], [7])
    with pytest.raises(NeveError, match="client_id_conflict"):
        append_events(scope, [named("another seven")])


def test_a_deleted_client_id_tells_nobody_what_it_was(world: World) -> None:
    scope = world.user().of_session("s1")
    append_events(scope, [named("seven")])
    retract(world, 7, reason="deleted")
    for text in ("seven", "another seven"):
        with pytest.raises(NeveError) as refused:
            append_events(scope, [named(text)])
        assert refused.value.code == "retracted"
        assert [error.field for error in refused.value.errors] == ["events[0].client_id"]


def test_nor_where_the_session_was_read_before_it_was_deleted(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of one read may be of different moments."""
    scope, get_many = world.user().of_session("s1"), world.table.get_many
    append_events(scope, [named("seven")])

    def deleted_between(wanted: Sequence[Key], **how: Any) -> Any:
        monkeypatch.undo()
        before = get_many([scope.keys.session_head])
        answer = retract(world, 7, reason="deleted")
        run_retraction(scope, message_of_row(world.table.get(scope.keys.job(answer.job_id)) or {}).body)
        return get_many(wanted, **how) | before

    monkeypatch.setattr(world.table, "get_many", deleted_between)
    with pytest.raises(NeveError, match="retracted"):
        append_events(scope, [named("seven")])


STEPS = st.lists(
    st.one_of(
        st.just("append"),
        st.tuples(st.integers(1, 12), st.one_of(st.none(), st.integers(1, 14)), st.sampled_from(["edited", "deleted"])),
    ),
    max_size=12,
)


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS)
def test_random_retractions_against_a_model(tmp_path_factory: pytest.TempPathFactory, steps: list[Any]) -> None:
    """The model: a log's length, a set of seqs, and what was answered to each open end."""
    world = World.make(tmp_path_factory.mktemp("retractions"))
    world.open()
    last, gone, ends, epochs = 0, set[int](), dict[int, int](), [0]
    for step in steps:
        if step == "append":
            assert world.say("a word").seqs == [last + 1]
            last += 1
            continue
        first, to, reason = step
        try:
            answer = retract(world, first, to, reason)
        except NeveError:
            assert first > last or (to is not None and not first <= to <= last)
            continue
        assert answer.to_seq == (to if to is not None else ends.setdefault(first, last))
        gone |= set(range(first, answer.to_seq + 1))
        epochs.append(answer.epoch)
    assert retracted(world) == sorted(gone)
    assert sorted(set(epochs)) == list(range(len(set(epochs))))
