"""Holds all passages of one user in memory, as the base and the deltas behind it say."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from neve.adapters.segments.delta import Delta, Removal, Written
from neve.adapters.segments.segment import PackedSegment, Rows, Segment
from neve.ports.search import IndexModel

Place = tuple[str, int]
"""Item id and n."""
SAID = ("tags", "metadata", "path", "category", "group")
"""The attributes of a passage that are words of somebody, beside its text. Its fingerprint does not tell another text:
what is embedded of a document is without its title."""
BYTES_A_TEXT = 150
"""What a text costs beside its words."""


class _Stands(NamedTuple):
    """The passage that is there, and what it says."""

    version: int
    words: tuple[str | None, ...]


class Texts:
    """The texts of passages by row: those of the base in one piece, the others behind them."""

    def __init__(self, words: bytes = b"", ends: NDArray[np.int64] | None = None) -> None:
        self._words = words
        self._ends = np.zeros(0, np.int64) if ends is None else ends
        self._added: list[str] = []
        self._added_bytes = 0

    @property
    def nbytes(self) -> int:
        return len(self._words) + self._ends.nbytes + self._added_bytes

    def add(self, text: str) -> None:
        self._added.append(text)
        self._added_bytes += len(text) + BYTES_A_TEXT

    def of(self, row: int) -> str:
        if row >= len(self._ends):
            return self._added[row - len(self._ends)]
        start = int(self._ends[row - 1]) if row else 0
        return self._words[start : int(self._ends[row])].decode()


class HeldUser:
    """``model``: whose vectors it holds. ``base``: the id of the base that it began with, ``base_bytes`` its size: its
    arrays may lie over those bytes. ``absorbed``: the deltas that are in that base. ``applied``:
    those that were joined behind it. ``forgotten``: base or deltas hold words that are no passage's any more, since
    they were removed or others took their place. Changed by one thread at a time; a snapshot of its segment never
    changes, and no text of a row does."""

    def __init__(self, model: IndexModel) -> None:
        self.model = model
        self.base_bytes = 0
        self.base: str | None = None
        self.absorbed: frozenset[str] = frozenset()
        self.applied: set[str] = set()
        self.forgotten = False
        self.segment = Segment(model.dimensions)
        self.texts = Texts()
        self.removals: dict[str, dict[int, int]] = {}

    @classmethod
    def of_base(  # noqa: PLR0913
        cls,
        model: IndexModel,
        base: str,
        size: int,
        absorbed: Iterable[str],
        segment: Segment,
        texts: Texts,
        removals: Iterable[Removal],
    ) -> HeldUser:
        """Hold what a base of ``size`` bytes says."""
        held = cls(model)
        held.base, held.base_bytes, held.absorbed = base, size, frozenset(absorbed)
        held.segment, held.texts = segment, texts
        for removal in removals:
            held._refuse_late(removal)
        return held

    @property
    def nbytes(self) -> int:
        return self.base_bytes + self.segment.nbytes + self.texts.nbytes

    def moved_to(
        self, base: str | None, previous: str | None, absorbed: frozenset[str], listed: frozenset[str] | None
    ) -> bool:
        """Say whether what is held is a state on the way to what the rows say, and take their base for its own. False:
        it must be read anew, because another writer's merge absorbed what this process has not seen, or the user was
        erased. ``listed``: all deltas that there are; None where only the newest were read."""
        if base != self.base:
            if base is None or previous != self.base or not absorbed - self.absorbed <= self.applied:
                return False
            self.base, self.absorbed = base, absorbed
            self.applied -= absorbed
            self.forgotten &= bool(self.applied)
        return listed is None or self.applied <= listed

    def join(self, deltas: Sequence[Delta]) -> None:
        """Bring in deltas, in one step for every reader."""
        gone: set[int] = set()
        added: dict[Place, Written] = {}
        for delta in sorted(deltas, key=lambda one: one.id):
            for removal in delta.removals:
                rows = self._rows(removal.item_id, removal.keep, removal.version)
                places = [place for place, one in added.items() if _is_of(removal, place, one)]
                gone.update(rows)
                for place in places:
                    del added[place]
                self._refuse_late(removal)
                self.forgotten |= bool(rows or places)
            for one in delta.written:
                place = (one.stored.item_id, one.stored.n)
                rows = [row for row in self._rows(place[0], place[1], last=place[1]) if row not in gone]
                before = added.get(place)
                stands = [_stands(before)] if before else [self._stands(row) for row in rows]
                self.forgotten |= any(other.words != _words(one) for other in stands)
                if self._is_removed(one) or _is_older(one, stands):
                    self.forgotten |= not stands
                    continue
                gone.update(rows)
                added[place] = one
        first = len(self.segment.snapshot.alive)
        for one in added.values():
            self.texts.add(one.text)
        numbered = [one.stored._replace(row=first + number) for number, one in enumerate(added.values())]
        self.segment.apply(sorted(gone), numbered)
        self.applied.update(delta.id for delta in deltas)

    def packed(self) -> tuple[PackedSegment, Sequence[str], Sequence[Removal]]:
        """Give all of it, to be kept: the live passages with their texts, and the removals."""
        rows = np.flatnonzero(self.segment.snapshot.alive).tolist()
        removals = [Removal(item, keep, limit) for item, of in self.removals.items() for keep, limit in of.items()]
        return self.segment.pack(), [self.texts.of(row) for row in rows], removals

    # --- parts ----------------------------------------------------------------------------------

    def _is_removed(self, one: Written) -> bool:
        """Say whether a passage was removed before it came."""
        removed = self.removals.get(one.stored.item_id, {})
        return any(one.stored.n >= keep and one.stored.version < limit for keep, limit in removed.items())

    def _stands(self, row: int) -> _Stands:
        snapshot = self.segment.snapshot
        words = [snapshot.names[name].values([int(snapshot.columns[name][row])])[0] for name in SAID]
        return _Stands(int(snapshot.columns["version"][row]), (self.texts.of(row), *words))

    def _rows(self, item_id: str, keep: int, up_to: int | None = None, last: int | None = None) -> list[int]:
        """Give the live rows of an item from a number on."""
        snapshot = self.segment.snapshot
        codes = snapshot.names["item_id"].known([item_id])
        if not codes:
            return []
        rows: Rows = np.flatnonzero(snapshot.columns["item_id"] == codes[0]).astype(np.int32)
        numbers: NDArray[Any] = snapshot.columns["n"][rows]
        chosen = snapshot.alive[rows] & (numbers >= keep)
        if last is not None:
            chosen &= numbers <= last
        if up_to is not None:
            chosen &= snapshot.columns["version"][rows] <= up_to
        return list(rows[chosen].tolist())

    def _refuse_late(self, removal: Removal) -> None:
        """Note a removal and forget those that it covers."""
        item_id, keep, version = removal
        known = self.removals.get(item_id, {})
        if any(other <= keep and limit >= version for other, limit in known.items()):
            return
        kept = {other: limit for other, limit in known.items() if other < keep or limit > version}
        self.removals[item_id] = kept | {keep: version}


def _is_of(removal: Removal, place: Place, one: Written) -> bool:
    return place[0] == removal.item_id and place[1] >= removal.keep and one.stored.version <= removal.version


def _stands(one: Written) -> _Stands:
    return _Stands(one.stored.version, _words(one))


def _words(one: Written) -> tuple[str | None, ...]:
    return (one.text, *(getattr(one.stored, name) for name in SAID))


def _is_older(one: Written, stands: Sequence[_Stands]) -> bool:
    return any(one.stored.version < other.version for other in stands)
