"""What must hold of the search engine ``segments``, whoever writes, merges and dies."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from neve.adapters.clock import SystemClock, SystemIds, ThreadTasks
from neve.adapters.segments.delta import unpack_delta
from neve.adapters.segments.index import SHARED_MS, SegmentsIndex
from neve.store.keys import base_of
from tests.simulation.segments.workers import ITEMS, KEYS, MODEL, OWNER, PASSAGES, Found, Wrote, said, search

if TYPE_CHECKING:
    from tests.simulation.run import Run


def a_search_finds_what_was_written(run: Run) -> Iterator[str]:
    """Of each passage the newest rev that was acknowledged before the search began, or a newer one: no hole while
    somebody merges, nothing that comes back."""
    done = run.segments
    if done.erasing:
        return
    for found in done.found:
        yield from _wrong(found, done.wrote)


def what_was_acknowledged_is_there_in_the_end(run: Run) -> Iterator[str]:
    done, cloud = run.segments, run.cloud
    if done.erasing or not done.wrote:
        return
    clock = SystemClock()
    index = SegmentsIndex(cloud.table, cloud.objects, MODEL, clock=clock, ids=SystemIds(), tasks=ThreadTasks(clock))
    for n in range(PASSAGES):
        yield from _wrong(Found(n, float("inf"), float("inf"), search(index, OWNER, n)), done.wrote)


def nothing_is_left_of_who_was_erased(run: Run) -> Iterator[str]:
    if not run.segments.erased:
        return
    yield from (f"row {key.sk}" for key in run.cloud.table.rows if key.pk == KEYS.passages)
    yield from (f"object {name}" for name in run.cloud.objects.objects if name.startswith(KEYS.segments_prefix))


def what_was_taken_back_is_in_nothing_that_is_kept(run: Run) -> Iterator[str]:
    """Words that an acknowledged removal, or a newer rev, has taken back, when nobody works any more."""
    done, cloud = run.segments, run.cloud
    if done.erasing or any(one.ended_s == float("inf") for one in done.wrote):
        return  # who does not know whether it was done does it again, in the product
    row: dict[str, Any] = cloud.table.rows.get(KEYS.passage_base, {})
    kept = {row.get("base"), row.get("previous")}  # another object is of a merge that died in front of its pointer
    texts = {
        name: stored.body
        for name, stored in cloud.objects.objects.items()
        if name.startswith(KEYS.segments_prefix) and base_of(name) in kept
    }
    for key, item in cloud.table.rows.items():
        if key.pk == KEYS.passages and key != KEYS.passage_base:
            delta = unpack_delta(key.sk, item["packed"], MODEL)
            texts[key.sk] = "".join(one.text for one in delta.written).encode()
    for one in done.wrote:
        if one.keep is None and _is_taken_back(one, done.wrote):
            yield from (
                f"{said(one).text} in {name}" for name, body in texts.items() if said(one).text.encode() in body
            )


def _is_taken_back(one: Wrote, wrote: list[Wrote]) -> bool:
    return any(other.rev > one.rev and other.concerns((one.item, one.n)) for other in wrote)


def _wrong(found: Found, wrote: list[Wrote]) -> Iterator[str]:
    for place in ((item, found.n) for item in ITEMS):
        about = [one for one in wrote if one.concerns(place) and one.began_s <= found.ended_s]
        before = [one.rev for one in about if one.ended_s < found.began_s - SHARED_MS / 1000]
        least = max(before, default=0)
        possible = {one.rev if one.keep is None else None for one in about if one.rev >= least}
        if not before:
            possible.add(None)
        if found.revs.get(place) not in possible:
            yield f"{place}: rev {found.revs.get(place)} at {found.began_s:.3f} s, and not of {possible}"


INVARIANTS = (
    a_search_finds_what_was_written,
    what_was_acknowledged_is_there_in_the_end,
    nothing_is_left_of_who_was_erased,
    what_was_taken_back_is_in_nothing_that_is_kept,
)
