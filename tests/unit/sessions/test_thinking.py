"""What a model thought: kept while its turn is open, read by nobody else, gone with the next message."""

from __future__ import annotations

from typing import Any

import pytest

from neve.domain.records.sessions import Event, EventType
from neve.http.schemas.sessions.events import AppendBody
from neve.scope import SessionScope
from neve.store import rows
from neve.store.partitions import all_rows
from neve.usecases.ask.compile.reads import start_context_reads
from neve.usecases.ask.sessions.list_events import list_events
from neve.usecases.tell.sessions.append_events import NewEvent, append_events
from neve.usecases.work.export.export_lines import export_lines
from tests.unit.world import World

USER, ASSISTANT, CALL, RESULT = (
    EventType.USER_MESSAGE,
    EventType.ASSISTANT_RESPONSE,
    EventType.TOOL_CALL,
    EventType.TOOL_RESULT,
)
THOUGHT = {"type": "thinking", "thinking": "The weather is wanted.", "signature": "EqQBCgIYAhIM"}


def session(world: World) -> SessionScope:
    return world.user("ann").of_session("s1")


def call(identifier: str, *thinking: dict[str, Any]) -> NewEvent:
    return NewEvent(CALL, "", event_data={"tool_use_id": identifier, "name": "weather"}, thinking=thinking)


def result(identifier: str) -> NewEvent:
    return NewEvent(RESULT, "sun", event_data={"tool_use_id": identifier, "name": "weather"})


def thoughts(events: list[Event]) -> dict[int, Any]:
    return {event.seq: event.event_data["thinking"] for event in events if "thinking" in event.event_data}


def kept(world: World) -> list[str]:
    keys = session(world).keys
    return [item["sk"] for item in all_rows(world.table, keys.log) if item["type"] == "thinking"]


def test_it_comes_back_in_every_round_of_the_open_turn_as_it_was(world: World) -> None:
    append_events(session(world), [NewEvent(USER, "Weather?"), call("c1", THOUGHT), result("c1")])
    append_events(session(world), [call("c2", THOUGHT), result("c2")])
    listed = list_events(session(world), 1, 200).events
    assert thoughts(listed) == {2: [THOUGHT], 4: [THOUGHT]}
    log = start_context_reads(session(world), wanted=None).collect().log
    assert log is not None
    assert thoughts(list(log.events)) == {2: [THOUGHT], 4: [THOUGHT]}


def test_the_next_message_erases_it_in_its_own_transaction_without_a_read(world: World) -> None:
    append_events(session(world), [NewEvent(USER, "Weather?"), call("c1", THOUGHT), result("c1")])
    append_events(session(world), [NewEvent(ASSISTANT, "Sunny.", thinking=(THOUGHT,))])
    assert len(kept(world)) == 2
    world.table.calls.clear()
    append_events(session(world), [NewEvent(USER, "Thanks.")])
    assert dict(world.table.calls) == {"get_many": 1, "write": 1}
    assert (kept(world), thoughts(list_events(session(world), 1, 200).events)) == ([], {})


def test_of_a_turn_that_is_over_nothing_is_kept(world: World) -> None:
    append_events(
        session(world),
        [NewEvent(USER, "a"), NewEvent(ASSISTANT, "b", thinking=(THOUGHT,)), NewEvent(USER, "c"), call("c1", THOUGHT)],
    )
    assert thoughts(list_events(session(world), 1, 200).events) == {4: [THOUGHT]}


def test_what_has_no_room_to_be_deleted_is_shown_to_nobody_and_goes_next(world: World) -> None:
    append_events(session(world), [NewEvent(USER, "Weather?")])
    for n in range(60):
        append_events(session(world), [call(f"c{n}", THOUGHT), result(f"c{n}")])
    full = [NewEvent(USER, f"m{n}", client_id=f"m{n}") for n in range(48)]
    append_events(session(world), full)
    assert kept(world)
    assert thoughts(list_events(session(world), 1, 200).events) == {}
    append_events(session(world), [NewEvent(ASSISTANT, "Yes.")])
    assert kept(world) == []


def test_one_that_holds_what_the_policy_blocks_goes_as_a_whole(world: World) -> None:
    secret = THOUGHT | {"thinking": "Their SSN is 219-09-9999."}
    sealed = {"type": "redacted_thinking", "data": "219-09-9999"}
    appended = append_events(session(world), [NewEvent(USER, "a"), call("c1", secret, sealed, THOUGHT)])
    assert thoughts(list_events(session(world), 1, 200).events) == {2: [sealed, THOUGHT]}
    assert appended.redacted == {"ssn": 1}


def test_a_repeat_without_it_is_the_same_event(world: World) -> None:
    first = NewEvent(ASSISTANT, "Sunny.", client_id="a1", thinking=(THOUGHT,))
    assert append_events(session(world), [first]).seqs == [1]
    assert append_events(session(world), [NewEvent(ASSISTANT, "Sunny.", client_id="a1")]).seqs == [1]


def test_an_export_has_it_while_it_is_kept(world: World) -> None:
    append_events(session(world), [NewEvent(USER, "Weather?"), call("c1", THOUGHT)])
    lines = [line for line, _ in export_lines(world.user("ann"))]
    assert [line["event_data"]["thinking"] for line in lines if line.get("seq") == 2] == [[THOUGHT]]


@pytest.mark.parametrize("where", ["content", "event_data"])
def test_an_append_takes_it_in_the_content_and_in_the_data(where: str) -> None:
    event: dict[str, Any] = {"event_type": "assistant_response", "content": [{"type": "text", "text": "Sunny."}]}
    if where == "content":
        event["content"].insert(0, THOUGHT)
    else:
        event["event_data"] = {"thinking": [THOUGHT], "own": 1}
    (command,) = AppendBody.model_validate({"events": [event]}).commands()
    assert command.thinking == (THOUGHT,)
    assert command.content == [{"type": "text", "text": "Sunny."}]
    assert command.event_data == ({} if where == "content" else {"own": 1})


def test_the_row_of_an_event_holds_none_of_it(world: World) -> None:
    append_events(session(world), [call("c1", THOUGHT)])
    item = world.table.get(session(world).keys.event(1))
    assert item is not None
    assert "thinking" not in rows.read_event(item).event_data
