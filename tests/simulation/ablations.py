"""Safeguards of the product, each with a way to take it out. A run without one of them has to break an invariant within
so many seeds: that is what a green run is worth."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from typing import Any
from unittest import mock

from neve import worker
from neve.domain.times import iso
from neve.ports import Expect, Passage, Put, Version
from neve.store import rows
from neve.store.keys import UserKeys
from neve.store.transact import transact
from neve.usecases.erase import erase_user
from neve.usecases.indexing import index_events, index_memories
from neve.usecases.memories import (
    delete_memory,
    list_memories,
    mark_used,
    memory_to_change,
    note_access,
    update_memory,
)
from neve.usecases.observe import commit_pass
from neve.usecases.observe.lease import LeaseLost
from neve.usecases.pack import build_pack
from neve.usecases.reflect import replace_rows
from neve.usecases.sessions import append_events
from tests.simulation.clients import operators
from tests.simulation.machine import ports
from tests.simulation.seeds import Options, play

Patch = tuple[Any, str, Any]
"""An object, the name of its attribute, and what stands there instead."""


@dataclass(frozen=True)
class Ablation:
    """``without``: the safeguard that is gone. ``within``: the seeds in which a broken invariant has to be found."""

    name: str
    without: str
    workload: str
    within: int
    patches: Callable[[], list[Patch]]

    @contextmanager
    def applied(self) -> Iterator[None]:
        with ExitStack() as stack:
            for where, name, instead in self.patches():
                stack.enter_context(mock.patch.object(where, name, instead))
            yield


# --- what stands in their place -------------------------------------------------------------------


def _nothing(*_: Any, **__: Any) -> None:
    return None


class _Whatever(int):
    """A version that every row has."""

    def __eq__(self, _: object) -> bool:
        return True

    def __hash__(self) -> int:
        return 0


class _AnyVersion:
    """``neve.store.rows``, whose writes of some kinds go through whatever the row's version is by now."""

    def __init__(self, *names: str) -> None:
        self._names = names

    def __getattr__(self, name: str) -> Any:
        made = getattr(rows, name)
        return (lambda *given: _blind(made(*given))) if name in self._names else made


def _blind(put: Put) -> Put:
    return replace(put, expect=_any_version(put.expect.n)) if isinstance(put.expect, Version) else put


def _any_version(n: int) -> Version:
    return Version(_Whatever(n))


def _another_id_each_time(self: Any) -> Any:
    """So that a pass does not find the one that it gave itself."""
    ports_ = self.scope.ports
    return transact(ports_, lambda: self._attempt(f"mem_{ports_.ids.ulid(ports_.clock.now())}"))


def _only_the_time(marker: Any, _: int, now: Any) -> None:
    if marker.lease_until is None or marker.lease_until <= iso(now):
        raise LeaseLost


def _forgets_its_try() -> list[Patch]:
    commit = append_events._Append._commit

    def forgetting(self: Any, *given: Any) -> Any:
        try:
            return commit(self, *given)
        finally:
            self.tried = None

    return [(append_events._Append, "_commit", forgetting)]


def _takes_client_ids_again() -> list[Patch]:
    row = append_events._Append._client_id_row

    def anyway(self: Any, *given: Any) -> Put:
        return Put(row(self, *given).item, Expect.ANY)

    cls = append_events._Append
    return [(cls, "_known_seqs", lambda *_: {}), (cls, "_client_id_row", anyway)]


def _unconditional_log() -> list[Patch]:
    return [
        (append_events, "rows", _AnyVersion("put_event", "put_session")),
        (append_events, "Expect", mock.Mock(ABSENT=Expect.ANY)),
    ]


def _overwrites() -> list[Patch]:
    def put(self: Any, key: str, body: bytes, *, content_type: str) -> bool:
        self.put(key, body, content_type=content_type)
        return True

    return [(ports.SimObjects, "put_new", put)]


def _keeps_the_live_list() -> list[Patch]:

    def without_session(*given: Any) -> Any:
        head, memory = memory_to_change.memory_to_change(*given)
        return head, replace(memory, session_id=None)

    return [(delete_memory, "memory_to_change", without_session)]


def _one_look() -> list[Patch]:
    return [(index_events, "CONTEXTS", 1), (index_events, "EmbedAgain", _Never)]


class _Never(Exception):
    pass


