"""What stands in the place of the safeguards of the search engine ``segments``."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from neve.adapters.segments import index as module
from neve.adapters.segments.held_user import HeldUser
from neve.adapters.segments.index import OBJECT_TYPE, SegmentsIndex
from neve.ports.table import Delete, Expect
from tests.simulation.ablations.ablation import Patch


def sets_the_pointer_first() -> list[Patch]:
    """The object is put beside, and whoever dies in between leaves a pointer to nothing."""

    def beside(index: Any, keys: Any, base: str, packed: bytes) -> list[str]:
        name = keys.segment_object(base, 0)
        index._tasks.start(partial(index._objects.put, name, packed, content_type=OBJECT_TYPE))
        return [name]

    return [(SegmentsIndex, "_put_pieces", beside)]


def nothing(*_: Any) -> None:
    """In the place of a look."""


def forgets_what_it_has_just_absorbed() -> list[Patch]:
    """And the base that others are reading."""

    def at_once(index: Any, keys: Any, stored: Any, kept: set[str | None]) -> None:
        for ulid in sorted(stored.listed):
            index._table.write([Delete(keys.passage_delta(ulid))])
        if stored.base_id is not None:
            index._objects.delete(keys.segment_object(stored.base_id, 0))

    return [(SegmentsIndex, "_forget_before", at_once), (SegmentsIndex, "_check_base", nothing)]


def writes_over_another_base() -> list[Patch]:
    """Whoever comes last stands, whatever the other one had absorbed."""
    return [(module, "_expected", lambda _stored: Expect.ANY)]


def keeps_no_removal() -> list[Patch]:
    """A base holds what is there, and not what must not come back."""
    packed = HeldUser.packed

    def without(held: HeldUser) -> tuple[Any, Sequence[str], Sequence[Any]]:
        segment, texts, _ = packed(held)
        return segment, texts, ()

    return [(HeldUser, "packed", without)]


def trusts_what_it_holds() -> list[Patch]:
    """A reader goes on with what it has, whatever another writer's base has absorbed meanwhile."""

    def moved(held: Any, base: str | None, _previous: str | None, absorbed: frozenset[str], _listed: Any) -> bool:
        held.base, held.absorbed = base, absorbed
        held.applied -= absorbed
        return True

    return [(HeldUser, "moved_to", moved)]


def joins_by_the_order_of_arrival() -> list[Patch]:
    """What was written last stands, whatever rev it is of."""

    def newest(held: Any, one: Any, added: Any, gone: Any) -> Iterable[int]:
        place = (one.stored.item_id, one.stored.n)
        return () if place in added else [r for r in held._rows(place[0], place[1], last=place[1]) if r not in gone]

    return [(HeldUser, "_replaced", newest)]
