"""The answer of an observer model: its schema, and how what came back is read (docs/rules/observe.md#answer).

The frame is strict: an answer that is not of this form is no answer. What it says is brought into bounds instead:
ranges are clipped into the pass, lines are capped, ids that were not shown are ignored, and a line or a fact that is
not of the form is left out, because losing a whole pass over one of them would lose more."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import date
from functools import cache
from typing import Annotated, Any, Literal, TypeVar, get_origin

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, model_validator

from neve.domain.memories.text import cap_lines
from neve.domain.observe.facts import MAX_FACTS
from neve.domain.observe.lines import MAX_LINES, MIN_LINES
from neve.domain.records.memories import Category
from neve.domain.tokens import estimate
from neve.domain.validity import LAST_YEAR

SHORT_CHARACTERS = 500
"""The most characters that are kept of a task, a continuation or a title."""


_NUMBER = re.compile(r"\s*#\s*([0-9]{1,15})\s*")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")


def _storable(text: str) -> str:
    """Replace half of a surrogate pair and a control character, which a model may write in JSON, by replacement
    characters: no caller may send them, and an import would refuse what an export holds."""
    return _CONTROL.sub("\ufffd", text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace"))


Text = Annotated[str, AfterValidator(_storable)]
"""A model's text, as a caller might have sent it."""


def _as_number(given: Any) -> Any:
    """Read ``#3`` as 3: so the events' numbers are shown."""
    number = _NUMBER.fullmatch(given) if isinstance(given, str) else None
    return int(number[1]) if number else given


Seq = Annotated[int, BeforeValidator(_as_number)]
"""The number of an event."""


def _as_day(given: str | None) -> str | None:
    """Read a day, be it with a time behind it; None for what is none, or too far off: a fact is kept without its
    end."""
    try:
        day = date.fromisoformat((given or "").strip()[:10])
    except ValueError:
        return None
    return day.isoformat() if day.year < LAST_YEAR else None


def _as_list(given: Any) -> Any:
    """Read a string that holds a list as JSON as that list: some models write one for the other."""
    if not isinstance(given, str) or not given.lstrip().startswith("["):
        return given
    try:
        return json.loads(given)
    except (ValueError, RecursionError):
        return given


class AnswerForm(BaseModel):
    """A part of an answer. What may be left out may be null, and a list may be a string of JSON: a model writes
    either."""

    model_config = ConfigDict(extra="ignore")

    @model_validator(mode="before")
    @classmethod
    def _as_meant(cls, given: Any) -> Any:
        if not isinstance(given, Mapping):
            return given
        may_be_left_out = {name for name, field in cls.model_fields.items() if not field.is_required()}
        lists = {name for name, field in cls.model_fields.items() if get_origin(field.annotation) is list}
        return {
            name: _as_list(value) if name in lists else value
            for name, value in given.items()
            if value is not None or name not in may_be_left_out
        }


class ObservationEntry(AnswerForm):
    """One line of the memory."""

    text: Text = Field(description="One marked line: 🔴, 🟡, 🟢 or ✅, then what is worth knowing.")
    seq_from: Seq = Field(description="Number of the first event that the line is drawn from.")
    seq_to: Seq = Field(description="Number of the last event that the line is drawn from.")


class FactEntry(AnswerForm):
    """One atomic statement about the user's life."""

    text: Text = Field(min_length=1, description="A full sentence that is true without its conversation.")
    category: Category
    importance: int = Field(ge=1, le=5, description="5 = central to who the user is, 1 = trivial.")
    by: Literal["user_stated", "user_confirmed", "assistant", "tool"] = Field(
        description="Whose word it is: stated or confirmed by the user, inferred by the assistant, shown by a tool."
    )
    relation: Literal["new", "reinforces", "updates", "contradicts"] = "new"
    target_id: Text | None = Field(default=None, description="The shown memory that the relation is about.")
    seq_from: Seq | None = Field(default=None, description="Number of the first event that the fact is drawn from.")
    seq_to: Seq | None = Field(default=None, description="Number of the last event that the fact is drawn from.")
    valid_until: Annotated[Text | None, AfterValidator(_as_day)] = Field(
        default=None, description="Only if the statement names its own end: the last day on which it holds, 2026-03-13."
    )


Entry = TypeVar("Entry", bound=AnswerForm)


def _well_formed(form: type[Entry], given: Iterable[Any]) -> Iterator[Entry]:
    for entry in given:
        with suppress(ValidationError):
            yield form.model_validate(entry)


def _well_formed_lines(given: Any) -> Any:
    """Return the lines that are of the form. An answer that is no list stays as it is, which is out of form."""
    return list(_well_formed(ObservationEntry, given)) if isinstance(given, list) else given


def _well_formed_facts(given: Any) -> Any:
    """Return the facts that are of the form."""
    return list(_well_formed(FactEntry, given)) if isinstance(given, list) else []


