"""The memory store of Strands against its own ``TestMemoryStore``, and in an agent of its own in front of a model that
accounts for its cache."""

from __future__ import annotations

import asyncio
import json
from itertools import pairwise
from typing import Any

import pytest
from conftest import Model, Service, events, rounds
from neve_strands import NeveMemoryStore
from pages import copied
from strands import Agent, tool
from strands.memory import AddMessagesContext, MemoryManager, MemoryStore
from strands.models.anthropic import AnthropicModel
from strands.models.model import CacheConfig
from strands.vended_memory_stores.test_memory_store import TestMemoryStore

from neve import NeveAuth, NeveError

SYSTEM = "You are the assistant of a bakery. " * 200
"""Above the 1,024 tokens from which the model caches."""
PORTO = "Ada lives in Porto."


@tool
def look(city: str) -> str:
    """Look at the weather.

    Args:
        city: Where.
    """
    return f"18 degrees in {city}"


def agent_of(model: Model, store: NeveMemoryStore) -> Agent:
    provider = AnthropicModel(
        client_args={"api_key": "k", "base_url": model.url},
        model_id="claude-sonnet-5",
        max_tokens=1000,
        cache_config=CacheConfig(strategy="auto"),
    )
    memory = MemoryManager(stores=[store], injection=store.injection)
    return Agent(model=provider, system_prompt=SYSTEM, tools=[look], memory_manager=memory, callback_handler=None)


def contents(entries: list[Any]) -> list[str]:
    return [one.content for one in entries]


def raised(call: Any) -> type[BaseException] | None:
    try:
        asyncio.run(call)
    except Exception as error:
        return type(error)
    return None


def test_the_same_texts_are_found_as_in_the_frameworks_own_store(service: Service, user: str) -> None:
    texts = ["The user is allergic to walnuts.", "The user works as a pilot.", "The bakery closes on Mondays."]

    async def play(store: Any) -> list[Any]:
        ids = [(await store.add(text, {"from": "a test"})).id for text in [*texts, *texts]]
        assert ids[:3] == ids[3:]
        assert len(set(ids)) == 3
        found: list[Any] = [
            contents(await store.search(f"{word}")) for word in ("walnuts", "pilot", "Mondays", "zebra")
        ]
        found.append(contents(await store.search("")))
        found.append(len(await store.search("user", {"max_search_results": 1})))
        [entry] = await store.search("walnuts")
        return [*found, entry.metadata["from"], entry.store_name]

    with service.client() as neve:
        ours = asyncio.run(play(NeveMemoryStore(neve, user)))
    assert ours == asyncio.run(play(TestMemoryStore(name="test", persist=False)))


def test_the_same_calls_are_refused_as_by_the_frameworks_own_store(service: Service, user: str) -> None:
    with service.client() as neve:
        for ours, theirs in (
            (NeveMemoryStore(neve, user), TestMemoryStore(name="test", persist=False)),
            (NeveMemoryStore(neve, user, writable=False), TestMemoryStore(name="t", persist=False, writable=False)),
        ):
            for blank in ("", "  \n"):
                assert raised(ours.add(blank)) is raised(theirs.add(blank)) is ValueError
            for most in (0, -1):
                asked: Any = {"max_search_results": most}
                assert raised(ours.search("x", asked)) is raised(theirs.search("x", asked)) is ValueError
            assert raised(ours.add("The user flies.")) is raised(theirs.add("The user flies."))
        for wrong in ({"name": " "}, {"max_search_results": 0}):
            with pytest.raises(ValueError, match="NeveMemoryStore"):
                NeveMemoryStore(neve, user, **wrong)
            with pytest.raises(ValueError, match="TestMemoryStore"):
                TestMemoryStore(**{"name": "x", "persist": False} | wrong)


