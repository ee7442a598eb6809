"""Safeguards of the product, each with a way to take it out. A run without one of them has to break an invariant within
so many seeds: that is what a green run is worth."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Any
from unittest import mock

from neve import worker
from neve.domain.compile.conversation import Conversation
from neve.domain.ids import ulid_named
from neve.domain.indexing.passage import Passage
from neve.domain.memories import fact_statements
from neve.domain.privacy.screen import Found
from neve.domain.records.documents import Document
from neve.domain.records.memories import Memory, Statement
from neve.domain.retract import derived
from neve.domain.times import iso
from neve.ports.table import Delete, Expect, Put, Version, WriteOp
from neve.store import documents as document_rows
from neve.store import pins, rows
from neve.store.documents import put_announced_text, put_head
from neve.store.keys import UserKeys
from neve.store.memories import deleted_ops
from neve.store.transact import transact
from neve.usecases.background import dispatch_changes, sweep_due
from neve.usecases.compact import artifacts, move_horizon
from neve.usecases.compile import compile_context
from neve.usecases.documents import commit_document, delete_document, document_writes
from neve.usecases.erase import erase_user, erasure_job
from neve.usecases.images import event_images
from neve.usecases.indexing import forget_events, index_events, index_memories, requeue
from neve.usecases.jobs.finish_job import finish_job
from neve.usecases.jobs.messages import reflection
from neve.usecases.jobs.messages.compaction import RETRACT
from neve.usecases.lag import memory_lag
from neve.usecases.librarian import commit_filing, file_session
from neve.usecases.memories import (
    create_memory,
    delete_memory,
    evolve_memory,
    fact_writes,
    list_memories,
    mark_used,
    memory_to_change,
    note_access,
    update_memory,
)
from neve.usecases.observe import commit_pass
from neve.usecases.observe.lease import LeaseLost
from neve.usecases.pack import build_pack
from neve.usecases.pack.rebuild_packs import rebuild_packs
from neve.usecases.recall.stages import hydrate
from neve.usecases.reflect import night_job, reflect_user, replace_rows, run
from neve.usecases.retract import replace_derived, run_retraction
from neve.usecases.retract.retract_job import read as read_retraction
from neve.usecases.sessions import append_events
from tests.simulation import encoding_ablations, export_ablations, filing_ablations, recall_ablations
from tests.simulation.clients import operators
from tests.simulation.machine import ports
from tests.simulation.machine.remembered import seldom_collected
from tests.simulation.seeds import Options, play

FOUND_AT = Path(__file__).parent / "found_seeds.json"
FOUND_LAST: dict[str, int] = json.loads(FOUND_AT.read_text(encoding="utf-8"))
"""The first seed that found each ablation when all of them were looked for last."""
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


def _blind_head(keys: UserKeys, document: Document) -> Put:
    return _blind(put_head(keys, document))


def _never_due(*given: Any) -> Put:
    """A row that no sweep finds."""
    item = put_announced_text(*given).item
    return Put({name: value for name, value in item.items() if not name.startswith("due_")}, Expect.ANY)


def _untold(*given: Any) -> list[WriteOp]:
    return [op for op in deleted_ops(*given) if isinstance(op, Delete)]


def _ends_what_a_model_refuses() -> list[Patch]:
    def ends(self: Any, refusal: Any) -> None:
        finish_job(self.scope, self.job_id, RETRACT, "failed", {"reason": str(refusal)})

    return [(run_retraction._Retracting, "_wait", ends)]


def _none(*_: Any) -> list[Any]:
    return []


def _any_version(n: int) -> Version:
    return Version(_Whatever(n))


def _another_id_each_time(self: Any) -> Any:
    """So that a pass does not find the one that it gave itself."""
    ports_ = self.scope.ports
    return transact(ports_, lambda: self._attempt(f"mem_{ports_.ids.ulid(ports_.clock.now())}"))


def _only_the_time(marker: Any, _: int, now: Any) -> None:
    if marker.lease_until is None or marker.lease_until <= iso(now):
        raise LeaseLost


def _builds_what_it_purged_at_once() -> list[Patch]:
    erase = run_retraction._Retracting._erase

    def erasing(self: Any, retraction: Any) -> None:
        erase(self, retraction)
        rebuild_packs(self.scope, read_retraction(self.scope, self.job_id).state.get("purged", ()), ())

    return [
        (run_retraction._Retracting, "_erase", erasing),
        (run_retraction, "rebuild_packs", lambda _, sessions, __: list(sessions)),
    ]


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


class _FreePlaces(_AnyVersion):
    """And whose facts take their place whoever holds it."""

    def put_fingerprint(self, *given: Any) -> Put:
        return Put(rows.put_fingerprint(*given).item, Expect.ANY)


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


def _notes_first() -> list[Patch]:
    cls = index_events._Vectors
    note = cls._note

    def first(self: Any, span: Any, seen: Any, written: Any) -> Any:
        noted = note(self, span, seen, written)
        if noted.after is None:
            note(self, span, noted.before, written)
        return noted

    return [(cls, "_note", first)]


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

    def erase(data: Any) -> Any:
        if removals:
            return None
        removals.append(data)
        return erase_user.erase_user(data)

    return [(operators, "erase_user", erase)]


def _leaves_pins_behind() -> list[Patch]:
    """A document that changes its place in packs stands in both."""

    def only_puts(*given: Any) -> list[Any]:
        return [op for op in pins.pin_ops(*given) if not isinstance(op, Delete)]

    return [(document_rows, "pin_ops", only_puts)]


def _counts_before_it_flips() -> list[Patch]:
    """What a batch did is written on the job before readers see it, not with it."""

    def counted_first(scope: Any, incarnation: int, wanted: Any) -> Any:
        transact(scope.ports, lambda: scope.ports.table.write(wanted.beside()))
        return replace_rows.replace_rows(scope, incarnation, replace(wanted, beside=list))

    return [(reflect_user, "replace_rows", counted_first)]


def _nights_rebuild_packs() -> list[Patch]:
    def of_a_session(scope: Any, incarnation: int, wanted: Any) -> Any:
        return replace_rows.replace_rows(scope, incarnation, replace(wanted, session=wanted.old[0].session_id))

    return [(reflect_user, "replace_rows", of_a_session)]


def _another_job_each_time() -> list[Patch]:
    """Who is told twice of a user works twice."""
    numbers = count()
    part_of = reflection.part_of

    def another(keys: Any, asked: Any) -> Any:
        part = part_of(keys, asked)
        return replace(part, job_id=f"job_{ulid_named(f'{part.job_id} {next(numbers)}')}")

    return [(run, "part_of", another)]


def _nobody_owns_a_night() -> list[Patch]:
    """A worker of the night that was taken for dead goes on."""

    def own(self: Any, found: Any) -> Any:
        return rows.read_job(found[self.scope.keys.job(self.asked.job_id)])

    return [(night_job.NightJob, "_own", own)]


def _by_the_first_statement(fact: Memory, remaining: Sequence[Statement]) -> Memory | None:
    """Whatever was said later."""
    return fact if fact_statements.first_statement(fact) in remaining else None


def _by_its_own_range(self: Any, memory: Any) -> bool:
    return derived.is_touched(memory, self.session, self.spans)


def _by_name(ablations: Iterable[Ablation]) -> dict[str, Ablation]:
    """Raises ValueError for a name that two of them have: one of them would never be looked for."""
    found: dict[str, Ablation] = {}
    for ablation in ablations:
        if ablation.name in found:
            raise ValueError(f"two ablations are called {ablation.name!r}")
        found[ablation.name] = ablation
    return found


ABLATIONS = _by_name(
    (
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
        Ablation(
            "gate",
            "the gate before an append",
            "chat",
            1,
            lambda: [(append_events, "screen_event", lambda event, _: (event, Found()))],
        ),
        Ablation("own append", "recognising an append whose answer was lost", "chat", 300, _forgets_its_try),
        Ablation(
            "own pass",
            "recognising a pass whose answer was lost",
            "chat",
            200,
            lambda: [(commit_pass.PassCommit, "write", _another_id_each_time)],
        ),
        Ablation(
            "own creation",
            "recognising a memory whose creation was answered as lost",
            "churn",
            20,
            lambda: [(create_memory._Create, "_own", _nothing)],
        ),
        Ablation(
            "own change",
            "recognising a change of a memory that was answered as lost",
            "records",
            100,
            lambda: [(update_memory._Update, "_own", _nothing)],
        ),
        Ablation(
            "own deletion",
            "recognising a deletion that was answered as lost",
            "records",
            300,
            lambda: [(delete_memory._Delete, "_is_done", _nothing)],
        ),
        Ablation("client ids", "looking for the client ids of earlier appends", "chat", 500, _takes_client_ids_again),
        Ablation("log condition", "the expected versions of an append", "chat", 100, _unconditional_log),
        Ablation(
            "index version",
            "the external version of a passage",
            "churn",
            100,
            lambda: [(Passage, "document_version", 0)],
        ),
        Ablation("put new", "the one winner of a pack version's object", "records", 400, _overwrites),
        Ablation(
            "pointer",
            "the expected version of a pack's pointer",
            "races",
            100,
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
            "facts",
            1_000,
            lambda: [(note_access, "Version", _any_version)],
        ),
        Ablation(
            "if-match",
            "the expected version of an update",
            "records",
            400,
            lambda: [(update_memory, "rows", _AnyVersion("put_memory"))],
        ),
        Ablation(
            "document if-match",
            "the expected version of a document's head",
            "documents",
            400,
            lambda: [(document_rows, "put_head", _blind_head)],
        ),
        Ablation(
            "recreated",
            "another first version for each head of a document that is recreated",
            "moves",
            600,
            lambda: [(document_rows, "first_version", lambda _: 1)],
        ),
        Ablation(
            "own document",
            "recognising a document's write that was answered as lost",
            "documents",
            300,
            lambda: [(commit_document._Attempts, "_own", _nothing)],
        ),
        Ablation(
            "document deleted",
            "deleting the revisions with the head",
            "documents",
            100,
            lambda: [(delete_document._Delete, "_revisions", _none)],
        ),
        Ablation("live list", "taking a deleted memory out of the live list", "records", 60, _keeps_the_live_list),
        Ablation("neighbours", "writing vectors again whose neighbours came meanwhile", "chat", 60, _one_look),
        Ablation("vectors noted", "noting vectors behind their last write", "utterances", 300, _notes_first),
        Ablation("generation", "the generation that a list is read in", "long", 1_000, _every_generation),
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
            lambda: [(replace_rows, "_unchanged", _nothing)],
        ),
        Ablation(
            "taking over",
            "the fencing token that is raised before a replacement is undone",
            "races",
            100,
            lambda: [(replace_rows, "_taken_over", lambda _, head, *__: head)],
        ),
        Ablation(
            "undone",
            "noting that rows of an undone replacement have to leave the index",
            "races",
            60,
            lambda: [(replace_rows, "deleted_ops", _untold)],
        ),
        Ablation(
            "leaving",
            "the expected version of a session that leaves the list of those behind",
            "races",
            500,
            lambda: [(memory_lag, "rows", _AnyVersion("put_session"))],
        ),
        Ablation("flip", "the expected version of the user's head in a replacement", "races", 60, _flips_anyway),
        Ablation(
            "night counts", "counting a batch in the transaction of its flip", "nights", 300, _counts_before_it_flips
        ),
        Ablation(
            "night packs", "leaving the session out of a night's replacement", "nights", 60, _nights_rebuild_packs
        ),
        Ablation(
            "retracted input",
            "looking whether the input of a pass was taken back before it commits",
            "recanted",
            300,
            lambda: [(commit_pass, "meets", lambda *_: False)],
        ),
        Ablation(
            "filed input",
            "looking whether the input of a filing was taken back before it commits",
            "recanted",
            600,
            lambda: [(commit_filing, "_retracted_since", lambda *_: False)],
        ),
        Ablation(
            "left out",
            "noting what of its range a memory was made without",
            "retractions",
            150,
            lambda: [(commit_pass, "common", lambda *_: ())],
        ),
        Ablation(
            "retracted sources",
            "judging a reflection by its sources",
            "retractions",
            600,
            lambda: [(derived._Weighing, "_is_touched", _by_its_own_range)],
        ),
        Ablation(
            "hydration of events",
            "asking the sessions of a recall's events what was taken back",
            "retractions",
            150,
            lambda: [(hydrate, "_taken_back", lambda *_: False)],
        ),
        Ablation(
            "retracted neighbours",
            "rewriting the passages that stood beside what was taken back",
            "retractions",
            60,
            lambda: [(forget_events._Neighbours, "forget", _nothing)],
        ),
        Ablation(
            "place of a copy",
            "moving the place of a fact to the copy that comes back",
            "recanted",
            60,
            lambda: [(replace_derived, "_places", _none)],
        ),
        Ablation(
            "said again",
            "keeping a fact by another message when the first one is taken back",
            "recanted",
            100,
            lambda: [(derived, "restated", _by_the_first_statement)],
        ),
        Ablation(
            "said meanwhile",
            "looking whether somebody has said the same before a fact comes back",
            "recanted",
            600,
            lambda: [(replace_derived, "holds", lambda *_: False)],
        ),
        Ablation(
            "waiting filing",
            "noting which jobs wait for a retraction, and sending again ten minutes later what has not ended",
            "recanted",
            300,
            lambda: [
                (file_session, "wait_for_retraction", lambda *_: True),
                (sweep_due, "send_lost", lambda *_, **__: False),
            ],
        ),
        Ablation(
            "rebuilt packs",
            "building the packs that a deletion purged behind all that it writes",
            "retractions",
            1_000,
            _builds_what_it_purged_at_once,
        ),
        Ablation(
            "new rows",
            "looking at the rows that the search index may not have yet",
            "noted",
            40,
            recall_ablations.looks_at_nothing_new,
        ),
        Ablation(
            "new rows first",
            "looking at them before the index is searched by words",
            "noted",
            600,
            recall_ablations.searches_before_it_looks,
        ),
        Ablation("night jobs", "the job id that follows from run and user", "nights", 300, _another_job_each_time),
        Ablation("night token", "the token of a worker of the night", "nights", 1_000, _nobody_owns_a_night),
        Ablation("postponed", "sending a message again that was postponed", "hostile", 60, _lost_postponement),
        Ablation(
            "artifact",
            "writing a tool's result as a document before the log names it",
            "long",
            60,
            lambda: [(artifacts, "store_artifacts", _nothing), (move_horizon, "store_artifacts", _nothing)],
        ),
        Ablation(
            "overtaken",
            "looking whether another compaction has moved the epoch meanwhile",
            "races",
            1_000,
            lambda: [(move_horizon, "_moved_since", lambda *_: False)],
        ),
        Ablation(
            "queued job",
            "sending the message of a job that an append wrote",
            "long",
            20,
            lambda: [(dispatch_changes, "_queued_jobs", lambda _: {})],
        ),
        Ablation(
            "filing base",
            "the rev that a librarian's change was made from",
            "library",
            1_000,
            filing_ablations.writes_over_what_it_had_not_seen,
        ),
        Ablation(
            "filing overtaken",
            "looking whether another librarian has moved the cursor meanwhile",
            "library",
            400,
            filing_ablations.files_what_another_one_filed,
        ),
        Ablation(
            "fingerprint",
            "the condition on which a fact takes its place",
            "facts",
            60,
            lambda: [(fact_writes, "rows", _FreePlaces())],
        ),
        Ablation(
            "evolve",
            "the expected version of what evolves",
            "facts",
            60,
            lambda: [(evolve_memory, "rows", _AnyVersion("put_memory"))],
        ),
        Ablation(
            "pin", "taking the pin of a document away with its place in packs", "prompts", 60, _leaves_pins_behind
        ),
        Ablation(
            "pinned",
            "noting on the head of a user that documents stand in packs",
            "prompts",
            60,
            lambda: [(document_writes, "note_pins", _nothing)],
        ),
        Ablation(
            "cut", "keeping where a history is cut", "prompts", 100, lambda: [(compile_context, "keep_epoch", _nothing)]
        ),
        Ablation(
            "open calls",
            "a result for a call that never gets one",
            "prompts",
            60,
            lambda: [(Conversation, "close_round", _nothing)],
        ),
        Ablation(
            "taken away",
            "taking away what an append stored that is refused",
            "images",
            1_000,
            lambda: [(event_images.StoredImages, "take_away", _nothing)],
        ),
        Ablation(
            "announced",
            "announcing a new document's long text before it is written",
            "texts",
            60,
            lambda: [(document_writes, "put_announced_text", _never_due)],
        ),
        Ablation("settling", "removing once more what came late", "operators", 60, _no_second_look),
        Ablation(
            "settling of a job",
            "waiting between the two looks of an erasure that a tenant asked for",
            "erasures",
            20,
            lambda: [(erasure_job.Erasing, "settled", property(lambda _: True))],
        ),
        Ablation(
            "lost jobs",
            "sending jobs whose batch the outbox has given up",
            "outbox",
            60,
            lambda: [(sweep_due, "send_lost", lambda *_, **__: False)],
        ),
        Ablation(
            "lost deletions",
            "telling the search index of deletions whose batch the outbox has given up",
            "outbox",
            100,
            lambda: [(sweep_due, "resend_deletion", lambda *_: False)],
        ),
        Ablation(
            "lost retractions",
            "telling the search index of a retraction before its job ends",
            "outbox",
            60,
            lambda: [(run_retraction._Retracting, "_leave_index", _nothing)],
        ),
        Ablation(
            "lost nights",
            "noting for whom there is a night where the outbox has given their rows up",
            "outbox",
            100,
            lambda: [(requeue, "_note_due", _nothing)],
        ),
        Ablation(
            "unwatched",
            "seeing that a session which is up to date is looked at when it may be idle",
            "outbox",
            60,
            lambda: [(memory_lag, "_see_that_it_is_watched", _nothing)],
        ),
        Ablation(
            "withdrawn exports",
            "taking exports back that hold what is deleted",
            "exports",
            60,
            export_ablations.leaves_them,
        ),
        Ablation(
            "overtaken export",
            "looking whether a deletion has overtaken an export",
            "exports",
            60,
            export_ablations.goes_on_behind_a_deletion,
        ),
        Ablation(
            "lease of an export",
            "waiting until nobody can be at an export any more",
            "exports",
            100,
            export_ablations.waits_for_nobody,
        ),
        Ablation("place of an export", "going on where a part ended", "exports", 60, export_ablations.starts_over),
        Ablation(
            "waiting retraction",
            "going on with a retraction until the model takes requests again",
            "refused",
            60,
            _ends_what_a_model_refuses,
        ),
        Ablation(
            "missed encodings",
            "going through what a user has once more, when something could not be encoded",
            "late",
            60,
            encoding_ablations.forgets_what_could_not_be_encoded,
        ),
        Ablation(
            "late users",
            "telling users to encode what they have when their policy becomes late",
            "late",
            60,
            encoding_ablations.tells_nobody,
        ),
        Ablation(
            "deleted token vectors",
            "taking the token vectors away with their memory",
            "late",
            60,
            encoding_ablations.leaves_them_behind,
        ),
        Ablation(
            "erasure swept",
            "going on with an erasure whose time has come",
            "erasures",
            20,
            lambda: [(sweep_due, "send_again", _nothing)],
        ),
    )
)


def found_at(name: str) -> int | None:
    """``seeds_until_found`` of the ablation of that name, in whatever process."""
    return seeds_until_found(ABLATIONS[name])


def seeds_until_found(ablation: Ablation) -> int | None:
    """The first seed, from 0, that breaks an invariant without the safeguard; None when no seed does."""
    return _first_broken(ablation, range(ablation.within))


def is_found(ablation: Ablation) -> bool:
    """Whether a seed breaks an invariant without the safeguard: the one that did when all of them were looked for last,
    or else any of those within which it has to be found."""
    last = FOUND_LAST.get(ablation.name)
    if last is not None and _first_broken(ablation, [last]) is not None:
        return True
    return seeds_until_found(ablation) is not None


def _first_broken(ablation: Ablation, seeds: Iterable[int]) -> int | None:
    options = Options(ablation.workload)
    with ablation.applied(), seldom_collected():
        return next((seed for seed in seeds if play(seed, options).broken), None)


def keep(found: Mapping[str, int]) -> None:
    """For ``is_found``."""
    FOUND_AT.write_text(json.dumps(dict(sorted(found.items())), indent=1) + "\n", encoding="utf-8")
