"""A user's file, as an editor and a type checker see it: nothing of it is run."""

from __future__ import annotations

import asyncio

from anthropic import Anthropic
from anthropic.types import Message
from openai import OpenAI
from openai.types.chat import ChatCompletion

from neve import AsyncNeve, Neve, NeveConflict, NeveError, Prompt, Recalled, types

neve = Neve("nv_…", base_url="https://memory.example.com", timeouts={"recall": 0.5}, strict=False)


def chat(said: str) -> str:
    claude = Anthropic()
    with neve.user("ada").session("s1", title="Porto", metadata={"plan": "free"}) as s:
        prompt: Prompt = s.turn(said, format="anthropic", system="Answer briefly.", instructions=["In English."])
        answer: Message = claude.messages.create(model="claude-sonnet-5", max_tokens=1024, **prompt)
        kept: int = s.append(answer).kept
        read: int = s.usage(answer).cache_read
        return f"{kept} {read} {prompt.prompt_id or ''} {prompt.stale}"


def chat_with_openai(said: str) -> str:
    s = neve.user("ada").session("s1")
    prompt = s.context(said, format="openai")
    completion: ChatCompletion = OpenAI().chat.completions.create(model="gpt-5", **prompt)
    s.append([{"role": "user", "content": said}, completion])
    return completion.choices[0].message.content or ""


def memory() -> list[str]:
    user = neve.user("ada")
    made = user.remember("Likes tea.", tags=["drinks"])
    hits: Recalled = user.session("s1").recall("tea", limit=3, mode="tool", filters={"tags": ["drinks"]})
    texts: list[str] = [hit["text"] for hit in hits]
    whole: types.RecallView = neve.raw.recall("ada", {"query": "city", "limit": 3})
    pages: types.MemoryPage = neve.raw.list_memories("ada", limit=1)
    user.forget(made)
    listed: types.ForgetListView = user.forget(tags=["drinks"], written_by="model")
    job: types.JobOut = user.forget(confirm=listed.get("confirm", ""))
    said: str = user.call_tool("remember", {"text": "Likes tea."}, tool_use_id=job["id"])["content"]
    holder = Neve(user.token(["chat", "self"], ttl_s=60, label="page")["token"])
    return [
        holder.settings.base_url,
        said,
        *texts,
        hits.text,
        *(hit["id"] for hit in whole["hits"]),
        *(one["text"] for one in pages["memories"]),
    ]


def failing() -> tuple[str, int | None, str | None, float | None]:
    try:
        neve.raw.delete_memory("ada", "mem_1", if_match='"3"')
    except NeveConflict as error:
        return error.code, error.status, error.request_id, error.retry_after
    except NeveError as error:
        return error.errors[0]["field"], None, None, None
    return "", None, None, None


async def at_once() -> list[str]:
    async with AsyncNeve() as client:
        s = client.user("ada").session("s1")
        prompt, pack = await asyncio.gather(s.turn("hi"), s.pack())
        await s.edit("m-1", "hello")
        return [pack.text, *prompt.degraded]
