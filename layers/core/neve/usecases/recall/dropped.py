"""What a recall must not answer with, and why each candidate that it found was dropped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from neve.usecases.pack.served_pack import PackContents

IN_PACK = "in_pack"
EXCLUDED = "excluded"
BELOW_THRESHOLD = "below_threshold"
CHANGED = "changed_since_indexed"
REPEATS = "repeats_another"
OVER_TOKENS = "over_tokens"
OVER_K = "over_k"


@dataclass(frozen=True, slots=True)
class Dropped:
    """``found``: the candidate's score by leg (cosine, BM25), where it had one."""

    id: str
    reason: str
    found: Mapping[str, float] = field(default_factory=dict)


@dataclass
class DroppedCandidates:
    """Ids and text fingerprints that are left out from the start, and the log of what was dropped on the way."""

    ids: dict[str, str] = field(default_factory=dict)
    fingerprints: dict[str, str] = field(default_factory=dict)
    log: dict[str, Dropped] = field(default_factory=dict)

    def leave_out_pack(self, pack: PackContents) -> None:
        self.ids |= dict.fromkeys(pack.ids, IN_PACK)
        self.fingerprints |= dict.fromkeys(pack.fingerprints, IN_PACK)

    def leave_out_named(self, ids: Iterable[str], fingerprints: Iterable[str]) -> None:
        self.ids |= dict.fromkeys(ids, EXCLUDED)
        self.fingerprints |= dict.fromkeys(fingerprints, EXCLUDED)

    def reason(self, identifier: str, fingerprint: str) -> str | None:
        return self.ids.get(identifier) or self.fingerprints.get(fingerprint)

    def drop(self, identifier: str, reason: str, leg: str | None = None, score: float | None = None) -> None:
        found = dict(self.log[identifier].found) if identifier in self.log else {}
        if leg is not None and score is not None:
            found[leg] = score
        self.log[identifier] = Dropped(identifier, reason, found)

    @property
    def hidden(self) -> frozenset[str]:
        """What took the place of another candidate in a leg and cannot be answered with."""
        kept_out = (BELOW_THRESHOLD, CHANGED)
        return frozenset(one.id for one in self.log.values() if one.reason not in kept_out)