def test_what_the_store_has_not_is_not_in_its_type(service: Service, user: str) -> None:
    with service.client() as neve:
        store: MemoryStore = NeveMemoryStore(neve, user, writable=False)
        own = {
            name for name in ("search", "add", "add_messages", "initialize", "get_tools") if name in vars(type(store))
        }
        assert own == {"search", "add", "add_messages", "initialize"}
        assert [one.tool_name for one in MemoryManager(stores=[store]).tools] == ["search_memory"]
        assert store.extraction is None


@pytest.mark.parametrize("invocations", [1, 3])
def test_memory_stays_through_a_loop_of_tools_and_is_not_stored(
    invocations: int, service: Service, model: Model, user: str
) -> None:
    with service.client() as neve:
        neve.user(user).remember(PORTO)
        store = NeveMemoryStore(neve, user, "s1")
        agent = agent_of(model, store)
        service.heal()
        for n in range(invocations):
            model.will(*rounds(4, "look", "city", f"An answer, number {n}."))
            agent(f"How warm is it in Porto, where Ada lives? {n}")
    assert service.calls() == ["POST recall", "POST sessions/s1/messages"] * invocations, "one call a turn each way"

    requests = model.requests
    assert len(requests) == 5 * invocations
    assert all(json.dumps(one["messages"][-1]).count(PORTO) == 1 for one in requests), "in every step"
    assert all(PORTO not in json.dumps(one["messages"][:-1]) for one in requests), "behind all that is cached"
    for before, one in pairwise(requests):
        assert one["system"] == before["system"]
        kept = bare(before["messages"])
        assert bare(one["messages"])[: len(kept)] == kept, "each step begins with the one before, but for its memory"
    usage = agent.event_loop_metrics.accumulated_usage
    assert usage["cacheReadInputTokens"] > 1024 * (5 * invocations - 1)
    stored = events(service, user, "s1")
    assert [one["event_type"] for one in stored] == [
        "user_message",
        *["tool_call", "tool_result"] * 4,
        "assistant_response",
    ] * invocations
    assert PORTO not in json.dumps(stored)


def bare(messages: list[Any]) -> list[Any]:
    """Without marks and without what was injected."""
    return [
        {
            "role": one["role"],
            "content": [
                {name: value for name, value in block.items() if name != "cache_control"}
                for block in one["content"]
                if not block.get("text", "").strip().startswith("<memory>")
            ],
        }
        for one in messages
    ]


def test_a_batch_that_comes_again_is_kept_once_and_another_agent_counts_anew(service: Service, user: str) -> None:
    said: list[Any] = [
        {"role": "user", "content": [{"text": "yes"}]},
        {"role": "assistant", "content": [{"text": "ok"}]},
    ]

    async def play(store: NeveMemoryStore) -> None:
        for _ in range(3):
            await store.add_messages(said, AddMessagesContext(sequence_numbers=[0, 1]))
        await store.add_messages(said, AddMessagesContext(sequence_numbers=[2, 3]))
        other: list[Any] = [{"role": "user", "content": [{"text": "from another agent"}]}]
        await store.add_messages(other, AddMessagesContext(sequence_numbers=[0]))

    with service.client() as neve:
        asyncio.run(play(NeveMemoryStore(neve, user, "s1")))
        asyncio.run(NeveMemoryStore(neve, user, "s1").add_messages(said, AddMessagesContext(sequence_numbers=[0, 1])))
    texts = [one["content"] for one in events(service, user, "s1")]
    assert texts == ["yes", "ok", "yes", "ok", "from another agent", "yes", "ok"]


