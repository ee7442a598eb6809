"""The rerank stage: what was said, put in order by more than its two ranks.

RRF forgets how good a match was and knows nothing of the conversation around it. This stage re-orders the candidates by
a small linear model over what the legs and the rows already say. What surrounds a message, and what kind of sentence it
is, tells something of a short chat turn and nothing of a page that an assistant wrote: those features fade with the
length of the message (``weighted_counts.gate``), and the matches themselves decide.

Weights: ``python -m evals.retrieval.fit`` (docs/retrieval.md). Few and small, because about half of such a gain carries
over to other chats."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from neve.domain.recall.lending import Place, Range, best_lent, lenders
from neve.domain.recall.weighted_counts import gate

Weights = Mapping[str, float]

LINEAR: Weights = {
    "keyword": 3.0,
    "similarity": 0.4,
    "previous": 0.4,
    "following": 0.3,
    "session": 0.5,
    "speaker": 1.6,
    "time": 1.0,
    "question": -0.4,
}
LATE: Weights = {
    "keyword": 2.4,
    "similarity": 0.25,
    "late": 0.7,
    "previous": 0.3,
    "following": 0.3,
    "session": 0.4,
    "speaker": 1.6,
    "time": 0.8,
    "question": -0.4,
}
"""Where candidates have a late-interaction score."""
BEST_OF_SESSION = 3
KEYWORD_FOR_LATE = 0.7
"""The standardised keyword score stands in for the late-interaction score of a candidate that has none yet."""

_MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
_DAYS = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
_TIME_WORD = re.compile(
    rf"\b(yesterday|today|tomorrow|last|next|ago|week|month|year|weekend|{_DAYS}|{_MONTHS}|\d{{4}})\b", re.IGNORECASE
)
_ASKS_WHEN = re.compile(r"\s*(when|what (date|day|month|year|time)|how long|which (year|month))\b", re.IGNORECASE)
_NEUTRAL = 0.5


@dataclass(frozen=True, slots=True)
class Considered:
    """A candidate as the features see it. ``place``: of an utterance, None for a memory; ``made_from``: the range of a
    memory, where it is known. ``length``: index terms of the whole message. ``speaker``: a name, None for a mere role.

    ``bm25`` and ``cosine`` are None where a leg did not find it; ``share`` (of query terms) stands in for the BM25 of
    one that is too new for the index. ``late``: MaxSim of the query's and the message's token vectors, None without
    these. ``prior``: the product of its priors."""

    id: str
    place: Place | None
    speaker: str | None
    text: str
    length: int
    bm25: float | None
    cosine: float | None
    share: float = 0.0
    late: float | None = None
    prior: float = 1.0
    made_from: Range | None = None


def rerank_scores(question: str, candidates: Sequence[Considered], floor: float) -> dict[str, float]:
    """A score for each id, larger is better: the log odds of its features, its prior included. A memory that lends has
    none. ``floor``: the cosine of the worst that the vector leg found, which nothing that it did not find exceeds."""
    return weigh(candidates, features(question, candidates, floor))


def weigh(candidates: Sequence[Considered], found: Mapping[str, Mapping[str, float]]) -> dict[str, float]:
    weights = LATE if any(one.late is not None for one in candidates) else LINEAR
    scores: dict[str, float] = {}
    for one in candidates:
        if one.id in found:
            values = found[one.id]
            weighed = sum(weight * values[name] for name, weight in weights.items())
            scores[one.id] = round(weighed + values["lent"] + math.log(one.prior), 6)
    return scores


def features(question: str, candidates: Sequence[Considered], floor: float) -> dict[str, dict[str, float]]:
    """What the weights weigh, by id and name, of everything that stands; ``lent`` is added as it is."""
    by_name = _Features(question, candidates, floor)
    return {one.id: by_name.of(one) for one in candidates if one.id not in by_name.lending}


class _Features:
    """What the features of one candidate need to know of the others."""

    def __init__(self, question: str, candidates: Sequence[Considered], floor: float) -> None:
        self._asks_when = bool(_ASKS_WHEN.match(question))
        said = [one for one in candidates if one.place is not None]
        self._named = _named(question, {one.speaker for one in said if one.speaker})
        best = max((one.bm25 or 0.0 for one in candidates), default=0.0) or 1.0
        self._keyword = {c.id: c.share if c.bm25 is None else c.bm25 / best for c in candidates}
        cosines = {one.id: floor if one.cosine is None else one.cosine for one in candidates}
        self._similarity = _standardised(cosines)
        late = {one.id: one.late for one in candidates if one.late is not None}
        words = {i: KEYWORD_FOR_LATE * z for i, z in _standardised(self._keyword).items()}
        self._late = words | _standardised(late) if late else dict.fromkeys(cosines, 0.0)
        self._nearness = _from_worst_to_best(late or cosines)
        self._at = {one.place: one.id for one in said}
        self._sessions = self._best_of_sessions(said)
        self.lending = lenders(
            {one.id: one.made_from for one in candidates if one.place is None},
            {one.id: one.place for one in said if one.place is not None},
        )
        self._lent = best_lent(self.lending, self._similarity)

    def of(self, one: Considered) -> dict[str, float]:
        matches = {
            "keyword": self._keyword[one.id],
            "similarity": self._similarity[one.id],
            "late": self._late[one.id],
            "lent": self._lent.get(one.id, 0.0),
        }
        if one.place is None:
            return {**matches, **_OF_A_MEMORY}
        (session, seq), short = one.place, gate(one.length)
        return {
            **matches,
            "previous": short * self._near((session, seq - 1)),
            "following": short * self._near((session, seq + 1)),
            "session": short * self._sessions[session],
            "speaker": self._speaker(one),
            "time": short * (self._asks_when and _TIME_WORD.search(one.text) is not None),
            "question": short * one.text.rstrip().endswith("?"),
        }

    def _near(self, place: Place) -> float:
        """The nearness of what was said there; 0 where that is no candidate."""
        identifier = self._at.get(place)
        return 0.0 if identifier is None else self._nearness.get(identifier, 0.0)

    def _best_of_sessions(self, said: Iterable[Considered]) -> dict[str, float]:
        """A third of the sum of each session's three best: a conversation about the matter lifts all of its lines."""
        found: dict[str, list[float]] = defaultdict(list)
        for one in said:
            if one.place is not None:
                found[one.place[0]].append(self._keyword[one.id] + self._nearness.get(one.id, 0.0))
        return {s: sum(sorted(values)[-BEST_OF_SESSION:]) / BEST_OF_SESSION for s, values in found.items()}

    def _speaker(self, one: Considered) -> float:
        """1 for the one person whom the question names, 0 for other persons; a half when it names nobody or several,
        and for somebody without a name."""
        if len(self._named) != 1 or one.speaker is None:
            return _NEUTRAL
        return float(one.speaker in self._named)


_OF_A_MEMORY = {
    "previous": 0.0,
    "following": 0.0,
    "session": 0.0,
    "speaker": _NEUTRAL,
    "time": 0.0,
    "question": 0.0,
}


def _standardised(values: Mapping[str, float]) -> dict[str, float]:
    """Deviations from the mean in standard deviations; 0 where all are alike."""
    if not values:
        return {}
    mean = math.fsum(values.values()) / len(values)
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in values.values()) / len(values))
    return {i: (value - mean) / deviation if deviation else 0.0 for i, value in values.items()}


def _from_worst_to_best(values: Mapping[str, float]) -> dict[str, float]:
    """0 for the worst, 1 for the best; 0 where all are alike."""
    least = min(values.values(), default=0.0)
    span = max(values.values(), default=0.0) - least
    return {i: (value - least) / span if span else 0.0 for i, value in values.items()}


def _named(question: str, speakers: set[str]) -> set[str]:
    words = set(re.findall(r"\w+", question.casefold()))
    return {speaker for speaker in speakers if set(re.findall(r"\w+", speaker.casefold())) & words}
