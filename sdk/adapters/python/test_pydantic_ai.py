"""docs/frameworks/pydantic-ai.md."""

from __future__ import annotations

import asyncio
import json

import pytest
from conftest import LINGER_S, SLOW, Model, Service, events, rounds
from pages import copied
from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIResponsesModel
from pydantic_ai.models.test import TestModel
from pydantic_ai.providers.openai import OpenAIProvider

from neve import AsyncNeve

RULES = "You are the assistant of a bakery. " * 200
PORTO = "Ada lives in Porto."


def test_the_page_runs(
    service: Service, model: Model, user: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", f"{model.url}/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    with service.client() as neve:
        neve.user(user).remember(PORTO)
    asyncio.run(copied("pydantic-ai.md", user).main())
    assert "Where do I live?" in capsys.readouterr().out
    [request] = model.requests
    assert PORTO in request["instructions"]
    assert "recall_memory" in json.dumps(request["tools"])
    assert [one["event_type"] for one in events(service, user, "s1")] == ["user_message", "assistant_response"]


def test_a_loop_of_tools_has_the_same_beginning_in_each_step_and_stores_none_of_it(
    service: Service, model: Model, user: str
) -> None:
    page = copied("pydantic-ai.md", user)
    with service.client() as neve:
        neve.user(user).remember(PORTO)

    async def play() -> list[int]:
        async with AsyncNeve(service.key, service.url, timeouts=SLOW, linger=LINGER_S) as neve:
            session = neve.user(user).session("s1")
            await session.pack()
            service.heal()
            provider = OpenAIProvider(base_url=f"{model.url}/v1", api_key="k")
            agent = Agent(
                OpenAIResponsesModel("gpt-5", provider=provider),
                instructions=RULES,
                capabilities=[page.NeveMemory(session)],
            )

            @agent.tool_plain
            def look(city: str) -> str:
                return f"18 degrees in {city}"

            said, cached = [], []
            for text in ("How warm is it where I live?", "And tomorrow?"):
                model.will(*rounds(4, "look", "city", f"An answer to {text}"))
                result = await agent.run(text, message_history=said)
                said = result.all_messages()
                cached += [one.usage.cache_read_tokens for one in result.new_messages() if one.kind == "response"]
            return cached

    cached = asyncio.run(play())
    assert service.calls() == ["POST context", "POST sessions/s1/turn", "POST sessions/s1/messages"]
    requests = model.requests
    for at, one in enumerate(requests):
        assert one["instructions"] == requests[0]["instructions"]
        assert PORTO in one["instructions"]
        if at % 5:
            assert one["input"][: len(requests[at - 1]["input"])] == requests[at - 1]["input"]
    assert all(number > 1024 for number in cached[1:])
    stored = events(service, user, "s1")
    assert len(stored) == 20
    assert "<neve-" not in json.dumps(stored)


def test_the_frameworks_own_test_model_can_call_the_tool_and_an_outage_costs_nothing(
    service: Service, user: str
) -> None:
    page = copied("pydantic-ai.md", user)

    async def play() -> None:
        async with AsyncNeve(service.key, service.url, timeouts=SLOW | {"context": 0.3, "recall": 0.3}) as neve:
            session = neve.user(user).session("s1")
            agent = Agent(TestModel(), capabilities=[page.NeveMemory(session)])
            service.fault(match=".", do="refuse")
            assert "recall_memory" in (await agent.run("first")).output
            service.heal()
            neve.settings.timeouts_s.update(SLOW)
            await agent.run("second")

    asyncio.run(play())
    said = [one["content"] for one in events(service, user, "s1") if one["event_type"] == "user_message"]
    assert said == ["first", "second"]
