# Made of _async/user.py by `make sdk-generate`.
"""One person's memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

from .session import Session

if TYPE_CHECKING:
    from ..types import (
        DeletedView,
        DocumentHeadView,
        ForgetListView,
        JobOut,
        KeptView,
        MemoryView,
        TokenOut,
        UserTokenScope,
    )
    from .client import Neve

PAGE = 200
_WRITERS = ("remember", "correct", "forget")
_OF_A_LIST = ("query", "sessions", "events", "confirm", "dry_run")


class User:
    """``id``: as the caller knows the person. Calls of a user raise what fails: only those of a session never do."""

    def __init__(self, neve: Neve, user_id: str) -> None:
        self._neve = neve
        self.id = user_id

    def session(
        self,
        session_id: str,
        *,
        title: str | None = None,
        user_meta: Mapping[str, Any] | None = None,
        metadata: Mapping[str, str] | None = None,
        participants: Sequence[Mapping[str, Any]] | None = None,
        room: bool | None = None,
    ) -> Session:
        """One conversation. Nothing is called; what it is opened with is used when it is new. ``participants``: who
        speaks in it, ``{"id", "name", "user_id"?, "share"?}`` each; a message names one in its ``participant``."""
        session = self._neve.kept_session(Session(self._neve, self.id, session_id))
        opened = {
            "title": title,
            "user_meta": user_meta,
            "metadata": metadata,
            "participants": participants,
            "room": room,
        }
        session.opened_with.update({name: value for name, value in opened.items() if value is not None})
        return session

    def remember(self, text: str, **more: Any) -> KeptView:
        """Keep a memory that nobody has to say in a chat. ``more``: ``kind``, ``category``, ``tags`` … as the service
        takes them."""
        body: Any = {"text": text, **more}
        return self._neve.raw.create_memory(self.id, body)

    @overload
    def forget(
        self, which: str | Mapping[str, Any], *, cascade: bool = ..., purge_packs: bool = ...
    ) -> DeletedView: ...

    @overload
    def forget(self, *, confirm: str, purge_packs: bool = ...) -> JobOut: ...

    @overload
    def forget(
        self,
        *,
        query: str = ...,
        sessions: Sequence[str] = ...,
        events: bool = ...,
        **filters: Any,
    ) -> ForgetListView: ...

    def forget(self, which: str | Mapping[str, Any] | None = None, **more: Any) -> Any:
        """Delete a memory for good, or many in two steps. ``which``: its id, or the memory, or a hit; ``cascade``: with
        the reflections on it; ``purge_packs``: out of frozen packs. The answer names other places where it may stand,
        in ``also_in``.

        Without ``which`` the filters of ``memories`` (``kind``, ``tags``, ``after`` …), a ``query`` or ``sessions``,
        with ``events`` the conversations themselves, list what would be forgotten, and forget nothing. The ``confirm``
        of that list has exactly these forgotten: the answer is a job, whose result is the receipt."""
        options = {name: more.pop(name) for name in ("cascade", "purge_packs") if name in more}
        if which is not None:
            if more:
                raise TypeError(f"forget one memory, or by {next(iter(more))}, but not both")
            found = which if isinstance(which, str) else str(which["id"])
            chosen = {name: value or None for name, value in options.items()}
            return self._neve.raw.delete_memory(self.id, found, **chosen)
        if options.pop("cascade", False):
            raise TypeError("cascade is for one memory: what is made of many is named in the receipt")
        body: Any = {name: more.pop(name) for name in _OF_A_LIST if more.get(name) is not None} | options
        filters = {name: value for name, value in more.items() if value is not None}
        return self._neve.raw.forget_memories(self.id, body | ({"filters": filters} if filters else {}))

    def call_tool(
        self,
        name: str,
        arguments: Mapping[str, Any],
        *,
        session_id: str | None = None,
        tool_use_id: str | None = None,
    ) -> Mapping[str, Any]:
        """Answer a model's call of one of Neve's tools: ``content`` belongs into the ``tool_result``, beside
        ``is_error``. ``tool_use_id``: the provider's id of the call: a tool that writes does each once in a session."""
        call = getattr(self._neve.raw, f"call_{name}", None)
        if call is None:
            raise ValueError(f"{name!r} is none of Neve's tools")
        body: Any = {"arguments": dict(arguments)}
        if session_id is not None:
            body["session_id"] = session_id
        if tool_use_id is not None and name in _WRITERS:
            body["tool_use_id"] = tool_use_id
        answer: Mapping[str, Any] = call(self.id, body)
        return answer

    def memories(self, **filters: Any) -> list[MemoryView]:
        """All memories, oldest first. ``filters``: ``kind``, ``tag`` … as the service takes them; with ``limit`` at
        most so many."""
        most = filters.pop("limit", None)
        found: list[MemoryView] = []
        cursor: str | None = None
        while most is None or len(found) < most:
            page = self._neve.raw.list_memories(self.id, limit=PAGE, cursor=cursor, **filters)
            found += page["memories"]
            cursor = page.get("next_cursor")
            if cursor is None:
                break
        return found[:most]

    def documents(self, prefix: str | None = None, *, limit: int | None = None) -> list[DocumentHeadView]:
        """All documents by path, without their texts."""
        found: list[DocumentHeadView] = []
        cursor: str | None = None
        while limit is None or len(found) < limit:
            page = self._neve.raw.list_documents(self.id, prefix=prefix, limit=PAGE, cursor=cursor)
            found += page["documents"]
            cursor = page.get("next_cursor")
            if cursor is None:
                break
        return found[:limit]

    def token(
        self, scopes: Sequence[UserTokenScope], *, ttl_s: int | None = None, label: str | None = None
    ) -> TokenOut:
        """Make a token that is good for this person alone, for ``ttl_s`` seconds (60 to 3,600; 900 unless said):
        ``Neve(made["token"])`` in place of the key, where no key may be. ``scopes``: ``chat``, ``records``,
        ``documents``, ``self``. ``label``: stands in it. Needs a key with the scope ``admin`` or ``tokens``."""
        body: Any = {"scopes": [scopes] if isinstance(scopes, str) else list(scopes)}
        given = {"ttl_s": ttl_s, "label": label}
        body |= {name: value for name, value in given.items() if value is not None}
        return self._neve.raw.create_user_token(self.id, body)

    def export(self) -> JobOut:
        """Have everything that is kept of the person written as JSON lines. The job, read again by
        ``raw.read_admin_job``, or with a token of the scope ``self`` by ``raw.read_job``, says where."""
        return self._neve.raw.export_user(self.id)

    def erase(self, *, close: bool = False) -> JobOut:
        """Erase the person and everything that is kept. ``close``: the id is refused for good. The job ends with a
        receipt."""
        return self._neve.raw.erase_user(self.id, close=close or None)
