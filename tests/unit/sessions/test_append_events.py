"""The session log: atomic, gap-free, idempotent, two port calls."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neve.domain.errors import NeveError
from neve.domain.records.sessions import EventType
from neve.store.idempotency import IdempotencyKey
from neve.usecases.ask.sessions.list_events import list_events
from neve.usecases.tell.sessions.append_events import NewEvent, append_events
from tests.pictures import TINY_PNG
from tests.unit.world import World

USER, ASSISTANT = EventType.USER_MESSAGE, EventType.ASSISTANT_RESPONSE


def texts(world: World) -> list[str]:
    page = list_events(world.user("ann").of_session("s1"), 1, 200)
    assert [event.seq for event in page.events] == list(range(1, len(page.events) + 1))
    return [str(event.content) for event in page.events]


def test_an_append_is_one_read_and_one_write_whatever_its_size(world: World) -> None:
    for count in (1, 48):
        world.table.calls.clear()
        events = [NewEvent(USER, f"message {i}", client_id=f"c{count}-{i}") for i in range(count)]
        key = IdempotencyKey("POST /x", f"key{count}", "sha")
        append_events(world.user("ann").of_session("s1"), events, key)
        assert dict(world.table.calls) == {"get_many": 1, "write": 1}


def test_a_complete_turn_is_queued_for_observation(world: World) -> None:
    assert world.say("hello").observation == "none"
    assert append_events(world.user("ann").of_session("s1"), [NewEvent(ASSISTANT, "hi")]).observation == "queued"


def test_a_boundary_does_not_end_a_turn(world: World) -> None:
    log = world.user("ann").of_session("s1")

    def said(*types: EventType) -> str:
        return append_events(log, [NewEvent(kind, "text") for kind in types]).observation

    assert said(USER, ASSISTANT) == "queued"
    assert said(EventType.TASK_BOUNDARY) == "none"
    assert said(USER) == "none", "the turn before the boundary was complete already"
    assert said(EventType.TASK_BOUNDARY) == "none"
    assert said(USER) == "queued", "a later user message ends a turn, whatever stands between them"


def test_a_client_id_seen_before_returns_its_seq(world: World) -> None:
    first = NewEvent(USER, "hello", client_id="c1")
    append_events(world.user("ann").of_session("s1"), [first])
    again = append_events(world.user("ann").of_session("s1"), [first, NewEvent(ASSISTANT, "hi", client_id="c2")])
    assert again.seqs == [1, 2]
    assert texts(world) == ["hello", "hi"]


def test_a_client_id_with_other_content_is_refused_and_names_the_field(world: World) -> None:
    append_events(world.user("ann").of_session("s1"), [NewEvent(USER, "hello", client_id="c1")])
    with pytest.raises(NeveError) as refused:
        append_events(
            world.user("ann").of_session("s1"), [NewEvent(USER, "x"), NewEvent(USER, "other", client_id="c1")]
        )
    assert refused.value.code == "client_id_conflict"
    assert "events[1].client_id" in refused.value.detail
    assert texts(world) == ["hello"]


def test_one_client_id_twice_in_a_request_is_one_event(world: World) -> None:
    twice = NewEvent(USER, "hello", client_id="c1")
    assert append_events(world.user("ann").of_session("s1"), [twice, twice]).seqs == [1, 1]
    with pytest.raises(NeveError, match="is used for two different events"):
        append_events(world.user("ann").of_session("s1"), [twice, NewEvent(USER, "other", client_id="c1")])


def test_a_lost_response_is_recognised_as_our_own_write(world: World) -> None:
    world.table.lose_response = True
    assert world.say("hello", "hi").seqs == [1, 2]
    assert texts(world) == ["hello", "hi"]


def test_a_lost_response_is_recognised_behind_another_writer(world: World) -> None:
    """The other append lands between our commit and our retry, so the head row no longer names us."""
    written = world.table.write

    def write_then_another(ops: object) -> None:
        world.table.write = written  # type: ignore[method-assign]
        world.table.lose_response = True
        try:
            written(ops)  # type: ignore[arg-type]
        finally:
            world.say("another")

    world.table.write = write_then_another  # type: ignore[method-assign]
    assert world.say("ours").seqs == [1]
    assert texts(world) == ["ours", "another"]


def test_image_bytes_become_objects(world: World) -> None:
    pixels = base64.b64encode(TINY_PNG).decode()
    block = {"type": "image", "media_type": "image/png", "data": pixels}
    append_events(world.user("ann").of_session("s1"), [NewEvent(USER, [{"type": "text", "text": "look"}, block])])
    [event] = list_events(world.user("ann").of_session("s1"), 1, 10).events
    stored = event.content[1]
    assert isinstance(stored, dict)
    assert set(stored) == {"type", "media_type", "object", "bytes", "width", "height"}
    assert world.objects.get(stored["object"]) == TINY_PNG
    assert event.original_tokens == 1600 + 2


def test_an_unknown_upload_or_session_is_refused_before_anything_is_written(world: World) -> None:
    block = {"type": "image", "media_type": "image/png", "upload_id": "upl_none"}
    with pytest.raises(NeveError, match="upload_not_found"):
        append_events(world.user("ann").of_session("s1"), [NewEvent(USER, [block])])
    with pytest.raises(NeveError, match="session_not_found"):
        append_events(world.user("ann").of_session("other"), [NewEvent(USER, "x")])
    with pytest.raises(NeveError, match="session_not_found"):
        append_events(world.user("bob").of_session("s1"), [NewEvent(USER, "x")])
    assert texts(world) == []


@given(calls=st.lists(st.lists(st.integers(0, 9), min_size=1, max_size=5), min_size=1, max_size=8))
def test_however_calls_repeat_each_client_id_is_there_once(
    tmp_path_factory: pytest.TempPathFactory, calls: list[list[int]]
) -> None:
    world = World.make(tmp_path_factory.mktemp("log"))
    world.open()
    seq_of: dict[int, int] = {}
    for call in calls:
        events = [NewEvent(USER, f"text {n}", client_id=f"c{n}") for n in call]
        for n, seq in zip(call, append_events(world.user("ann").of_session("s1"), events).seqs, strict=True):
            assert seq_of.setdefault(n, seq) == seq
    assert sorted(texts(world)) == sorted(f"text {n}" for n in seq_of)
    world.table.close()
