"""Implements the SearchIndex port on the table and the objects: nothing has to be kept running (docs/adr/0089).

A write is one row, a *delta*, put without reading anything. A writer that finds many deltas writes the *base* anew, an
object that holds everything before them, sets the pointer to it if nobody else has, and deletes what it has absorbed. A
reader reads the deltas and behind them the pointer, so it finds each delta, or a base that holds it; it joins them and
keeps what it has: the next time it reads what is new."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from math import inf
from typing import Final, NamedTuple

from neve.adapters.segments.analysis import Analyzer
from neve.adapters.segments.base import pack_base, unpack_base
from neve.adapters.segments.delta import Removal, Written, pack_removal, pack_written, unpack_delta
from neve.adapters.segments.held_user import HeldUser
from neve.adapters.segments.searching import by_vector, by_words, unit_vector, with_unit_vector
from neve.adapters.segments.segment_cache import SegmentCache
from neve.adapters.segments.stored_passage import stored_passage
from neve.caching import Caches
from neve.domain.ids import ulid_time
from neve.domain.indexing.passage import Passage, removal_version, rev_of
from neve.domain.recall.query import TextQuery, query_terms
from neve.ports.errors import Conflict, StoreUnavailable
from neve.ports.objects import ObjectStore
from neve.ports.runtime import Clock, Ids, Task, Tasks
from neve.ports.search import Candidate, FoundByWords, IndexModel, Owner, SearchFilter
from neve.ports.table import Delete, Expect, Expectation, Item, Key, Put, Table, Version, key_of
from neve.store.keys import SEARCH_MODEL, UserKeys, base_of, passage_delta_id
from neve.store.partitions import PAGE, all_rows, object_pages, readable_whole
from neve.store.tenants.leg_health import SEARCH, SEARCH_LARGE, kind_of, put_leg_trouble

CACHE_BYTES: Final = 700_000_000
"""Of a process that is told no other size."""
MERGED_FROM: Final = 64
"""Deltas from which they are merged into a base, and …"""
MERGED_FROM_BYTES: Final = 256_000
"""… their bytes: what a cold search reads beside the base."""
LOOKED_AT: Final = "0"
"""Last signs of a ULID after whose write a writer looks whether there is something to merge: one in 32."""
LOOKED_AT_BYTES: Final = 32_000
"""A write of that size is looked behind, too."""
SHARED_MS: Final = 50.0
"""What a search has read of the table is good for others of the process that begin so soon: a recall has two legs."""
OVERLAP: Final = timedelta(minutes=2)
"""A delta may come into the table so much later than its id says: the clocks of two machines, and a put sent again. One
that came later still is found with the next base."""
PIECES: Final = 4
"""A large base is so many objects of one size, which are loaded at once: what limits a load is each connection."""
SPLIT_FROM_BYTES: Final = 4_000_000
"""Bytes from which a base is large (*chosen*: at 70 MB a second they take twice as long as the first one does)."""
LARGE: Final = 50_000
"""Passages of one user from which a search domain serves them better (*chosen*: a cold load takes half a second)."""
LEFT_AFTER: Final = timedelta(hours=1)
"""From then on an object that no row names is left by a writer that ended: no worker lives as long."""
MODEL_TTL_MS: Final = 60_000.0
"""So long a process goes by what the stage's row said of the model."""
OBJECT_TYPE: Final = "application/octet-stream"
_LOCKS: Final = 64
_READ_AGAIN: Final = 3


@dataclass(frozen=True, slots=True)
class _Stored:
    """The rows of a user. ``absorbed``: the deltas that are in the base; ``deltas``: those that are not. ``listed``:
    all of them that were read. ``whole``: not only the newest were read."""

    base: Item | None
    absorbed: frozenset[str]
    deltas: Mapping[str, bytes]
    listed: frozenset[str]
    whole: bool

    @property
    def base_id(self) -> str | None:
        return None if self.base is None else str(self.base["base"])

    @property
    def previous(self) -> str | None:
        return None if self.base is None else self.base["previous"] or None

    def are_many(self, most: int) -> bool:
        """Say whether the deltas that are not in the base are worth a merge."""
        return len(self.deltas) >= most or sum(map(len, self.deltas.values())) >= MERGED_FROM_BYTES


