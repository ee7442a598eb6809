"""Messages are stored as an append of events stores events, and the session begins with them."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from neve.domain.errors import NeveError
from neve.domain.messages.read import read_messages
from neve.domain.records.sessions import Event
from neve.scope import SessionScope
from neve.store.idempotency import IdempotencyKey
from neve.store.keys import MESSAGES
from neve.store.partitions import all_rows
from neve.store.sessions.messages import forgotten
from neve.usecases.ask.sessions.list_events import list_events
from neve.usecases.tell.sessions.append_events import NewEvent, append_events
from neve.usecases.tell.sessions.append_messages import AppendedMessages, append_messages
from neve.usecases.tell.sessions.new_session import OpenSession
from tests.unit.world import World

Json = dict[str, Any]
HI: Json = {"role": "user", "content": "Hi, I am Ada."}
HELLO: Json = {"role": "assistant", "content": "Hello Ada!"}
CALL: Json = {
    "role": "assistant",
    "content": [{"type": "tool_use", "id": "c1", "name": "recall_memory", "input": {"query": "bees"}}],
}
RESULT: Json = {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "c1", "content": "none"}]}


@pytest.fixture
def world(new_world: World) -> World:
    return new_world


def session(world: World) -> SessionScope:
    return world.user("ann").of_session("s1")


def send(world: World, *messages: Json, key: str | None = None, opening: OpenSession | None = None) -> AppendedMessages:
    idempotency = IdempotencyKey("POST /x", key, "sha") if key else None
    return append_messages(session(world), read_messages(messages), opening or OpenSession(), idempotency)


def states(appended: AppendedMessages) -> list[str]:
    return [one.state for one in appended.messages]


def log(world: World) -> list[Event]:
    return list_events(session(world), 1, 200).events


def test_an_append_is_one_read_and_one_write_and_a_repeat_one_read(world: World) -> None:
    send(world, HI)
    for messages, calls in (((HI, HELLO), {"get_many": 1, "write": 1}), ((HI, HELLO), {"get_many": 1})):
        world.table.calls.clear()
        send(world, *messages)
        assert world.table.calls == Counter(calls)


def test_a_result_has_the_name_of_its_call_also_in_a_call_of_its_own(world: World) -> None:
    send(world, HI, CALL)
    send(world, RESULT)
    assert [event.event_data.get("name") for event in log(world)] == [None, "recall_memory", "recall_memory"]
    assert states(send(world, HI, CALL, RESULT)) == ["known"] * 3
    lone = {"role": "tool", "tool_call_id": "nobody", "content": "x"}
    send(world, lone)
    assert log(world)[-1].event_data["name"] == "tool"


def test_a_call_with_its_results_pending_completes_no_turn(world: World) -> None:
    behind = CALL | {"content": [*CALL["content"], {"type": "text", "text": "One moment."}]}
    assert send(world, HI, behind).events.observation == "none"
    assert send(world, RESULT, HELLO).events.observation == "queued"


def test_an_own_id_is_the_events_client_id_and_known_without_it(world: World) -> None:
    send(world, HI | {"id": "m1"}, HELLO | {"id": "m2"})
    assert [event.client_id for event in log(world)] == ["m1", "m2"]
    assert states(send(world, HI, HELLO)) == ["known", "known"]
    assert [one.id for one in send(world, HI | {"id": "m1"}).messages] == ["m1"]


def test_what_was_appended_as_an_event_is_known_by_its_id(world: World) -> None:
    world.open()
    (event,) = [one for heard in read_messages([HI]) for one in heard.events]
    append_events(session(world), [NewEvent(event.event_type, event.content, client_id="m1")])
    assert states(send(world, HI | {"id": "m1"}, HELLO | {"id": "m2"})) == ["known", "appended"]


def test_a_lost_response_is_recognised_as_our_own_write(world: World) -> None:
    world.table.lose_response = True
    appended = send(world, HI, HELLO)
    assert (appended.events.seqs, states(appended), appended.events.created) == ([1, 2], ["appended"] * 2, True)
    assert len(log(world)) == 2


def test_more_new_events_than_one_call_takes_are_refused_and_known_ones_do_not_count(world: World) -> None:
    chat = [{"role": ("user", "assistant")[n % 2], "content": f"message {n}"} for n in range(60)]
    with pytest.raises(NeveError, match="48: part the list"):
        send(world, *chat)
    send(world, *chat[:48])
    assert states(send(world, *chat)) == ["known"] * 48 + ["appended"] * 12
    assert [event.content for event in log(world)] == [message["content"] for message in chat]


def test_a_message_that_says_nothing_is_dropped(world: World) -> None:
    appended = send(world, {"role": "assistant", "content": ""})
    assert (states(appended), appended.events.created, log(world)) == (["dropped"], True, [])


def test_of_what_is_deleted_no_digest_is_left_and_it_stays_deleted(world: World) -> None:
    send(world, HI, HELLO)
    keys = session(world).keys
    before = [str(item["seen"]) for item in all_rows(world.table, keys.log, prefix=MESSAGES)]
    world.table.write(forgotten(world.table, keys, ((1, 2),)))
    after = [str(item["seen"]) for item in all_rows(world.table, keys.log, prefix=MESSAGES)]
    assert all(len(one) < 40 for one in after), (before, after)
    assert states(send(world, HI, HELLO)) == ["known", "known"]
