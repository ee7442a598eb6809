"""The seam between a pass and the observer that does the observing: a prompted language model, or rules without a
network."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from neve.domain.compact.headings import SummaryText
from neve.domain.librarian.filing import Account, Filed, Remembered, ShownDocument
from neve.domain.observe.facts import ProposedFact as ProposedFact
from neve.domain.observe.lines import MIN_LINES
from neve.domain.observe.lines import ObservedLine as ObservedLine
from neve.domain.records.epochs import Verbosity
from neve.domain.records.markers import Scene
from neve.domain.records.memories import Kind, Priority
from neve.domain.records.sessions import Event, Outcome

SecondsLeft = Callable[[], float]
"""Tells how many seconds the worker may still run."""


def for_ever() -> float:
    """Give endless seconds, for a caller that has no worker's time to keep to."""
    return math.inf


def time_left_of(context: Any) -> SecondsLeft:
    """Give the function that tells a worker's seconds left. ``context``: Lambda's, which knows how long the worker may
    still run; None: for ever."""
    return for_ever if context is None else lambda: float(context.get_remaining_time_in_millis()) / 1000


@dataclass(frozen=True, slots=True)
class PriorMemory:
    """A row shown for deduplication; only these ids may be cited. ``span``: what of the session's log it was made
    from, ``parts``: what of that was not taken back. ``observed_at``: when its words were said, in stored form.
    ``of_tools``: what of its text a tool said, and ``of_users`` a user."""

    id: str
    text: str
    local: bool
    kind: Kind = Kind.OBSERVATION
    span: tuple[int, int] | None = field(default=None, compare=False)
    parts: tuple[tuple[int, int], ...] = field(default=(), compare=False)
    observed_at: str = field(default="", compare=False)
    of_tools: str = field(default="", compare=False)
    of_users: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class PassInput:
    """The input that one observation pass reads. ``events`` already fit the transcript cap, hold nothing that Neve
    renders, and carry image bytes inline: a block ``{"type": "image", "media_type", "data": base64}`` or ``{"type":
    "image", "url"}``. ``max_lines``: how many lines the answer may hold, ``output_cap``: their tokens together. What
    has no room is left to the next pass, which begins behind ``Observed.covered_to``; the first event may always have
    as many lines as a pass of one event. ``scene``: what ``Observed.scene`` of the pass before said. ``seconds_left``:
    the worker's."""

    session_id: str
    events: Sequence[Event]
    prior: Sequence[PriorMemory]
    timezone: str
    output_cap: int
    max_lines: int = MIN_LINES
    scene: Scene | None = None
    seconds_left: SecondsLeft = field(default=for_ever, compare=False)


@dataclass(frozen=True, slots=True)
class Observed:
    """The validated result of a pass. ``has_memory`` False or no lines = nothing worth keeping. ``covered_to``: seq of
    the last event that lines and facts do justice to; None = the last of the pass. ``prompt_version`` None: no model
    was asked. ``lines_not_read`` and ``facts_not_read``: how many more lines and facts the answer had, which were not
    of the form. ``lines_left_out``: seq of the event at which each line begins, of those up to ``covered_to``, that had
    no room as a whole. ``scene``: which is being played at its end, for the next pass of an observer that tells one by
    rules."""

    has_memory: bool
    lines: tuple[ObservedLine, ...]
    model: str
    used_memory_ids: tuple[str, ...] = ()
    current_task: str | None = None
    suggested_continuation: str | None = None
    thread_title: str | None = None
    facts: tuple[ProposedFact, ...] = ()
    usage: Mapping[str, int] = field(default_factory=dict)
    calls: int = 1
    covered_to: int | None = None
    prompt_version: str | None = None
    lines_not_read: int = 0
    facts_not_read: int = 0
    lines_left_out: tuple[int, ...] = ()
    scene: Scene | None = None


@dataclass(frozen=True, slots=True)
class ReflectGroup:
    """One source row of a reflection, shown as a group with its id and range. ``day``: where the user was when it was
    observed, if that is known."""

    id: str
    text: str
    seq_from: int | None
    seq_to: int | None
    observed_at: str
    day: str | None = None


@dataclass(frozen=True, slots=True)
class ReflectInput:
    session_id: str
    groups: Sequence[ReflectGroup]
    target_tokens: int
    seconds_left: SecondsLeft = field(default=for_ever, compare=False)


@dataclass(frozen=True, slots=True)
class ReflectedRow:
    """One new row; ``group_ids`` are the sources it names (empty = all of them)."""

    text: str
    group_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reflected:
    """The result of a reflection. ``left_out``: how many more rows the answer had, or rows of more words, than the
    target has room for; of rules, how many lines of the sources. ``over_target``: of rules, which fit their rows
    themselves, by how many tokens the lines that must stay are above it; None of a model, whose rows are still to be
    fitted."""

    rows: tuple[ReflectedRow, ...]
    model: str
    usage: Mapping[str, int] = field(default_factory=dict)
    calls: int = 1
    left_out: int = 0
    over_target: int | None = None


