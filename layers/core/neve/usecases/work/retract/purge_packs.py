"""Purges packs that hold what was made of deleted events (docs/rules/retract.md#erase)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from neve.domain.ids import event_place, is_own_memory_id
from neve.domain.records.packs import PackEntry
from neve.observing import SecondsLeft
from neve.scope import SessionScope
from neve.store import rows
from neve.usecases.core.pack.purge_versions import BEGINNING, DONE, Going, PurgePlace, purge_pages
from neve.usecases.tell.requests.retract_job import ROUND_S
from neve.usecases.work.observe.observe_session import OutOfTime


@dataclass(frozen=True)
class DerivedRows:
    """The rows whose packs are to go. ``touched``: ids of the memories that may hold words of it, none of which readers
    see any more; ``revisions``: of documents, by id and rev, none of which is there any more; ``retained``: ids of
    memories that held words of it before; ``gone``: memories and documents that others had deleted before, with the
    last rev of each. ``uttered``: the session, the first and the last seq of the events themselves, which a pack may
    show as they were said."""

    touched: frozenset[str]
    revisions: frozenset[tuple[str, int]]
    retained: frozenset[str]
    gone: Mapping[str, int] = field(default_factory=dict)
    uttered: tuple[str, int, int] | None = None

    def is_in(self, entry: PackEntry) -> bool:
        if entry.id in self.touched | self.retained or (entry.id, entry.rev) in self.revisions:
            return True
        if self.uttered and (place := event_place(entry.id)):
            session, first, last = self.uttered
            return place[0] == session and first <= place[1] <= last
        return entry.rev <= self.gone.get(entry.id, 0)

    @property
    def gone_memories(self) -> frozenset[str]:
        return frozenset(filter(is_own_memory_id, self.gone))

    @property
    def any(self) -> bool:
        return bool(self.touched or self.retained or self.revisions or self.gone or self.uttered)

    @property
    def sha(self) -> str:
        """Name what of packs is to go."""
        named = [sorted(self.touched), sorted(self.retained), sorted(self.revisions), sorted(self.gone.items())]
        named.append(list(self.uttered or ()))
        return sha256(rows.json_bytes(named)).hexdigest()[:16]


@dataclass
class PacksPurge:
    """The state of a purge: how far every version of a pack that holds some of it is taken away, by all workers that
    ended in time: up to ``place``, and ``left`` versions were found behind their removal. ``versions``: how many went,
    by this worker. ``going``: see ``purge_pages``."""

    made: DerivedRows
    going: Going = lambda _: None
    place: PurgePlace = BEGINNING
    left: int = 0
    versions: int = 0

    @staticmethod
    def noted(made: DerivedRows, going: Going, state: Mapping[str, Any]) -> PacksPurge:
        """Go on with ``state``: what an earlier worker has noted. Where that was for something else, it begins
        again."""
        if state.get("of") != made.sha:
            return PacksPurge(made, going)
        return PacksPurge(made, going, PurgePlace(*state["place"]), state["left"])

    @property
    def state(self) -> dict[str, Any]:
        return {"of": self.made.sha, "place": list(self.place), "left": self.left}

    def run(self, scope: SessionScope, seconds_left: SecondsLeft) -> None:
        """Purge page by page. Nothing moves where there is nothing that a pack could hold. Raises OutOfTime behind a
        page with less than ``ROUND_S`` left, StoreUnavailable, and 409 ``conflict``."""
        if not self.made.any:
            return
        for page in purge_pages(scope, self.made.is_in, self.place, self.going):
            self.place = page.place
            self.left += page.left
            self.versions += len(page.versions)
            if seconds_left() < ROUND_S:
                raise OutOfTime
        self.place = DONE