def test_blocks_of_any_kind_are_kept(service: Service, user: str) -> None:
    pixel = bytes.fromhex(
        "89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c4890000000d49444154789c636060606000000005"
        "0001a5f645400000000049454e44ae426082"
    )
    said: list[Any] = [
        {"role": "user", "content": [
            {"text": "look"},
            {"image": {"format": "png", "source": {"bytes": pixel}}},
            {"document": {"format": "txt", "name": "d", "source": {"bytes": b"words"}}},
            {"cachePoint": {"type": "default"}},
        ]},
        {"role": "assistant", "content": [
            {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "s"}}},
            {"toolUse": {"toolUseId": "t1", "name": "look", "input": {"city": "Porto"}}},
        ]},
        {"role": "user", "content": [
            {"toolResult": {"toolUseId": "t1", "status": "error", "content": [{"json": {"a": 1}}, {"text": "none"}]}},
        ]},
        {"role": "assistant", "content": [{"ofTomorrow": {"deep": [1, None]}}, {"text": "done"}]},
        {"role": "user", "content": [{"cachePoint": {"type": "default"}}]},
    ]  # fmt: skip
    with service.client() as neve:
        store = NeveMemoryStore(neve, user, "s1")
        asyncio.run(store.add_messages(said, AddMessagesContext(sequence_numbers=list(range(len(said))))))
    stored = events(service, user, "s1")
    kinds = [one["event_type"] for one in stored]
    assert sorted(kinds) == sorted(
        ["user_message", "neutral", "tool_call", "tool_result", "neutral", "assistant_response"]
    )
    whole = json.dumps(stored)
    for kept in ("ofTomorrow", "d29yZHM=", '"city": "Porto"', '{\\"a\\": 1}', "done", '"is_error": true'):
        assert kept in whole, kept


def test_a_service_that_is_down_costs_no_turn_and_no_message(service: Service, model: Model, user: str) -> None:
    with service.client() as neve:
        agent = agent_of(model, NeveMemoryStore(neve, user, "s1"))
        neve.settings.timeouts_s.update(recall=0.3, other=0.3)
        service.fault(match=".", do="refuse")
        agent("first")
        service.heal()
        neve.settings.timeouts_s.update(recall=60.0, other=60.0)
        agent("second")
    said = [one["content"] for one in events(service, user, "s1") if one["event_type"] == "user_message"]
    assert said == ["first", "second"]


def test_a_wrong_key_is_told_when_the_agent_is_made(service: Service, model: Model, user: str) -> None:
    neve = type(service)(service.url, "nv_wrong").client()
    with pytest.raises(NeveAuth, match="key"):
        agent_of(model, NeveMemoryStore(neve, user))
    neve.close()


def test_a_forgotten_text_can_be_added_again(service: Service, user: str) -> None:
    async def play(store: NeveMemoryStore) -> None:
        first = await store.add("The user plays the oboe.")
        neve.user(user).forget(first.id)
        second = await store.add("The user plays the oboe.")
        assert second != first
        assert contents(await store.search("oboe")) == ["The user plays the oboe."]

    with service.client() as neve:
        asyncio.run(play(NeveMemoryStore(neve, user)))


def test_a_search_by_hand_is_made_each_time(service: Service, user: str) -> None:
    async def play(store: NeveMemoryStore) -> None:
        assert await store.search("oboe") == []
        neve.user(user).remember("The user plays the oboe.")
        assert contents(await store.search("oboe")) == ["The user plays the oboe."]

    with service.client() as neve:
        asyncio.run(play(NeveMemoryStore(neve, user)))


def test_labels_that_the_service_does_not_take_are_named(service: Service, user: str) -> None:
    with service.client() as neve, pytest.raises(NeveError, match="metadata"):
        asyncio.run(NeveMemoryStore(neve, user).add("The user sings.", {"a label": 1}))


def test_the_page_runs(service: Service, model: Model, user: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEVE_URL", service.url)
    monkeypatch.setenv("NEVE_KEY", service.key)
    with service.client() as neve:
        neve.user(user).remember(PORTO)
    provider = AnthropicModel(
        client_args={"api_key": "k", "base_url": model.url}, model_id="claude-sonnet-5", max_tokens=1000
    )
    copied("strands.md", user, model=provider).neve.close()
    assert PORTO in json.dumps(model.requests[0]["system"])
    assert [one["event_type"] for one in events(service, user, "s1")] == ["user_message", "assistant_response"]