def _unfenced() -> list[Patch]:
    cls = replace_rows._Replacing

    def write(self: Any, ops: Any) -> None:
        self.scope.ports.table.write(ops)

    return [(cls, "_write", write)]


def _flips_anyway() -> list[Patch]:
    return [*_unfenced(), (replace_rows, "rows", _AnyVersion("put_head"))]


def _every_generation() -> list[Patch]:
    def as_it_is(memory: Any, _: int) -> Any:
        return memory.status

    return [(list_memories, "_in_view", lambda *_: True), (list_memories, "status_at", as_it_is)]


def _lost_postponement() -> list[Patch]:
    return [(worker, "_send_again", _nothing)]


def _no_second_look() -> list[Patch]:
    """An erasure ends with its first removal."""
    removals: list[Any] = []

    def erase(ports_: Any, keys: Any) -> Any:
        if removals:
            return None
        removals.append(keys)
        return erase_user.erase_user(ports_, keys)

    return [(operators, "erase_user", erase)]


ABLATIONS = {
    ablation.name: ablation
    for ablation in (
        Ablation(
            "lease",
            "the check of the lease before a pass commits",
            "hostile",
            100,
            lambda: [(commit_pass, "check_lease", _nothing)],
        ),
        Ablation(
            "fencing",
            "the fencing token of a lease",
            "hostile",
            400,
            lambda: [(commit_pass, "check_lease", _only_the_time)],
        ),
        Ablation("own append", "recognising an append whose answer was lost", "chat", 300, _forgets_its_try),
        Ablation(
            "own pass",
            "recognising a pass whose answer was lost",
            "chat",
            200,
            lambda: [(commit_pass.PassCommit, "write", _another_id_each_time)],
        ),
        Ablation("client ids", "looking for the client ids of earlier appends", "chat", 500, _takes_client_ids_again),
        Ablation("log condition", "the expected versions of an append", "chat", 100, _unconditional_log),
        Ablation(
            "index version",
            "the external version of a passage",
            "records",
            400,
            lambda: [(Passage, "document_version", 0)],
        ),
        Ablation("put new", "the one winner of a pack version's object", "records", 400, _overwrites),
        Ablation(
            "pointer",
            "the expected version of a pack's pointer",
            "records",
            300,
            lambda: [(build_pack, "rows", _AnyVersion("put_epoch"))],
        ),
        Ablation(
            "tenant",
            "the tenant in a partition",
            "chat",
            40,
            lambda: [(UserKeys, "partition", property(lambda self: f"T#t1#U#{self.user}"))],
        ),
        Ablation(
            "forgetting",
            "taking a deleted memory out of the index",
            "records",
            60,
            lambda: [(index_memories, "_forget", _nothing)],
        ),
        Ablation(
            "citation",
            "the expected version of a citation",
            "records",
            300,
            lambda: [(mark_used, "rows", _AnyVersion("put_memory"))],
        ),
        Ablation(
            "access",
            "the expected version of a note that a memory was answered with",
            "records",
            300,
            lambda: [(note_access, "Version", _any_version)],
        ),
        Ablation(
            "if-match",
            "the expected version of an update",
            "records",
            400,
            lambda: [(update_memory, "rows", _AnyVersion("put_memory"))],
        ),
        Ablation("live list", "taking a deleted memory out of the live list", "records", 60, _keeps_the_live_list),
        Ablation("neighbours", "writing vectors again whose neighbours came meanwhile", "chat", 60, _one_look),
        Ablation("generation", "the generation that a list is read in", "long", 800, _every_generation),
        Ablation(
            "erasing",
            "refusing what is written for a user who is being erased",
            "operators",
            60,
            lambda: [(rows, "writable", _nothing)],
        ),
        Ablation(
            "sources",
            "looking whether the sources of a replacement are still there to be replaced",
            "long",
            200,
            lambda: [(replace_rows, "visible", lambda *_: True)],
        ),
        Ablation("flip", "the expected version of the user's head in a replacement", "long", 500, _flips_anyway),
        Ablation("postponed", "sending a message again that was postponed", "hostile", 60, _lost_postponement),
        Ablation("settling", "removing once more what came late", "operators", 60, _no_second_look),
    )
}


def seeds_until_found(ablation: Ablation) -> int | None:
    """The first seed, from 0, that breaks an invariant without the safeguard; None when no seed does."""
    options = Options(ablation.workload)
    with ablation.applied():
        return next((seed for seed in range(ablation.within) if play(seed, options).broken), None)
