"""The rerank stage: what was said, put in order by more than its two ranks.

RRF forgets how good a match was and knows nothing of the conversation around it. This stage re-orders the candidates by
a small linear model over what the legs and the rows already say. What surrounds a message, and what kind of sentence it
is, tells something of a short chat turn and nothing of a page that an assistant wrote: those features fade with the
length of the message (``weighted_counts.gate``), and the matches themselves decide. What surrounds a message is taken
as its deviation from the mean of the candidates, so that to be short is no merit by itself. What was said before it
tells something only where it asks: then the message is an answer. To a statement it is a reaction, which says the same
words again and nothing more.

Weights: ``python -m evals.retrieval.fit`` (docs/retrieval.md). Few and small, because about half of such a gain carries
over to other chats."""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import chain
from operator import mul
from typing import NamedTuple

from neve.domain.recall.lending import RERANK_TERMS, Place, Range, best_lent, lenders
from neve.domain.recall.weighted_counts import gate
from neve.domain.words import QUERY_STOP_WORDS

_product: Callable[[float, float], float] = mul


class Features(NamedTuple):
    """The features of a candidate, or the weight of each feature. The first ones are the matches, by which a memory is
    weighed when it lends."""

    keyword: float
    similarity: float
    previous: float
    following: float
    session: float
    speaker: float
    time: float
    question: float

    def weighed(self, values: Features) -> float:
        return sum(map(_product, self, values))

    def weighed_matches(self, values: Features) -> float:
        return sum(map(_product, self[:MATCHES], values))


MATCHES = 2
LINEAR = Features(
    keyword=3.3,
    similarity=0.45,
    previous=0.9,
    following=0.5,
    session=0.75,
    speaker=1.8,
    time=1.7,
    question=-0.8,
)
MAX_KEYWORD_SCORE = 2.0
"""The most of a keyword score: a memory may match far better than the best utterance."""
MIN_DEVIATION = 0.02
"""The least deviation of cosines (*chosen* on chats 1-5 of two sets): that one of two utterances is nearer by a
thousandth says nothing, and the memory of one must not decide by it. Half of the questions there have more than
0.027."""
BEST_OF_SESSION = 3

WITH_FIRST_PERSON = 0.5
"""*Measured* on chats 1-5: between people who tell each other of their days no malus at all costs half a point."""

_MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
_DAYS = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
_TIME_WORD = re.compile(
    rf"\b(yesterday|today|tomorrow|last|next|ago|(?:week|month|year|weekend)s?|{_DAYS}|{_MONTHS}|(?:19|20)\d\d)\b",
    re.IGNORECASE,
)
_ASKS_WHEN = re.compile(r"\s*(when|what (date|day|month|year|time)|how long|which (year|month))\b", re.IGNORECASE)
_FIRST_PERSON = re.compile(r"\b(i|im|ive|my|mine|me|we|weve|our|ours|(?-i:us))\b", re.IGNORECASE)
_QUESTION_MARKS = ("?", "？", "؟")
_NEUTRAL = 0.5


class Considered(NamedTuple):
    """A candidate as the features see it. ``place``: of an utterance, None for a memory; ``made_from``: the range of a
    memory, where it is known. ``length``: index terms of the whole message. ``speaker``: a name, None for a mere role.

    ``bm25`` and ``cosine`` are None where a leg did not find it; ``share`` (of query terms) stands in for the BM25 of
    one that is too new for the index. ``prior``: the product of its priors."""

    id: str
    place: Place | None
    speaker: str | None
    text: str
    length: int
    bm25: float | None
    cosine: float | None
    share: float = 0.0
    prior: float = 1.0
    made_from: Range | None = None


def rerank_scores(question: str, candidates: Sequence[Considered], floor: float) -> dict[str, float]:
    """Return a score for each id, larger is better: the log odds of its features, its prior included. A memory that
    lends has none. ``floor``: the cosine of the worst that the vector leg found, which nothing that it did not find
    exceeds."""
    others = _Candidates(question, candidates, floor)
    found, lending = others.features(), others.lending
    taking_part = {*lending, *chain.from_iterable(lending.values())}
    matching = {identifier: LINEAR.weighed_matches(found[identifier]) for identifier in taking_part}
    lent = best_lent(lending, matching, RERANK_TERMS)
    return {
        one.id: round(LINEAR.weighed(found[one.id]) + lent.get(one.id, 0.0) + math.log(one.prior), 6)
        for one in candidates
        if one.id not in lending
    }


def features(question: str, candidates: Sequence[Considered], floor: float) -> dict[str, Features]:
    """Work out the features that the weights weigh, by id."""
    return _Candidates(question, candidates, floor).features()


