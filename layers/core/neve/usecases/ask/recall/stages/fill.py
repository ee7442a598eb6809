"""The hits of a prompt: the first ones whole, then others, and what short replies reply to, as far as there is room
(docs/rules/compile.md#retrieved)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from neve.domain.tokens import estimate
from neve.usecases.ask.recall.answer import Hit, fit, hit_line, reply_to
from neve.usecases.ask.recall.dropped import OVER_TOKENS, REPEATS, Dropped
from neve.usecases.ask.recall.recall_rows import RecallRow
from neve.usecases.ask.recall.search import Found
from neve.usecases.ask.recall.stages.hydrate import is_short, message_before

FILL_TOKENS = 600
"""Tokens of the lines of all hits (*inherited*): the first hits may take more, others have what these leave."""
MOST_HITS = 20
"""*Inherited.*"""


def filled(found: Found, k: int) -> tuple[list[Hit], list[Dropped]]:
    """Return the first ``k`` hits, as many of the others as have room, in their order, and in front of short replies
    the message before. A hit without room is skipped."""
    fitting, dropped, _ = fit(found.ranked, max(k, MOST_HITS), found.said_again)
    filling = _Filling(found, fitting[:k])
    for hit in fitting[k:]:
        if reason := filling.add(hit):
            dropped.append(Dropped(hit.id, reason, hit.components))
    placed = enumerate(filling.hits, start=1)
    return [hit if hit.rank == rank else replace(hit, rank=rank) for rank, hit in placed], dropped


class _Filling:
    def __init__(self, found: Found, first: Sequence[Hit]) -> None:
        self._found, self._ranked = found, {one.row.id: one for one in found.ranked}
        self._room = FILL_TOKENS - sum(self._tokens(hit) for hit in first)
        self._shown = {hit.id for hit in first}
        self.hits = [self._with_what_it_replies_to(hit) for hit in first]

    def add(self, hit: Hit) -> str | None:
        """Add a hit; return why it is left out, None where it is not."""
        if hit.id in self._shown:
            return REPEATS
        if (tokens := self._tokens(hit)) > self._room:
            return OVER_TOKENS
        self._room -= tokens
        self._shown.add(hit.id)
        self.hits.append(self._with_what_it_replies_to(hit))
        return None

    def _tokens(self, hit: Hit) -> int:
        return estimate(hit_line(hit, self._found.timezone))

    def _with_what_it_replies_to(self, hit: Hit) -> Hit:
        """Add the message before to a short reply; not where it may not be shown, or has no room."""
        row = self._before(hit)
        if row is None or row.id in self._shown:
            return hit
        told = reply_to(hit, row)
        more = self._tokens(told) - self._tokens(hit)
        if more > self._room:
            return hit
        self._room -= more
        self._shown.add(row.id)
        return told

    def _before(self, hit: Hit) -> RecallRow | None:
        """Return the message of another speaker directly before a short reply, if all of it holds."""
        before = message_before(hit.id) if is_short(self._ranked[hit.id].length) else None
        row = self._found.rows.get(before) if before else None
        if not isinstance(row, RecallRow) or row.utterance is None or row.utterance.speaker == hit.speaker:
            return None
        return row if all(self._found.holds(row, n) for n in range(len(row.passages))) else None
