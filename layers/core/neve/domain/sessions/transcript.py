"""The session log as an observer reads it, cut into passes (docs/rules/observe.md#reads) and into turns
(docs/rules/sessions.md#turns)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from neve.domain.records.sessions import SILENT, Event, EventType
from neve.domain.sessions.frames import set_apart, shown_name
from neve.domain.tokens import IMAGE_TOKENS, Counter, compact_json, estimate, keep_ends
from neve.domain.zones import local_day

TRANSCRIPT_CAP = 35_000
"""Tokens of event text, headers included, that one model request may hold (docs/rules/observe.md#reads)."""
TOOL_CHARACTERS = 1_500
"""The characters that are shown of a tool's arguments and of its result."""
CUT_MARKER = "\n[… cut …]\n"
"""Stands between the first and the last part of an event that is too long for a pass."""
FIRST_TURNS_KEPT = 2
LAST_TURNS_KEPT = 3
"""A compaction never covers these (docs/rules/compact.md#turns-kept-verbatim)."""

_SPEAKERS = {
    EventType.USER_MESSAGE: "user",
    EventType.ASSISTANT_RESPONSE: "assistant",
    EventType.TOOL_CALL: "assistant",
    EventType.TOOL_RESULT: "tool",
    EventType.TASK_BOUNDARY: "task",
}


# --- rendering ----------------------------------------------------------------------------------


def content_text(content: str | Sequence[Mapping[str, Any]]) -> str:
    """Give the text blocks, one below the other. Images and ``thinking`` have no text."""
    if isinstance(content, str):
        return content
    return "\n".join(block["text"] for block in content if block.get("type") == "text")


def event_text(event: Event) -> str:
    """Give what was said; nothing of a neutral event."""
    return "" if event.event_type is EventType.NEUTRAL else content_text(event.content)


def images_of(event: Event) -> list[dict[str, Any]]:
    """Give the image blocks, which a model is shown directly after the event."""
    if isinstance(event.content, str):
        return []
    return [block for block in event.content if block.get("type") == "image"]


def render_event(event: Event) -> str:
    """Render an event as ``--- <ISO time> ---``, then ``<speaker> #<seq>: <text>``; no newline at the end."""
    return _header(event) + _render_body(event)


def render_line(event: Event) -> str:
    """Render an event as ``render_event`` does, without its time."""
    return _speaker(event) + _render_body(event)


def under_their_days(events: Sequence[Event], timezone: str) -> list[str]:
    """Render each event as a line, and ``--- <day> ---`` before the first of each day in ``timezone``."""
    shown: list[str] = []
    today = ""
    for event in events:
        day = local_day(event.created_at, timezone)
        if day != today:
            today = day
            shown.append(f"--- {day} ---")
        shown.append(render_line(event))
    return shown


def _header(event: Event) -> str:
    return f"--- {event.created_at} ---\n{_speaker(event)}"


def _speaker(event: Event) -> str:
    role = _SPEAKERS[event.event_type]
    speaker = f"{shown_name(event.name)} ({role})" if event.name else role
    return f"{speaker} #{event.seq}: "


def _render_body(event: Event) -> str:
    """Render what was said, and called."""
    text = event_text(event)
    if event.event_type is EventType.TOOL_CALL:
        call = f"[tool_call {_tool(event)}({_shorten_tool_text(_arguments(event))})]"
        return f"{_shorten_tool_text(text)}\n{call}" if text.strip() else call
    if event.event_type is EventType.TOOL_RESULT:
        head = f"[tool_result {_tool(event)}{' (error)' if event.event_data.get('is_error') else ''}]"
        return f"{head} {_shorten_tool_text(text)}" if text.strip() else head
    if event.event_type is EventType.TASK_BOUNDARY:
        return f"[task_boundary] {set_apart(text)}" if text.strip() else "[task_boundary]"
    return set_apart(text)


def _tool(event: Event) -> str:
    return shown_name(str(event.event_data.get("name") or event.name or "tool"))


def _arguments(event: Event) -> str:
    given = event.event_data.get("args")
    if given is None or given == {}:
        return ""
    return given if isinstance(given, str) else compact_json(given)


def _shorten_tool_text(text: str) -> str:
    """Shorten a tool's arguments or result, set apart from the lines of the prompt."""
    return set_apart(text if len(text) <= TOOL_CHARACTERS else text[: TOOL_CHARACTERS - 1] + "…")


# --- passes -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Pass:
    """The events that one pass reads. ``cut_by_cap``: events were left for the next pass, or the only event had to be
    shortened. Either way nothing later can join these events, so the marker moves past them whatever the model
    answers. ``through``: up to where events were left out behind the last one; None: it is the last."""

    events: tuple[Event, ...]
    cut_by_cap: bool
    through: int | None = None


def plan_pass(events: Sequence[Event], cap: int, count: Counter = estimate) -> Pass:
    """Plan a pass over the oldest events that fit ``cap`` tokens; ``events`` are unobserved, in seq order, without what
    Neve renders.

    An event weighs what is shown of its content, images included; its header line is free, so that a cap means content.
    The whole text with headers may still not exceed ``max(cap, TRANSCRIPT_CAP)``: at the default cap headers count,
    too. A first event above the cap is shortened to its first and last part, and fits with its header."""
    body = whole = 0
    fitting = 0
    for event in events:
        header, content = _weights(event, count)
        body += content
        whole += header + content
        if body > cap or whole > max(cap, TRANSCRIPT_CAP):
            break
        fitting += 1
    if events and not fitting:
        return Pass((shortened(events[0], cap, count),), cut_by_cap=True)
    return Pass(tuple(events[:fitting]), cut_by_cap=fitting < len(events))


def _weights(event: Event, count: Counter) -> tuple[int, int]:
    """Count the tokens of the header with its line ends, and of the content."""
    text = _render_body(event)
    content = count(text)
    return count(f"{_header(event)}{text}\n\n") - content, content + IMAGE_TOKENS * len(images_of(event))


def shortened(event: Event, cap: int, count: Counter) -> Event:
    """Shorten the event so that it fits ``cap`` tokens as ``render_event`` shows it: its text cut in the middle, and
    the images that still fit. Text is given half of the cap first."""
    images = images_of(event)
    for_text = min(count(render_event(event)), (cap + 1) // 2)
    images = images[: max(0, cap - for_text) // IMAGE_TOKENS]
    budget = cap - IMAGE_TOKENS * len(images)
    bare = _with_text(event, "", images)
    if event.event_type is EventType.TOOL_CALL:
        bare = _shorten_arguments(bare, budget, count)

    def measure(part: str) -> int:
        return count(render_event(_with_text(bare, part, [])))

    shortened_text = keep_ends(event_text(event), budget, marker=CUT_MARKER, count=measure)
    return _with_text(bare, shortened_text, images)


def _with_text(event: Event, text: str, images: Sequence[dict[str, Any]]) -> Event:
    return replace(event, content=[{"type": "text", "text": text}, *images] if images else text)


def _shorten_arguments(event: Event, budget: int, count: Counter) -> Event:
    """Shorten a tool call's arguments so that they leave it within ``budget`` when it has no text."""

    def called(arguments: str) -> Event:
        return replace(event, event_data={**event.event_data, "args": arguments})

    def measure(part: str) -> int:
        return count(render_event(called(part)))

    return called(keep_ends(_arguments(event), budget, marker=" … ", count=measure))


# --- turns --------------------------------------------------------------------------------------


def completes_turn(appended: Sequence[EventType], last_before: EventType | None) -> bool:
    """Say whether these events, appended behind one of type ``last_before``, complete a turn that was not complete
    before: a turn is complete when its last event is an ``assistant_response`` or a later ``user_message`` exists. What
    is ``SILENT`` does not count as last."""
    types = [event_type for event_type in appended if event_type not in SILENT]
    if types and types[-1] is EventType.ASSISTANT_RESPONSE:
        return True
    if EventType.USER_MESSAGE in types[1:]:
        return True
    follows_open_turn = last_before not in (None, EventType.ASSISTANT_RESPONSE)
    return bool(types) and types[0] is EventType.USER_MESSAGE and follows_open_turn


def last_of_turn(appended: Sequence[EventType], last_before: EventType | None) -> EventType | None:
    """Give the ``last_before`` of what comes behind these events: what is ``SILENT`` does not count as last."""
    types = [event_type for event_type in appended if event_type not in SILENT]
    return types[-1] if types else last_before


def completed_to(before: int, appended: Sequence[tuple[int, EventType]]) -> int:
    """Give the last event of the last complete turn: ``before`` these events, given with their seqs, it was another."""
    complete = before
    for seq, event_type in appended:
        if event_type is EventType.ASSISTANT_RESPONSE:
            complete = seq
        elif event_type is EventType.USER_MESSAGE:
            complete = seq - 1
    return complete


def turns(events: Sequence[Event]) -> list[range]:
    """Give the seq ranges of the turns of a gap-free log. What precedes the first ``user_message`` belongs to the first
    turn."""
    if not events:
        return []
    starts = [event.seq for event in events if event.event_type is EventType.USER_MESSAGE]
    starts = [events[0].seq, *starts[1:]]
    return [range(start, end) for start, end in zip(starts, [*starts[1:], events[-1].seq + 1], strict=True)]


def covered_turns(turn_tokens: Sequence[int], keep_budget: int, *, first_turns: int = FIRST_TURNS_KEPT) -> range | None:
    """Give the indexes of the turns that a compaction covers, ``None`` when there are none. Kept are the first two
    turns and the newest whole turns that fit ``keep_budget`` tokens together, at least the last three. ``first_turns``:
    0 for what stands behind a horizon."""
    turns = tokens = 0
    for turn in reversed(turn_tokens):
        tokens += turn
        if tokens > keep_budget and turns >= LAST_TURNS_KEPT:
            break
        turns += 1
    covered = range(first_turns, len(turn_tokens) - turns)
    return covered if covered else None
