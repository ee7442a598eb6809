"""The seam between a pass and whoever does the observing: a prompted language model, or rules without a network."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from neve.domain.observe.lines import FEWEST_LINES
from neve.domain.observe.lines import ObservedLine as ObservedLine
from neve.domain.records import Event

SecondsLeft = Callable[[], float]
"""How long the worker may still run."""


def for_ever() -> float:
    """Of who has no worker's time to keep to."""
    return math.inf


@dataclass(frozen=True, slots=True)
class PriorMemory:
    """A row shown for deduplication; only these ids may be cited."""

    id: str
    text: str
    local: bool


@dataclass(frozen=True, slots=True)
class PassInput:
    """What one observation pass reads. ``events`` already fit the transcript cap, hold nothing that Neve renders, and
    carry image bytes inline: a block ``{"type": "image", "media_type", "data": base64}`` or ``{"type": "image",
    "url"}``. ``max_lines``: how many lines the answer may hold, ``output_cap``: their tokens together. What has no room
    is left to the next pass, which begins behind ``Observed.covered_to``; the first event may always have as many lines
    as a pass of one event. ``seconds_left``: the worker's."""

    session_id: str
    events: Sequence[Event]
    prior: Sequence[PriorMemory]
    timezone: str
    output_cap: int
    max_lines: int = FEWEST_LINES
    seconds_left: SecondsLeft = field(default=for_ever, compare=False)


@dataclass(frozen=True, slots=True)
class ProposedFact:
    text: str
    category: str
    importance: int
    by: str
    relation: str
    target_id: str | None = None


@dataclass(frozen=True, slots=True)
class Observed:
    """What a pass came back with, validated. ``has_memory`` False or no lines = nothing worth keeping.
    ``covered_to``: seq of the last event that the lines do justice to; None = the last of the pass."""

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


@dataclass(frozen=True, slots=True)
class ReflectGroup:
    """One source row of a reflection, shown as a group with its id and range."""

    id: str
    text: str
    seq_from: int | None
    seq_to: int | None
    observed_at: str


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
    rows: tuple[ReflectedRow, ...]
    model: str
    usage: Mapping[str, int] = field(default_factory=dict)
    calls: int = 1


class Observer(Protocol):
    """Raises ModelUnavailable, ModelRefused or ContentRefused; never a vendor's error."""

    @property
    def name(self) -> str:
        """What ``provenance.model`` says."""

    @property
    def languages(self) -> tuple[str, ...]:
        """In which it recognises what to remember, as ISO 639-1 codes; ``*`` for any."""

    @property
    def longest_s(self) -> float:
        """How many seconds one answer and its commit may take: with less time left, a worker does not ask."""

    def observe(self, given: PassInput) -> Observed: ...

    def reflect(self, given: ReflectInput) -> Reflected: ...


def usage_sum(*parts: Mapping[str, int]) -> dict[str, Any]:
    """Token usage added up by name."""
    total: dict[str, Any] = {}
    for part in parts:
        for name, n in part.items():
            total[name] = total.get(name, 0) + n
    return total
