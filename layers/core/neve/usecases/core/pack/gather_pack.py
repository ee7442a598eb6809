"""Reads what a pack is made of: the documents and rows of each layer as one generation sees them.

The global layer walks the rank index, whose sort key is the rank itself, so this costs O(budget) however many memories
the user has. Token counts are in the index, and those of documents in their pins; only what fits is read whole, all of
it in one batch."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from neve.domain.errors import not_found
from neve.domain.memories.marks import text_with_marks
from neve.domain.memories.visibility import active, visible
from neve.domain.pack.dated import with_its_day
from neve.domain.pack.fit import candidate_limit, fit_chronicle, greedy_fit, weightiest_first
from neve.domain.pack.render import render, shown_memory
from neve.domain.pack.repeated_statements import already_stated
from neve.domain.pack.room import Shown, with_room
from neve.domain.recall.corrections import Statement, newer_first
from neve.domain.records.epochs import SessionEpoch
from neve.domain.records.markers import LiveRow, SessionMarker
from neve.domain.records.memories import Kind, Memory, Priority, Scope
from neve.domain.records.packs import PackEntry
from neve.domain.records.users import UserHead
from neve.domain.tails.fit import JustSaid
from neve.domain.times import iso
from neve.domain.tokens import estimate
from neve.domain.validity import within
from neve.domain.words import content_words, plain_words
from neve.ports.errors import Conflict
from neve.ports.table import Index, Item, Key
from neve.scope import SessionScope, UserScope
from neve.store import rows
from neve.store.partitions import all_rows
from neve.store.transact import transact
from neve.usecases.core.pack.just_said import Tails, Telling
from neve.usecases.core.pack.pinned_documents import PinnedTexts, chosen_of, rows_of, start_pins, texts_of
from neve.usecases.core.pack.what_holds import HoldingLines, UnheldFacts

T = TypeVar("T")
_Moment = tuple[int, tuple[LiveRow, ...]]
"""The user's generation, and what the session's live list names."""

FILLINGS = 3
"""How often the room of what is said already is given to the next rows: these may be said already as well."""


@dataclass(frozen=True, slots=True)
class PackInputs:
    """The inputs of a pack, in rendered order. ``ranked_rows``: what the walk over the ranks found. ``live_rows``:
    those of the session's live list. ``repeated``: ids of those that the text is without, because another line says
    what they say. They are in the pack all the same: recall leaves them out, and a correction is told. ``no_room``: the
    session's observations and reflections that the pack is without, and what an answer or the version's row has no room
    for; recall finds them. ``session``: None for a preview. ``said``: what is not observed yet of other conversations.
    ``unheld``: id and rev of the facts that do not hold."""

    ranked_rows: tuple[Memory, ...]
    live_rows: tuple[Memory, ...]
    documents: PinnedTexts = field(default_factory=PinnedTexts)
    repeated: frozenset[str] = frozenset()
    no_room: tuple[Memory, ...] = ()
    session: str | None = None
    said: JustSaid = field(default_factory=JustSaid)
    unheld: tuple[tuple[str, int], ...] = ()

    @property
    def global_rows(self) -> tuple[Memory, ...]:
        return tuple(memory for memory in self.ranked_rows if not self._was_brought(memory))

    @property
    def local_rows(self) -> tuple[Memory, ...]:
        """Give the rows of the local layer. What an import brought of the session is older than all that is live: it
        begins what is told in the order of the conversation, and ends what is told newest first."""
        brought = sorted(filter(self._was_brought, self.ranked_rows), key=lambda one: (one.observed_at, one.id))
        chronicle = [memory for memory in brought if memory.kind in _CHRONICLE]
        stated = [memory for memory in reversed(brought) if memory.kind in _STATED]
        return (*chronicle, *self.live_rows, *stated)

    def _was_brought(self, memory: Memory) -> bool:
        """Say whether an import brought it, before the session was opened: the walk leaves out what is in the live
        list."""
        of_it = self.session is not None and memory.session_id == self.session and memory.scope is Scope.SESSION
        return of_it and memory.kind in (*_CHRONICLE, *_STATED)

    def text(self) -> str:
        return render(
            replace(
                self.documents.rendered,
                global_=[(with_its_day(m), m.kind) for m in self._rendered(self.global_rows)],
                local=[(text_with_marks(m), m.kind) for m in self._rendered(self.local_rows)],
                just_said=self.said.lines,
            )
        )

    def layers(self) -> dict[str, tuple[PackEntry, ...]]:
        return self.documents.layers() | {
            "global": (*map(self._entry, self.global_rows), *self.said.entries),
            "local": tuple(map(self._entry, self.local_rows)),
        }

    @property
    def left_out(self) -> tuple[PackEntry, ...]:
        return self.documents.left_out + tuple(map(self._entry, self.no_room))

    def tokens(self, text: str) -> int:
        """Count the tokens of the rendered text. A row and a document count as they were counted when they were
        written, by the policy's counter, whose data are not where packs are read; what stands around them counts by the
        estimate (docs/rules/tokens.md)."""
        counted = [(m.tokens, m.text) for m in self._rendered((*self.ranked_rows, *self.live_rows))]
        counted += [(pin.tokens, shown) for pin, shown in self.documents.whole]
        return max(0, estimate(text) + sum(tokens - estimate(shown) for tokens, shown in counted))

    def fit(self, scope: UserScope) -> bool:
        """Say whether what is said of the two layers stays within their budgets."""
        stated = sum(m.tokens for m in self._rendered(self.live_rows) if m.kind in _STATED)
        of_all = sum(m.tokens for m in self._rendered(self.ranked_rows))
        return of_all <= scope.policy.global_layer - self.said.tokens and stated <= scope.policy.local_rows

    def with_room(self) -> PackInputs:
        """Leave out the rows that an answer or the row of a version has no room for beside the documents: what is kept
        is first of the session's observations and reflections, then of what else it has, then of the ranks."""
        chronicle = [memory for memory in self.live_rows if memory.kind in _CHRONICLE]
        others = [memory for memory in self.live_rows if memory.kind not in _CHRONICLE]
        ordered = [*(chronicle[place] for place in weightiest_first(chronicle)), *others, *self.ranked_rows]
        items = [Shown(shown_memory(with_its_day(one), one.kind), self._entry(one)) for one in ordered]
        kept = {ordered[at].id for at in with_room(items, self.documents.size + self.said.size)}
        if len(kept) == len(ordered):
            return self
        ranked = tuple(memory for memory in self.ranked_rows if memory.id in kept)
        live = tuple(memory for memory in self.live_rows if memory.id in kept)
        lost = [memory for memory in (*self.live_rows, *self.ranked_rows) if memory.id not in kept]
        repeated = already_stated([*ranked, *live], self.documents.shown)
        return replace(self, ranked_rows=ranked, live_rows=live, repeated=repeated, no_room=(*self.no_room, *lost))

    def sha(self, epoch: int) -> str:
        """Name the inputs: two builds of the same rows in the same epoch are the same build."""
        named = [[layer, [[e.id, e.rev] for e in entries]] for layer, entries in sorted(self.layers().items())]
        return hashlib.sha256(json.dumps([epoch, named, *self.unheld]).encode()).hexdigest()

    def _rendered(self, memories: Iterable[Memory]) -> Iterable[Memory]:
        return (memory for memory in memories if memory.id not in self.repeated)

    def _entry(self, memory: Memory) -> PackEntry:
        tokens = 0 if memory.id in self.repeated else memory.tokens
        session = memory.session_id if memory.kind is Kind.SESSION_SUMMARY else None
        return PackEntry(
            memory.id,
            memory.rev,
            memory.fingerprint,
            tokens,
            memory.kind,
            session_id=session,
            valid_until=memory.valid_until,
        )