class ObservationAnswer(AnswerForm):
    """What the tool call holds."""

    has_memory: bool = Field(description="Whether these events hold anything worth remembering.")
    covered_to: Seq | None = Field(
        default=None,
        description="Only if there is no room for all of it: number of the last event that is covered completely.",
    )
    observations: Annotated[list[ObservationEntry], BeforeValidator(_well_formed_lines)] = Field(
        default=[], json_schema_extra={"maxItems": MAX_LINES}
    )
    used_memory_ids: list[Text] = Field(
        default=[], description="Shown memories that these events rely on, confirm, repeat or correct."
    )
    current_task: Text | None = None
    suggested_continuation: Text | None = None
    thread_title: Text | None = None
    facts: Annotated[list[FactEntry], BeforeValidator(_well_formed_facts)] = Field(
        default=[], json_schema_extra={"maxItems": MAX_FACTS}
    )


class ReadAnswer(ObservationAnswer):
    """An answer within bounds. ``facts``: also those that there may be no room for. ``lines_not_read`` and
    ``facts_not_read``: how many others were not of the form. ``said_tokens``: of its lines together, before any was
    capped: what an output cap is about."""

    lines_not_read: int = 0
    facts_not_read: int = 0
    said_tokens: int = 0


@cache
def observation_schema() -> Mapping[str, Any]:
    """Return the JSON schema of the tool's input, which callers must not change. It is the same for every pass, so that
    a provider caches it: how many observations one pass may have is said beside its events."""
    return ObservationAnswer.model_json_schema()


def read_answer(
    given: Mapping[str, Any], *, first: int, last: int, shown: Collection[str], max_lines: int = MIN_LINES
) -> ReadAnswer:
    """Read the answer, brought into bounds. ``first`` and ``last`` are the seqs of the pass, ``shown`` the ids of its
    prior memories. No lines are left when there is nothing worth keeping, and none from behind ``covered_to``. Raises
    ValueError when it is not of the form, also where none of its lines is."""
    answer = ReadAnswer.model_validate({**given, "lines_not_read": 0, "facts_not_read": 0, "said_tokens": 0})
    lines_not_read = _number_of(given.get("observations")) - len(answer.observations)
    if answer.has_memory and lines_not_read and not answer.observations:
        raise ValueError("none of its lines is of the form")
    covered_to = None if answer.covered_to is None else min(max(answer.covered_to, first), last)
    end = last if covered_to is None else covered_to
    lines = [_bounded(line, first, last) for line in answer.observations if any(map(str.isalnum, line.text))]
    lines = _drop_repeats(_bounded(line, first, end) for line in lines if line.seq_from <= end and answer.has_memory)
    capped = [line.model_copy(update={"text": cap_lines(line.text)}) for line in lines]
    return answer.model_copy(
        update={
            "covered_to": covered_to,
            "observations": _join_surplus(MAX_LINES if end == first else max_lines, capped),
            "used_memory_ids": list(dict.fromkeys(used for used in answer.used_memory_ids if used in shown)),
            "current_task": _shorten(answer.current_task),
            "suggested_continuation": _shorten(answer.suggested_continuation),
            "thread_title": _shorten(answer.thread_title),
            "facts": [fact if fact.target_id in shown else _as_new_fact(fact) for fact in answer.facts],
            "lines_not_read": lines_not_read,
            "facts_not_read": _number_of(given.get("facts")) - len(answer.facts),
            "said_tokens": estimate("\n".join(line.text for line in lines)),
        }
    )


def _number_of(entries: Any) -> int:
    """Count the entries of the answer. An answer that is no list is one."""
    entries = _as_list(entries)
    return len(entries) if isinstance(entries, list) else int(entries is not None)


def _bounded(line: ObservationEntry, first: int, last: int) -> ObservationEntry:
    low, high = sorted(min(max(seq, first), last) for seq in (line.seq_from, line.seq_to))
    return ObservationEntry(text=line.text.strip(), seq_from=low, seq_to=high)


def _drop_repeats(lines: Iterable[ObservationEntry]) -> list[ObservationEntry]:
    """Drop a line that repeats an earlier one, as far as it is kept."""
    once: dict[str, ObservationEntry] = {}
    for line in lines:
        once.setdefault(cap_lines(line.text), line)
    return list(once.values())


def _join_surplus(room: int, lines: list[ObservationEntry]) -> list[ObservationEntry]:
    """Join lines for which there is no room to the last one, so that a model that counts badly loses nothing."""
    if len(lines) <= room:
        return lines
    accepted, surplus = lines[: room - 1], lines[room - 1 :]
    return [*accepted, _joined(surplus)]


def _joined(lines: Iterable[ObservationEntry]) -> ObservationEntry:
    lines = list(lines)
    return ObservationEntry(
        text="\n".join(line.text for line in lines),
        seq_from=min(line.seq_from for line in lines),
        seq_to=max(line.seq_to for line in lines),
    )


def _shorten(text: str | None) -> str | None:
    """Return one line, or None when nothing is said."""
    line = " ".join(text.split()) if text else ""
    return line[:SHORT_CHARACTERS] or None


def _as_new_fact(fact: FactEntry) -> FactEntry:
    """Say that a fact is new if it relates to a memory that was not shown, which cannot be meant."""
    return fact.model_copy(update={"relation": "new", "target_id": None})
