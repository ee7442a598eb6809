"""docs/frameworks/litellm.md."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import litellm
import pytest
from conftest import LINGER_S, SLOW, Model, Service, events, rounds
from pages import copied

from neve import AsyncNeve

RULES = "You are the assistant of a bakery. " * 200
LOOP = asyncio.new_event_loop()
"""LiteLLM's worker in the background belongs to one loop."""
PORTO = "Ada lives in Porto."
LOOK = {
    "type": "function",
    "function": {
        "name": "look",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}


@pytest.fixture(autouse=True)
def apart(service: Service, model: Model, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("NEVE_URL", service.url)
    monkeypatch.setenv("NEVE_KEY", service.key)
    monkeypatch.setenv("OPENAI_API_BASE", f"{model.url}/v1")
    monkeypatch.setenv("OPENAI_BASE_URL", f"{model.url}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    yield
    litellm.logging_callback_manager._reset_all_callbacks()


async def logged(memory: Any) -> None:
    """LiteLLM tells of the end of a stream in the background."""
    for _ in range(600):
        if not memory.asked:
            return
        await asyncio.sleep(0.05)
    raise AssertionError("an answer was not told")


def test_the_page_runs(service: Service, model: Model, user: str, capsys: pytest.CaptureFixture[str]) -> None:
    with service.client() as neve:
        neve.user(user).remember(PORTO)
    page = copied("litellm.md", user)
    LOOP.run_until_complete(page.main())
    assert "Where do I live?" in capsys.readouterr().out
    assert PORTO in json.dumps(model.requests[0]["messages"])


def test_a_loop_of_tools_has_the_same_beginning_in_each_step_and_stores_none_of_it(
    service: Service, model: Model, user: str
) -> None:
    page = copied("litellm.md", user)
    with service.client() as neve:
        neve.user(user).remember(PORTO)
    cached: list[int] = []

    async def play() -> None:
        async with AsyncNeve(service.key, service.url, timeouts=SLOW, linger=LINGER_S) as neve:
            memory = page.NeveMemory(neve)
            litellm.callbacks = [memory]
            await neve.user(user).session("s1").pack()
            service.heal()
            said: list[Any] = [{"role": "system", "content": RULES}]
            for text in ("How warm is it where I live?", "And tomorrow?"):
                model.will(*rounds(4, "look", "city", f"An answer to {text}"))
                said.append({"role": "user", "content": text})
                while True:
                    before = json.dumps(said)
                    place = {"neve_user": user, "neve_session": "s1"}
                    answer = await litellm.acompletion(
                        model="openai/gpt-5", messages=said, tools=[LOOK], metadata=place
                    )
                    assert json.dumps(said) == before, "the caller's own list stays"
                    cached.append(answer.usage.prompt_tokens_details.cached_tokens)
                    message = answer.choices[0].message
                    calls = [
                        {"id": one.id, "type": "function", "function": one.function.model_dump()}
                        for one in message.tool_calls or ()
                    ]
                    told = {"role": "assistant", "content": message.content} | ({"tool_calls": calls} if calls else {})
                    said.append(told)
                    if not calls:
                        break
                    said += [{"role": "tool", "tool_call_id": one["id"], "content": "18"} for one in calls]

    LOOP.run_until_complete(play())
    assert service.calls() == ["POST sessions/s1/turn"] * 2 + ["POST sessions/s1/messages"]
    requests = model.requests
    assert len(requests) == 10
    for at, one in enumerate(requests):
        assert one["messages"][:2] == requests[0]["messages"][:2]
        assert PORTO in json.dumps(one["messages"][1])
        if at % 5:
            assert one["messages"][: len(requests[at - 1]["messages"])] == requests[at - 1]["messages"]
    assert all(number > 1024 for number in cached[1:])
    stored = events(service, user, "s1")
    kinds = [one["event_type"] for one in stored]
    assert kinds == ["user_message", *["tool_call", "tool_result"] * 4, "assistant_response"] * 2
    assert "<neve-" not in json.dumps(stored)
    assert PORTO not in json.dumps(stored)


def test_a_call_that_names_no_user_is_left_alone_and_an_outage_costs_nothing(
    service: Service, model: Model, user: str
) -> None:
    page = copied("litellm.md", user)

    async def play() -> None:
        async with AsyncNeve(service.key, service.url, timeouts=SLOW | {"turn": 0.3}, linger=LINGER_S) as neve:
            memory = page.NeveMemory(neve)
            litellm.callbacks = [memory]
            question = [{"role": "user", "content": "first"}]
            await litellm.acompletion(model="openai/gpt-5", messages=question)
            assert service.calls() == []
            with pytest.raises(KeyError, match="messages"):
                await litellm.acompletion("openai/gpt-5", question, metadata={"neve_user": user})
            service.fault(match=".", do="refuse")
            place = {"neve_user": user, "neve_session": "s1"}
            await litellm.acompletion(model="openai/gpt-5", messages=question, metadata=place)
            service.heal()
            neve.settings.timeouts_s.update(SLOW)

    LOOP.run_until_complete(play())
    assert [one["messages"] for one in model.requests] == [[{"role": "user", "content": "first"}]] * 2
    assert [one["event_type"] for one in events(service, user, "s1")] == ["user_message", "assistant_response"]


def test_a_streamed_answer_is_kept_when_it_has_ended(service: Service, model: Model, user: str) -> None:
    page = copied("litellm.md", user)

    async def play() -> None:
        async with AsyncNeve(service.key, service.url, timeouts=SLOW, linger=LINGER_S) as neve:
            memory = page.NeveMemory(neve)
            litellm.callbacks = [memory]
            question = [{"role": "user", "content": "first"}]
            place = {"neve_user": user, "neve_session": "s1"}
            stream = await litellm.acompletion(model="openai/gpt-5", messages=question, metadata=place, stream=True)
            assert "".join([one.choices[0].delta.content or "" async for one in stream])
            await logged(memory)

    LOOP.run_until_complete(play())
    said = [one["event_type"] for one in events(service, user, "s1")]
    assert said == ["user_message", "assistant_response"]
