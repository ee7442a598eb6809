"""The rerank stage: what was said, put in order by more than its two ranks.

RRF forgets how good a match was and knows nothing of the conversation around it. This stage re-orders the utterances
among the candidates, and the memories beside them, by a small linear model over what the legs and the rows already say.
Memories alone keep the order of RRF: there are no labelled questions to fit weights for them on.

Weights: fitted on LoCoMo conversations 1-5 (listwise softmax, L2 30, ``python -m evals.locomo.fit``), reported on
6-10. Only eight, because about half of such a gain carries over to other chats (docs/retrieval.md)."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

WEIGHTS: Mapping[str, float] = {
    "keyword": 3.6,
    "similarity": 2.4,
    "previous": 1.0,
    "following": 0.2,
    "session": 2.0,
    "speaker": 2.2,
    "time": 2.0,
    "question": -1.0,
}
BEST_OF_SESSION = 3

_MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
_DAYS = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
_TIME_WORD = re.compile(
    rf"\b(yesterday|today|tomorrow|last|next|ago|week|month|year|weekend|{_DAYS}|{_MONTHS}|\d{{4}})\b", re.IGNORECASE
)
_ASKS_WHEN = re.compile(r"\s*(when|what (date|day|month|year|time)|how long|which (year|month))\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Utterance:
    """A candidate that was said. ``similarity``: 0 for the median random pair of the encoder, 1 for the median
    paraphrase, not clamped. It and ``bm25`` are None where a leg did not find the utterance; ``share`` (of query terms)
    stands in for the BM25 of one that is too new for the index. ``prior``: the product of its priors."""

    id: str
    session_id: str
    seq: int
    speaker: str | None
    text: str
    bm25: float | None
    similarity: float | None
    share: float = 0.0
    prior: float = 1.0


def rerank_scores(question: str, utterances: Sequence[Utterance], floor: float) -> dict[str, float]:
    """A score for each id, larger is better: the log odds of its features, its prior included. ``floor``: the
    similarity of the worst that the vector leg found, which nothing that it did not find exceeds."""
    prior = {utterance.id: math.log(utterance.prior) for utterance in utterances}
    return {
        item_id: round(prior[item_id] + sum(WEIGHTS[name] * value for name, value in found.items()), 6)
        for item_id, found in features(question, utterances, floor).items()
    }


def features(question: str, utterances: Sequence[Utterance], floor: float) -> dict[str, dict[str, float]]:
    """What the weights weigh, by id and name."""
    candidates = _Candidates(question, utterances, floor)
    return {utterance.id: candidates.features(utterance) for utterance in utterances}


class _Candidates:
    """What the features of one utterance need to know of the others."""

    def __init__(self, question: str, utterances: Sequence[Utterance], floor: float) -> None:
        self._asks_when = bool(_ASKS_WHEN.match(question))
        self._named = _named(question, {u.speaker for u in utterances if u.speaker})
        self._floor = floor
        top = max((u.similarity for u in utterances if u.similarity is not None), default=floor)
        self._span = (top - floor) or 1.0
        self._best_bm25 = max((u.bm25 or 0.0 for u in utterances), default=0.0) or 1.0
        self._near = {(u.session_id, u.seq): self._nearness(u) for u in utterances}
        self._sessions = self._best_of_sessions(utterances)

    def features(self, u: Utterance) -> dict[str, float]:
        return {
            "keyword": self._keyword(u),
            "similarity": self._floor if u.similarity is None else u.similarity,
            "previous": self._near.get((u.session_id, u.seq - 1), 0.0),
            "following": self._near.get((u.session_id, u.seq + 1), 0.0),
            "session": self._sessions[u.session_id],
            "speaker": self._speaker(u),
            "time": float(self._asks_when and _TIME_WORD.search(u.text) is not None),
            "question": float(u.text.rstrip().endswith("?")),
        }

    def _keyword(self, u: Utterance) -> float:
        """BM25 as a share of the best candidate's."""
        return u.share if u.bm25 is None else u.bm25 / self._best_bm25

    def _nearness(self, u: Utterance) -> float:
        """Similarity between the worst (0) and the best (1) of the candidates."""
        return 0.0 if u.similarity is None else (u.similarity - self._floor) / self._span

    def _best_of_sessions(self, utterances: Sequence[Utterance]) -> dict[str, float]:
        """Mean of each session's three best candidates: a conversation about the matter lifts all of its lines."""
        sums: dict[str, list[float]] = defaultdict(list)
        for u in utterances:
            sums[u.session_id].append(self._keyword(u) + self._nearness(u))
        return {s: sum(sorted(found)[-BEST_OF_SESSION:]) / BEST_OF_SESSION for s, found in sums.items()}

    def _speaker(self, u: Utterance) -> float:
        """1 for the one person whom the question names, 0 for others, a half when it names nobody or several."""
        if len(self._named) != 1:
            return 0.5
        return float(u.speaker in self._named)


def _named(question: str, speakers: set[str]) -> set[str]:
    words = set(re.findall(r"\w+", question.casefold()))
    return {speaker for speaker in speakers if set(re.findall(r"\w+", speaker.casefold())) & words}