@dataclass(slots=True)
class _Known:
    """The state of a user that a process holds. ``read_ms``: when the newest read of the rows began that it follows, of
    the clock that only moves forward, ``read_at`` of the other one; ``wrote_ms``: when the process itself wrote."""

    held: HeldUser
    read_at: datetime
    read_ms: float = -inf
    wrote_ms: float = -inf

    @property
    def nbytes(self) -> int:
        return self.held.nbytes


class _Began(NamedTuple):
    """The time at which a read of the rows began, by both clocks."""

    at: datetime
    ms: float


class SegmentsIndex:
    """See ports.search.SearchIndex. ``before_load`` is called before a base is loaded, which takes longer than a read
    of a few rows. The troubles of ``caches`` hear of a user who is too large, and of merges that fail."""

    def __init__(  # noqa: PLR0913
        self,
        table: Table,
        objects: ObjectStore,
        model: IndexModel,
        *,
        clock: Clock,
        ids: Ids,
        tasks: Tasks,
        caches: Caches | None = None,
        before_load: Callable[[], object] = lambda: None,
        cache_bytes: int = CACHE_BYTES,
        merged_from: int = MERGED_FROM,
        looked_at: str = LOOKED_AT,
        page: int = PAGE,
    ) -> None:
        self._table, self._objects, self._model = table, objects, model
        self._clock, self._ids, self._tasks = clock, ids, tasks
        self._troubles = (caches or Caches(clock.now)).troubles
        self._before_load = before_load
        self._merged_from, self._looked_at, self._page = merged_from, looked_at, page
        self._analyzer = Analyzer()
        self._cache = SegmentCache[_Known](cache_bytes)
        self._loads: dict[str, Task[HeldUser]] = {}
        self._noted_ms = -inf
        self._locks = [threading.Lock() for _ in range(_LOCKS)]

    def model(self) -> IndexModel:
        """Give the model that the passages of the stage were written with, whatever this process was made for."""
        if self._noted_ms < self._clock.monotonic_ms() - MODEL_TTL_MS:
            row = self._table.get(SEARCH_MODEL)
            if row is not None:
                self._model = IndexModel(row["tag"], row["dimensions"])
                self._noted_ms = self._clock.monotonic_ms()
        return self._model

    def is_made(self) -> bool:
        """Say whether all passages are in it: ``take_over`` was called, which is done behind filling it."""
        row = self._table.get(SEARCH_MODEL)
        return row is not None and bool(row["whole"])

    def take_over(self, model: IndexModel) -> None:
        """Note that the index is for vectors of a model from now on; those of another are left out until they are
        written again. Raises StoreUnavailable."""
        self._table.write([Put(_model_row(model, whole=True))])
        self._model, self._noted_ms = model, self._clock.monotonic_ms()

    def _note_model(self) -> None:
        """Note for whose vectors the index is, before the first write of a process, unless another one has."""
        if self._noted_ms == -inf:
            with suppress(Conflict):
                self._table.write([Put(_model_row(self._model, whole=False), Expect.ABSENT)])
            self.model()

    # --- writing --------------------------------------------------------------------------------

    def upsert(self, owner: Owner, passages: Sequence[Passage]) -> None:
        self._note_model()
        checked = [with_unit_vector(self._model, passage) for passage in passages]
        written = [
            Written(stored_passage(0, passage, self._analyzer.analyse(passage)), passage.text) for passage in checked
        ]
        rewrites = any(rev_of(one.document_version) > 1 for one in passages)
        self._put(owner, pack_written(written, self._model), forgets=rewrites)

    def trim(self, owner: Owner, item_id: str, *, keep: int, version: int) -> None:
        removal = Removal(item_id, keep, removal_version(version))
        self._put(owner, [pack_removal(removal, self._model)], forgets=True)

    def _put(self, owner: Owner, deltas: Iterable[bytes], *, forgets: bool) -> None:
        """Write deltas. ``forgets``: words may be forgotten with them, which must not stay in what is kept: a merge
        that fails then fails the write."""
        keys = UserKeys(*owner)
        looked_at = forgets
        for packed in deltas:
            ulid = self._ids.ulid(self._clock.now())
            self._table.write([Put(_row(keys.passage_delta(ulid), "passage_delta", packed=packed))])
            looked_at |= ulid[-1] in self._looked_at or len(packed) >= LOOKED_AT_BYTES
        self._has_written(owner)
        try:
            if looked_at:
                self.merge(owner, forgets=forgets)
        except StoreUnavailable as error:
            if forgets:
                raise
            self._tell(SEARCH, f"merge: {error.reason}")  # it is left to the next writer

    def merge(self, owner: Owner, *, forgets: bool = False) -> bool:
        """Write a new base where the deltas are many, or, if it is asked for, where words are to be forgotten; False
        where that is not so, or another writer has done it. Raises StoreUnavailable."""
        for _ in range(_READ_AGAIN):
            keys, began = UserKeys(*owner), self._begin()
            stored = self._read(keys)
            is_many = stored.are_many(self._merged_from)
            if not is_many and not forgets:
                return False
            held = self._follow(owner, stored, began)
            if not is_many and not held.forgotten:
                # A merge may have died behind the pointer: the message of what it took back comes again.
                self._forget(keys, stored, stored.listed & stored.absorbed, {stored.base_id})
                return False
            if self._merged(owner, stored, held):
                return True
            if not forgets:
                return False
        raise StoreUnavailable("search", "segments: others merge all the time")

    def _merged(self, owner: Owner, stored: _Stored, held: HeldUser) -> bool:
        """Write a new base; False where another writer was faster."""
        keys = UserKeys(*owner)
        with self._lock_of(owner):
            packed, passages, forgets = pack_base(held), held.segment.snapshot.live, held.forgotten
        base = self._ids.ulid(self._clock.now())
        names = self._put_pieces(keys, base, packed)
        row = _row(
            keys.passage_base,
            "passage_base",
            base=base,
            previous=stored.base_id or "",
            pieces=len(names),
            bytes=len(packed),
            passages=passages,
            absorbed=sorted(stored.listed),
        )
        try:
            # ``first``: one merge may be older than an erasure, and must not take the row that came back for its own.
            self._table.write([Put(row, _expected(stored), first=round(self._clock.now().timestamp() * 1000))])
        except Conflict:
            row_now = self._table.get(keys.passage_base)
            if row_now is None or row_now["base"] != base:  # else the table repeated a write whose answer was lost
                self._delete_objects(names)
                return False
        self._forget(keys, stored, stored.listed, {base} if forgets else {base, stored.base_id})
        self._tell_size(passages)
        return True

    def _put_pieces(self, keys: UserKeys, base: str, packed: bytes) -> list[str]:
        names = []
        for piece, part in enumerate(_pieces_of(packed)):
            names.append(keys.segment_object(base, piece))
            self._objects.put(names[-1], part, content_type=OBJECT_TYPE)
        return names

    def _forget(self, keys: UserKeys, stored: _Stored, deltas: Set[str], kept: Set[str | None]) -> None:
        """Delete deltas that are in a base, the bases that are not ``kept`` (who is loading one reads the rows again),
        and what another writer left that ended before it set the pointer."""
        for ulid in sorted(deltas):
            self._table.write([Delete(keys.passage_delta(ulid))])
        left_before = ulid_time(self._clock.now() - LEFT_AFTER)
        for page in object_pages(self._objects, keys.segments_prefix):
            for name in page:
                base = base_of(name)
                if base not in kept and (base in (stored.previous, stored.base_id) or base < left_before):
                    self._objects.delete(name)

    def _delete_objects(self, names: Iterable[str]) -> None:
        for name in names:
            self._objects.delete(name)

    def erase(self, owner: Owner, *, at_most: int | None = None) -> int:  # noqa: ARG002
        """Remove all of it at once. What a worker writes or merges meanwhile, the caller's second look finds."""
        keys, began = UserKeys(*owner), self._begin()
        stored = self._read(keys)
        try:
            erased = self._follow(owner, stored, began).segment.snapshot.live
        except UnreadableSegments:
            erased = 0 if stored.base is None else int(stored.base["passages"])
        self._cache.drop(owner)
        while found := [key_of(item) for item in all_rows(readable_whole(self._table), keys.passages)]:
            for key in found:
                self._table.write([Delete(key)])
        for page in object_pages(self._objects, keys.segments_prefix):
            self._delete_objects(page)
        return erased

    # --- reading --------------------------------------------------------------------------------

    def search_text(self, owner: Owner, query: TextQuery, where: SearchFilter, depth: int) -> FoundByWords:
        asked = query_terms(query)
        if asked.matches_nothing:
            return FoundByWords([], 0)
        held = self._current(owner)
        return by_words(held.segment.snapshot, asked, held.texts.of, where, depth)

    def search_vector(self, owner: Owner, vector: bytes, where: SearchFilter, depth: int) -> list[Candidate]:
        unit = unit_vector(self.model(), vector)
        return by_vector(self._current(owner).segment.snapshot, unit, where, depth)

    def count(self, owner: Owner) -> int:
        return self._current(owner).segment.snapshot.live

    def _current(self, owner: Owner) -> HeldUser:
        """Give all passages of a user as of now, or ``SHARED_MS`` before."""
        now_ms = self._clock.monotonic_ms()
        known = self._cache.get(owner)
        if known is not None and known.held.model != self._model:
            known = None
        if known is not None and known.read_ms > max(known.wrote_ms, now_ms - SHARED_MS):
            return known.held
        since = "" if known is None or known.held.base is None else ulid_time(known.read_at - OVERLAP)
        for _ in range(_READ_AGAIN - 1):
            with suppress(_BaseGone):  # the newest rows do not lead on from what is held, or it was merged twice
                return self._read_on(owner, since)
            since = ""
        return self._read_on(owner, since)

    def _read_on(self, owner: Owner, since: str) -> HeldUser:
        began = self._begin()
        return self._follow(owner, self._read(UserKeys(*owner), since), began)

    def _begin(self) -> _Began:
        return _Began(self._clock.now(), self._clock.monotonic_ms())

    def _has_written(self, owner: Owner) -> None:
        known = self._cache.get(owner)
        if known is not None:
            known.wrote_ms = self._clock.monotonic_ms()

    def _read(self, keys: UserKeys, since: str = "") -> _Stored:
        """Read the rows of a user, of deltas those from the start of an id on."""
        base: Item | None = None
        deltas: dict[str, bytes] = {}
        for item in all_rows(self._table, keys.passages, between=keys.passages_since(since), page=self._page):
            if key_of(item) == keys.passage_base:
                base = item
            else:
                deltas[passage_delta_id(key_of(item))] = bytes(item["packed"])
        absorbed = frozenset() if base is None else frozenset(base["absorbed"])
        unabsorbed = {ulid: packed for ulid, packed in deltas.items() if ulid not in absorbed}
        return _Stored(base, absorbed, unabsorbed, frozenset(deltas), not since)

    def _follow(self, owner: Owner, stored: _Stored, began: _Began) -> HeldUser:
        """Bring what is held of the user to what the rows said, or give what is held where that is newer. No lock is
        held while anybody is waited for. Raises UnreadableSegments, and _BaseGone where more must be read."""
        with self._lock_of(owner):
            known = self._cache.get(owner)
            if known is not None and self._joined(known, stored, began):
                self._cache.put(owner, known)
                return known.held
        if not stored.whole:
            raise _BaseGone
        loaded = _Known(self._load(owner, stored), began.at)
        with self._lock_of(owner):
            known = self._cache.get(owner)
            if known is None or not self._joined(known, stored, began):
                known = loaded
                self._joined(known, stored, began)
            self._cache.put(owner, known)
            return known.held

    def _joined(self, known: _Known, stored: _Stored, began: _Began) -> bool:
        """Bring what is known to what the rows said. False where it does not lead there."""
        held = known.held
        if known.read_ms > began.ms:
            return True
        listed = stored.listed if stored.whole else None
        if held.model != self._model or held.segment.mostly_dead:
            return False
        if not held.moved_to(stored.base_id, stored.previous, stored.absorbed, listed):
            return False
        new = {ulid: packed for ulid, packed in stored.deltas.items() if ulid not in held.applied}
        if new:
            with _readable():
                held.join([unpack_delta(ulid, packed, held.model) for ulid, packed in new.items()])
        known.read_at, known.read_ms = began
        return True

    def _load(self, owner: Owner, stored: _Stored) -> HeldUser:
        """Load the base; whoever wants the same one meanwhile waits for it, too."""
        if stored.base is None:
            return HeldUser(self._model)
        self._before_load()
        base = str(stored.base["base"])
        with self._lock_of(owner):
            task = self._loads.get(base)
            if task is None:
                task = self._loads[base] = self._tasks.start(partial(self._load_base, owner, stored.base))
        try:
            return task.result()
        finally:
            self._loads.pop(base, None)

    def _load_base(self, owner: Owner, row: Item) -> HeldUser:
        self._tell_size(int(row["passages"]))
        keys, base, pieces = UserKeys(*owner), str(row["base"]), int(row["pieces"])
        packed = self._get_pieces([keys.segment_object(base, piece) for piece in range(pieces)])
        with _readable():
            return unpack_base(packed, self._model, base, row["absorbed"])

    def _get_pieces(self, names: Sequence[str]) -> bytes:
        """Load all pieces at once and join them, which needs the room of two bases. Raises _BaseGone."""
        begun = [self._tasks.start(partial(self._objects.get, name)) for name in names[1:]]
        found = [self._objects.get(names[0]), *(task.result() for task in begun)]
        parts = [part for part in found if part is not None]
        if len(parts) < len(names):
            raise _BaseGone
        return parts[0] if len(parts) == 1 else b"".join(parts)

    # --- parts ----------------------------------------------------------------------------------

    def _tell_size(self, passages: int) -> None:
        if passages > LARGE:
            self._tell(SEARCH_LARGE, f"a user has more than {LARGE} passages: use a search domain")

    def _tell(self, what: str, reason: str) -> None:
        """Tell health of a trouble, by a row, too: another process than the one that merges or loads is asked."""
        if self._troubles.note(what, kind_of(what), reason):
            with suppress(StoreUnavailable, Conflict):
                self._table.write([put_leg_trouble(what, reason, self._clock.now())])

    def _lock_of(self, owner: Owner) -> threading.Lock:
        return self._locks[hash(owner) % _LOCKS]


