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
LENT = "lent_to_its_utterances"
"""A memory of whose range utterances are among the candidates."""
OVER_TOKENS = "over_tokens"
OVER_K = "over_k"

OFF_TOPIC = "off_topic"
"""The message of a prompt has nothing to do with any candidate."""

_NOT_HIDDEN = (BELOW_THRESHOLD, CHANGED, OFF_TOPIC)


@dataclass(frozen=True, slots=True)
class Dropped:
    """``found``: the candidate's score by leg (cosine, BM25), where it had one."""

    id: str
    reason: str
    found: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Ids and text fingerprints that are left out from the start, with the reason of each."""

    ids: Mapping[str, str] = field(default_factory=dict)
    fingerprints: Mapping[str, str] = field(default_factory=dict)

    def reason(self, identifier: str, fingerprint: str) -> str | None:
        return self.ids.get(identifier) or self.fingerprints.get(fingerprint)


def left_out(pack: PackContents | None, ids: Iterable[str], fingerprints: Iterable[str]) -> LeftOut:
    """What the prompt's pack holds, and the rows that the caller named (``ids`` with the fingerprints of their
    texts)."""
    in_pack_ids, in_pack_prints = (pack.ids, pack.fingerprints) if pack else (frozenset[str](), frozenset[str]())
    return LeftOut(
        dict.fromkeys(in_pack_ids, IN_PACK) | dict.fromkeys(ids, EXCLUDED),
        dict.fromkeys(in_pack_prints, IN_PACK) | dict.fromkeys(fingerprints, EXCLUDED),
    )


def by_id(dropped: Iterable[Dropped]) -> dict[str, Dropped]:
    """The last reason of each candidate, with the scores of all legs that found it."""
    last: dict[str, Dropped] = {}
    for one in dropped:
        before = last[one.id].found if one.id in last else {}
        last[one.id] = Dropped(one.id, one.reason, {**before, **one.found})
    return last


def hidden(dropped: Iterable[Dropped]) -> frozenset[str]:
    """What took the place of another candidate in a leg and cannot be answered with."""
    return frozenset(one.id for one in by_id(dropped).values() if one.reason not in _NOT_HIDDEN)
