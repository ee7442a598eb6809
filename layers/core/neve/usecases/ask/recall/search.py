"""One search: three steps of port calls, each run in parallel (docs/rules/recall.md).

1. read: the query's vector, the user and session rows, the rows that are too new for the index
2. the search by vector, once the query has one; BM25; the pack's manifest, unless this process knows it
3. hydrate: every candidate's row, as the user row of the same read sees it

Between them: gate (which candidates go on), fuse (their order). The legs read deeper than their depth by as many items
as the pack may hold, so that what the pack repeats is dropped, and said to be dropped, without another reading. Should
fewer than k remain all the same, the legs are read again, deeper, with everything left out inside them that was
dropped, and what that adds stands behind."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from neve.domain.ids import is_event_id
from neve.domain.memories.unheld import with_successors
from neve.domain.pack.fit import candidate_limit
from neve.domain.recall.query import query_terms
from neve.domain.records.memories import Memory
from neve.domain.records.users import UserHead
from neve.domain.times import parse
from neve.ports.errors import DeadlineExceeded, StoreUnavailable
from neve.ports.search import Candidate, SearchFilter
from neve.scope import UserScope
from neve.store import rows
from neve.usecases.ask.recall.answer import INDEX_BEHIND
from neve.usecases.ask.recall.command import MIN_DEPTH, ResolvedRequest
from neve.usecases.ask.recall.dropped import REPEATS, Dropped, History, LeftOut, by_id, hidden, left_out
from neve.usecases.ask.recall.recall_rows import UNREADABLE, RecallRow, read_row
from neve.usecases.ask.recall.said_again import said_again
from neve.usecases.ask.recall.stages.deeper import Deeper
from neve.usecases.ask.recall.stages.fuse import Ranking, fuse, new_candidates
from neve.usecases.ask.recall.stages.gate import Gated, gate
from neve.usecases.ask.recall.stages.hydrate import (
    NO_TEXT,
    Hydrated,
    Hydration,
    before_replies,
    shown,
)
from neve.usecases.ask.recall.stages.legs import DEADLINE, LegReport, Legs, Reading
from neve.usecases.ask.recall.stages.rank_candidates import CandidateScores, Ranked
from neve.usecases.ask.recall.stages.reads import UserState, start_reads
from neve.usecases.ask.recall.stages.what_holds import (
    WhatHolds,
    facts_that_do_not_hold,
    readable,
    successors_to_read,
)
from neve.usecases.ask.recall.time_budget import Collector, TimeBudget
from neve.usecases.core.lag.memory_lag import MemoryLag
from neve.usecases.core.pack.served_pack import PACK_CONTENTS, PackContents

HYDRATE_ERROR = "hydrate:error"
_FLAGS = {NO_TEXT: "documents:error", UNREADABLE: "hydrate:unreadable"}
"""The flags with which an answer tells of candidates that were dropped for these reasons."""
ANY_REV = 1
"""The rev that is read of an utterance: its row is the same whatever rev its passages have."""
READINGS = 3
"""How often the legs are read at most, again when what they found was hidden: each time leaves out what was."""


@dataclass(frozen=True, slots=True)
class Found:
    """The result of a search. ``searched`` False: that nothing was found says nothing about what is stored. ``head`` is
    None when the user row could not be read. ``lag``: set when some of it cannot be found yet. ``history``: what of the
    session it took for shown in the prompt; ``pack_version``: of the pack that it took for the prompt's. ``timezone``:
    of the session that was named. ``said_again``: by the id of a row of ``ranked``, when else the same text was said.
    ``holds``: whether the n-th passage of a row says nothing that does not hold. ``rows``: all that were read, by id.
    ``read_again``: how the first candidates were, where they were to be."""

    ranked: Sequence[Ranked]
    dropped: list[Dropped]
    reports: Mapping[str, LegReport]
    degraded: list[str]
    searched: bool
    head: UserHead | None
    lag: MemoryLag | None = None
    history: History | None = None
    pack_version: int | None = None
    timezone: str = "UTC"
    said_again: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    holds: Callable[[RecallRow, int], bool] = lambda _row, _n: True
    rows: Hydrated = field(default_factory=dict)
    read_again: LegReport | None = None


def nothing_found(reports: Mapping[str, LegReport], degraded: Iterable[str], head: UserHead | None = None) -> Found:
    """Make the result of a search that did not get to its end."""
    return Found([], [], reports, list(dict.fromkeys(degraded)), searched=False, head=head)


def search(scope: UserScope, request: ResolvedRequest, budget: TimeBudget) -> Found:
    """Run one search. A store or an embedder that fails, and time that runs out, degrade it. Raises session_not_found
    and user_closed."""
    legs = Legs(scope, request, budget)
    deeper = Deeper(scope, request, budget, legs.degraded)
    then = request.command.as_of
    now = scope.ports.clock.now() if then is None else parse(then)
    scores = CandidateScores(query_terms(request.shaped.text_query), now, request.time_bound)
    try:
        return _Search(scope, request, scores, budget, legs, deeper).run()
    except StoreUnavailable:
        return nothing_found(legs.reports, [*legs.degraded, HYDRATE_ERROR])
    except DeadlineExceeded:
        return nothing_found(legs.reports, [*legs.degraded, DEADLINE])


@dataclass(slots=True)
class _Read:
    """The results of steps 1 and 2: who asks and where, what must not be answered with, and what is too new for the
    legs, by id with its rev. ``unheld``: facts that do not hold; ``successors``: what holds instead, and ``known``: the
    rows of the candidates, as far as they were read, by id."""

    timezone: str
    hydration: Hydration
    out: LeftOut
    new: Mapping[str, int]
    unheld: Sequence[Memory]
    successors: dict[str, Memory] = field(default_factory=dict)
    known: Hydrated = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Search:
    scope: UserScope
    request: ResolvedRequest
    scores: CandidateScores
    budget: TimeBudget
    legs: Legs
    deeper: Deeper

    def run(self) -> Found:
        depth = self.request.index_depth + self._pack_allowance()
        self.legs.start(self.request.where, depth)
        reads = start_reads(self.scope, self.request)
        self.deeper.start()
        user_state, aside = reads.collect(self.budget)
        head = user_state.head
        if rows.hidden(head):
            return self._found([], (), head)
        self.legs.start_words(self.request.where, depth)
        reading = self.legs.read(depth)
        pack, new_items, unheld_items = aside.collect(self.budget.legs_end_ms, Collector(self.legs.degraded))
        out = _left_out(user_state, pack, self.request)
        new, dropped = new_candidates(self.request, self.scores, head, out, new_items)
        revs = {item["id"]: item["rev"] for item in new_items if "id" in item and "rev" in item}
        new_revs = {identifier: revs.get(identifier, ANY_REV) for identifier in new}
        found = (*new, *(one.item_id for leg in (reading.lexical, reading.vector) for one in leg or ()))
        request = self.request
        if request.rerank != "off" and not any(map(is_event_id, found)):
            request = replace(request, rerank="off", depth=MIN_DEPTH)  # there is nothing to re-order
        self.legs.take(request.depth)
        hydration = Hydration(self.scope, request, head, self.budget.ends_ms)
        unheld = facts_that_do_not_hold(unheld_items, head.gen, request.where)
        read = _Read(user_state.timezone, hydration, out, new_revs, unheld)
        ranking = replace(self, request=request)._ranked(read, reading, dropped)
        lag = aside.index_lag.lag(self.budget.legs_end_ms) if aside.index_lag else None
        if lag is not None:
            self.legs.degraded.append(INDEX_BEHIND)
        return replace(
            self._found(ranking.ranked, ranking.dropped, hydration.seen),
            lag=lag,
            history=out.history,
            pack_version=pack.version if pack else None,
            timezone=read.timezone,
            said_again=said_again((one.row for one in ranking.ranked), ranking.dropped, read.known),
            holds=self._what_holds(read).holds,
            rows=read.known,
            read_again=self.deeper.report,
        )

    def _pack_allowance(self) -> int:
        """Return how many items of a leg the session's pack may hold: as many as it held last, else what a pack can
        hold."""
        session = self.request.command.session_id
        if session is None:
            return 0
        pack = self.scope.ports.caches.of(PACK_CONTENTS).get(self.scope.keys.of_session(session))
        return len(pack.ids) if pack else candidate_limit(self.scope.policy.global_layer)

    def _ranked(self, read: _Read, reading: Reading, dropped: Iterable[Dropped]) -> Ranking:
        """Gate, hydrate and fuse the candidates of each reading, and put what another one adds behind, while fewer than
        k remain and one may find more."""
        ranking, repeated, asked = Ranking((), tuple(dropped)), frozenset[str](), self
        for attempt in range(READINGS):
            try:
                if attempt:
                    repeated |= _repeated_prints(ranking, read.known)
                    narrowed = _narrow_filter(self.request.where, read.out, ranking.dropped, repeated)
                    again = self.legs.read_again(reading, narrowed)
                    if again is None:
                        break
                    reading, further = again, self.request.further(answered=bool(ranking.ranked))
                    asked = replace(self, request=further)
                more = asked._rank(read, reading)
            except (DeadlineExceeded, StoreUnavailable) as error:
                if not attempt:
                    raise
                self.legs.cut_off(DEADLINE if isinstance(error, DeadlineExceeded) else HYDRATE_ERROR)
                break
            ranking = _append_further(ranking, more)
            if len(ranking.ranked) >= self.request.k or not ranking.starved:
                break
        return ranking

    def _rank(self, read: _Read, reading: Reading) -> Ranking:
        """Rank the candidates of one reading."""
        gated = gate(self.request, read.out, reading)
        new = read.new if gated.lexical is not None else {}
        wanted = {i: rev for i, rev in _revs(gated.found, new).items() if i not in read.known}
        beside = [one for one in successors_to_read(read.unheld, wanted) if one not in read.successors]
        if self.request.command.fills:
            wanted |= dict.fromkeys(before_replies(gated, wanted.keys() | read.known.keys()), ANY_REV)
        fresh, stored = read.hydration.read(wanted, beside)
        read.successors.update(readable(stored))
        read.known = {**read.known, **shown(fresh, read.out)}
        reading = replace(reading, deeper=lambda ranked: self.deeper.order(ranked, read.known, read.hydration.seen))
        ranking = fuse(self.request, self.scores, reading, gated, read.known, list(new))
        ranked, not_holding = self._what_holds(read).first(ranking.ranked, read.known, self.scores)
        dropped = (*ranking.dropped, *not_holding)
        starved = _is_starved(self.request, reading, gated, dropped, len(ranked))
        return Ranking(ranked, (*gated.dropped, *dropped), starved=starved)

    def _what_holds(self, read: _Read) -> WhatHolds:
        gen = read.hydration.seen.gen
        at = self.request.where.holds_at or ""
        return WhatHolds(self.request, with_successors(read.unheld, read.successors, gen, at), read.timezone)

    def _found(self, ranked: Sequence[Ranked], dropped: Iterable[Dropped], head: UserHead) -> Found:
        hits = {one.row.id for one in ranked}
        log = [one for one in by_id(dropped).values() if one.id not in hits]
        reasons = {one.reason for one in log}
        degraded = [*self.legs.degraded, *(flag for reason, flag in _FLAGS.items() if reason in reasons)]
        return Found(ranked, log, self.legs.reports, degraded, self.legs.searched, head)


def _revs(found: Iterable[Candidate], new: Mapping[str, int]) -> dict[str, int]:
    """Return the newest rev that was found of each item, in the order of the items."""
    revs: dict[str, int] = {}
    for candidate in found:
        revs[candidate.item_id] = max(candidate.version, revs.get(candidate.item_id, 0))
    return {**revs, **{identifier: max(rev, revs.get(identifier, 0)) for identifier, rev in new.items()}}


def _left_out(user_state: UserState, pack: PackContents | None, request: ResolvedRequest) -> LeftOut:
    everything = SearchFilter(statuses=(), asked_in=request.command.session_id)
    named = [read_row(item, user_state.head, everything) for item in user_state.excluded]
    prints = [row.fingerprint for row in named if isinstance(row, RecallRow)]
    asked = request.command
    prompt = asked.mode == "prompt"
    session = asked.session_id if prompt or asked.beside == "history" else None
    return left_out(pack, asked.exclude_ids, prints, user_state.history, prompt_of=session, of_prompt=prompt)


def _is_starved(
    request: ResolvedRequest, reading: Reading, gated: Gated, dropped: Iterable[Dropped], ranked: int
) -> bool:
    """Say whether more candidates may be behind a leg that found as many as its depth and, for the vector leg, was not
    below the threshold there. Only then asked: fewer than k are ``ranked``, or it lost some that were ``dropped`` when
    the rows were read, or so many were left out before that fewer than its depth went on."""
    lexical, vector, depth = reading.lexical, reading.vector, request.depth
    lost = 0 < ranked < request.k or bool(hidden(dropped))
    more_words = lexical is not None and len(lexical) >= depth and (lost or len(gated.lexical or ()) < depth)
    more_near = vector is not None and len(vector) >= depth and (lost or len(gated.near or ()) < depth)
    if more_near and vector:
        [last] = reading.similarities(vector[depth - 1 : depth]).values()
        more_near = last >= request.threshold
    return more_words or more_near


def _repeated_prints(ranking: Ranking, known: Hydrated) -> frozenset[str]:
    """Return the fingerprints of texts in the ranking that further rows repeat; how many is not known."""
    standing = {one.row.fingerprint for one in ranking.ranked}
    repeats = (known.get(one.id) for one in ranking.dropped if one.reason == REPEATS)
    return frozenset(row.fingerprint for row in repeats if isinstance(row, RecallRow)) & standing


def _narrow_filter(
    where: SearchFilter, out: LeftOut, dropped: Iterable[Dropped], repeated: frozenset[str]
) -> SearchFilter:
    """Make the filter of another reading: without what was found and must not be shown, and without any copy of what
    others repeat."""
    return replace(
        where,
        exclude_ids=where.exclude_ids | hidden(dropped) | frozenset(out.ids),
        exclude_fingerprints=frozenset(out.fingerprints) | repeated,
    )


def _append_further(first: Ranking, more: Ranking) -> Ranking:
    """Put what another reading adds behind what stands already, with the score of the last at most: the order of the
    first ten is the same however many are asked for."""
    dropped = (*first.dropped, *more.dropped)
    if not first.ranked:
        return replace(more, dropped=dropped)
    ids = {one.row.id for one in first.ranked}
    texts = {one.row.fingerprint for one in first.ranked}
    last = min(one.final for one in first.ranked)
    added = [one for one in more.ranked if one.row.id not in ids and one.row.fingerprint not in texts]
    behind = [one.placed(final, {"final": final}) for one in added for final in [min(one.final, last)]]
    return replace(more, ranked=(*first.ranked, *behind), dropped=dropped)
