"""What the passes of one job did."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

NOTHING_NEW = "nothing new since the last pass"
_DONE = ("written", "reinforced")
_LEFT_OUT = ("unobservable", "images_left_out")


@dataclass(slots=True)
class ObservationReport:
    """It becomes the job's result. ``unobservable``: ``{seq, reason}`` of the events that were refused alone;
    ``images_left_out``: seqs of the events that were read without their images. ``left_off_at``: where the worker had
    no time for one more pass, as a name for that place; None when nothing is left to read. ``told``: how many
    of both lists an earlier worker of the job has logged."""

    passes: int = 0
    written: list[str] = field(default_factory=list)
    reinforced: list[str] = field(default_factory=list)
    unobservable: list[dict[str, Any]] = field(default_factory=list)
    images_left_out: list[int] = field(default_factory=list)
    facts_offered: int = 0
    observed_seq: int = 0
    reason: str | None = None
    left_off_at: str | None = None
    told: tuple[int, int] = (0, 0)

    @classmethod
    def going_on(cls, result: Mapping[str, Any]) -> ObservationReport:
        """From where the last worker of the job stopped."""
        report = cls(
            passes=result.get("passes", 0),
            facts_offered=result.get("facts_offered", 0),
            told=(len(result.get("unobservable", ())), len(result.get("images_left_out", ()))),
        )
        for name in (*_DONE, *_LEFT_OUT):
            getattr(report, name).extend(result.get(name, ()))
        return report

    def result(self) -> dict[str, Any]:
        return {
            "passes": self.passes,
            **{name: getattr(self, name) for name in _DONE},
            "facts_offered": self.facts_offered,
            "observed_seq": self.observed_seq,
            **self.left_out(),
        } | ({"reason": self.reason} if self.reason else {})

    def untold(self) -> tuple[list[dict[str, Any]], list[int]]:
        """The unobservable events and the left out images of this worker."""
        return self.unobservable[self.told[0] :], self.images_left_out[self.told[1] :]

    def left_out(self) -> dict[str, Any]:
        """What was not observed, where there is such a thing."""
        return {name: found for name in _LEFT_OUT if (found := getattr(self, name))}
