"""Segments for another embedder's vectors, in place: what is there is found by words until its vectors are written."""

from __future__ import annotations

from local.recovery.progress import Progress, in_words
from neve.adapters.segments.index import MODEL_TTL_MS, SegmentsIndex, UnreadableSegments
from neve.ports.engines import Ports
from neve.ports.search import Owner
from neve.store.keys import Keys
from neve.store.tenants.directory import all_tenants, users_of
from neve.usecases.work.indexing.reindex import reindex

SETTLE_S = MODEL_TTL_MS / 1_000
"""From then on every process goes by what the stage's row says of the model."""


def reindex_segments(ports: Ports, *, settle_s: float = SETTLE_S) -> None:
    """Say what is done. ``settle_s``: 0 where nothing else works on the stage. Raises what ``reindex`` raises, and
    TypeError where the engine is another one."""
    index, model = ports.search, ports.embedder.model
    if not isinstance(index, SegmentsIndex):
        raise TypeError("these engines keep no segments")
    print(f"Filling the segments for {model.tag} …", flush=True)
    index.take_over(model)

    def settle() -> None:
        if settle_s:
            print(f"Waiting {settle_s:.0f} s until every process has seen it …", flush=True)
            ports.clock.sleep(settle_s)

    settle()
    _erase_unreadable(ports, index)
    done = reindex(ports, index, _nothing, settle, Progress(), ports.multi)
    print(f"The segments are for {model.tag} now: {in_words(done)}.")


def _erase_unreadable(ports: Ports, index: SegmentsIndex) -> None:
    """Erase the passages of users whose object is not there, as behind a restored table, or cannot be read: the reindex
    writes all of them anew."""
    for tenant in all_tenants(ports.table):
        keys = Keys(tenant)
        for owner in (keys.of_user(user).owner for user in users_of(ports.table, keys)):
            if not (_is_readable(index, owner) or _is_readable(index, owner)):
                print("The segments of a user cannot be read: they are written anew.", flush=True)
                index.erase(owner)


def _is_readable(index: SegmentsIndex, owner: Owner) -> bool:
    """Say so. Once it may be that others merge all the time."""
    try:
        index.count(owner)
    except UnreadableSegments:
        return False
    return True


def _nothing() -> None:
    """The index in use is the one that is filled."""
