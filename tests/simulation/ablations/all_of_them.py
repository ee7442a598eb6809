"""Safeguards of the product, each with a way to take it out. A run without one of them has to break an invariant within
so many seeds: that is what a green run is worth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from datetime import timedelta

from neve.domain.compile import plan
from neve.domain.compile.conversation import Conversation
from neve.domain.indexing.passage import Passage, version_at
from neve.domain.memories import live_rows
from neve.domain.retract import derived
from neve.domain.sessions.voices import THE_USER
from neve.store import documents as document_rows
from neve.store import rows
from neve.store.keys import UserKeys
from neve.usecases.ask.compile import compile_context
from neve.usecases.ask.recall.stages import hydrate
from neve.usecases.core.images import event_images
from neve.usecases.core.jobs.carry_on import Done
from neve.usecases.core.lag import memory_lag
from neve.usecases.core.memories import replace_rows
from neve.usecases.core.pack import build_pack, just_said
from neve.usecases.tell.documents import commit_document, delete_document, document_writes
from neve.usecases.tell.memories import (
    create_memory,
    delete_memory,
    evolve_memory,
    fact_writes,
    mark_used,
    note_access,
    update_memory,
)
from neve.usecases.tell.sessions import append_events
from neve.usecases.work.background import dispatch_changes, steps, sweep_due
from neve.usecases.work.compact import artifacts, move_horizon, retain_logs
from neve.usecases.work.erase import run_erasure
from neve.usecases.work.indexing import changed_events, index_memories, requeue
from neve.usecases.work.indexing.indexed_log import IndexedLog
from neve.usecases.work.librarian import commit_filing, file_session
from neve.usecases.work.librarian import hand_in as filing_hand_in
from neve.usecases.work.observe import commit_pass, extract_session, observe_session
from neve.usecases.work.retract import find_derived, replace_derived
from tests.simulation.ablations import export, filing, forgetting, recall, segments, validity, webhooks
from tests.simulation.ablations.ablation import Ablation
from tests.simulation.ablations.stand_ins import (
    AnyVersion,
    FreePlaces,
    another_id_each_time,
    any_version,
    blind_head,
    builds_what_it_purged_at_once,
    by_its_own_range,
    by_its_words_alone,
    by_the_first_statement,
    changes_what_was_replaced,
    counts_before_it_flips,
    ends_what_a_model_refuses,
    every_generation,
    flips_anyway,
    forgets_its_try,
    hears_only_messages,
    keeps_the_live_list,
    leaves_pins_behind,
    lost_postponement,
    never_due,
    nights_rebuild_packs,
    no_second_look,
    nobody_owns_a_night,
    none,
    notes_first,
    nothing,
    one_look,
    only_the_time,
    overwrites,
    retraction_never_due,
    takes_client_ids_again,
    unconditional_log,
    untold,
    whatever_it_says_of_it,
)


def _by_name(ablations: Iterable[Ablation]) -> dict[str, Ablation]:
    """Raises ValueError for a name that two of them have: one of them would never be looked for."""
    found: dict[str, Ablation] = {}
    for ablation in ablations:
        if ablation.name in found:
            raise ValueError(f"two ablations are called {ablation.name!r}")
        found[ablation.name] = ablation
    return found


GUARD = rows.guard_user
ABLATIONS = _by_name(
    (
        Ablation(
            "lease",
            "the check of the lease before a pass commits",
            "hostile",
            100,
            lambda: [(commit_pass, "check_lease", nothing)],
        ),
        Ablation(
            "silence",
            "the sweep's look for sessions that fell silent",
            "silent",
            40,
            lambda: [(sweep_due, "passes_due", lambda *_: iter(()))],
        ),
        Ablation(
            "fencing",
            "the fencing token of a lease",
            "hostile",
            400,
            lambda: [(commit_pass, "check_lease", only_the_time)],
        ),
        Ablation(
            "gate",
            "the gate before an append",
            "chat",
            1,
            lambda: [(append_events, "screen_event", lambda event, _: (event, Counter()))],
        ),
        Ablation("own append", "recognising an append whose answer was lost", "chat", 300, forgets_its_try),
        Ablation(
            "own pass",
            "recognising a pass whose answer was lost",
            "chat",
            200,
            lambda: [(commit_pass.PassCommit, "write", another_id_each_time)],
        ),
        Ablation(
            "own creation",
            "recognising a memory whose creation was answered as lost",
            "churn",
            20,
            lambda: [(create_memory._Create, "_made_before", nothing)],
        ),
        Ablation(
            "own change",
            "recognising a change of a memory that was answered as lost",
            "records",
            100,
            lambda: [(update_memory._Update, "_made_before", nothing)],
        ),
        Ablation(
            "own deletion",
            "recognising a deletion that was answered as lost",
            "records",
            300,
            lambda: [(delete_memory._Delete, "_is_done", nothing)],
        ),
        Ablation("client ids", "looking for the client ids of earlier appends", "chat", 500, takes_client_ids_again),
        Ablation("log condition", "the expected versions of an append", "chat", 100, unconditional_log),
        Ablation(
            "index version",
            "the external version of a passage",
            "churn",
            100,
            lambda: [(Passage, "document_version", 0)],
        ),
        Ablation(
            "just said",
            "what was said in other conversations, in a first pack",
            "chat",
            200,
            lambda: [(just_said, "tails_of", lambda *_: [])],
        ),
        Ablation(
            "one voice",
            "passes that read one speaker at a time",
            "participants",
            20,
            lambda: [(observe_session, "with_one_voice", lambda plan, **_: (plan, THE_USER))],
        ),
        Ablation(
            "audience",
            "keeping what an assistant says behind another's words in its session",
            "participants",
            100,
            lambda: [(append_events, "heard_by", hears_only_messages)],
        ),
        Ablation("put new", "the one winner of a pack version's object", "records", 1_000, overwrites),
        Ablation(
            "pointer",
            "the expected version of a pack's pointer",
            "noted",
            100,
            lambda: [(build_pack, "rows", AnyVersion("put_epoch"))],
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
            lambda: [(index_memories._Projection, "forget", nothing)],
        ),
        Ablation(
            "citation",
            "the expected version of a citation",
            "records",
            300,
            lambda: [(mark_used, "rows", AnyVersion("put_memory"))],
        ),
        Ablation(
            "access",
            "the expected version of a note that a memory was answered with",
            "facts",
            1_000,
            # As often as it may: only a memory that was last noted ten minutes ago is written.
            lambda: [(note_access, "Version", any_version), (note_access, "EXACT_TO", timedelta(0))],
        ),
        Ablation(
            "if-match",
            "the expected version of an update",
            "records",
            400,
            lambda: [(update_memory, "rows", AnyVersion("put_memory"))],
        ),
        Ablation(
            "document if-match",
            "the expected version of a document's head",
            "documents",
            400,
            lambda: [(document_rows, "put_document", blind_head)],
        ),
        Ablation(
            "recreated",
            "another first version for each head of a document that is recreated",
            "moves",
            3000,
            lambda: [(document_rows, "first_version", lambda _: 1)],
        ),
        Ablation(
            "own document",
            "recognising a document's write that was answered as lost",
            "documents",
            300,
            lambda: [(commit_document._Attempts, "_made_before", nothing)],
        ),
        Ablation(
            "document deleted",
            "deleting the revisions with the head",
            "documents",
            100,
            lambda: [(delete_document._Delete, "_revisions", none)],
        ),
        Ablation("live list", "taking a deleted memory out of the live list", "records", 60, keeps_the_live_list),
        Ablation("neighbours", "writing vectors again whose neighbours came meanwhile", "chat", 60, one_look),
        Ablation("vectors noted", "noting vectors behind their last write", "utterances", 300, notes_first),
        Ablation("generation", "the generation that a list is read in", "long", 1_000, every_generation),
        Ablation(
            "erasing",
            "refusing what is written for a user who is being erased",
            "operators",
            60,
            lambda: [(rows, "writable", nothing)],
        ),
        Ablation(
            "sources",
            "looking whether the sources of a replacement are still there to be replaced",
            "long",
            200,
            lambda: [(replace_rows, "_unchanged", nothing)],
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
            lambda: [(replace_rows, "deleted_ops", untold)],
        ),
        Ablation(
            "leaving",
            "the expected version of a session that leaves the list of those behind",
            "races",
            500,
            lambda: [(memory_lag, "rows", AnyVersion("put_session"))],
        ),
        Ablation("flip", "the expected version of the user's head in a replacement", "races", 60, flips_anyway),
        Ablation(
            "night counts", "counting a batch in the transaction of its flip", "nights", 300, counts_before_it_flips
        ),
        Ablation(
            "handed in",
            "the deletion of what a night has handed in",
            "handed_in",
            60,
            lambda: [(steps, "withdraw_next", lambda _: Done())],
        ),
        Ablation(
            "handed-in filing",
            "the work that deletes what a filing has handed in",
            "handed_in",
            60,
            lambda: [(filing_hand_in, "put_deletion", lambda *_: [])],
        ),
        Ablation("night packs", "leaving the session out of a night's replacement", "nights", 60, nights_rebuild_packs),
        Ablation(
            "retracted input",
            "looking whether the input of a pass was taken back before it commits",
            "recanted",
            1500,
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
            1500,
            lambda: [(derived._Weighing, "_is_touched", by_its_own_range)],
        ),
        Ablation(
            "corrections",
            "leaving what a person last wrote, unless it is deleted",
            "corrected",
            400,
            lambda: [(find_derived._Weighing, "_outliving", lambda _: frozenset())],
        ),
        Ablation(
            "said later",
            "standing before what a person said later, by its time",
            "corrected",
            300,
            lambda: [(live_rows.LivePlace, "is_behind", lambda own, other: own.seq > other.seq)],
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
            lambda: [(changed_events, "write_beside", nothing)],
        ),
        Ablation(
            "place of a copy",
            "moving the place of a fact to the copy that comes back",
            "recanted",
            60,
            lambda: [(replace_derived, "_places", none)],
        ),
        Ablation(
            "said again",
            "keeping a fact by another message when the first one is taken back",
            "recanted",
            100,
            lambda: [(derived, "restated", by_the_first_statement)],
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
            builds_what_it_purged_at_once,
        ),
        Ablation(
            "new rows",
            "looking at the rows that the search index may not have yet",
            "noted",
            40,
            recall.looks_at_nothing_new,
        ),
        Ablation(
            "new rows first",
            "looking at them before the index is searched by words",
            "noted",
            9_000,
            # Beside notes of every access, which come between more often.
            lambda: [*recall.searches_before_it_looks(), (note_access, "EXACT_TO", timedelta(0))],
        ),
        Ablation(
            "night token",
            "the token of a worker of the night, without its lease",
            "nights",
            1_000,
            nobody_owns_a_night,
        ),
        Ablation("postponed", "sending a message again that was postponed", "hostile", 300, lost_postponement),
        Ablation(
            "left running",
            "noting when the job of a pass is due that nobody had asked for",
            "outbox",
            1_200,
            lambda: [(extract_session, "_asked", nothing)],
        ),
        Ablation(
            "artifact",
            "writing a tool's result as a document before the log names it",
            "long",
            60,
            lambda: [(artifacts, "store_artifacts", nothing), (move_horizon, "store_artifacts", nothing)],
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
            filing.writes_over_what_it_had_not_seen,
        ),
        Ablation(
            "filing overtaken",
            "looking whether another librarian has moved the cursor meanwhile",
            "library",
            400,
            filing.files_what_another_one_filed,
        ),
        Ablation(
            "fingerprint",
            "the condition on which a fact takes its place",
            "facts",
            60,
            lambda: [(fact_writes, "rows", FreePlaces())],
        ),
        Ablation(
            "other words",
            "that a statement has one place in whatever words",
            "facts",
            60,
            by_its_words_alone,
        ),
        Ablation(
            "opposites",
            "that the opposite of a statement has another place",
            "facts",
            60,
            whatever_it_says_of_it,
        ),
        Ablation(
            "written over",
            "noting on what a person evolves which messages it was made from",
            "corrected",
            100,
            lambda: [(evolve_memory, "evolved_over", lambda _: ())],
        ),
        Ablation(
            "said before",
            "a pass's row in front of what was evolved since its messages were said",
            "corrected",
            100,
            lambda: [(commit_pass, "in_place", lambda live, row, _: (*live, row))],
        ),
        Ablation(
            "evolve",
            "the expected version of what evolves",
            "facts",
            60,
            lambda: [(evolve_memory, "rows", AnyVersion("put_memory"))],
        ),
        Ablation(
            "unheld",
            "noting on the user's row that a fact does not hold",
            "recanted",
            60,
            lambda: [(rows, "guard_user", lambda keys, head, now, _=(): GUARD(keys, head, now))],
        ),
        Ablation(
            "replaced",
            "refusing to change what another memory has taken the place of",
            "evolved",
            60,
            changes_what_was_replaced,
        ),
        Ablation("pin", "taking the pin of a document away with its place in packs", "prompts", 60, leaves_pins_behind),
        Ablation(
            "pinned",
            "noting on the head of a user that documents stand in packs",
            "prompts",
            60,
            lambda: [(document_writes, "note_pins", nothing)],
        ),
        Ablation(
            "cut", "keeping where a history is cut", "prompts", 100, lambda: [(compile_context, "keep_epoch", nothing)]
        ),
        Ablation(
            "open calls",
            "a result for a call that never gets one",
            "prompts",
            60,
            lambda: [(Conversation, "close_round", nothing)],
        ),
        Ablation(
            "open turn",
            "knowing by its role the message whose turn goes on",
            "loops",
            60,
            lambda: [(plan, "message_of", nothing)],
        ),
        Ablation(
            "covered message",
            "noting the covered message whose turn goes on behind what a compaction covers",
            "loops",
            300,
            lambda: [(move_horizon._Session, "asked_before", nothing)],
        ),
        Ablation(
            "taken away",
            "taking away what an append stored that is refused",
            "images",
            1_000,
            lambda: [(event_images.StoredImages, "take_away", nothing)],
        ),
        Ablation(
            "announced",
            "announcing a new document's long text before it is written",
            "texts",
            60,
            lambda: [(document_writes, "put_announced_text", never_due)],
        ),
        Ablation("settling", "removing once more what came late", "operators", 60, no_second_look),
        Ablation(
            "settling of a job",
            "waiting between the two looks of an erasure that a tenant asked for",
            "erasures",
            20,
            lambda: [(run_erasure, "SETTLE_S", 0)],
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
            "keeping a retraction among what is due until the search index is rid of its events",
            "outbox",
            60,
            lambda: [(rows, "put_retraction", retraction_never_due)],
        ),
        Ablation(
            "lost nights",
            "noting for whom there is a night where the outbox has given their rows up",
            "outbox",
            100,
            lambda: [(requeue, "_note_due", nothing)],
        ),
        Ablation(
            "unwatched",
            "seeing that a session which is up to date is looked at when it may be idle",
            "outbox",
            60,
            lambda: [(memory_lag, "_ensure_watched", nothing)],
        ),
        Ablation(
            "withdrawn exports",
            "taking exports back that hold what is deleted",
            "exports",
            60,
            export.leaves_them,
        ),
        Ablation(
            "overtaken export",
            "looking whether a deletion has overtaken an export",
            "exports",
            60,
            export.goes_on_behind_a_deletion,
        ),
        Ablation(
            "lease of an export",
            "waiting until nobody can be at an export any more",
            "exports",
            100,
            export.waits_for_nobody,
        ),
        Ablation("fence of work", "the fence of a step's commit", "exports", 300, export.checks_no_fence),
        Ablation(
            "listed rev",
            "forgetting a memory only as it was listed",
            "forgotten",
            60,
            forgetting.forgets_what_was_edited,
        ),
        Ablation("pack of now", "packing what holds when a pack is built", "valid", 60, validity.packs_what_has_ended),
        Ablation("recall of now", "recalling what holds", "valid", 60, validity.recalls_what_has_ended),
        Ablation("told end", "telling what of a pack has ended", "valid", 60, validity.tells_of_no_end),
        Ablation(
            "line of a webhook", "waiting for the event before", "webhooks", 60, webhooks.goes_on_behind_what_failed
        ),
        Ablation(
            "row of a delivery",
            "keeping an event until it was taken",
            "webhooks",
            60,
            webhooks.takes_the_row_away_before_the_answer,
        ),
        Ablation("number of a feed", "rows without a gap", "webhooks", 60, webhooks.numbers_by_its_own_clock),
        Ablation("object of a base", "the object before the pointer", "segments", 300, segments.sets_the_pointer_first),
        Ablation("deltas, then base", "reading the base last", "segments", 1_000, segments.reads_the_base_first),
        Ablation(
            "overlap of reads",
            "reading again what is a little older",
            "segments",
            1_000,
            segments.reads_only_what_is_newest,
        ),
        Ablation("pointer to a base", "compare and set", "segments", 2_000, segments.writes_over_another_base),
        Ablation("words taken back", "a merge with a removal", "segments", 300, segments.forgets_with_the_next_merge),
        Ablation("removals of a base", "keeping removals in a base", "segments", 300, segments.keeps_no_removal),
        Ablation("base of a reader", "following another writer's base", "segments", 300, segments.trusts_what_it_holds),
        Ablation(
            "join of deltas", "the higher version stands", "segments", 300, segments.joins_by_the_order_of_arrival
        ),
        Ablation("place of an export", "going on where a part ended", "exports", 60, export.starts_over),
        Ablation(
            "waiting retraction",
            "going on with a retraction until the model takes requests again",
            "refused",
            300,
            ends_what_a_model_refuses,
        ),
        Ablation(
            "removed neighbours",
            "rewriting the passages that stood beside events whose time was over",
            "retained",
            60,
            lambda: [(retain_logs, "write_beside", nothing)],
        ),
        Ablation(
            "version of a log",
            "moving the version of passages with each removal from their log",
            "retained",
            1_000,
            lambda: [(IndexedLog, "version", property(lambda log: version_at(log.epoch.epoch)))],
        ),
        Ablation(
            "erasure swept",
            "going on with an erasure whose time has come",
            "erasures",
            20,
            lambda: [(sweep_due, "send_lost", nothing)],
        ),
    )
)
