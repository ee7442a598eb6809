"""The ``Session`` of the OpenAI Agents SDK on a conversation that Neve remembers."""

from __future__ import annotations

import json
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, cast

from agents.memory import SessionABC, SessionSettings
from agents.run_config import CallModelData, ModelInputData

from neve import AsyncNeve, NeveError

from .log import Log

if TYPE_CHECKING:
    from agents.items import TResponseInputItem


class NeveSession(SessionABC):
    """One conversation of a user::

        session = NeveSession(neve, "ada", "s1")
        config = RunConfig(call_model_input_filter=session.memory)
        await Runner.run(agent, "Where do I live?", session=session, run_config=config)

    Items come back as they were added. What a turn adds is appended together, in one call, when the next turn asks for
    its memory, or the client's ``linger`` is over. A failure of memory raises in ``pop_item`` and ``clear_session``
    alone, unless the client is ``strict``."""

    def __init__(
        self,
        neve: AsyncNeve,
        user_id: str,
        session_id: str,
        *,
        session_settings: SessionSettings | dict[str, Any] | None = None,
    ) -> None:
        self.session_id = session_id
        given = session_settings
        self.session_settings = SessionSettings(**given) if isinstance(given, dict) else given or SessionSettings()
        self._log = Log.of(neve, user_id, session_id)
        self._turn: tuple[str, str] | None = None
        self._pack = ""

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """The items, oldest first. ``limit``: the last so many, and more where a result would lose its call."""
        self._turn = None
        settings = self.session_settings
        found: Any = await self._log.read(limit if limit is not None or settings is None else settings.limit)
        return list(found)

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Add items. Raises TypeError for what is no JSON."""
        await self._log.add(items)

    async def pop_item(self) -> TResponseInputItem | None:
        """Take the last item back. Several in a row are one retraction. Raises NeveError."""
        found: TResponseInputItem | None = cast(Any, await self._log.pop())
        return found

    async def clear_session(self) -> None:
        """Delete all items, and what was remembered of them, for good. Raises NeveError."""
        await self._log.clear()

    async def flush(self) -> None:
        """Append what waits, now."""
        await self._log.flush()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._log.flush()

    async def memory(self, data: CallModelData[Any]) -> ModelInputData:
        """A ``call_model_input_filter``: puts what is always worth knowing of the user behind the agent's
        instructions, and what bears on the message in front of it; in every step of a turn the same bytes. Nothing of
        it is stored."""
        given = data.model_data
        at = next((n for n in range(len(given.input) - 1, -1, -1) if _is_users(given.input[n])), None)
        if at is None:
            return given
        question: Any = given.input[at]
        key = json.dumps(question, sort_keys=True, default=str)
        if self._turn is None or self._turn[0] != key:
            self._turn = (key, await self._remembered(question if at == len(given.input) - 1 else None))
        instructions = "\n\n".join(text for text in (given.instructions, self._pack) if text)
        found = list(given.input)
        found[at] = _with(question, self._turn[1])
        return ModelInputData(input=found, instructions=instructions or None)

    async def _remembered(self, question: Any) -> str:
        """The text in front of the message; the pack is kept. While the service is down the last pack, and no text."""
        try:
            prompt = await self._log.prompt(None if question is None else _compilable(question.get("content")))
        except NeveError as error:
            self._log.neve.note(error)
            if self._log.neve.settings.strict:
                raise
            return ""
        if prompt is None:
            return ""
        self._pack = prompt.system
        return prompt.recalled


def _is_users(item: Any) -> bool:
    return bool(item.get("role") == "user" and item.get("type", "message") == "message")


def _with(question: Any, text: str) -> Any:
    if not text:
        return question
    content = question["content"]
    parts = [{"type": "input_text", "text": content}] if isinstance(content, str) else list(content)
    return {**question, "content": [{"type": "input_text", "text": text}, *parts]}


def _compilable(content: Any) -> Any:
    """The texts of a message, which is what memory is asked by; None where there are none."""
    if isinstance(content, str):
        return content if content.strip() else None
    texts = [str(part["text"]) for part in content if part.get("type") == "input_text" and part["text"].strip()]
    return "\n".join(texts) or None
