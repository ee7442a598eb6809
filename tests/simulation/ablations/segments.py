"""What stands in the place of the safeguards of the search engine ``segments``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Any

from neve.adapters.segments import held_user
from neve.adapters.segments import index as module
from neve.adapters.segments.held_user import HeldUser
from neve.adapters.segments.index import OBJECT_TYPE, SegmentsIndex
from neve.ports.table import Expect
from tests.simulation.ablations.ablation import Patch


def sets_the_pointer_first() -> list[Patch]:
    """The object is put beside, and whoever dies in between leaves a pointer to nothing."""

    def beside(index: Any, keys: Any, base: str, packed: bytes) -> list[str]:
        name = keys.segment_object(base, 0)
        index._tasks.start(partial(index._objects.put, name, packed, content_type=OBJECT_TYPE))
        return [name]

    return [(SegmentsIndex, "_put_pieces", beside)]


def reads_the_base_first() -> list[Patch]:
    """A delta may be in the next base by the time that its own row is looked for."""
    read = SegmentsIndex._read

    def before(index: Any, keys: Any, since: str = "") -> Any:
        base = index._table.get(keys.passage_base)
        stored = read(index, keys, since)
        absorbed = frozenset(base["absorbed"]) if base else frozenset[str]()
        deltas = {ulid: packed for ulid, packed in stored.deltas.items() if ulid not in absorbed}
        return replace(stored, base=base, deltas=deltas)

    return [(SegmentsIndex, "_read", before)]


def reads_only_what_is_newest() -> list[Patch]:
    """A delta whose writer's clock is behind, or whose put took long, is passed over."""
    return [(module, "OVERLAP", timedelta(0))]


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
    return [(held_user, "_is_older", lambda *_: False)]


def forgets_with_the_next_merge() -> list[Patch]:
    """Words that were taken back stay until there is something else to merge."""
    merge = SegmentsIndex.merge

    def later(index: Any, owner: Any, *, forgets: bool = False) -> bool:
        del forgets
        return merge(index, owner)

    return [(SegmentsIndex, "merge", later)]
