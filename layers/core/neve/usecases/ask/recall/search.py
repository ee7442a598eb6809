"""One search: three steps of port calls, each run in parallel (docs/rules/recall.md).

1. read: the query's vector, the user and session rows, the rows that are too new for the index
2. the search by vector, once the query has one; BM25; the pack's manifest, unless this process knows it
3. hydrate: every candidate's row and the user row again

What BM25 found is read at once, but for documents, while the query is still being embedded; step 3 reads the others.

Between them: gate (which candidates go on), fuse (their order). The legs read deeper than their depth by as many items
as the pack may hold, so that what the pack repeats is dropped, and said to be dropped, without another reading. Should
fewer than k remain all the same, the search refills: the legs are read again, deeper, with everything left out inside
them that was dropped, and what that adds stands behind."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

from neve.domain.ids import is_event_id
from neve.domain.memories.unheld import with_successors
from neve.domain.pack.fit import candidate_limit
from neve.domain.recall.query_terms import query_terms
from neve.domain.records.memories import Memory
from neve.domain.records.users import UserHead
from neve.ports.errors import DeadlineExceeded, StoreUnavailable
from neve.ports.search import Candidate, SearchFilter
from neve.scope import UserScope
from neve.store import rows
from neve.usecases.ask.recall.answer import INDEX_BEHIND
from neve.usecases.ask.recall.collector import Collector
from neve.usecases.ask.recall.command import ResolvedRequest
from neve.usecases.ask.recall.dropped import REPEATS, Dropped, History, LeftOut, by_id, hidden, left_out
from neve.usecases.ask.recall.recall_rows import UNREADABLE, RecallRow, read_row
from neve.usecases.ask.recall.said_again import said_again
from neve.usecases.ask.recall.stages.before_replies import before_replies
from neve.usecases.ask.recall.stages.candidate_scores import CandidateScores
from neve.usecases.ask.recall.stages.deeper import Deeper
from neve.usecases.ask.recall.stages.documents import NO_TEXT
from neve.usecases.ask.recall.stages.fuse import Ranking, fuse, new_candidates
from neve.usecases.ask.recall.stages.gate import Gated, gate, gated_words
from neve.usecases.ask.recall.stages.hydrate import (
    Ahead,
    GenerationMoved,
    Hydrated,
    Hydration,
    ReadAhead,
    UnderWay,
    read_by_id,
    shown,
)
from neve.usecases.ask.recall.stages.legs import DEADLINE, LegReport, Legs, Reading
from neve.usecases.ask.recall.stages.rank_candidates import Ranked
from neve.usecases.ask.recall.stages.reads import PACK_ERROR, Aside, IndexLag, UserState, start_reads
from neve.usecases.ask.recall.stages.what_holds import (
    WhatHolds,
    facts_that_do_not_hold,
    readable,
    successors_to_read,
)
from neve.usecases.ask.recall.time_budget import TimeBudget
from neve.usecases.core.lag.memory_lag import MemoryLag
from neve.usecases.core.pack.served_pack import PACK_CONTENTS, PackContents

HYDRATE_ERROR = "hydrate:error"
_FLAGS = {NO_TEXT: "documents:error", UNREADABLE: "hydrate:unreadable"}
"""The flags with which an answer tells of candidates that were dropped for these reasons."""
ANY_REV = 1
"""The rev that is read of an utterance: its row is the same whatever rev its passages have."""
REFILLS = 2
"""How often the legs are read again when what they found was hidden: each time leaves out what was."""
GENERATIONS = 3
"""How often a search starts over because a replacement became visible under it."""


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
    """Run one search, again where a replacement becomes visible under it. A store or an embedder that fails, and time
    that runs out, degrade it. Raises session_not_found and user_closed."""
    for attempt in range(1, GENERATIONS + 1):
        legs = Legs(scope.ports, scope.keys.owner, request, budget)
        deeper = Deeper(scope, request, budget, legs.degraded)
        scores = CandidateScores(query_terms(request.shaped.text_query), scope.ports.clock.now(), request.time_bound)
        one = _Search(scope, request, scores, budget, legs, deeper, last=attempt == GENERATIONS)
        try:
            return one.run()
        except GenerationMoved:
            continue
        except StoreUnavailable:
            return nothing_found(legs.reports, [*legs.degraded, HYDRATE_ERROR])
        except DeadlineExceeded:
            return nothing_found(legs.reports, [*legs.degraded, DEADLINE])
    raise AssertionError("the last search takes the generation as it is")


@dataclass(frozen=True, slots=True)
class _Read:
    """The results of steps 1 and 2: who asks and where, what must not be answered with, what the legs found, and what
    is too new for them, by id with its rev. ``unheld``: facts that do not hold; ``successors``: what holds instead, as
    far as it was read, by id."""

    index_lag: IndexLag | None
    timezone: str
    hydration: Hydration
    ahead: ReadAhead
    out: LeftOut
    pack_version: int | None
    reading: Reading
    new: Mapping[str, int]
    dropped: tuple[Dropped, ...]
    unheld: Sequence[Memory]
    successors: dict[str, Memory] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Search:
    scope: UserScope
    request: ResolvedRequest
    scores: CandidateScores
    budget: TimeBudget
    legs: Legs
    deeper: Deeper
    last: bool

    def run(self) -> Found:
        depth = self.request.index_depth + self._pack_allowance()
        self.legs.start(self.request.where, depth)
        reads = start_reads(self.scope, self.request)
        self.deeper.start()
        user_state, aside = reads.collect(self.budget)
        if rows.hidden(user_state.head):
            return self._found([], (), user_state.head)
        self.legs.start_words(self.request.where, depth)
        hydration = Hydration(self.scope, self.request, user_state.head, self.budget.ends_ms, self.last)
        ahead = hydration.start_ahead(lambda: self._read_ahead(hydration, user_state, aside))
        reading = self.legs.read(depth)
        pack, new_items, unheld_items = aside.collect(self.budget.legs_end_ms, Collector(self.legs.degraded))
        out = _left_out(user_state, pack, self.request)
        new, dropped = new_candidates(self.request, self.scores, user_state.head, out, new_items)
        revs = {item["id"]: item["rev"] for item in new_items if "id" in item and "rev" in item}
        new_revs = {identifier: revs.get(identifier, ANY_REV) for identifier in new}
        version, zone = pack.version if pack else None, user_state.timezone
        unheld = facts_that_do_not_hold(unheld_items, user_state.head.gen)
        read = _Read(aside.index_lag, zone, hydration, ahead, out, version, reading, new_revs, tuple(dropped), unheld)
        return self._fitted(read)._ranked(read)

    def _fitted(self, read: _Read) -> _Search:
        """Return the search with a depth that fits what the legs found."""
        request = _without_idle_rerank(
            self.request, chain(read.new, _ids(read.reading.lexical), _ids(read.reading.vector))
        )
        if request is self.request:
            return self
        self.legs.take(request.depth)
        return replace(self, request=request)

    def _read_ahead(self, hydration: Hydration, user_state: UserState, aside: Aside) -> Ahead:
        """Read the utterances and memories that BM25 finds, while the query is still being embedded. In a task: it
        waits for tasks that were started before it."""
        out = _left_out(user_state, Collector().of(aside.pack, self.budget.legs_end_ms, PACK_ERROR), self.request)
        found = self._found_by_words(out, self.legs.by_words())
        ahead = hydration.read_ahead(read_by_id(_ids(found)))
        self.scores.look_ahead(found, ahead.rows)
        return ahead

    def _found_by_words(
        self, out: LeftOut, words: Sequence[Candidate], gated: Sequence[Candidate] | None = None
    ) -> Sequence[Candidate]:
        """Return the keyword leg's candidates that are read ahead. Where they hold no utterance, the vector leg is
        taken to have found none either: deeper ones are read with what that leg found. ``gated``: of ``words``, those
        that both legs together let through."""
        request = _without_idle_rerank(self.request, _ids(words))
        if gated is not None and request is self.request:
            return gated
        return gated_words(request, out, words)

    def _pack_allowance(self) -> int:
        """Return how many items of a leg the session's pack may hold: as many as it held last, else what a pack can
        hold."""
        session = self.request.command.session_id
        if session is None:
            return 0
        pack = self.scope.ports.caches.of(PACK_CONTENTS).get(self.scope.keys.of_session(session))
        return len(pack.ids) if pack else candidate_limit(self.scope.policy.global_layer)

    def _ranked(self, read: _Read) -> Found:
        """Gate, hydrate and fuse the candidates; put what another reading adds behind, while fewer than k remain and
        one may find more."""
        reading, dropped = read.reading, read.dropped
        ranking, known = self._rank(read, reading, {}, read.ahead)
        dropped += ranking.dropped
        repeated: frozenset[str] = frozenset()
        for _ in range(REFILLS):
            if len(ranking.ranked) >= self.request.k or not ranking.starved:
                break
            repeated |= _repeated_prints(ranking, known)
            try:
                again = self.legs.read_again(reading, _narrow_filter(self.request.where, read.out, dropped, repeated))
                if again is None:
                    break
                reading = again
                further = replace(self, request=self.request.further(answered=bool(ranking.ranked)))
                more, known = further._rank(read, reading, known)
            except DeadlineExceeded:
                self.legs.cut_off(DEADLINE)
                break
            except StoreUnavailable:
                self.legs.cut_off(HYDRATE_ERROR)
                break
            ranking = _append_further(ranking, more)
            dropped += more.dropped
        lag = read.index_lag.lag(self.budget.legs_end_ms) if read.index_lag else None
        if lag is not None:
            self.legs.degraded.append(INDEX_BEHIND)
        found = self._found(ranking.ranked, dropped, read.hydration.seen)
        return replace(
            found,
            lag=lag,
            history=read.out.history,
            pack_version=read.pack_version,
            timezone=read.timezone,
            said_again=said_again((one.row for one in ranking.ranked), dropped, known),
            holds=self._what_holds(read).holds,
            rows=known,
            read_again=self.deeper.report,
        )

    def _rank(
        self, read: _Read, reading: Reading, known: Hydrated, ahead: ReadAhead | None = None
    ) -> tuple[Ranking, Hydrated]:
        """Rank the candidates of one reading. ``known``: rows of an earlier reading; with those that were read now they
        are returned. ``ahead``: of the first reading."""
        gated = gate(self.request, read.out, reading)
        new = read.new if gated.lexical is not None else {}
        wanted = {i: rev for i, rev in _revs(gated.found, new).items() if i not in known}
        by_words = frozenset(read_by_id(_ids(self._found_by_words(read.out, reading.lexical or (), gated.lexical))))
        beside = [one for one in successors_to_read(read.unheld, wanted) if one not in read.successors]
        if self.request.command.fills:
            anyway = wanted.keys() | known.keys()
            wanted |= dict.fromkeys(before_replies(gated, anyway, len(wanted.keys() - by_words)), ANY_REV)
        fresh, stored = read.hydration.read(wanted, UnderWay(by_words, ahead) if ahead and by_words else None, beside)
        read.successors.update(readable(stored))
        known = {**known, **shown(fresh, read.out)}
        reading = replace(reading, deeper=lambda ranked: self.deeper.order(ranked, known, read.hydration.seen))
        ranking = fuse(self.request, self.scores, reading, gated, known, list(new))
        ranked, not_holding = self._what_holds(read).first(ranking.ranked, known, self.scores)
        dropped = (*ranking.dropped, *not_holding)
        starved = _is_starved(self.request, reading, gated, dropped, len(ranked))
        return Ranking(ranked, (*gated.dropped, *dropped), starved=starved), known

    def _what_holds(self, read: _Read) -> WhatHolds:
        gen = read.hydration.seen.gen
        return WhatHolds(self.request, with_successors(read.unheld, read.successors, gen), read.timezone)

    def _found(self, ranked: Sequence[Ranked], dropped: Iterable[Dropped], head: UserHead) -> Found:
        hits = {one.row.id for one in ranked}
        log = [one for one in by_id(dropped).values() if one.id not in hits]
        reasons = {one.reason for one in log}
        degraded = [*self.legs.degraded, *(flag for reason, flag in _FLAGS.items() if reason in reasons)]
        return Found(ranked, log, self.legs.reports, degraded, self.legs.searched, head)


def _ids(candidates: Iterable[Candidate] | None) -> Iterator[str]:
    return (candidate.item_id for candidate in candidates or ())


def _without_idle_rerank(request: ResolvedRequest, found: Iterable[str]) -> ResolvedRequest:
    """Return the request, without the rerank stage where no utterance is among the candidates' ids ``found``."""
    if request.rerank == "off" or any(map(is_event_id, found)):
        return request
    return request.without_rerank()


def _revs(found: Iterable[Candidate], new: Mapping[str, int]) -> dict[str, int]:
    """Return the newest rev that was found of each item, in the order of the items."""
    revs: dict[str, int] = {}
    for candidate in found:
        revs[candidate.item_id] = max(candidate.version, revs.get(candidate.item_id, 0))
    return {**revs, **{identifier: max(rev, revs.get(identifier, 0)) for identifier, rev in new.items()}}


def _left_out(user_state: UserState, pack: PackContents | None, request: ResolvedRequest) -> LeftOut:
    everything = SearchFilter(statuses=())
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
    ids = {one.row.id for one in first.ranked}
    texts = {one.row.fingerprint for one in first.ranked}
    last = min((one.final for one in first.ranked), default=math.inf)
    added = [one for one in more.ranked if one.row.id not in ids and one.row.fingerprint not in texts]
    behind = [one.placed(final, {"final": final}) for one in added for final in [min(one.final, last)]]
    return replace(more, ranked=(*first.ranked, *behind))
