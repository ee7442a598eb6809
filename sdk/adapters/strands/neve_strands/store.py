"""A ``MemoryStore`` of Strands on what Neve remembers of a user."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any
from uuid import uuid4

from strands.memory import (
    AddMessagesContext,
    ExtractionConfig,
    InjectionQueryContext,
    InvocationTrigger,
    MemoryEntry,
    MemoryInjectionConfig,
    MemoryMessageFilter,
    MemoryStore,
    SearchOptions,
)
from strands.types.content import Message

from neve import Neve, NeveConnection, NeveNotFound, NeveUnavailable

from .messages import message_of, text_of

RESULTS = 5
"""Strands injects as many by default."""
DESCRIPTION = "What is remembered of the user from earlier conversations."
MOST = 50
"""Hits of one recall: docs/api.md."""


@dataclass(frozen=True, slots=True)
class Added:
    """The answer of ``add``."""

    id: str


class NeveMemoryStore(MemoryStore):
    """The memory of one user, and one conversation that is added to it::

        store = NeveMemoryStore(Neve(), "ada", "s1")
        memory = MemoryManager(stores=[store], injection=store.injection)
        agent = Agent(memory_manager=memory)

    ``session_id``: the conversation that ``add_messages`` appends to; one of its own where none is given. ``mode``: of
    the recall, ``prompt`` (only what bears on the query) or ``tool`` (whatever is found). ``extraction``: when messages
    are added; by default after each invocation, with the calls of tools. A store belongs to one agent at a time.

    What fails raises: Strands goes on without it, and adds the same messages again later."""

    def __init__(
        self,
        neve: Neve,
        user_id: str,
        session_id: str | None = None,
        *,
        name: str = "neve",
        description: str | None = DESCRIPTION,
        max_search_results: int | None = None,
        writable: bool = True,
        extraction: ExtractionConfig | bool | None = None,
        mode: str = "prompt",
    ) -> None:
        if not name.strip():
            raise ValueError("NeveMemoryStore: name must not be empty.")
        _check_limit(max_search_results)
        if mode not in ("prompt", "tool"):
            raise ValueError(f"NeveMemoryStore: mode must be 'prompt' or 'tool', not {mode!r}.")
        self.name = name
        self.description = description
        self.max_search_results = max_search_results
        self.writable = writable
        every_turn = ExtractionConfig(trigger=InvocationTrigger(), filter=MemoryMessageFilter(exclude=[]))
        default = every_turn if writable else None
        self.extraction = every_turn if extraction is True else default if extraction is None else extraction
        self.session_id = session_id or f"strands-{uuid4().hex}"
        self._neve = neve
        self._user_id = user_id
        self._mode = mode
        self._id = uuid4().hex
        self._turn: tuple[int, str | None] = (0, None)
        self._found: dict[tuple[str, int], list[MemoryEntry]] = {}
        self._added: dict[str, str] = {}

    @property
    def injection(self) -> MemoryInjectionConfig:
        """Keep memory in front of the model in every step of a turn: injected anew, by what the user said last.
        Strands' default loses it as soon as a tool has answered."""
        return MemoryInjectionConfig(trigger="everyTurn", query=self._query)

    async def initialize(self) -> None:
        """Open the conversation. Raises NeveError for a wrong key or address; a service that is down is none."""
        try:
            await asyncio.to_thread(self._neve.raw.open_session, self._user_id, {"session_id": self.session_id})
        except (NeveConnection, NeveUnavailable) as error:
            self._neve.note(error)

    async def search(self, query: str, options: SearchOptions | None = None) -> list[MemoryEntry]:
        """Find what bears on a query, best first, and nothing of the conversation itself; what is injected is asked for
        once a turn. Raises NeveError, and ValueError for a ``max_search_results`` below 1."""
        asked = None if options is None else options.get("max_search_results")
        _check_limit(asked)
        limit = min(asked or self.max_search_results or RESULTS, MOST)
        if not query.strip():
            return []
        if (query, limit) in self._found:
            return list(self._found[query, limit])
        body: Any = {"query": query, "limit": min(2 * limit, MOST), "mode": self._mode}
        timeout = self._neve.settings.timeout_s("recall")
        answer = await asyncio.to_thread(self._neve.raw.recall, self._user_id, body, timeout=timeout)
        hits = [hit for hit in answer["hits"] if not self._just_said(hit)]
        found = [_entry(hit) for hit in hits[:limit]]
        if query == self._turn[1]:
            self._found[query, limit] = list(found)
        return found

    async def add(self, content: str, metadata: dict[str, Any] | None = None) -> Added:
        """Keep a text. ``metadata``: labels; what is no text goes as JSON. The same text again is the same memory, as
        long as it is there. Raises NeveError, and ValueError for a blank text and a store that is not writable."""
        self._check_writable()
        if not content.strip():
            raise ValueError("NeveMemoryStore: content must not be empty.")
        labels = {name: one if isinstance(one, str) else json.dumps(one) for name, one in (metadata or {}).items()}
        body: Any = {"text": content} | ({"metadata": labels} if labels else {})
        if not await self._is_kept(known := self._added.get(content.strip())):
            kept: Any = await asyncio.to_thread(self._neve.raw.create_memory, self._user_id, body)
            known = self._added[content.strip()] = str(kept["id"])
        self._found.clear()
        return Added(id=str(known))

    async def add_messages(self, messages: list[Message], context: AddMessagesContext | None = None) -> Any:
        """Append messages to the conversation, each once, in one call. Raises NeveError, and ValueError for a store
        that is not writable."""
        self._check_writable()
        numbers = None if context is None else context.sequence_numbers
        sent = [
            message_of(message, None if numbers is None else self._message_id(message, numbers[at]))
            for at, message in enumerate(messages)
        ]
        sent = [one for one in sent if one["content"]]
        self._found.clear()
        if sent:
            body: Any = {"messages": sent, "format": "anthropic"}
            return await asyncio.to_thread(self._neve.raw.append_messages, self._user_id, self.session_id, body)
        return None

    # --- details --------------------------------------------------------------------------------------------

    def _query(self, context: InjectionQueryContext, **_: Any) -> str | None:
        """Give what the user said last, behind tools' results as well."""
        said = [text for one in context.messages if one["role"] == "user" and (text := text_of(one))]
        turn = (len(said), said[-1] if said else None)
        if turn != self._turn:
            self._turn = turn
            self._found.clear()
        return turn[1]

    async def _is_kept(self, memory_id: str | None) -> bool:
        if memory_id is None:
            return False
        try:
            found = await asyncio.to_thread(self._neve.raw.read_memory, self._user_id, memory_id)
        except NeveNotFound:
            return False
        return found["status"] == "active"

    def _message_id(self, message: Message, number: int) -> str:
        """Strands counts from 0 in each agent: the store's own id and a hash of the words keep them apart."""
        return f"{self._id}-{number}-{sha256(repr(message).encode(errors='replace')).hexdigest()[:8]}"

    def _just_said(self, hit: Mapping[str, Any]) -> bool:
        return hit["source"] == "event" and hit.get("session_id") == self.session_id

    def _check_writable(self) -> None:
        if not self.writable:
            raise ValueError("NeveMemoryStore: the store is not writable: make it with writable=True.")


def _entry(hit: Mapping[str, Any]) -> MemoryEntry:
    told = {name: hit[name] for name in ("id", "source", "path", "created_at", "score") if name in hit}
    return MemoryEntry(content=hit["text"], metadata={**(hit.get("metadata") or {}), **told})


def _check_limit(limit: int | None) -> None:
    if limit is not None and limit < 1:
        raise ValueError("NeveMemoryStore: max_search_results must be at least 1.")
