"""One search: three steps of port calls, each run in parallel (engine.md §7).

1. BM25, the query's vector, the user and session rows, the rows that are too new for the index
2. the search by vector; the pack's manifest, unless this process knows it
3. every candidate's row and the user row again

The legs read deeper than their depth by as many items as the pack may hold, so that what the pack repeats is dropped,
and said to be dropped, without another reading. Should fewer than k remain all the same, they are read again with
everything left out inside them that was dropped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from neve.domain.pack.fit import candidate_limit
from neve.domain.recall.fusion import calibrate
from neve.domain.recall.keyword_ranking import Placed, keyword_ranking
from neve.domain.recall.query import share_of_terms
from neve.domain.records import UserHead
from neve.ports import Candidate, DeadlineExceeded, Item, Key, Owner, SearchFilter, StoreUnavailable
from neve.store import rows
from neve.usecases.pack.served_pack import served_packs
from neve.usecases.recall.command import Asked
from neve.usecases.recall.dropped import BELOW_THRESHOLD, CHANGED, REPEATS, Dropped, DroppedCandidates
from neve.usecases.recall.legs import DEADLINE, LegReport, Legs
from neve.usecases.recall.rank_candidates import Match, Ranked, rank_candidates, without_repeats
from neve.usecases.recall.reads import Standing, start_reads
from neve.usecases.recall.recall_rows import RecallRow, read_row, row_key
from neve.usecases.recall.rerank import in_second_order
from neve.usecases.recall.time_budget import TimeBudget
from neve.wiring import Ports, Tenant

HYDRATE_ERROR = "hydrate:error"
REFILLS = 2
"""How often the legs are read again when what they found was hidden: each time leaves out what was."""
GENERATIONS = 3
"""How often a search starts over because a replacement became visible under it."""


@dataclass(frozen=True, slots=True)
class Found:
    """``searched`` False: that nothing was found says nothing about what is stored. ``head`` is None when the user row
    could not be read."""

    ranked: list[Ranked]
    dropped: list[Dropped]
    reports: Mapping[str, LegReport]
    degraded: list[str]
    searched: bool
    head: UserHead | None


def nothing_found(reports: Mapping[str, LegReport], degraded: Iterable[str], head: UserHead | None) -> Found:
    """A search that did not get to its end."""
    return Found([], [], reports, list(dict.fromkeys(degraded)), searched=False, head=head)


class _GenerationMoved(Exception):
    """A replacement became visible while the rows were read."""


def search(ports: Ports, tenant: Tenant, user: str, asked: Asked, budget: TimeBudget) -> Found:
    """Raises session_not_found and user_closed. A store or an embedder that fails, and time that runs out, degrade
    it."""
    for attempt in range(1, GENERATIONS + 1):
        one = _Search(ports, tenant, user, asked, budget, last=attempt == GENERATIONS)
        try:
            return one.run()
        except _GenerationMoved:
            continue
        except StoreUnavailable:
            return nothing_found(one.legs.reports, [*one.legs.degraded, HYDRATE_ERROR], one.head)
        except DeadlineExceeded:
            return nothing_found(one.legs.reports, [*one.legs.degraded, DEADLINE], one.head)
    raise AssertionError("the last search takes the generation as it is")


@dataclass
class _Search:
    """``known``: the rows read in step 3, or why one must not be shown."""

    ports: Ports
    tenant: Tenant
    user: str
    asked: Asked
    budget: TimeBudget
    last: bool
    head: UserHead | None = None
    known: dict[str, RecallRow | str] = field(default_factory=dict)
    dropped: DroppedCandidates = field(default_factory=DroppedCandidates)

    def __post_init__(self) -> None:
        self.legs = Legs(self.ports, Owner(self.tenant.id, self.user), self.asked, self.budget)

    def run(self) -> Found:
        standing, new_items = self._read()
        self.head = standing.head
        if standing.head.state == "closed":
            rows.writable(standing.head)
        if standing.head.state == "erasing":
            return self._found([])
        self._leave_out(standing)
        new = self._new_candidates(new_items)
        ranked = self._rank(new)
        for _ in range(REFILLS):
            if len(ranked) >= self.asked.k or not self._starved():
                break
            try:
                if not self.legs.read_again(self._narrowed()):
                    break
                ranked = self._rank(new)
            except DeadlineExceeded:
                self.legs.degraded.append(DEADLINE)
                break
        return self._found(ranked)

    def _found(self, ranked: list[Ranked]) -> Found:
        hits = {one.row.id for one in ranked}
        dropped = [one for one in self.dropped.log.values() if one.id not in hits]
        return Found(ranked, dropped, self.legs.reports, self.legs.degraded, self.legs.searched, self.head)

    # --- steps 1 and 2 --------------------------------------------------------------------------

    def _read(self) -> tuple[Standing, list[Item]]:
        self.legs.start(self.asked.where, self.asked.depth + self._pack_allowance())
        reads = start_reads(self.ports, self.tenant, self.user, self.asked)
        self.legs.go_on_with_vector(self.asked.where)
        self.legs.collect()
        return reads.collect(self.budget.legs_end_ms)

    def _pack_allowance(self) -> int:
        """How many items of a leg the session's pack may hold: as many as it held last, else what a pack can hold."""
        session = self.asked.command.session_id
        if session is None:
            return 0
        pack = served_packs.get(self.tenant.id, self.user, session)
        return len(pack.ids) if pack else candidate_limit(self.tenant.policy.global_layer)

    def _leave_out(self, standing: Standing) -> None:
        if standing.pack:
            self.dropped.leave_out_pack(standing.pack)
        everything = SearchFilter(statuses=())
        named = [read_row(item, standing.head, everything) for item in standing.excluded]
        prints = [row.fingerprint for row in named if isinstance(row, RecallRow)]
        self.dropped.leave_out_named(self.asked.command.exclude_ids, prints)

    # --- another reading ------------------------------------------------------------------------

    def _starved(self) -> bool:
        """Whether what was hidden may have kept other candidates out of a leg."""
        lexical, vector = self.legs.lexical, self.legs.vector
        more = [leg for leg in (lexical, vector) if leg is not None and len(leg) >= self.legs.read_depth]
        useful = [leg for leg in more if leg is lexical or self._calibrated(leg[-1]) >= self.asked.threshold]
        return bool(useful) and bool(self.dropped.hidden)

    def _narrowed(self) -> SearchFilter:
        """The filter of another reading: without what was found and must not be shown."""
        where = self.asked.where
        return replace(
            where,
            exclude_ids=where.exclude_ids | self.dropped.hidden | frozenset(self.dropped.ids),
            exclude_fingerprints=frozenset(self.dropped.fingerprints),
        )

    # --- ranking --------------------------------------------------------------------------------

    def _rank(self, new: Iterable[str]) -> list[Ranked]:
        """Step 3 and the order of what it lets through. ``new``: rows that may be too new for the index."""
        now = self.ports.clock.now()
        lexical = self._kept("lexical", self.legs.lexical)
        near = self._kept("vector", self.legs.vector)
        vector = self._gated(near)
        found = [candidate for leg in (lexical, vector) for candidate in leg or ()]
        competing = list(new) if lexical is not None else []
        self._hydrate([*(candidate.item_id for candidate in found), *competing])
        by_sense = None if vector is None else self._matches("vector", vector)
        by_words = None
        if lexical is not None:
            by_words = self._by_words(lexical, [*competing, *self._changed(found)])
        visible = {i: row for i, row in self.known.items() if isinstance(row, RecallRow)}
        ranked = rank_candidates(visible, by_words, by_sense, now, time_bound=self.asked.time_bound)
        if self.asked.second_stage and lexical is not None and near is not None:
            ranked = in_second_order(self.asked.vector_text, ranked, self._similarities(near))
        kept, repeats = without_repeats(ranked)
        for one in repeats:
            self.dropped.drop(one.row.id, REPEATS)
        return kept

    def _kept(self, leg: str, candidates: list[Candidate] | None) -> list[Candidate] | None:
        """The best ``depth`` that are not left out. Reasons are kept for those within the first ``depth`` places."""
        if candidates is None:
            return None
        kept = []
        for place, candidate in enumerate(candidates):
            reason = self.dropped.reason(candidate.item_id, candidate.fingerprint)
            if reason is None:
                kept.append(candidate)
            elif place < self.asked.depth:
                self.dropped.drop(candidate.item_id, reason, leg, candidate.score)
        return kept[: self.asked.depth]

    def _gated(self, candidates: list[Candidate] | None) -> list[Candidate] | None:
        """Those whose calibrated similarity reaches the threshold."""
        if candidates is None:
            return None
        kept = []
        for candidate in candidates:
            if self._calibrated(candidate) >= self.asked.threshold:
                kept.append(candidate)
            else:
                self.dropped.drop(candidate.item_id, BELOW_THRESHOLD, "vector", candidate.score)
        return kept

    def _calibrated(self, candidate: Candidate) -> float:
        return calibrate(candidate.score, self.legs.calibration)

    def _similarities(self, candidates: Iterable[Candidate]) -> dict[str, float]:
        """For the second stage, which also weighs what the gate keeps out of the fusion: 0 for the median random pair
        of the model, 1 for the median paraphrase, not clamped."""
        medians = self.legs.calibration
        spread = medians.paraphrase_median - medians.random_median
        return {c.item_id: (c.score - medians.random_median) / spread for c in candidates}

    def _matches(self, leg: str, candidates: Iterable[Candidate]) -> dict[str, Match]:
        """The candidates that a row of the same rev stands behind, in their order."""
        matches = {}
        for candidate in candidates:
            row = self.known[candidate.item_id]
            if isinstance(row, str):
                self.dropped.drop(candidate.item_id, row, leg, candidate.score)
            elif not _current(candidate, row):
                self.dropped.drop(candidate.item_id, CHANGED, leg, candidate.score)
            else:
                share = share_of_terms(self.asked.shaped, row.passages[candidate.n].text)
                calibrated = self._calibrated(candidate) if leg == "vector" else None
                matches[candidate.item_id] = Match(candidate.n, share, candidate.score, calibrated)
        return matches

    def _by_words(self, candidates: list[Candidate], others: Iterable[str]) -> dict[str, Match]:
        """The keyword leg: what the index found, and by their share of the query's terms the rows that are too new."""
        matches = self._matches("lexical", candidates)
        indexed = [Placed(identifier, match.share) for identifier, match in matches.items()]
        placed = []
        for identifier in dict.fromkeys(others):
            row = self.known[identifier]
            if identifier in matches or isinstance(row, str):
                continue
            best = self._best_passage(row)
            if best.share > 0:
                matches[identifier] = best
                placed.append(Placed(identifier, best.share, row.written_at))
        return {identifier: matches[identifier] for identifier in keyword_ranking(indexed, placed)[: self.asked.depth]}

    def _changed(self, candidates: Iterable[Candidate]) -> list[str]:
        """Rows that changed since they were indexed: they compete as new ones."""
        seen = ((candidate, self.known[candidate.item_id]) for candidate in candidates)
        return [c.item_id for c, row in seen if isinstance(row, RecallRow) and not _current(c, row)]

    def _new_candidates(self, items: Iterable[Item]) -> list[str]:
        """Of the rows that are too new, the ``depth`` that match most: more cannot be in the ranking."""
        placed = []
        for item in items:
            row = read_row(item, self._seen_by, self.asked.where)
            share = self._best_passage(row).share if isinstance(row, RecallRow) else 0.0
            if isinstance(row, str) or not share:
                continue
            if reason := self.dropped.reason(row.id, row.fingerprint):
                self.dropped.drop(row.id, reason)
            else:
                placed.append(Placed(row.id, share, row.written_at))
        return keyword_ranking((), placed)[: self.asked.depth]

    def _best_passage(self, row: RecallRow) -> Match:
        shares = [share_of_terms(self.asked.shaped, passage.text) for passage in row.passages]
        share = max(shares)
        return Match(shares.index(share), share)

    # --- step 3 ---------------------------------------------------------------------------------

    def _hydrate(self, identifiers: Iterable[str]) -> None:
        """Read the rows that are not known yet and the user row again, strongly and in one call. Raises
        StoreUnavailable, DeadlineExceeded, _GenerationMoved."""
        unknown = [i for i in dict.fromkeys(identifiers) if i not in self.known]
        if not unknown:
            return
        keys = self.tenant.keys
        places = {i: key for i in unknown if (key := row_key(keys, self.user, i))}
        head_key = keys.head(self.user)
        task = self.ports.tasks.start(lambda: self.ports.table.get_many([head_key, *dict.fromkeys(places.values())]))
        found: dict[Key, Item] = task.result(self.budget.ends_ms)
        self._check_generation(rows.read_head(found.get(head_key)))
        for identifier in unknown:
            item = found.get(places[identifier]) if identifier in places else None
            row = read_row(item, self._seen_by, self.asked.where)
            reason = self.dropped.reason(row.id, row.fingerprint) if isinstance(row, RecallRow) else None
            self.known[identifier] = reason or row

    def _check_generation(self, again: UserHead) -> None:
        seen = self._seen_by
        if (again.gen, again.incarnation, again.state) == (seen.gen, seen.incarnation, seen.state):
            return
        if not self.last:
            raise _GenerationMoved
        self.head = again

    @property
    def _seen_by(self) -> UserHead:
        return self.head or UserHead()


def _current(candidate: Candidate, row: RecallRow) -> bool:
    return candidate.version == row.version and candidate.n < len(row.passages)
