# Made of _async/user.py by `make sdk-generate`.
"""One person's memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .session import Session

if TYPE_CHECKING:
    from ..types import DeletedView, DocumentHeadView, JobOut, KeptView, MemoryView, TokenOut, UserTokenScope
    from .client import Neve

PAGE = 200


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
    ) -> Session:
        """One conversation. Nothing is called; ``title``, ``user_meta`` and ``metadata`` are used when it is new."""
        session = self._neve.kept_session(Session(self._neve, self.id, session_id))
        opened = {"title": title, "user_meta": user_meta, "metadata": metadata}
        session.opened_with.update({name: value for name, value in opened.items() if value is not None})
        return session

    def remember(self, text: str, **more: Any) -> KeptView:
        """Keep a memory that nobody has to say in a chat. ``more``: ``kind``, ``category``, ``tags`` … as the service
        takes them."""
        body: Any = {"text": text, **more}
        return self._neve.raw.create_memory(self.id, body)

    def forget(
        self, which: str | Mapping[str, Any], *, cascade: bool = False, purge_packs: bool = False
    ) -> DeletedView:
        """Delete a memory for good. ``which``: its id, or the memory, or a hit. ``cascade``: with the reflections on
        it; ``purge_packs``: out of frozen packs. The answer names other places where it may stand, in ``also_in``."""
        found = which if isinstance(which, str) else str(which["id"])
        return self._neve.raw.delete_memory(self.id, found, cascade=cascade or None, purge_packs=purge_packs or None)

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
