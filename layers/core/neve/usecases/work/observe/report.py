"""Reports what the passes of one job did."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from neve.ports.errors import ModelRefused
from neve.usecases.tell.memories.stored_fact import StoredFact

_DONE = ("written", "reinforced", "facts")
_LEFT_OUT = ("unobservable", "images_left_out")
_COUNTED = ("lines_left_out", "lines_not_read", "facts_left_out", "facts_not_read")


@dataclass(slots=True)
class ObservationReport:
    """The report of a job's passes. It becomes the job's result. ``committed``: whether this worker has written a pass.
    ``unobservable``: ``{seq, reason}`` of the events that were refused alone; ``images_left_out``: seqs of the events
    that were read without their images; ``lines_left_out``: how many lines had no room as a whole; ``facts``: what
    became of each, as ``fact_result`` says it; ``facts_left_out``: how many had no room; ``lines_not_read`` and
    ``facts_not_read``: how many lines and facts an answer had that were not of the form. ``left_off_at``: where the
    worker had no time for one more pass, as a name for that place; None when nothing is left to read. ``failure``: why
    the job has failed for good. ``summary_refused``: of the compaction that followed; ``not_reflected``: why a
    reflection was due and not done; ``reflection_left_out``: how many rows of one had no room;
    ``reflection_over_target``: by how many tokens those that stay are above its target. ``redacted``: personal data in
    the observer's answers, by class. ``reported_so_far``: how many of both lists an earlier worker of the job has
    logged; ``lines_reported``: the same of the lines left out, and of those not read; ``facts_reported``: of the facts
    left out, of those decided, and of those not read; ``counted``: so much of ``redacted``."""

    passes: int = 0
    committed: bool = False
    written: list[str] = field(default_factory=list)
    reinforced: list[str] = field(default_factory=list)
    unobservable: list[dict[str, Any]] = field(default_factory=list)
    images_left_out: list[int] = field(default_factory=list)
    lines_left_out: int = 0
    lines_not_read: int = 0
    facts: list[dict[str, Any]] = field(default_factory=list)
    facts_left_out: int = 0
    facts_not_read: int = 0
    observed_seq: int = 0
    reason: str | None = None
    failure: ModelRefused | None = None
    left_off_at: str | None = None
    summary_refused: bool = False
    not_reflected: str | None = None
    reflection_left_out: int = 0
    reflection_over_target: int = 0
    redacted: dict[str, int] = field(default_factory=dict)
    reported_so_far: tuple[int, int] = (0, 0)
    lines_reported: tuple[int, int] = (0, 0)
    facts_reported: tuple[int, int, int] = (0, 0, 0)
    counted: dict[str, int] = field(default_factory=dict)

    @classmethod
    def going_on(cls, result: Mapping[str, Any]) -> ObservationReport:
        """Make a report that begins where the last worker of the job stopped."""
        report = cls()
        report.go_on(result)
        return report

    def go_on(self, result: Mapping[str, Any]) -> None:
        """Read the last worker's result into a report that says nothing yet."""
        self.passes = result.get("passes", 0)
        self.reason = result.get("reason")
        for name in (*_DONE, *_LEFT_OUT):
            getattr(self, name).extend(result.get(name, ()))
        for name in _COUNTED:
            setattr(self, name, result.get(name, 0))
        self.redacted, self.counted = dict(result.get("redacted", {})), dict(result.get("redacted", {}))
        self.reported_so_far = len(self.unobservable), len(self.images_left_out)
        self.lines_reported = self.lines_left_out, self.lines_not_read
        self.facts_reported = self.facts_left_out, len(self.facts), self.facts_not_read

    def result(self) -> dict[str, Any]:
        return {
            "passes": self.passes,
            **{name: getattr(self, name) for name in _DONE},
            "observed_seq": self.observed_seq,
            **self.left_out(),
        } | {name: value for name in ("reason", "redacted") if (value := getattr(self, name))}

    @property
    def found_nothing(self) -> bool:
        return not self.written and not any("id" in fact for fact in self.facts)

    def unreported(self) -> tuple[list[dict[str, Any]], list[int]]:
        """Return the unobservable events and the left out images of this worker."""
        return self.unobservable[self.reported_so_far[0] :], self.images_left_out[self.reported_so_far[1] :]

    def unreported_lines(self) -> dict[str, int]:
        """Count the lines of this worker that were ``left_out``, having no room as a whole, and ``not_read``, not being
        of the form."""
        left_out, not_read = self.lines_reported
        return {"left_out": self.lines_left_out - left_out, "not_read": self.lines_not_read - not_read}

    def unreported_facts(self) -> dict[str, int]:
        """Count the facts of this worker by their decision; ``left_out``: had no room; ``not_read``: were not of the
        form."""
        decisions = Counter(str(fact["decision"]) for fact in self.facts[self.facts_reported[1] :])
        not_read = self.facts_not_read - self.facts_reported[2]
        return {**decisions, "left_out": self.facts_left_out - self.facts_reported[0], "not_read": not_read}

    def uncounted(self) -> dict[str, int]:
        """Count the kinds of personal data that this worker has taken out, of those in ``redacted``."""
        return dict(Counter(self.redacted) - Counter(self.counted))

    def also_left_out(self, other: ObservationReport) -> None:
        """Add what ``other`` says of what was not observed, and of personal data."""
        self.unobservable += other.unobservable
        self.images_left_out += other.images_left_out
        self.lines_left_out += other.lines_left_out
        self.lines_not_read += other.lines_not_read
        self.facts_left_out += other.facts_left_out
        self.facts_not_read += other.facts_not_read
        self.redacted = dict(Counter(self.redacted) + Counter(other.redacted))

    def reflection(self) -> dict[str, Any]:
        """Return what a reflection did not do; empty if there is nothing."""
        left_out = {
            "reflection_reason": self.not_reflected,
            "reflection_left_out": self.reflection_left_out,
            "reflection_over_target": self.reflection_over_target,
        }
        return {name: value for name, value in left_out.items() if value}

    def left_out(self) -> dict[str, Any]:
        """Return what was not observed; empty if there is nothing."""
        return {name: found for name in (*_LEFT_OUT, *_COUNTED) if (found := getattr(self, name))}


def fact_result(fact: StoredFact) -> dict[str, Any]:
    """Return decision, criteria and reason, with the row's id where there is one: no word of the fact."""
    found = {"decision": fact.decision, "criteria": asdict(fact.criteria), "reason": fact.reason}
    return found | ({"id": fact.memory.id} if fact.memory else {})