def gather_pack(
    scope: SessionScope, also: Sequence[str] = (), *, first: bool = True
) -> tuple[PackInputs, SessionEpoch, UserHead]:
    """Read the layers of a session, and the rows of its epoch and its user as they were read before them. ``also``: ids
    of memories that the rank index may not have yet. ``first``: with what was just said elsewhere. Raises
    session_not_found, StoreUnavailable, and 409 ``conflict`` where replacements follow each other as fast."""

    def gather() -> tuple[_Moment, tuple[PackInputs, SessionEpoch, UserHead]]:
        keys = scope.keys
        tails = Tails(scope, scope.session) if first else None
        found = scope.ports.table.get_many([keys.head, keys.marker, keys.epoch])
        if keys.marker not in found or keys.epoch not in found:
            raise not_found("session", scope.session)
        head, marker = rows.read_head(found.get(keys.head)), rows.read_marker(found[keys.marker])
        told = tails.start(head) if tails else None
        inputs = _gathered(scope, scope.session, head, marker, told, also)
        return (head.gen, marker.live), (inputs, rows.read_epoch(found[keys.epoch]), head)

    def now() -> _Moment:
        found = scope.ports.table.get_many([scope.keys.head, scope.keys.marker])
        live = rows.read_marker(found[scope.keys.marker]).live if scope.keys.marker in found else ()
        return rows.read_head(found.get(scope.keys.head)).gen, live

    return _gather_at_one_moment(scope, gather, now)


