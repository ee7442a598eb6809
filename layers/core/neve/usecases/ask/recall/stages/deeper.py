"""The first candidates of the linear order once more, by a model that reads the question and each of them together
(docs/rules/recall.md#deeper). Whatever is missing, fails or has no time, the linear order stands."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from neve.domain.recall.weighted_counts import gate
from neve.domain.records.users import UserHead
from neve.ports.errors import (
    DeadlineExceeded,
    EmbeddingRetryable,
    EmbeddingUnavailable,
    ModelMissing,
    StoreUnavailable,
)
from neve.ports.models import CrossEncoder
from neve.ports.runtime import Task
from neve.ports.search import SearchFilter
from neve.scope import UserScope
from neve.usecases.ask.recall.command import ResolvedRequest
from neve.usecases.ask.recall.recall_rows import RecallRow, read_row, row_key
from neve.usecases.ask.recall.stages.hydrate import Hydrated, message_before
from neve.usecases.ask.recall.stages.legs import LegReport
from neve.usecases.ask.recall.stages.rank_candidates import Ranked
from neve.usecases.ask.recall.time_budget import TimeBudget

ERROR = "rerank:error"
TIMEOUT = "rerank:timeout"
NO_MODEL = "rerank:no_model"
LOADED_SHARE = 0.5
"""Share of the recall's time for the model to be fetched and loaded (*chosen*: of 10 s of a tool 5, for 35 MB from a
bucket and then 0.3 s). What takes longer goes on, and a later recall finds it there."""
BEFORE_CHARACTERS = 400
"""Characters read of the end of the message before: there it asks what the candidate answers."""


@dataclass
class Deeper:
    """The second reading of one search's first candidates, by a cross-encoder; idle unless the request asks for it.
    ``report``: how it went, None where there were no candidates or no model."""

    scope: UserScope
    request: ResolvedRequest
    budget: TimeBudget
    degraded: list[str]
    report: LegReport | None = None
    _encoder: CrossEncoder | None = None
    _loading: Task[None] | None = None
    _loaded_by_ms: float = 0.0
    _scores: dict[str, float] = field(default_factory=dict)

    def start(self) -> None:
        """Load the model, beside the legs."""
        if self.request.rerank != "deep":
            return
        encoder = None if self.scope.in_many_languages else self.scope.ports.cross_encoder
        if encoder is None:
            self._without(NO_MODEL if self.request.rerank_named else None)
            return
        self._encoder, self._loading = encoder, self.scope.ports.tasks.start(encoder.load)
        self._loaded_by_ms = self.budget.started_ms + LOADED_SHARE * self.budget.ms

    def order(self, ranked: Sequence[Ranked], rows: Hydrated, seen: UserHead) -> list[Ranked]:
        """Order the first ``READ`` again. Each gets the score that stood in its place, and what the model said as the
        component ``deep``. ``ranked``: by the linear model, best first. ``seen``: as whom the rows were read."""
        first, rest = ranked[:READ], ranked[READ:]
        weight = weight_among([one.length for one in first])
        if self._encoder is None or self._loading is None or len(first) < 2 or not weight:
            return list(ranked)
        try:
            self._loading.result(self._loaded_by_ms)
            deep = self._read(self._encoder, self._texts(first, rows, seen))
        except DeadlineExceeded:
            self.report = LegReport("error", late=True)
            self._without(TIMEOUT)
        except ModelMissing:
            self._without(NO_MODEL if self.request.rerank_named else None)
        except (EmbeddingUnavailable, EmbeddingRetryable, StoreUnavailable) as error:
            self.report = LegReport("error", why=str(error))
            self._without(ERROR)
        else:
            self.report = LegReport("complete")
            places = deeper_order([one.final for one in first], deep, weight)
            moved = ((first[to], first[place], deep[place]) for to, place in enumerate(places))
            return [one.placed(at.final, {"deep": score, "final": at.final}) for at, one, score in moved] + [*rest]
        return list(ranked)

    def _read(self, encoder: CrossEncoder, texts: Sequence[str]) -> list[float]:
        """Return the model's score of each text, rounded to 6 digits. When time is up, the model ends with the text
        that it is at. Raises DeadlineExceeded."""
        ends_ms, clock = self.budget.legs_end_ms, self.scope.ports.clock
        unread = [text for text in dict.fromkeys(texts) if text not in self._scores]
        task = self.scope.ports.tasks.start(
            lambda: encoder.scores(self.request.vector_text, unread, lambda: clock.monotonic_ms() < ends_ms)
        )
        self._scores |= zip(unread, task.result(ends_ms), strict=True)
        return [round(self._scores[text], 6) for text in texts]

    def _texts(self, ranked: Sequence[Ranked], rows: Hydrated, seen: UserHead) -> list[str]:
        """Return what the model reads of each candidate: an utterance behind the end of the message before it. Raises
        StoreUnavailable, DeadlineExceeded."""
        before = self._before([u.id for one in ranked if (u := one.row.utterance)], rows, seen)
        texts = ((before.get(one.row.id, ""), one.row.passages[one.n].text) for one in ranked)
        return [f"{asked[-BEFORE_CHARACTERS:]}\n{text}" if asked else text for asked, text in texts]

    def _before(self, messages: Sequence[str], rows: Hydrated, seen: UserHead) -> Mapping[str, str]:
        """Return what was said directly before each of these messages, by its id; what is no candidate itself takes one
        read."""
        ids = {message: before for message in messages if (before := message_before(message))}
        lacking = {i: row_key(self.scope.keys, i) for i in dict.fromkeys(ids.values()) if i not in rows}
        to_read = [key for key in lacking.values() if key]
        found = {}
        if to_read:
            table = self.scope.ports.table
            found = self.scope.ports.tasks.start_read(lambda: table.get_many(to_read)).result(self.budget.legs_end_ms)
        everything = SearchFilter(statuses=(), asked_in=self.request.command.session_id)
        read = {i: read_row(found.get(key), seen, everything) for i, key in lacking.items() if key}
        said = {i: row for i, row in (*rows.items(), *read.items()) if isinstance(row, RecallRow)}
        return {identifier: said[i].passages[-1].text for identifier, i in ids.items() if i in said}

    def _without(self, flag: str | None) -> None:
        self._encoder = self._loading = None
        if flag:
            self.degraded.append(flag)


READ = 30
"""Candidates, the best of the linear order (*measured*: docs/retrieval.md#deeper)."""


def weight_among(lengths: Sequence[int]) -> float:
    """Return the weight of the standardised score beside the standardised linear one: 1 among short messages, 0 where
    half are pages, of which the model reads only the beginning (*measured*). ``lengths``: index terms of the whole
    messages."""
    return max(0.0, 2 * math.fsum(map(gate, lengths)) / len(lengths) - 1) if lengths else 0.0


def deeper_order(linear: Sequence[float], deep: Sequence[float], weight: float = 1.0) -> list[int]:
    """Return the places of the candidates, best first: by the sum of both scores, each in its standard deviations.
    ``linear`` is in its own order, which ties keep; where all are alike in one, the other decides."""
    total = [a + weight * b for a, b in zip(_standardised(linear), _standardised(deep), strict=True)]
    return sorted(range(len(total)), key=lambda place: -total[place])


def _standardised(values: Sequence[float]) -> list[float]:
    mean = math.fsum(values) / len(values) if values else 0.0
    deviation = math.sqrt(math.fsum((value - mean) ** 2 for value in values) / len(values)) if values else 0.0
    return [round((value - mean) / deviation, 9) if deviation else 0.0 for value in values]