class UnreadableSegments(StoreUnavailable):
    """Bytes are no base and no delta, or are not there. A user's are made again by a reindex."""

    def __init__(self, reason: str) -> None:
        super().__init__("search", f"segments: {reason}")


class _BaseGone(UnreadableSegments):
    """The rows that were read do not lead to all passages: the object that they name is not there, since it was merged
    twice meanwhile, or the user was erased; or only the newest were read, and more must be."""

    def __init__(self) -> None:
        super().__init__("the base is gone that a row names")


def _pieces_of(packed: bytes) -> list[bytes]:
    """Cut a base into the objects that it is kept as."""
    size = len(packed) if len(packed) < SPLIT_FROM_BYTES else -(-len(packed) // PIECES)
    return [packed[start : start + size] for start in range(0, len(packed), size)]


@contextmanager
def _readable() -> Iterator[None]:
    try:
        yield
    except ValueError as error:
        raise UnreadableSegments(str(error)) from error


def _expected(stored: _Stored) -> Expectation:
    """Say which base has to be there still when another one takes its place."""
    return Expect.ABSENT if stored.base is None else Version(stored.base["version"])


def _row(key: Key, kind: str, **attributes: object) -> Item:
    return {"pk": key.pk, "sk": key.sk, "type": kind, **attributes}


def _model_row(model: IndexModel, *, whole: bool) -> Item:
    return _row(SEARCH_MODEL, "search_model", tag=model.tag, dimensions=model.dimensions, whole=whole)