def gather_preview(scope: UserScope) -> PackInputs:
    """Read the layers of a user without a session: all but the local one. Raises user_closed, StoreUnavailable."""

    def gather() -> tuple[_Moment, PackInputs]:
        tails = Tails(scope, None)
        head = rows.read_head(scope.ports.table.get(scope.keys.head))
        rows.not_closed(head)
        if rows.hidden(head):
            return (head.gen, ()), PackInputs((), ())
        return (head.gen, ()), _gathered(scope, None, head, None, tails.start(head))

    return _gather_at_one_moment(
        scope, gather, lambda: (rows.read_head(scope.ports.table.get(scope.keys.head)).gen, ())
    )


def gather_documents(scope: UserScope) -> PinnedTexts:
    """Read the documents that every pack of the user holds, from the table alone. Raises StoreUnavailable."""
    head = rows.read_head(scope.ports.table.get(scope.keys.head))
    chosen = chosen_of(scope, start_pins(scope, head), iso(scope.ports.clock.now()))
    wanted = rows_of(scope.keys, chosen)
    found = scope.ports.table.get_many(wanted) if wanted else {}
    return texts_of(scope, chosen, found)


def _gathered(
    scope: UserScope,
    session: str | None,
    head: UserHead,
    marker: SessionMarker | None,
    told: Telling | None,
    also: Sequence[str] = (),
) -> PackInputs:
    """Read the pins and the ends of other logs beside the rank index; then what fits, in one batch."""
    at = iso(scope.ports.clock.now())
    pins, unheld = start_pins(scope, head), UnheldFacts.start(scope, head, at)
    live = [row.id for row in marker.live] if marker else []
    own = _Own(session, frozenset(live))
    candidates = _candidates(scope, own, head, at, also)
    said = told.result() if told else JustSaid()
    walk = _Walk(scope, own, head.gen, at, candidates, scope.policy.global_layer - said.tokens)
    chosen = chosen_of(scope, pins, at)
    memories = dict.fromkeys([*map(scope.keys.memory, (*walk.fitting(), *live)), *unheld.successors()])
    wanted = [*memories, *rows_of(scope.keys, chosen)]
    found = scope.ports.table.get_many(wanted) if wanted else {}
    documents = texts_of(scope, chosen, found)
    return _filled(walk, _Local(scope, live, head.gen, at, found), found, documents, said, unheld.known(found))


def _filled(
    walk: _Walk,
    local: _Local,
    found: Mapping[Key, Item],
    documents: PinnedTexts,
    said: JustSaid,
    holding: HoldingLines,
) -> PackInputs:
    """Choose the rows that fit; then, in the room of those that are said already, the next ones."""
    inputs = _inputs(walk.rows(found), local.rows(), documents, said, holding)
    for _ in range(FILLINGS if inputs.repeated else 0):
        before = len(inputs.ranked_rows) + len(inputs.live_rows)
        wider = _inputs(walk.beside(inputs), local.beside(inputs), documents, said, holding)
        if len(wider.ranked_rows) + len(wider.live_rows) == before or not wider.fit(walk.scope):
            break  # nothing more fits, or what was said already is said no more, and has no room
        inputs = wider
    return replace(inputs, no_room=local.no_room, session=walk.own.session, unheld=holding.named).with_room()


