"""Decide which candidates of the legs go on: not left out, within the depth of their leg, and, in the vector leg,
similar enough (docs/rules/recall.md#gate)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from neve.domain.recall.fusion import within_depth
from neve.ports.search import Candidate
from neve.usecases.ask.recall.command import ResolvedRequest
from neve.usecases.ask.recall.dropped import BELOW_THRESHOLD, Dropped, LeftOut, dropped_by
from neve.usecases.ask.recall.stages.legs import Reading


@dataclass(frozen=True, slots=True)
class Gated:
    """The candidates that go on, None for a leg that did not complete. ``near``: the vector leg before the threshold,
    which the rerank stage weighs as well; ``similarities``: of these, calibrated, by id."""

    lexical: list[Candidate] | None
    near: list[Candidate] | None
    vector: list[Candidate] | None
    dropped: tuple[Dropped, ...]
    similarities: Mapping[str, float]

    @property
    def found(self) -> list[Candidate]:
        return [candidate for leg in (self.lexical, self.vector) for candidate in leg or ()]


def gate(request: ResolvedRequest, out: LeftOut, reading: Reading) -> Gated:
    lexical, not_lexical = _gated_leg("lexical", reading.lexical, request, out)
    near, not_near = _gated_leg("vector", reading.vector, request, out)
    if near is None:
        return Gated(lexical, None, None, (*not_lexical, *not_near), {})
    similarities, least = reading.similarities(near), request.threshold
    vector = [candidate for candidate in near if similarities[candidate.item_id] >= least]
    not_similar = (candidate for candidate in near if similarities[candidate.item_id] < least)
    below = [dropped_by("vector", candidate, BELOW_THRESHOLD) for candidate in not_similar]
    return Gated(lexical, near, vector, (*not_lexical, *not_near, *below), similarities)


def _gated_leg(
    leg: str, candidates: Sequence[Candidate] | None, request: ResolvedRequest, out: LeftOut
) -> tuple[list[Candidate] | None, list[Dropped]]:
    """Return the candidates within the leg's depth that are not left out, whose places others take; and those left out
    which the caller would have got."""
    if candidates is None:
        return None, []
    admitted: dict[str, Candidate] = {}
    dropped: dict[str, Dropped] = {}

    def judged() -> Iterator[str]:
        """Yield the admitted ids, as far as the consumer reads: candidates beyond the depth are not looked at."""
        for candidate in candidates:
            identifier = candidate.item_id
            reason = out.reason(identifier, candidate.fingerprint, candidate.version)
            if reason is None:
                admitted[identifier] = candidate
                yield identifier
            else:
                dropped[identifier] = dropped_by(leg, candidate, reason)

    within = [admitted[identifier] for identifier in within_depth(judged(), request.depth)]
    if not dropped:
        return within, []
    asked_for = within_depth((candidate.item_id for candidate in candidates), request.depth)
    return within, [dropped[identifier] for identifier in asked_for if identifier in dropped]
