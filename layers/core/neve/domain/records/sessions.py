"""Sessions and their log."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal


class EventType(StrEnum):
    USER_MESSAGE = "user_message"
    ASSISTANT_RESPONSE = "assistant_response"
    TOOL_CALL = "tool_call"
    TOOL_RESULT = "tool_result"
    TASK_BOUNDARY = "task_boundary"
    NEUTRAL = "neutral"


SILENT = frozenset({EventType.TASK_BOUNDARY, EventType.NEUTRAL})
"""Events that no speaker said: a turn neither begins nor ends with one. A ``NEUTRAL`` event is kept and given back, and
read by nothing else."""


Outcome = Literal["SUCCESS", "PARTIAL", "INTERRUPTED"]
"""The way in which a session ended."""


Span = tuple[int, int]
"""First and last seq."""


Spans = tuple[Span, ...]
"""Ascending and apart (``domain/sessions/spans.py``)."""


Audience = Literal["session"]
"""Who may be told of it: ``session``, nobody outside its session; None, whoever the user's memory is for
(docs/rules/sessions.md#participants)."""


@dataclass(frozen=True, slots=True)
class Participant:
    """A person in a session of several. ``user_id``: under which they have a memory of their own; ``share``: what they
    say goes there, too."""

    id: str
    name: str
    user_id: str | None = None
    share: bool = False


@dataclass(frozen=True, slots=True)
class Event:
    """One entry of a session's log. ``content`` is text or a list of blocks ``text | image``; image blocks hold
    ``{"type": "image", "media_type", "object" | "url"}``, never bytes, stored ones also ``bytes``, ``width`` and
    ``height``. ``unobservable``: ``{"reason"}`` why no observer would read it; ``images_refused``: it was read without
    its images only. ``erased``: what it said is gone for good. Whether it is retracted, its session says.
    ``participant``: who of the session's said it; None: its user, an assistant or a tool."""

    seq: int
    event_type: EventType
    content: str | list[dict[str, Any]]
    original_tokens: int
    created_at: str
    client_id: str | None = None
    name: str | None = None
    event_data: dict[str, Any] = field(default_factory=dict)
    pruned: bool = False
    artifact_path: str | None = None
    unobservable: dict[str, str] | None = None
    images_refused: bool = False
    erased: bool = False
    metadata: dict[str, str] = field(default_factory=dict)
    participant: str | None = None
    audience: Audience | None = None


@dataclass(frozen=True, slots=True)
class SessionHead:
    """The append head of a session (row ``SES#``): every append moves it. ``outcome``: what the caller said of it when
    it was ended; ``corrected``: how often another one was said while it was filed, or behind that. ``complete_seq``:
    the last event of the last complete turn. ``behind``: the appends since index, vectors and marker were last up to
    the log, as (last seq, epoch second); empty while they are (``usecases/core/lag/memory_lag.py``). ``previous_at``:
    when the user's session that was opened before this one had its last event. ``retracted``: what was taken back (also
    on the two rows below), ``erased``: the part of it that was deleted. ``unwatched``: it was opened, or goes on after
    its end, and it was not seen since then that the sweep will look whether it is idle. ``asked_seq``: the last
    ``user_message``; ``thinking``: the events with a row of what the model thought (``store/sessions/``), which are
    shown behind it only. ``said_first``, ``said_last``: the first and the last event that is not ``SILENT``;
    ``open_calls``: names of the tools that have not answered, by the ids of their calls. ``other_language``: messages
    of the user in languages that the observer did not know when they came. ``deleted`` (also on the two rows below): as
    a whole, for good. ``room``: its user is no person, and what ``participants`` say is the user's. ``others_from``:
    the first message of a participant that is not the user. ``shared_from``: the user and the session in which its user
    said all of it as a participant. ``waiting_tokens``: of what was said since an append last asked for a pass, or
    since everything was caught up with; ``pass_asked``: up to which event it asked, and when, in epoch seconds."""

    session_id: str
    status: Literal["open", "closed", "extracted"]
    started_at: str
    last_event_at: str | None = None
    title: str | None = None
    user_meta: dict[str, str] = field(default_factory=dict)
    metadata: dict[str, str] = field(default_factory=dict)
    outcome: Outcome | None = None
    corrected: int | None = None
    last_seq: int = 0
    last_event_type: EventType | None = None
    complete_seq: int = 0
    total_tokens: int = 0
    behind: tuple[tuple[int, int], ...] = ()
    previous_at: str | None = None
    retracted: Spans = ()
    erased: Spans = ()
    unwatched: bool = False
    asked_seq: int = 0
    said_first: int = 0
    said_last: int = 0
    open_calls: dict[str, str] = field(default_factory=dict)
    thinking: tuple[int, ...] = ()
    other_language: int = 0
    waiting_tokens: int = 0
    pass_asked: tuple[int, int] | None = None
    participants: tuple[Participant, ...] = ()
    room: bool = False
    others_from: int = 0
    shared_from: tuple[str, str] | None = None
    deleted: bool = False
    write_id: str = ""
    version: int = 0

    @property
    def timezone(self) -> str:
        """Name the time zone in which the user's days are told; UTC where no caller said one."""
        return self.user_meta.get("timezone") or "UTC"
