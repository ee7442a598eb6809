"""docs/frameworks/google-adk.md, against the framework's own ``InMemoryMemoryService``."""

from __future__ import annotations

import asyncio
from typing import Any, ClassVar

import pytest
from conftest import Service, events, index
from google.adk.agents import LlmAgent
from google.adk.events import Event
from google.adk.memory import InMemoryMemoryService
from google.adk.memory.memory_entry import MemoryEntry
from google.adk.models import BaseLlm, LlmResponse
from google.adk.sessions import InMemorySessionService, Session
from google.adk.tools.preload_memory_tool import PreloadMemoryTool
from google.genai import types
from pages import copied


class Scripted(BaseLlm):
    """Says the same, and keeps what it was asked."""

    asked: ClassVar[list[Any]] = []

    async def generate_content_async(self, llm_request: Any, stream: bool = False) -> Any:
        self.asked.append(llm_request)
        yield LlmResponse(content=content("It is noted.", "model"))


def content(text: str, role: str = "user") -> types.Content:
    return types.Content(role=role, parts=[types.Part(text=text)])


def event(event_id: str, text: str, author: str = "user") -> Event:
    return Event(id=event_id, author=author, content=content(text), invocation_id="i")


def session_of(user: str, *said: Event) -> Session:
    return Session(id="s1", app_name="bakery", user_id=user, events=list(said))


@pytest.fixture
def page(service: Service, user: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("NEVE_URL", service.url)
    monkeypatch.setenv("NEVE_KEY", service.key)
    agent = LlmAgent(name="a", model=Scripted(model="scripted"), tools=[PreloadMemoryTool()])
    return copied("google-adk.md", user, agent=agent, sessions=InMemorySessionService())


async def texts(service: Service, memory: Any, user: str, query: str, app: str = "bakery") -> list[str]:
    """What is found that holds the word: Neve finds by meaning, too."""
    index(service)
    found = await memory.search_memory(app_name=app, user_id=user, query=query)
    return [text for one in found.memories if query in (text := one.content.parts[0].text)]


async def played(service: Service, memory: Any, user: str) -> list[Any]:
    walnuts, pilot = event("e1", "I am ill of walnuts."), event("e2", "You fly as a pilot.", "model")
    monday = event("e3", "The oven is cleaned on Mondays.")
    nothing = Event(id="e4", author="user", content=None, invocation_id="i")
    seen = []
    for said in ((walnuts,), (walnuts, pilot, nothing), (walnuts, pilot, nothing)):
        await memory.add_session_to_memory(session_of(user, *said))
        seen.append([await texts(service, memory, user, word) for word in ("walnuts", "pilot", "zebra", "")])
    await memory.add_events_to_memory(app_name="bakery", user_id=user, events=[monday], session_id="s2")
    await memory.add_events_to_memory(app_name="bakery", user_id=user, events=[monday], session_id="s2")
    seen.append(
        [await texts(service, memory, user, "Mondays"), await texts(service, memory, user, "Mondays", "another app")]
    )
    found = (await memory.search_memory(app_name="bakery", user_id=user, query="walnuts")).memories[0]
    await memory.delete_memory(app_name="bakery", user_id=user, memory_id=found.id)
    seen.append(await texts(service, memory, user, "walnuts"))
    await memory.add_session_to_memory(session_of(user, walnuts, pilot))
    seen.append([await texts(service, memory, user, "walnuts"), await texts(service, memory, user, "pilot")])
    return seen


def test_the_same_calls_have_the_same_answers(page: Any, service: Service, user: str) -> None:
    with service.client() as neve:
        ours = asyncio.run(played(service, page.NeveMemoryService(neve), user))
        assert ours == asyncio.run(played(service, InMemoryMemoryService(), user))


def test_what_was_made_of_a_conversation_stays_deleted_when_it_is_added_again(
    page: Any, service: Service, user: str
) -> None:
    said = session_of(user, event("e1", "I moved to Porto last week."), event("e2", "A fine city.", "model"))

    async def play(memory: Any, neve: Any) -> None:
        await memory.add_session_to_memory(said)
        noted: list[str] = []
        while not noted:  # a pass may take longer than a call waits
            await asyncio.to_thread(neve.raw.observe_session, f"bakery:{user}", "s1", {"wait": True})
            noted = [one["id"] for one in neve.user(f"bakery:{user}").memories()]
        for one in noted:
            await memory.delete_memory(app_name="bakery", user_id=user, memory_id=one)
        for _ in range(2):
            assert await texts(service, memory, user, "Porto") == []
            await memory.add_session_to_memory(said)
        assert neve.user(f"bakery:{user}").memories() == []
        await memory.delete_memory(app_name="bakery", user_id=user, memory_id=noted[0])

    with service.client() as neve:
        asyncio.run(play(page.NeveMemoryService(neve), neve))
    assert [one for one in events(service, f"bakery:{user}", "s1") if "Porto" in str(one)] == []


def test_memories_are_added_and_the_page_runs_in_an_agent(page: Any, service: Service, user: str) -> None:
    async def play() -> None:
        memory = page.runner.memory_service
        kept = [MemoryEntry(content=content("Ada lives in Porto."))]
        await memory.add_memory(app_name="bakery", user_id=user, memories=kept)
        await page.sessions.create_session(app_name="bakery", user_id=user, session_id="s1")
        run = page.runner.run_async(
            user_id=user, session_id="s1", new_message=content("Ada plays the oboe. Where does Ada live?")
        )
        assert [one.content.parts[0].text async for one in run] == ["It is noted."]
        session = await page.sessions.get_session(app_name="bakery", user_id=user, session_id="s1")
        await memory.add_session_to_memory(session)
        assert await texts(service, memory, user, "oboe")

    asyncio.run(play())
    asked = str(page.agent.model.asked[-1])
    assert "Ada lives in Porto." in asked
