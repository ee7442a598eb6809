"""The texts that events name by an upload: stored as objects beside the log, and read below ``/artifacts/``
(docs/rules/sessions.md#long-texts)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from neve.domain.errors import FieldError, NeveError, invalid, not_found
from neve.domain.privacy.screen import screen
from neve.domain.records.documents import Document
from neve.domain.records.memories import By, EmbeddingState, Provenance, Trust
from neve.domain.records.sessions import Event, EventType
from neve.ports.objects import ObjectStore
from neve.scope import UserScope

TEXT_TYPE = "text/plain"
MAX_TEXT_BYTES = 4 * 1024 * 1024
"""Bytes of one uploaded text in UTF-8 (*chosen*: its screening takes some 2 s, and four of them end within the
function's 28 s)."""
_SAID_BY: Mapping[EventType, tuple[By, Trust]] = {
    EventType.USER_MESSAGE: ("user_stated", "user"),
    EventType.ASSISTANT_RESPONSE: ("assistant", "assistant"),
    EventType.TOOL_RESULT: ("tool", "tool"),
}


@dataclass(frozen=True, slots=True)
class TextShape:
    """The size of a text as an event's row says it: ``bytes`` in UTF-8, and ``tokens`` by the tenant's counter."""

    bytes: int
    tokens: int


@dataclass(slots=True)
class NewText:
    """An uploaded text on its way into the log. ``name``: of the object that it becomes; ``where`` it stands.
    ``screened``: the text without what the policy takes out, once it was read; ``found``: that."""

    scope: UserScope
    name: str
    where: str
    upload_id: str
    uploaded: str
    screened: bytes = b""
    found: Counter[str] = field(default_factory=Counter)

    def check(self, objects: ObjectStore) -> TextShape:
        """Read and screen it. Raises NeveError: upload_not_found, event_too_large, validation_failed for what is no
        text in UTF-8. Raises StoreUnavailable."""
        for name in (self.uploaded, self.name):
            start = objects.peek(name, 1)
            if start is not None:
                if start.size > MAX_TEXT_BYTES:
                    raise text_too_large(self.where, start.size)
                return self._read(objects.get(name) or b"")
        raise not_found("upload", self.upload_id)

    def _read(self, body: bytes) -> TextShape:
        try:
            text = body.decode()
        except UnicodeDecodeError:
            text = ""
        if not text.strip() or "\0" in text:
            raise invalid(self.where, "is no text: upload text in UTF-8 that is not blank and has no NUL")
        screened = screen(text, self.scope.policy.pii.actions)
        self.screened, self.found = screened.text.encode(), screened.found
        return TextShape(len(self.screened), self.scope.count(screened.text))

    def store(self, objects: ObjectStore) -> bool:
        """Store it, and say whether it was not there before. A repeat has not looked at it yet."""
        if not self.screened:
            self.check(objects)
        return objects.put_new(self.name, self.screened, content_type=TEXT_TYPE)


def text_too_large(field: str, size: int) -> NeveError:
    """Make the 413 of a text, with both numbers."""
    message = f"has {size} bytes; {MAX_TEXT_BYTES} are accepted for one text"
    return NeveError("event_too_large", f"{field} {message}.", errors=[FieldError(field, message)])


def uploaded_text(content: str | Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """Give the block whose text is an object."""
    if isinstance(content, str):
        return None
    return next((block for block in content if _is_uploaded(block)), None)


def _is_uploaded(block: dict[str, Any]) -> bool:
    return block["type"] == "text" and "object" in block


def with_notes(content: str | Sequence[dict[str, Any]], event_type: EventType, path: str) -> str | list[dict[str, Any]]:
    """Say in each block of an uploaded text where the text is read."""
    if isinstance(content, str):
        return content
    what = "Tool output" if event_type is EventType.TOOL_RESULT else "Text"
    note = {"text": f"[{what} saved to {path}]"}
    return [block | note if _is_uploaded(block) else block for block in content]


def artifact_of(event: Event, path: str, session: str, now: str) -> Document:
    """Make the document that an event's uploaded text is read by. Its text is the object that the event names."""
    block = uploaded_text(event.content) or {}
    by, trust = _SAID_BY[event.event_type]
    return Document(
        path=path,
        text="",
        text_object=block["object"],
        tokens=block.get("tokens", 0),
        rev=1,
        created_at=now,
        session_id=session,
        seq=event.seq,
        provenance=Provenance(by, session, event.seq, event.seq, trust=trust),
        embedding_state=EmbeddingState.SKIPPED,
    )