class _Candidates:
    """All candidates, with what the features of one need to know of the others. Similarities are standardised over the
    candidates that keep a place, without memories that lend: these say once more what an utterance says. Everything
    else is compared with the utterances."""

    def __init__(self, question: str, candidates: Sequence[Considered], floor: float) -> None:
        self._all = candidates
        self._asks_when = bool(_ASKS_WHEN.match(question))
        utterances = {one.id: one.place for one in candidates if one.place is not None}
        self._named = _named(question, {one.speaker for one in candidates if one.speaker})
        best = max((one.bm25 or 0.0 for one in candidates if one.id in utterances), default=0.0) or 1.0
        self._keyword = {c.id: c.share if c.bm25 is None else min(MAX_KEYWORD_SCORE, c.bm25 / best) for c in candidates}
        cosines = {one.id: floor if one.cosine is None else one.cosine for one in candidates}
        self.lending = lenders({one.id: one.made_from for one in candidates if one.place is None}, utterances)
        standing = [one.id for one in candidates if one.id not in self.lending]
        self._similarity = _standardised(cosines, standing, MIN_DEVIATION)
        self._nearness = _from_worst_to_best({i: value for i, value in cosines.items() if i in utterances})
        self._at = {place: identifier for identifier, place in utterances.items()}
        self._asking = {one.place for one in candidates if one.place is not None and _asks(one.text)}
        self._around = [(values, _mean(values.values())) for values in self._surroundings(utterances)]

    def features(self) -> dict[str, Features]:
        return {one.id: self._of(one) for one in self._all}

    def _of(self, one: Considered) -> Features:
        identifier, short = one.id, gate(one.length)
        keyword, similarity = self._keyword[identifier], self._similarity[identifier]
        if one.place is None:
            return Features(keyword, similarity, 0.0, 0.0, 0.0, _NEUTRAL, 0.0, 0.0)
        previous, following, session = (values[identifier] - mean for values, mean in self._around)
        return Features(
            keyword=keyword,
            similarity=similarity,
            previous=short * previous,
            following=short * following,
            session=short * session,
            speaker=self._speaker(one),
            time=short * (self._asks_when and _TIME_WORD.search(one.text) is not None),
            question=short * _only_asks(one.text),
        )

    def _surroundings(self, utterances: Mapping[str, Place]) -> tuple[dict[str, float], ...]:
        """Return the match of what stands before each utterance, behind it, and in its session, each by id."""
        sessions = self._best_of_sessions(utterances)
        return (
            {i: self._asked((session, seq - 1)) for i, (session, seq) in utterances.items()},
            {i: self._near((session, seq + 1)) for i, (session, seq) in utterances.items()},
            {i: sessions[session] for i, (session, _) in utterances.items()},
        )

    def _asked(self, place: Place) -> float:
        """Return the nearness of a question that was asked there; 0 where none was asked."""
        return self._near(place) if place in self._asking else 0.0

    def _near(self, place: Place) -> float:
        """Return the nearness of what was said there; 0 where that is no candidate."""
        identifier = self._at.get(place)
        return 0.0 if identifier is None else self._nearness.get(identifier, 0.0)

    def _best_of_sessions(self, utterances: Mapping[str, Place]) -> dict[str, float]:
        """Return a third of the sum of each session's three best: a conversation about the matter lifts all of its
        lines."""
        found: dict[str, list[float]] = defaultdict(list)
        for identifier, (session, _) in utterances.items():
            found[session].append(self._keyword[identifier] + self._nearness.get(identifier, 0.0))
        return {s: sum(sorted(values)[-BEST_OF_SESSION:]) / BEST_OF_SESSION for s, values in found.items()}

    def _speaker(self, one: Considered) -> float:
        """Return 1 for the one person whom the question names, 0 for other persons; a half when it names none or
        several, and for a speaker without a name."""
        if len(self._named) != 1 or one.speaker is None:
            return _NEUTRAL
        return float(one.speaker in self._named)


def _only_asks(text: str) -> float:
    """Return 1 for what ends as a question, a half where it speaks of its speaker: "I've moved my flight to the 9th,
    can you check?" states what it asks about, "I love that! Where was it?" does not."""
    if not text.rstrip().endswith(_QUESTION_MARKS):
        return 0.0
    return WITH_FIRST_PERSON if _FIRST_PERSON.search(text) else 1.0


def _asks(text: str) -> bool:
    return any(mark in text for mark in _QUESTION_MARKS)


def _standardised(values: Mapping[str, float], standing: Iterable[str], least: float = 0.0) -> dict[str, float]:
    """Return the deviations from the mean of those that stand, in their standard deviations, which count as ``least``
    at least; 0 where all are alike."""
    over = [values[i] for i in standing if i in values]
    mean = _mean(over)
    deviation = max(least, math.sqrt(_mean([(value - mean) ** 2 for value in over])))
    return {i: (value - mean) / deviation if deviation else 0.0 for i, value in values.items()}


def _mean(values: Collection[float]) -> float:
    return math.fsum(values) / len(values) if values else 0.0


def _from_worst_to_best(values: Mapping[str, float]) -> dict[str, float]:
    """Return 0 for the worst, 1 for the best; 0 where all are alike."""
    least = min(values.values(), default=0.0)
    span = max(values.values(), default=0.0) - least
    return {i: (value - least) / span if span else 0.0 for i, value in values.items()}


def _named(question: str, speakers: set[str]) -> set[str]:
    """Return the speakers whom the question names. A word that is mostly no name (Will) is one with a capital inside
    the question."""
    written = [(word, word.casefold()) for word in re.findall(r"\w+", question)]
    named = {small for word, small in written[1:] if word[0].isupper()}
    words = named | {small for _, small in written if small not in QUERY_STOP_WORDS}
    return {speaker for speaker in speakers if set(re.findall(r"\w+", speaker.casefold())) & words}
