"""Finds the images that the events of a user show."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, field

from neve.ports.table import Item, Key
from neve.scope import UserScope
from neve.store import rows
from neve.store.keys import SESSION
from neve.store.partitions import all_rows


@dataclass
class ShownImages:
    """The images that a user's events show. It looks as often as it is asked, and reads each event once: an event gets
    no image behind its append, which moves the row of its session. A further look reads what was appended since, and of
    the events before only those that showed an image that it is asked for: they may have been blanked by now. Good as
    long as one worker lives: an erasure that begins meanwhile ends later (docs/rules/erase.md#user), and until then no
    log begins anew."""

    scope: UserScope
    _read_to: dict[str, int] = field(default_factory=dict)
    _places: dict[str, list[Key]] = field(default_factory=dict)

    def of(self, images: Set[str]) -> set[str]:
        """Give those of ``images`` that an event of any of the user's sessions shows now. Raises StoreUnavailable."""
        if not images:
            return set()
        before = {place for image in images for place in self._places.get(image, ())}
        new = self._read_new()
        still = self.scope.ports.table.get_many(sorted(before)) if before else {}
        shown = new.union(*(_shown_by(item) for item in still.values()))
        return shown & images

    def _read_new(self) -> set[str]:
        """Read what is shown by the events that were appended since the last look, at first by all."""
        table, keys, new = self.scope.ports.table, self.scope.keys, set[str]()
        for head in map(rows.read_session, all_rows(table, keys.partition, prefix=SESSION)):
            session, behind = keys.of_session(head.session_id), self._read_to.get(head.session_id, 0)
            if head.last_seq <= behind:
                continue
            for item in all_rows(table, session.log, between=session.events(behind + 1, head.last_seq)):
                for image in _shown_by(item):
                    self._places.setdefault(image, []).append(session.event(item["seq"]))
                    new.add(image)
            self._read_to[head.session_id] = head.last_seq
        return new


def _shown_by(item: Item) -> set[str]:
    """Give the images that an event's row shows, but not of a row that only names images which are still to be
    removed."""
    if not item.get("blocks"):
        return set()
    return {block["object"] for block in rows.read_event(item).content if isinstance(block, dict) and "object" in block}