@dataclass(frozen=True, slots=True)
class SummaryInput:
    """The input that a summary is made of. ``events``: those that are newly covered, within the cap of a request,
    without what Neve renders and without images. ``before``: the summary that the new one replaces. ``target_tokens``:
    as ``render_summary`` shows it. ``timezone``: in which the days are told."""

    session_id: str
    events: Sequence[Event]
    verbosity: Verbosity
    target_tokens: int
    before: SummaryText | None = None
    timezone: str = "UTC"
    seconds_left: SecondsLeft = field(default=for_ever, compare=False)


@dataclass(frozen=True, slots=True)
class Summarised:
    """The result of a summary. ``summary`` is empty when nothing was worth a word. ``prompt_version`` None: no model
    was asked. ``left_out``: how many items of the answer had no room as a whole."""

    summary: SummaryText
    model: str
    prompt_version: str | None = None
    usage: Mapping[str, int] = field(default_factory=dict)
    calls: int = 1
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class CondenseInput:
    """One batch of a night: rows of any of the user's sessions, oldest first. ``handed_in``: where its answer may be;
    None: it is asked for now."""

    groups: Sequence[ReflectGroup]
    target_tokens: int
    seconds_left: SecondsLeft = field(default=for_ever, compare=False)
    handed_in: str | None = None


@dataclass(frozen=True, slots=True)
class CondensedRow:
    """One row of a night's answer. ``group_ids``: the sources that it names (empty = all of them). ``priority`` and
    ``observed_date`` None: not said."""

    text: str
    group_ids: tuple[str, ...] = ()
    priority: Priority | None = None
    observed_date: str | None = None


@dataclass(frozen=True, slots=True)
class Condensed:
    """The result of one batch of a night. ``left_out``: how many lines of the sources rules had no room for; a model's
    answer does not say. ``over_target``: as of a ``Reflected``."""

    rows: tuple[CondensedRow, ...]
    model: str
    usage: Mapping[str, int] = field(default_factory=dict)
    calls: int = 1
    left_out: int = 0
    over_target: int | None = None


@dataclass(frozen=True, slots=True)
class FilingInput:
    """The input that a librarian reads. ``events``: within the cap of a request, without what Neve renders and without
    images; ``left_out``: how many in between are missing. ``documents``: those that may be about the same. ``before``:
    what there was to say of the session before these events. ``outcome``: as the caller said. ``remembered``: what is
    remembered of the session, where a person has corrected any of it. ``remark``: what a person did meanwhile to a
    document that an earlier answer changes. ``handed_in``: as of a ``CondenseInput``."""

    session_id: str
    events: Sequence[Event]
    documents: Sequence[ShownDocument]
    timezone: str = "UTC"
    title: str | None = None
    outcome: Outcome | None = None
    before: Account | None = None
    left_out: int = 0
    remembered: Sequence[Remembered] = ()
    remark: str | None = None
    seconds_left: SecondsLeft = field(default=for_ever, compare=False)
    handed_in: str | None = None


Question = CondenseInput | FilingInput
"""What may be answered within a day."""


class Observer(Protocol):
    """Raises ModelUnavailable (UnusableAnswer where it has answered), ModelRefused or ContentRefused, with the calls
    and the usage of all that was answered to the question; never a vendor's error."""

    @property
    def name(self) -> str:
        """Give the name that ``provenance.model`` says."""

    @property
    def languages(self) -> tuple[str, ...]:
        """List the languages in which it recognises what to remember, as ISO 639-1 codes; ``*`` for any."""

    @property
    def longest_s(self) -> float:
        """Say how many seconds one answer and its commit may take: with less time left, a worker does not ask."""

    @property
    def longest_filing_s(self) -> float:
        """Say how many seconds one answer of ``file_away`` and its commit may take."""

    def observe(self, given: PassInput) -> Observed: ...

    def reflect(self, given: ReflectInput) -> Reflected: ...

    def summarise(self, given: SummaryInput) -> Summarised: ...

    def condense(self, given: CondenseInput) -> Condensed:
        """Condense a batch. Of one that was handed in the answer is taken, where there is one; else it is asked for
        now. Raises also NotYetAnswered."""

    def hand_in(self, given: Sequence[Question]) -> str | None:
        """Have questions answered within a day, at half the price; the answer to one is there only while it shows what
        it showed. Give the name of all of them; None: this observer cannot."""

    def withdraw(self, handed_in: str) -> None:
        """Have nothing more answered, and delete what was. Raises also NotYetAnswered: call again later."""

    def file_away(self, given: FilingInput) -> Filed:
        """Decide which documents change, and what there is to say of the session. Of what was handed in the answer is
        taken, as by ``condense``. Raises also NotYetAnswered."""


def usage_sum(*parts: Mapping[str, int]) -> dict[str, Any]:
    """Add up token usage by name."""
    total: dict[str, Any] = {}
    for part in parts:
        for name, n in part.items():
            total[name] = total.get(name, 0) + n
    return total
