"""What a tool has found, and what of it is meant so."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

import yaml


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """``rule``: the tool's name for what is wrong. ``where``: the template and a logical id in it,
    ``service/RecallFunction``."""

    rule: str
    where: str
    says: str

    def __str__(self) -> str:
        return f"{self.rule} {self.where}: {self.says}"


@dataclass(frozen=True, slots=True)
class Suppression:
    """``at``: places where the rule does not hold, with ``*`` for any text."""

    rule: str
    at: tuple[str, ...]
    reason: str

    def covers(self, finding: Finding) -> bool:
        return finding.rule == self.rule and any(fnmatchcase(finding.where, place) for place in self.at)


class BadSuppression(ValueError):
    """The message names the one that lacks something."""


def read_suppressions(path: Path) -> list[Suppression]:
    """Raises BadSuppression."""
    return [_suppression(given) for given in yaml.safe_load(path.read_text(encoding="utf-8"))]


def _suppression(given: dict[str, object]) -> Suppression:
    rule, at, reason = (given.get(name) for name in ("rule", "at", "reason"))
    if not (isinstance(rule, str) and isinstance(at, list) and at and isinstance(reason, str) and reason.strip()):
        raise BadSuppression(f"a suppression has a rule, places where it does not hold (at) and a reason: {given}")
    return Suppression(rule, tuple(map(str, at)), reason)


def complaints(findings: Sequence[Finding], suppressions: Iterable[Suppression]) -> Iterator[str]:
    """What nobody has said is meant so, and what was said to be meant so and is not found (any more)."""
    known = list(suppressions)
    for finding in sorted(findings):
        if not any(one.covers(finding) for one in known):
            yield str(finding)
    for one in known:
        for place in one.at:
            only = Suppression(one.rule, (place,), one.reason)
            if not any(only.covers(finding) for finding in findings):
                yield f"{one.rule} {place}: this suppression suppresses nothing"
