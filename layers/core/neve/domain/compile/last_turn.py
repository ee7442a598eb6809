"""Render in front of the message what changes with every request (docs/rules/compile.md#last-turn): all of it stands
behind the part of the prompt that a provider caches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from neve.domain.pack.render import escape, indented
from neve.domain.times import MONTHS
from neve.domain.tokens import compact_json, estimate, keep_ends
from neve.domain.zones import zone

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
CUT = "\n[… cut …]\n"
MIN_TASK = 16
"""Tokens: a task of less says nothing."""


def element(tag: str, content: str) -> str:
    """Render an element, empty for no content. Its content is escaped as a whole, so that no tag can be put together
    from two lines."""
    return f"<{tag}>\n{escape(content)}\n</{tag}>" if content else ""


# --- session --------------------------------------------------------------------------------------


def session_text(now: datetime, meta: Mapping[str, str], previous_at: datetime | None) -> str:
    """Render ``<neve-session>``: a value that is not known is a line that is not there. ``previous_at``: when the
    session before this one ended."""
    tz = meta.get("timezone")
    local = now.astimezone(zone(tz or "UTC"))
    lines = [
        f"Current time: {local.isoformat(timespec='seconds')}",
        f"Current date: {DAYS[local.weekday()]}, {MONTHS[local.month - 1]} {local.day}, {local.year}",
    ]
    given = (("User timezone", tz), ("User name", meta.get("name")), ("Relationship stage", meta.get("stage")))
    lines += [f"{label}: {value}" for label, value in given if value]
    if previous_at is not None:
        lines.append(f"Last session: {elapsed(now - previous_at)}")
    return element("neve-session", "\n".join(lines))


def elapsed(by: timedelta) -> str:
    """Render a time as ``3 days ago``, in the largest unit that is whole."""
    seconds = by.total_seconds()
    for unit, length in (("year", 365 * 86_400), ("month", 30 * 86_400), ("day", 86_400), ("hour", 3_600)):
        if seconds >= length:
            return _ago(int(seconds // length), unit)
    return _ago(int(seconds // 60), "minute") if seconds >= 60 else "less than a minute ago"


def _ago(count: int, unit: str) -> str:
    return f"{count} {unit}{'s' if count > 1 else ''} ago"


# --- task -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ToolOutput:
    name: str
    content: str


@dataclass(frozen=True, slots=True)
class TaskState:
    """Working memory of one call, never stored. ``notes``: text of the caller's own form."""

    notes: str = ""
    goal: str = ""
    variables: Mapping[str, Any] = field(default_factory=dict)
    observations: tuple[str, ...] = ()
    tool_outputs: tuple[ToolOutput, ...] = ()


@dataclass(frozen=True, slots=True)
class FittedTask:
    """The task's state as the prompt shows it. ``pruned``: what was left out of the state, and why."""

    text: str
    pruned: tuple[str, ...] = ()


def fit_task(task: TaskState, tokens: int) -> FittedTask:
    """Render ``<neve-task>`` in at most so many tokens. Verbose tool output goes first, the largest first, each for a
    line that names it; then the oldest observations, for a line that counts them; then the text is cut in the
    middle."""
    pruned: list[str] = []
    outputs = list(task.tool_outputs)
    observations = list(task.observations)
    gone = 0

    def text() -> str:
        return _task_text(task, outputs, observations, gone)

    for n in sorted(range(len(outputs)), key=lambda n: -len(outputs[n].content)):
        size, note = estimate(outputs[n].content), _note(outputs[n])
        if estimate(text()) <= tokens or estimate(note) >= size:
            continue
        pruned.append(f"tool_outputs[{n}]")
        outputs[n] = ToolOutput(outputs[n].name, note)
    while observations and estimate(text()) > tokens:
        pruned.append(f"observations[{gone}]")
        observations, gone = observations[1:], gone + 1
    whole = text()
    if estimate(whole) <= tokens:
        return FittedTask(whole, tuple(pruned))
    frame = estimate("<neve-task>\n\n</neve-task>")
    if tokens - frame < MIN_TASK:
        return FittedTask("", ("task_state",))
    inner = _task_lines(task, outputs, observations, gone)
    shortened = keep_ends(escape(inner), tokens - frame, marker=CUT)
    return FittedTask(f"<neve-task>\n{shortened}\n</neve-task>", (*pruned, "text"))


def task_text(task: TaskState) -> str:
    """Render all of the task's state."""
    return _task_text(task, task.tool_outputs, task.observations, 0)


def _task_text(task: TaskState, outputs: Sequence[ToolOutput], observations: Sequence[str], gone: int) -> str:
    return element("neve-task", _task_lines(task, outputs, observations, gone))


def _task_lines(task: TaskState, outputs: Sequence[ToolOutput], observations: Sequence[str], gone: int) -> str:
    lines = [f"Goal: {task.goal}"] if task.goal else []
    if task.notes.strip():
        lines.append(task.notes.strip())
    lines += [f"{name} = {value if isinstance(value, str) else compact_json(value)}" for name, value in _sorted(task)]
    if gone:
        lines.append(f"[{gone} earlier observations left out]")
    lines += [f"- {indented(observation)}" for observation in observations]
    lines += [f"[{output.name}] {indented(output.content)}" for output in outputs]
    return "\n".join(lines)


def _sorted(task: TaskState) -> list[tuple[str, Any]]:
    return sorted(task.variables.items())


def _note(output: ToolOutput) -> str:
    return f"[output of {estimate(output.content)} tokens left out]"
