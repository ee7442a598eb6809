"""Which candidates of the legs go on: not left out, among the first ``depth`` of their leg, and, in the vector leg,
similar enough (docs/rules/recall.md#gate)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from neve.ports import Candidate
from neve.usecases.recall.command import ResolvedRequest
from neve.usecases.recall.dropped import BELOW_THRESHOLD, Dropped, LeftOut
from neve.usecases.recall.stages.legs import Reading


@dataclass(frozen=True, slots=True)
class Gated:
    """None for a leg that did not complete. ``near``: the vector leg before the threshold, which the rerank stage
    weighs as well."""

    lexical: list[Candidate] | None
    near: list[Candidate] | None
    vector: list[Candidate] | None
    dropped: tuple[Dropped, ...]

    @property
    def found(self) -> list[Candidate]:
        return [candidate for leg in (self.lexical, self.vector) for candidate in leg or ()]


def gate(request: ResolvedRequest, out: LeftOut, reading: Reading) -> Gated:
    lexical, near = reading.lexical, reading.vector
    dropped = [*_left_out("lexical", lexical, request, out), *_left_out("vector", near, request, out)]
    lexical, near = _kept(lexical, request, out), _kept(near, request, out)
    vector = None if near is None else [c for c in near if reading.similarity(c) >= request.threshold]
    below = [c for c in near or () if reading.similarity(c) < request.threshold]
    dropped += [Dropped(c.item_id, BELOW_THRESHOLD, {"vector": c.score}) for c in below]
    return Gated(lexical, near, vector, tuple(dropped))


def _kept(candidates: list[Candidate] | None, request: ResolvedRequest, out: LeftOut) -> list[Candidate] | None:
    """The best ``depth`` that are not left out."""
    if candidates is None:
        return None
    return [c for c in candidates if out.reason(c.item_id, c.fingerprint, c.version) is None][: request.depth]


def _left_out(
    leg: str, candidates: list[Candidate] | None, request: ResolvedRequest, out: LeftOut
) -> Iterator[Dropped]:
    """Those within the first ``depth`` places: they are what the caller would have got."""
    for candidate in (candidates or ())[: request.depth]:
        reason = out.reason(candidate.item_id, candidate.fingerprint, candidate.version)
        if reason is not None:
            yield Dropped(candidate.item_id, reason, {leg: candidate.score})
