"""Say what no longer holds behind what does, and never say what was rejected or waits for a decision
(docs/rules/recall.md#what-no-longer-holds)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from neve.domain.ids import event_place, is_memory_id
from neve.domain.memories.fact_statements import stated_ranges
from neve.domain.memories.marks import WAITS, no_longer
from neve.domain.memories.unheld import (
    Retold,
    Tell,
    Unheld,
    last_successors,
    may_repeat,
    of_its_words,
    retold,
    unheld_facts,
    unheld_since,
)
from neve.domain.records.memories import Kind, Memory, Status
from neve.domain.sessions.spans import span_of
from neve.domain.zones import local_day
from neve.ports.search import SearchFilter
from neve.ports.table import Item
from neve.store import rows
from neve.usecases.ask.recall.command import ResolvedRequest
from neve.usecases.ask.recall.dropped import NO_LONGER_HOLDS, NOT_CONFIRMED, REJECTED, Dropped
from neve.usecases.ask.recall.recall_rows import NOT_READ, Hidden, RecallRow
from neve.usecases.ask.recall.stages.rank_candidates import CandidateScores, Ranked

BESIDE_MEMORIES = 10
"""Successors of facts that are read where memories were found, of the facts that were superseded last (*chosen*): which
events a memory is of is not known before it is read. Those of the events that were found are all read."""
_REASONS = {Status.SUPERSEDED: NO_LONGER_HOLDS, Status.INBOX: NOT_CONFIRMED, Status.ARCHIVED: REJECTED}


def facts_that_do_not_hold(items: Iterable[Item], gen: int, where: SearchFilter) -> list[Memory]:
    """Read the facts that do not hold, or did not at the time that the search is about, without rows that this version
    cannot read."""
    facts = unheld_facts(readable({str(item.get("id")): item for item in items}).values(), gen, where.holds_at or "")
    then = where.in_force_at
    return [one for one in facts if then is None or one.superseded_at is None or one.superseded_at <= then]


def readable(items: Mapping[str, Item]) -> dict[str, Memory]:
    """Read memories, those that this version can read; by id."""
    found = {}
    for identifier, item in items.items():
        try:
            found[identifier] = rows.read_memory(item)
        except NOT_READ:
            continue
    return found


def successors_to_read(facts: Sequence[Memory], found: Iterable[str]) -> list[str]:
    """Return the ids of what holds instead of what the candidates may say. ``found``: their ids."""
    ids = set(found)
    events: dict[str, list[int]] = {}
    for place in filter(None, map(event_place, ids)):
        events.setdefault(place[0], []).append(place[1])
    last = last_successors(facts)
    beside = BESIDE_MEMORIES if any(is_memory_id(one) for one in ids) else 0
    wanted: dict[str, None] = {}
    for fact in facts:
        if fact.id not in last:
            continue
        beside -= 1
        if beside >= 0 or fact.id in ids or _may_be_said(fact, events):
            wanted[last[fact.id]] = None
    return list(wanted)


def _may_be_said(fact: Memory, events: Mapping[str, Sequence[int]]) -> bool:
    """Say whether one of the events, or the answer directly behind it, states the fact."""
    return any(
        first <= seq <= last + 1 for session, (first, last) in stated_ranges(fact) for seq in events.get(session, ())
    )


@dataclass(frozen=True, slots=True)
class WhatHolds:
    """The rule that what no longer holds is not said first. ``unheld``: the facts that do not hold, with what holds
    instead of them. ``timezone``: in which days are told."""

    request: ResolvedRequest
    unheld: Sequence[Unheld] = ()
    timezone: str = "UTC"

    def first(
        self, best_first: Sequence[Ranked], known: Mapping[str, RecallRow | Hidden], scores: CandidateScores
    ) -> tuple[Sequence[Ranked], list[Dropped]]:
        """Put what holds before what no longer does; a successor that is not among the hits comes from ``known``,
        unless it is hidden there. Return the order, and the dropped rows of which no text is left."""
        if not self.unheld:
            return best_first, []
        order: list[Ranked] = []
        dropped: list[Dropped] = []
        left = list(best_first)
        ids = {one.row.id for one in best_first}
        while left:
            one = left.pop(0)
            told = self._told(one.row, one.n)
            for successor in [said.successor for said in told.said if said.successor and not told.rest]:
                if any(_states_fact(other, successor) for other in order):
                    continue
                place = next((at for at, other in enumerate(left) if _states_fact(other, successor)), None)
                row = known.get(successor.id)
                if place is not None:
                    holds = left.pop(place)
                    text = self._told(holds.row, holds.n)
                    order.append(holds.raised_to(one.final)._replace(text=text.text if text.said else None))
                elif isinstance(row, RecallRow) and row.id not in ids:
                    order.append(_brought(row, one, scores))
            if not told.said:
                order.append(one)
            elif told.text:
                order.append(one._replace(text=told.text))
            else:
                dropped.append(Dropped(one.row.id, _REASONS[told.said[0].why], one.components))
        return order, dropped

    def holds(self, row: RecallRow, n: int) -> bool:
        """Say whether the ``n``-th passage says nothing that does not hold."""
        return not self._told(row, n).said

    def told(self, row: RecallRow, n: int) -> str | None:
        """Return the ``n``-th passage with what does not hold marked or left out; None where all of it holds."""
        told = self._told(row, n)
        return told.text if told.said else None

    def _told(self, row: RecallRow, n: int) -> Retold:
        passage, memory = row.passages[n], row.memory
        text = row.utterance.parts[n] if row.utterance else passage.text
        if memory and memory.kind is Kind.FACT:
            return Retold(text, tuple(one for one in self.unheld if one.fact.id == memory.id), rest=False)
        if row.document or (memory and not may_repeat(memory)):
            return Retold(text)
        span = span_of(passage.seq_from, passage.seq_to)
        if span is None and not (memory and memory.kind is Kind.REFLECTION):
            return Retold(text)
        reply = row.utterance is not None and row.utterance.role == "assistant"
        return retold(text, passage.session_id, span, self.unheld, self._tell, reply=reply)

    @property
    def _tell(self) -> Tell:
        prompt, shown = self.request.command.mode == "prompt", self.request.where.statuses

        def tell(one: Unheld, more: bool) -> str | None:
            if one.why is not Status.SUPERSEDED:
                return WAITS if one.why in shown else None
            if prompt and not more and one.why not in shown:
                return None
            newer = one.successor
            since = newer.observed_at if newer else unheld_since(one.fact)
            return no_longer(local_day(since, self.timezone), newer.text if newer else None)

        return tell


def _states_fact(one: Ranked, fact: Memory) -> bool:
    """Say whether it is the fact, or says it where it was said."""
    passage = one.row.passages[one.n]
    if one.row.id == fact.id:
        return True
    return of_its_words(passage.text, passage.session_id, span_of(passage.seq_from, passage.seq_to), fact)


def _brought(row: RecallRow, before: Ranked, scores: CandidateScores) -> Ranked:
    """Place a successor directly before what it took the place of, with its score."""
    components = {"rrf": 0.0, **scores.priors_of(row), "final": before.final, "corrects": before.final}
    share = scores.share_of(row, 0)
    return Ranked(row, 0, before.final, components, share, before.length, 0.0)
