"""docs/frameworks/llamaindex.md."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import pytest
from conftest import LINGER_S, SLOW, Service, events
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, TextBlock, ToolCallBlock
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.memory.memory_blocks import StaticMemoryBlock
from pages import copied

from neve import AsyncNeve

PORTO = "Ada lives in Porto."


def look(city: str) -> str:
    """Look at the weather."""
    return f"18 degrees in {city}"


def scripted(asked: list[Sequence[ChatMessage]], calls: int = 4) -> FunctionAgent:
    """An agent whose model calls a tool so many times a turn, then answers. ``asked``: what it was asked."""

    def answer(messages: Sequence[ChatMessage], **_: Any) -> ChatMessage:
        asked.append(list(messages))
        done = 0
        for one in reversed(messages):
            if one.role.value == "user":
                break
            done += one.role.value == "tool"
        if done < calls:
            call = ToolCallBlock(tool_call_id=f"c{len(asked)}", tool_name="look", tool_kwargs={"city": f"place {done}"})
            return ChatMessage(role="assistant", blocks=[call])
        return ChatMessage(role="assistant", content=f"answer {len(asked)}")

    llm = MockFunctionCallingLLM(response_generator=answer, is_chat_model=True)
    return FunctionAgent(llm=llm, tools=[look], streaming=False, system_prompt="You are the assistant of a bakery.")


def test_the_page_runs_and_memory_is_in_each_step_and_not_stored(
    service: Service, user: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NEVE_URL", service.url)
    monkeypatch.setenv("NEVE_KEY", service.key)
    with service.client() as neve:
        neve.user(user).remember(PORTO)
    asked: list[Sequence[ChatMessage]] = []
    asyncio.run(copied("llamaindex.md", user, agent=scripted(asked)).main())
    assert len(asked) == 5
    for before, one in pairwise(asked):
        assert [said.model_dump() for said in one[: len(before)]] == [said.model_dump() for said in before]
    assert str(asked[0][-1]).count(PORTO) == 1
    assert PORTO not in str(asked[0][0])
    stored = events(service, user, "s1")
    kinds = [one["event_type"] for one in stored]
    assert kinds == ["user_message", *["tool_call", "tool_result"] * 4, "assistant_response"]
    assert PORTO not in json.dumps(stored)
    assert "<neve-" not in json.dumps(stored)


def test_a_turn_is_one_call_and_a_chat_told_again_is_known(service: Service, user: str) -> None:
    asked: list[Sequence[ChatMessage]] = []
    page = copied("llamaindex.md", user, agent=None)

    async def play() -> None:
        async with AsyncNeve(service.key, service.url, timeouts=SLOW, linger=LINGER_S) as neve:
            memory = page.memory_of(neve.user(user).session("s1"))
            service.heal()
            for text in ("How warm is it?", "And tomorrow?", "Thanks."):
                await scripted(asked).run(text, memory=memory)
            assert service.calls() == ["POST sessions/s1/turn"] * 3
            for _ in range(2):
                await memory.memory_blocks[0].aput(await memory.aget_all())

    asyncio.run(play())
    kinds = [one["event_type"] for one in events(service, user, "s1")]
    assert kinds == ["user_message", *["tool_call", "tool_result"] * 4, "assistant_response"] * 3


def test_a_block_answers_as_the_frameworks_own_and_an_outage_is_no_error(service: Service, user: str) -> None:
    page = copied("llamaindex.md", user, agent=None)

    async def play() -> None:
        async with AsyncNeve(service.key, service.url, timeouts=SLOW | {"turn": 0.3, "append": 0.3}, linger=0) as neve:
            ours = page.NeveBlock(session=neve.user(user).session("s1"))
            theirs = StaticMemoryBlock(static_content=[TextBlock(text="x")])
            for block in (ours, theirs):
                assert (
                    await block.aput([ChatMessage(role="user", content="ejected")], from_short_term_memory=True) is None
                )
                assert await block.atruncate(await block.aget([]), 10) is None
            service.fault(match=".", do="refuse")
            question = ChatMessage(role="user", content="Is anybody there?")
            assert await ours.aget([question]) == ""
            service.heal()
            neve.settings.timeouts_s.update(SLOW)
            await ours.aput([question, ChatMessage(role="assistant", content="Yes.")])

    asyncio.run(play())
    assert [one["content"] for one in events(service, user, "s1")] == ["Is anybody there?", "Yes."]