def _inputs(
    best_first: Sequence[Memory],
    live: Sequence[Memory],
    documents: PinnedTexts,
    said: JustSaid,
    holding: HoldingLines,
) -> PackInputs:
    ranked_rows = tuple(newer_first(holding.of(best_first), _statement, content_words))
    live_rows = tuple(holding.of(live))
    repeated = already_stated([*ranked_rows, *live_rows], documents.shown)
    return PackInputs(ranked_rows, live_rows, documents, repeated, said=said)


def _statement(memory: Memory) -> Statement:
    """Compare by plain words: where packs are built nothing stems."""
    length = sum(1 for _ in plain_words(memory.text))
    return Statement(memory.id, memory.observed_at, None, memory.text, length, frozenset(memory.supersedes))


def _gather_at_one_moment(scope: UserScope, gather: Callable[[], tuple[_Moment, T]], now: Callable[[], _Moment]) -> T:
    """Gather again while generation or live list moved under the reading. ``gather`` returns those that it read first:
    in one batch, and a part of a batch may be read later than the rest of it. Raises 409 ``conflict``."""

    def attempt() -> T:
        seen, gathered = gather()
        if now() != seen:
            raise Conflict
        return gathered

    return transact(scope.ports, attempt)


# --- global -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Own:
    """The rows that the walk over the ranks leaves out for the session of a pack: those that the live list names, and
    the summary of the whole conversation. What an import brought before the session was opened is not among them: that
    is in no live list, and speaks of another log. It has the room of the global layer, and stands in the local one."""

    session: str | None
    live: frozenset[str]

    def has(self, memory: Memory) -> bool:
        if self.lists(memory.id, memory.session_id, memory.scope):
            return True
        of_it = self.session is not None and memory.session_id == self.session
        return of_it and memory.kind is Kind.SESSION_SUMMARY and memory.provenance.by != "import"

    def lists(self, memory_id: str, session: str | None, scope: str) -> bool:
        return session == self.session and scope == Scope.SESSION and memory_id in self.live


@dataclass
class _Walk:
    """The walk in rank order, greedily: a row that does not fit is skipped and the walk goes on. The index may lag
    behind the rows, so a kept row that turns out invisible is left out and the fit is made again without it. ``room``:
    tokens of all that fits. ``chosen``: what stays, with the tokens that it takes up."""

    scope: UserScope
    own: _Own
    gen: int
    at: str
    candidates: list[Item]
    room: int
    chosen: dict[str, int] = field(default_factory=dict)
    known: dict[Key, Item] = field(default_factory=dict)

    def fitting(self) -> list[str]:
        """Give the ids of those that fit, as far as the index says."""
        ids = [str(candidate["id"]) for candidate in self.candidates]
        sizes = [self.chosen.get(i, int(c["tokens"])) for i, c in zip(ids, self.candidates, strict=True)]
        first = {place for place, i in enumerate(ids) if i in self.chosen}
        return [ids[place] for place in greedy_fit(sizes, self.room, first)]

    def beside(self, inputs: PackInputs) -> list[Memory]:
        """Give the rows of the layer, and what fits beside those that are shown. Reads what is new."""
        sizes = {str(c["id"]): int(c["tokens"]) for c in self.candidates}
        self.chosen = {m.id: 0 if m.id in inputs.repeated else sizes[m.id] for m in inputs.ranked_rows}
        return self.rows({})

    def rows(self, found: Mapping[Key, Item]) -> list[Memory]:
        """Give the rows that fit. ``found``: the rows of those. Those that come instead of an invisible one are read
        here."""
        self.known |= found
        while True:
            fitting = self.fitting()
            places = {i: self.scope.keys.memory(i) for i in fitting}
            missing = [key for key in places.values() if key not in self.known]
            self.known |= self.scope.ports.table.get_many(missing) if missing else {}
            read = [rows.read_memory(self.known[key]) for key in places.values() if key in self.known]
            good = {m.id: m for m in read if self._belongs(m)}
            if len(good) == len(fitting):
                return read
            lost = set(fitting) - good.keys()
            self.candidates = [c for c in self.candidates if str(c["id"]) not in lost]

    def _belongs(self, memory: Memory) -> bool:
        return active(memory, self.gen, self.at) and not self.own.has(memory) and not _states_nothing(memory)


