"""The session of the OpenAI Agents SDK against its own ``SQLiteSession``: the same calls, the same answers."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from agents import Agent, RunConfig, Runner, SQLiteSession, function_tool, set_tracing_disabled
from agents.memory import SessionSettings
from agents.models.openai_responses import OpenAIResponsesModel
from agents.testing import ScriptedModel, assistant_message, function_call
from conftest import LINGER_S, SLOW, Model, Service, events, rounds
from neve_openai_agents import NeveSession
from openai import AsyncOpenAI
from pages import copied

from neve import AsyncNeve, NeveConnection

set_tracing_disabled(True)
INSTRUCTIONS = "You are the assistant of a bakery. " * 200
"""Above the 1,024 tokens from which the model caches."""
PORTO = "Ada lives in Porto."
LARGE = "".join(f"line {n} of a long text\n" for n in range(20_000))
PICTURE = "data:image/png;base64," + "iVBORw0KGgo" * 40_000
ITEMS: list[Any] = [
    {"role": "user", "content": "hi"},
    {"role": "user", "content": "  "},
    {"role": "user", "content": [{"type": "input_text", "text": "two"}, {"type": "input_text", "text": "parts"}]},
    {"role": "user", "content": [{"type": "input_image", "image_url": "https://example.com/a.png", "detail": "low"}]},
    {"role": "user", "content": [{"type": "input_image", "image_url": PICTURE, "detail": "auto"}]},
    {"role": "user", "content": [{"type": "input_file", "file_id": "file_1"}], "type": "message"},
    {"role": "user", "content": LARGE},
    {"role": "user", "content": "half a pair \ud83d, and a zero \x00."},
    {"role": "user", "content": "<neve-memory>quoted</neve-memory>"},
    {"role": "system", "content": "Be brief."},
    {"role": "developer", "content": "Be kind."},
    {"role": "assistant", "content": "Hello."},
    {"id": "msg_1", "type": "message", "role": "assistant", "status": "completed",
     "content": [{"type": "output_text", "text": "So it is.", "annotations": [], "logprobs": []}]},
    {"id": "msg_2", "type": "message", "role": "assistant", "status": "completed",
     "content": [{"type": "refusal", "refusal": "No."}], "phase": None},
    {"id": "rs_1", "type": "reasoning", "summary": [], "encrypted_content": "opaque"},
    {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "look", "arguments": '{"city": "Porto"}'},
    {"type": "function_call_output", "call_id": "c1", "output": "18"},
    {"type": "function_call_output", "call_id": "c1", "output": [{"type": "input_text", "text": "again"}]},
    {"type": "function_call", "call_id": "c2", "name": "look", "arguments": "no JSON"},
    {"type": "function_call_output", "call_id": "nobody's", "output": LARGE},
    {"type": "custom_tool_call", "call_id": "c3", "name": "patch", "input": "*** Begin"},
    {"type": "custom_tool_call_output", "call_id": "c3", "output": "done"},
    {"type": "mcp_approval_request", "id": "ap_1", "name": "x", "server_label": "s", "arguments": "{}"},
    {"type": "mcp_approval_response", "approval_request_id": "ap_1", "approve": True},
    {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search", "query": "q"}},
    {"type": "of_tomorrow", "deep": {"list": [1, None, {"": float("inf")}]}, "content": 3},
    {"type": "function_call", "call_id": "", "name": "", "arguments": ""},
    {"content": "without a role"},
]  # fmt: skip


@function_tool
def look(city: str) -> str:
    """Look at the weather."""
    return f"18 degrees in {city}"


def played(play: Callable[[AsyncNeve], Awaitable[None]], service: Service, **more: Any) -> None:
    """Run a play with a client of its own."""

    async def run() -> None:
        async with AsyncNeve(service.key, service.url, timeouts=SLOW, **{"linger": LINGER_S} | more) as neve:
            await play(neve)

    asyncio.run(run())


def same(ours: Any, theirs: Any) -> None:
    """Answers compared whole, as JSON: a NaN is itself."""
    assert json.dumps(ours, sort_keys=True) == json.dumps(theirs, sort_keys=True)


def clean_end(items: list[Any], limit: int) -> list[Any]:
    """The shortest end of at least ``limit`` items that has the call of each result, and the thought before it."""
    for start in range(max(0, len(items) - limit), -1, -1):
        shown, before = items[start:], items[:start]
        called = {one.get("call_id") or one.get("id") for one in before}
        results = {one.get("call_id") or one.get("approval_request_id") for one in shown if is_result(one)}
        if not results & called and not (shown and before and before[-1].get("type") == "reasoning"):
            return shown
    return items


def is_result(item: Any) -> bool:
    return str(item.get("type", "")).endswith(("_output", "approval_response"))


@pytest.mark.parametrize(
    "number", range(len(ITEMS)), ids=[f"{n}-{one.get('type', one.get('role'))}" for n, one in enumerate(ITEMS)]
)
def test_an_item_comes_back_whole_in_another_process(number: int, service: Service, user: str) -> None:
    item = ITEMS[number]

    async def add(neve: AsyncNeve) -> None:
        await NeveSession(neve, user, "s1").add_items([item])

    async def read(neve: AsyncNeve) -> None:
        same(await NeveSession(neve, user, "s1").get_items(), [item])
        same(await NeveSession(neve, user, "s1").pop_item(), item)

    async def gone(neve: AsyncNeve) -> None:
        same(await NeveSession(neve, user, "s1").get_items(), [])

    for play in (add, read, gone):
        played(play, service)


@pytest.mark.parametrize("seed", range(6))
def test_the_same_calls_have_the_same_answers(seed: int, service: Service, user: str) -> None:
    drawn = random.Random(seed)
    items = [one for one in ITEMS if len(json.dumps(one)) < 10_000]

    async def play(neve: AsyncNeve) -> None:
        ours, theirs = NeveSession(neve, user, "s1"), SQLiteSession("s1")
        for _ in range(40):
            call = drawn.choice(["add", "add", "add", "pop", "pop", "get", "limit", "flush", "again", "clear"])
            if call == "add":
                added = drawn.sample(items, drawn.randint(0, 4))
                await ours.add_items(added)
                await theirs.add_items(added)
            elif call == "pop":
                same(await ours.pop_item(), await theirs.pop_item())
            elif call == "get":
                same(await ours.get_items(), await theirs.get_items())
            elif call == "limit":
                limit = drawn.choice([-1, 0, 1, 2, 3, 7, 50])
                whole = await theirs.get_items()
                cut = await theirs.get_items(limit)
                same(await ours.get_items(limit), cut if limit <= 0 else clean_end(whole, limit))
            elif call == "flush":
                await ours.flush()
            elif call == "again":
                ours = NeveSession(neve, user, "s1")
            elif drawn.random() < 0.3:
                await ours.clear_session()
                await theirs.clear_session()
        same(await ours.get_items(), await theirs.get_items())
        theirs.close()

    played(play, service)


def test_a_limit_never_cuts_a_call_from_its_result(service: Service, user: str) -> None:
    turn: list[Any] = [
        {"role": "user", "content": "weather?"},
        {"type": "reasoning", "id": "rs_1", "summary": []},
        {"type": "function_call", "call_id": "a", "name": "look", "arguments": "{}"},
        {"type": "function_call", "call_id": "b", "name": "look", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "a", "output": "1"},
        {"type": "function_call_output", "call_id": "b", "output": "2"},
        {"role": "assistant", "content": "1 and 2"},
    ]

    async def play(neve: AsyncNeve) -> None:
        session = NeveSession(neve, user, "s1", session_settings=SessionSettings(limit=2))
        await session.add_items(turn)
        waiting = [await session.get_items(limit) for limit in range(8)]
        await session.flush()
        same([await session.get_items(limit) for limit in range(8)], waiting)
        same([len(one) for one in waiting], [0, 1, 6, 6, 6, 6, 6, 7])
        same(await session.get_items(), turn[1:])

    played(play, service)


def test_several_pops_are_one_retraction(service: Service, user: str) -> None:
    async def play(neve: AsyncNeve) -> None:
        session = NeveSession(neve, user, "s1")
        await session.add_items([{"role": "user", "content": f"number {n}"} for n in range(9)])
        await session.flush()
        service.heal()
        for n in range(8, 4, -1):
            same(await session.pop_item(), {"role": "user", "content": f"number {n}"})
        await session.add_items([{"role": "user", "content": "another"}])
        same(len(await session.get_items()), 6)
        assert service.calls() == [
            "GET sessions/s1/events",
            "POST sessions/s1/events/retract",
            "GET sessions/s1/events",
        ]

    played(play, service)
    assert [one["seq"] for one in events(service, user, "s1")] == [1, 2, 3, 4, 5, 10]


def test_a_cleared_session_is_erased_each_time(service: Service, user: str) -> None:
    async def play(neve: AsyncNeve) -> None:
        session = NeveSession(neve, user, "s1")
        await session.clear_session()
        for text in ("first secret", "second secret"):
            await session.add_items([{"role": "user", "content": text}])
            await session.flush()
            await session.clear_session()
            same(await session.get_items(), [])
            same(await session.pop_item(), None)

    played(play, service)
    with service.client() as neve:
        assert all(one.get("erased") or one["retracted"] for one in neve.raw.list_events(user, "s1")["events"])


def test_what_others_appended_is_read_as_items(service: Service, user: str) -> None:
    with service.client(linger=0) as neve:
        call = {"type": "tool_use", "id": "t1", "name": "look", "input": {"city": "Porto"}}
        said = [
            {"role": "user", "content": "How warm is it?"},
            {"role": "assistant", "content": [{"type": "text", "text": "I look."}, call]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "18"}]},
            {"role": "assistant", "content": "18."},
        ]
        neve.raw.append_messages(user, "s1", {"messages": said})

    async def play(neve: AsyncNeve) -> None:
        same(await NeveSession(neve, user, "s1").get_items(), [
            {"role": "user", "content": "How warm is it?"},
            {"role": "assistant", "content": "I look."},
            {"type": "function_call", "call_id": "t1", "name": "look", "arguments": '{"city": "Porto"}'},
            {"type": "function_call_output", "call_id": "t1", "output": "18"},
            {"role": "assistant", "content": "18."},
        ])  # fmt: skip

    played(play, service)


def test_what_a_session_in_typescript_kept_is_read_by_what_it_says(service: Service, user: str) -> None:
    asked = {"type": "message", "role": "user", "content": "How warm is it?"}
    call = {"type": "function_call", "callId": "t1", "name": "look", "arguments": "{}", "status": "completed"}
    result = {"type": "function_call_result", "callId": "t1", "name": "look", "output": {"type": "text", "text": "18"}}
    kept: list[Any] = [
        {"event_type": "user_message", "content": "How warm is it?", "event_data": {"item": asked}},
        {"event_type": "neutral", "event_data": {"item": {"type": "reasoning", "content": []}}},
        {
            "event_type": "tool_call",
            "content": "",
            "event_data": {"tool_use_id": "t1", "name": "look", "args": {}, "item": call},
        },
        {
            "event_type": "tool_result",
            "content": "18",
            "event_data": {"tool_use_id": "t1", "name": "look", "item": result},
        },
    ]
    with service.client() as neve:
        neve.raw.open_session(user, {"session_id": "s1"})
        neve.raw.append_events(user, "s1", {"events": kept})

    async def play(neve: AsyncNeve) -> None:
        same(await NeveSession(neve, user, "s1").get_items(), [
            {"role": "user", "content": "How warm is it?"},
            {"type": "function_call", "call_id": "t1", "name": "look", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "t1", "output": "18"},
        ])  # fmt: skip

    played(play, service)


@pytest.mark.parametrize("streamed", [False, True])
def test_runs_of_the_framework_leave_what_its_own_session_holds(streamed: bool, service: Service, user: str) -> None:
    def script() -> ScriptedModel:
        calls = [[function_call("look", {"city": f"place {n}"}, call_id=f"c{n}")] for n in range(4)]
        return ScriptedModel([*calls, [assistant_message("18 everywhere.")], [assistant_message("As I said.")]])

    async def play(neve: AsyncNeve) -> None:
        ours, theirs = NeveSession(neve, user, "s1"), SQLiteSession("s1")
        seen = []
        for session in (ours, theirs):
            scripted = script()
            agent = Agent(name="a", instructions="You look.", model=scripted, tools=[look])
            for text in ("How warm is it?", "Really?"):
                if streamed:
                    run = Runner.run_streamed(agent, text, session=session)
                    async for _ in run.stream_events():
                        pass
                else:
                    await Runner.run(agent, text, session=session)
            seen.append([call.input for call in scripted.calls])
            scripted.assert_complete()
        same(seen[0], seen[1])
        same(await ours.get_items(), await theirs.get_items())
        theirs.close()

    played(play, service)


def test_memory_stands_in_each_step_with_the_same_bytes_and_is_not_stored(
    service: Service, model: Model, user: str
) -> None:
    with service.client() as neve:
        neve.user(user).remember(PORTO)
    turns = ["How warm is it where I live?", "And tomorrow?", "Thanks."]
    cached: list[list[int]] = []

    async def play(neve: AsyncNeve) -> None:
        provider = OpenAIResponsesModel("gpt-5", AsyncOpenAI(api_key="k", base_url=f"{model.url}/v1"))
        agent = Agent(name="a", instructions=INSTRUCTIONS, model=provider, tools=[look])
        await NeveSession(neve, user, "s1").get_items()
        service.heal()
        for text in turns:
            model.will(*rounds(4, "look", "city", f"An answer to: {text}"))
            session = NeveSession(neve, user, "s1")
            config = RunConfig(call_model_input_filter=session.memory)
            run = await Runner.run(agent, text, session=session, run_config=config)
            cached.append([one.usage.input_tokens_details.cached_tokens for one in run.raw_responses])

    played(play, service)
    calls = service.calls()
    assert [one for one in calls if one != "POST sessions"] == [
        *["GET sessions/s1/events", "POST sessions/s1/turn"] * len(turns),
        "POST sessions/s1/turn",
    ], "one call a turn each way, and what was said last when the client is closed"

    requests = model.requests
    assert len(requests) == 5 * len(turns)
    for at, one in enumerate(requests):
        assert PORTO in one["instructions"]
        assert one["instructions"].startswith(INSTRUCTIONS.strip())
        assert one["instructions"] == requests[0]["instructions"]
        if at % 5:
            before = requests[at - 1]["input"]
            assert one["input"][: len(before)] == before, "each step begins with the whole one before"
    assert all(number > 1024 for numbers in cached for number in numbers[1:])
    assert all(numbers[0] > 1024 for numbers in cached[1:])
    stored = events(service, user, "s1")
    assert len(stored) == 10 * len(turns)
    assert "<neve-" not in json.dumps(stored)
    assert PORTO not in json.dumps(stored)


def test_the_end_of_a_turn_is_sent_at_once_without_a_linger(service: Service, user: str) -> None:
    scripted = ScriptedModel([[function_call("look", {"city": "Porto"}, call_id="c1")], [assistant_message("18.")]])
    agent = Agent(name="a", instructions="You look.", model=scripted, tools=[look])

    async def play(neve: AsyncNeve) -> None:
        await Runner.run(agent, "How warm is it?", session=NeveSession(neve, user, "s1"))
        assert len(events(service, user, "s1")) == 4
        assert asyncio.all_tasks() == {asyncio.current_task()}, "nothing is left to be done later"

    played(play, service, linger=0)


def test_what_waits_is_sent_when_the_loop_ends_and_nobody_closed_the_client(service: Service, user: str) -> None:
    async def play() -> None:
        neve = AsyncNeve(service.key, service.url, timeouts=SLOW, linger=LINGER_S)
        await NeveSession(neve, user, "s1").add_items([{"role": "assistant", "content": "Hello."}])

    asyncio.run(play())
    assert [one["content"] for one in events(service, user, "s1")] == ["Hello."]


def test_a_service_that_is_down_costs_no_turn_and_no_item(service: Service, user: str) -> None:
    scripted = ScriptedModel([[assistant_message(f"answer {n}")] for n in range(3)])
    agent = Agent(name="a", instructions="You answer.", model=scripted)

    async def play(neve: AsyncNeve) -> None:
        session = NeveSession(neve, user, "s1")
        config = RunConfig(call_model_input_filter=session.memory)
        await Runner.run(agent, "question 0", session=session, run_config=config)
        service.fault(match=".", do="refuse")
        neve.settings.timeouts_s.update(context=0.3, turn=0.3)
        await Runner.run(agent, "question 1", session=session, run_config=config)
        with pytest.raises(NeveConnection):
            await session.clear_session()
        service.heal()
        neve.settings.timeouts_s.update(SLOW)
        await Runner.run(agent, "question 2", session=session, run_config=config)

    async def again(neve: AsyncNeve) -> None:
        said = await NeveSession(neve, user, "s1").get_items()
        assert [one["content"] for one in said if one["role"] == "user"] == [f"question {n}" for n in range(3)]
        assert len(said) == 6

    played(play, service)
    played(again, service)
    assert [one["content"] for one in scripted.calls[2].input if one["role"] == "user"][:2] == [
        "question 0",
        "question 1",
    ]


def test_the_page_runs(
    service: Service, model: Model, user: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, value in {
        "NEVE_URL": service.url,
        "NEVE_KEY": service.key,
        "OPENAI_BASE_URL": f"{model.url}/v1",
        "OPENAI_API_KEY": "k",
    }.items():
        monkeypatch.setenv(name, value)
    with service.client() as neve:
        neve.user(user).remember(PORTO)
    copied("openai-agents.md", user)
    assert "Where do I live?" in capsys.readouterr().out
    assert PORTO in model.requests[0]["instructions"]
    assert [one["event_type"] for one in events(service, user, "s1")] == ["user_message", "assistant_response"]
