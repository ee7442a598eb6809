"""What answers may say at all."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from neve.store import rows
from neve.store.keys import SessionKeys, UserKeys
from neve.usecases.ask.recall.command import MIN_DEPTH
from neve.usecases.core.pack.served_pack import contents_of
from tests.simulation.checks.replay import Found, of_kind
from tests.simulation.clients.client import tag_of
from tests.simulation.clients.history import Did
from tests.simulation.clients.seen import SeenMemory

if TYPE_CHECKING:
    from tests.simulation.run import Run

TAG = re.compile(r"\bt\d\.u\d\b")


def nobody_reads_others_words(run: Run) -> Found:
    """Every text says whose it is."""
    for did in run.history.done:
        if did.ok:
            strange = set(TAG.findall(_text(did.value))) - {tag_of(did.keys)}
            if strange:
                yield f"{did.who} {did.what} of {tag_of(did.keys)} was told of {sorted(strange)}"


def _text(value: Any) -> str:
    return str(value)


def what_was_noted_is_recalled_by_its_words(run: Run) -> Found:
    """From the call's answer on, as soon as the table's own indexes know it, whatever the search index has by then;
    unless the recall says that it is degraded, or finds as much as a leg reads, or a pack of the session shows it, or
    an operator makes up for what came while an index was filled. An index whose writes are seen later than they return
    keeps nobody's promise."""
    if run.cloud.settings.search_lag_s:
        return
    changed = {did.given[0]: did for did in reversed(list(run.history.of("update", "delete", "evolve")))}
    for asked in run.history.of("recall"):
        if not asked.ok or asked.value.degraded or UserKeys(asked.keys.tenant, asked.keys.user) in run.erased:
            continue
        if run.made_up is not None and run.made_up[0] <= asked.ended_s and asked.began_s <= run.made_up[1]:
            continue
        hits, packed = {hit.id for hit in asked.value.hits}, _packed(run, asked.keys)
        if len(hits) >= MIN_DEPTH - 1:
            continue
        for memory, noted_s in _noted(run, asked):
            change = changed.get(memory.id)
            same = change is None or change.began_s > asked.ended_s
            if same and memory.id not in hits | packed and set(asked.given.query.split()) & set(memory.text.split()):
                yield f"{asked.who} at {asked.began_s:.1f} was not answered {memory.id}, noted at {noted_s:.1f}"


def _noted(run: Run, asked: Did) -> Iterator[tuple[SeenMemory, float]]:
    """What clients had noted in the session before, and when they knew it."""
    for did in run.history.of("create"):
        if did.ok and did.keys == asked.keys and did.ended_s + run.cloud.settings.index_lag_s < asked.began_s:
            yield did.value, did.ended_s


def _packed(run: Run, keys: SessionKeys) -> set[str]:
    """What any pack of the session has shown."""
    own = (new for _, new in of_kind(run, "pack") if new["pk"] == keys.partition and new["sk"].startswith(keys.packs))
    return {i for pack in own for i in contents_of(rows.read_manifest(pack)).ids}


def nothing_fails_unforeseen(run: Run) -> Found:
    """A worker and a call end with the errors that they name."""
    yield from run.cloud.unforeseen


INVARIANTS = (nobody_reads_others_words, what_was_noted_is_recalled_by_its_words, nothing_fails_unforeseen)