def _candidates(scope: UserScope, own: _Own, head: UserHead, at: str, also: Sequence[str]) -> list[Item]:
    """Read the first rows of the rank order that belong in this layer, as many as its budget may hold. Rows of the last
    replacement, and those of ``also``, are read by id as well, because the index may not have them yet."""
    limit = candidate_limit(scope.policy.global_layer)
    found: dict[str, Item] = {}
    for item in all_rows(scope.ports.table, scope.keys.partition, index=Index.RANK, page=limit):
        if _eligible(item, own, head.gen, at):
            found[str(item["id"])] = item
        if len(found) == limit:
            break
    if head.replaced_by and (head.replaced_until is None or head.replaced_until > at):
        also = (*_made_by(scope, head.replaced_by), *also)
    if also:
        late = scope.ports.table.get_many([scope.keys.memory(i) for i in dict.fromkeys(also)])
        found |= {str(i["id"]): i for i in late.values() if "rank_sk" in i and _eligible(i, own, head.gen, at)}
    return sorted(found.values(), key=lambda item: str(item["rank_sk"]))[:limit]


def _made_by(scope: UserScope, replacement: str) -> Sequence[str]:
    """Give the ids of the rows that a replacement wrote, which its job names: on the user's row they would cost every
    write."""
    job = scope.ports.table.get(scope.keys.job(replacement))
    return rows.read_job(job).state["new"] if job else ()


def _eligible(item: Item, own: _Own, gen: int, at: str) -> bool:
    """Say whether a row belongs in the layer, as far as the index says."""
    listed = own.lists(str(item["id"]), item.get("session_id"), item["scope"])
    holds = within(item.get("valid_from"), item.get("valid_until"), at)
    return holds and not listed and visible(int(item["born_gen"]), item.get("died_gen"), gen)


def _states_nothing(memory: Memory) -> bool:
    """Say whether it is a summary of a session that stated nothing lasting (docs/rules/librarian.md#account): recall
    finds it."""
    return memory.kind is Kind.SESSION_SUMMARY and memory.priority is Priority.LOW


# --- local --------------------------------------------------------------------------------------

_CHRONICLE = (Kind.OBSERVATION, Kind.REFLECTION)
_STATED = (Kind.NOTE, Kind.MANUAL, Kind.FACT)
"""Kinds that are stated; the session's own summary is none: it is for other sessions, and this one shows what it
has."""


@dataclass
class _Local:
    """The rows of the local layer: observations and reflections in the order of the conversation; then note, manual and
    fact rows, newest first, as far as they fit their budget. ``found``: the rows of the ``live`` ones."""

    scope: UserScope
    live: Iterable[str]
    gen: int
    at: str
    found: Mapping[Key, Item]

    def __post_init__(self) -> None:
        places = [self.scope.keys.memory(i) for i in self.live]
        read = [rows.read_memory(self.found[key]) for key in places if key in self.found]
        shown = [memory for memory in read if active(memory, self.gen, self.at)]
        chronicle = [memory for memory in shown if memory.kind in _CHRONICLE]
        self.chronicle = tuple(fit_chronicle(chronicle, self.scope.policy.chronicle_limit))
        fitting = {memory.id for memory in self.chronicle}
        self.no_room = tuple(memory for memory in chronicle if memory.id not in fitting)
        self.stated = [memory for memory in reversed(shown) if memory.kind in _STATED]

    def rows(self, chosen: Mapping[str, int] | None = None) -> tuple[Memory, ...]:
        """Give the rows of the layer. ``chosen``: ids of rows that stay, with the tokens that they take up."""
        stays = chosen or {}
        sizes = [stays.get(memory.id, memory.tokens) for memory in self.stated]
        first = {place for place, memory in enumerate(self.stated) if memory.id in stays}
        fitting = greedy_fit(sizes, self.scope.policy.local_rows, first)
        return self.chronicle + tuple(self.stated[place] for place in fitting)

    def beside(self, inputs: PackInputs) -> tuple[Memory, ...]:
        """Give the rows of the layer, and what fits beside those that are shown."""
        return self.rows({m.id: 0 if m.id in inputs.repeated else m.tokens for m in inputs.live_rows})
