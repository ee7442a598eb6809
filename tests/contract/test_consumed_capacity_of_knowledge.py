"""What calls about facts, documents, the inbox and an erasure consume of DynamoDB's capacity, the entries of the
indexes that they write included."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from neve.domain.documents.change import DocumentChange
from neve.domain.librarian.filing import Action, Proposal
from neve.domain.memories.storage_decision import FactCandidate
from neve.domain.records.memories import Kind, Memory, Provenance
from neve.domain.times import iso
from neve.store.filings import put_proposal
from neve.usecases.ask.compile.command import CompileCommand
from neve.usecases.ask.compile.compile_context import compile_context
from neve.usecases.ask.documents.get_document import get_document
from neve.usecases.ask.documents.list_documents import page_of_documents
from neve.usecases.ask.memories.list_inbox import list_inbox
from neve.usecases.ask.recall.command import RecallCommand
from neve.usecases.ask.recall.recall import recall
from neve.usecases.ask.recall.tool import search_knowledge
from neve.usecases.core.jobs.messages.indexing import events_message
from neve.usecases.tell.documents.write_document import write_document
from neve.usecases.tell.inbox.decide import decide_item
from neve.usecases.tell.inbox.decision import Decision
from neve.usecases.tell.memories.create_memory import NewMemory, create_memory
from neve.usecases.tell.memories.evolve_memory import Evolution, evolve_memory
from neve.usecases.tell.memories.store_fact import store_fact
from neve.usecases.tell.requests.request_erasure import request_erasure
from neve.usecases.work.indexing.index_memories import index_memories
from neve.usecases.work.indexing.indexed_collections import DOCUMENTS
from tests.contract.capacity_table import committed, table
from tests.contract.test_consumed_capacity import Metered, Request, measure
from tests.unit.recall_world import RecallWorld

LIVES = "User lives in Lyon"
PARAGRAPH = "The 9:04 to Lyon needs no seat reservation, and the museum closes at 18:00 on Fridays. " * 3
LISTED = 20
"""Documents of a list, and what waits in an inbox is two."""


def fact(text: str, by: Any = "user_stated", session: str | None = None) -> FactCandidate:
    return FactCandidate(text, "PLACE", Provenance(by, session))


def keep(metered: Metered, *texts: str, **more: Any) -> Memory:
    """One after the other, a minute apart; afterwards the meter shows the last one."""
    for text in texts:
        metered.meter.reset()
        metered.world.clock.move(seconds=60)
        stored = store_fact(metered.world.user("ann"), fact(text, **more), via="api")
    assert stored.memory is not None
    return stored.memory


def correct(metered: Metered) -> None:
    first = keep(metered, LIVES)
    metered.meter.reset()
    evolve_memory(metered.world.user("ann"), first.id, Evolution("User lives in Nice", "moved"))


def write(metered: Metered, *texts: str, path: str = "/reference/trains", **more: Any) -> None:
    for text in texts:
        metered.meter.reset()
        write_document(metered.world.user("ann"), path, DocumentChange(text=text, **more))


def read(metered: Metered) -> None:
    write(metered, PARAGRAPH)
    metered.meter.reset()
    assert get_document(metered.world.user("ann"), "/reference/trains").text == PARAGRAPH


def list_them(metered: Metered) -> None:
    for number in range(LISTED):
        write(metered, PARAGRAPH, path=f"/reference/trains {number}")
    metered.meter.reset()
    found, _ = page_of_documents(metered.world.user("ann"), "/reference/", None, LISTED, None)
    assert len(found) == LISTED


def search(metered: Metered) -> None:
    """Five documents with a passage each, which the index has. The first search of a process reads, or makes, the key
    of the ledger."""
    world = RecallWorld.make(metered.world.folder / "recall")
    world.rows.close()
    world.rows = world.table = cast("Any", metered.world.table)
    user = world.user("ann")
    for number in range(5):
        text = f"{number}. {PARAGRAPH}"
        made = write_document(user, f"/reference/trains {number}", DocumentChange(text=text)).document
        index_memories(user.data, {str(made.id): made.rev}, collection=DOCUMENTS)
    for query in ("Friday", "Lyon museum"):
        metered.meter.reset()
        answer = recall(user, search_knowledge(query))
    assert (len(answer.hits), answer.degraded) == (5, [])
    world.index.close()


def with_memories(metered: Metered) -> RecallWorld:
    """The index has the two utterances of s1, and five memories."""
    world = RecallWorld.make(metered.world.folder / "recall")
    world.rows.close()
    world.rows = world.table = cast("Any", metered.world.table)
    world.objects = cast("Any", metered.world.objects)
    user = world.user("ann")
    for number in range(5):
        made = create_memory(user, NewMemory(f"Takes train {number} to Lyon on Friday", kind=Kind.NOTE))
        index_memories(user.data, {made.id: made.rev})
    assert world.words([events_message(user.keys.of_session("s1"), 1, 1, 2)]) == {}
    return world


def ask(metered: Metered, behind: int = 0) -> None:
    """A message of s1. ``behind``: other sessions with words that the index has not. The first recall of a process
    reads the pack of the session, too."""
    world = with_memories(metered)
    for number in range(behind):
        metered.world.open(session=f"other{number}")
        metered.world.say("hello", "hi", session=f"other{number}")
    for query in ("Which train on Friday?", "Which train to Lyon?"):
        metered.meter.reset()
        answer = recall(world.user("ann"), RecallCommand(query, session_id="s1"))
    assert (len(answer.hits), answer.degraded) == (5, ["index:behind"] if behind else [])
    world.index.close()


def ask_for_prompt(metered: Metered) -> None:
    """For a message of s1. The first prompt of a session keeps what its prefix is."""
    world = with_memories(metered)
    for message in ("Which train on Friday?", "Which train to Lyon?"):
        metered.meter.reset()
        made = compile_context(world.user("ann").of_session("s1"), CompileCommand(message=message))
    assert made.recalled is not None
    assert (len(made.recalled.hits), made.degraded) == (5, [])
    world.index.close()


def proposed(metered: Metered) -> str:
    now = metered.world.clock.now()
    proposal = Proposal(
        id=f"prp_{metered.world.ids.ulid(now)}",
        action=Action("create", "/reference/trains", PARAGRAPH, seqs=(1,)),
        reason="low",
        session_id="s1",
        created_at=iso(now),
        model="scripted",
        trust="assistant",
    )
    metered.world.table.write([put_proposal(metered.world.user("ann").keys, proposal)])
    return proposal.id


def look_into_inbox(metered: Metered) -> None:
    keep(metered, LIVES, by="assistant")
    proposed(metered)
    metered.meter.reset()
    assert len(list_inbox(metered.world.user("ann"), 20, None)[0]) == 2


def approve(metered: Metered, identifier: str) -> None:
    metered.meter.reset()
    decide_item(metered.world.user("ann"), identifier, Decision("approve"))


def erase(metered: Metered, times: int = 1) -> None:
    for _ in range(times):
        metered.meter.reset()
        request_erasure(metered.world.user("ann"), close=False)


KNOWLEDGE = (
    Request(
        "fact",
        "the fact and its place, check of the user head; user head and place read. The fact enters the indexes of ranks"
        " and of what is due, and, as a whole, that of what the search index lacks",
        lambda metered, text: keep(metered, text),
        (LIVES, "User's sister Ana moved from Porto to a village in the hills behind Braga in 2019"),
    ),
    Request(
        "… of a session",
        "its marker, with the list of live rows",
        lambda metered, _: keep(metered, LIVES, session="s1"),
        ("",),
    ),
    Request(
        "… of a session with 500 live rows",
        "a marker of 10 KB",
        lambda metered, _: keep(metered.with_live_rows(500), LIVES, session="s1"),
        ("",),
    ),
    Request(
        "… that is known",
        "the fact alone, which moves in the index of ranks; it is read besides",
        lambda metered, _: keep(metered, LIVES, LIVES.upper()),
        ("",),
    ),
    Request(
        "… that takes the place of another (evolve)",
        "the other one, which leaves the index of ranks",
        lambda metered, _: correct(metered),
        ("",),
    ),
    Request(
        "document, a new one",
        "head, revision, place, check of the user head. The head enters the index of what is due, and, as a whole, that"
        " of what the search index lacks",
        lambda metered, _: write(metered, PARAGRAPH),
        ("",),
    ),
    Request(
        "… its next revision", "the revision before is read", lambda metered, _: write(metered, "x", PARAGRAPH), ("",)
    ),
    Request(
        "… the first one that stands in packs",
        "its pin; noted on the user head by a write of its own",
        lambda metered, _: write(metered, PARAGRAPH, path="/always-load/trains"),
        ("",),
    ),
    Request("document, read", "the user head, head and revision", lambda metered, _: read(metered), ("",)),
    Request(
        f"documents, a list of {LISTED}",
        "the user head; the heads in a query",
        lambda metered, _: list_them(metered),
        ("",),
    ),
    Request(
        "search_knowledge, 5 documents",
        "the ledger's row; the user head twice, what the search index lacks, place and revision of each",
        lambda metered, _: search(metered),
        ("",),
    ),
    Request(
        "recall in a session, 5 memories",
        "the ledger's row; the user head twice, session head, epoch and words; what lacks words, sessions behind; each"
        " memory",
        lambda metered, _: ask(metered),
        ("",),
    ),
    Request(
        "… while words of two others are missing",
        "two rows of each, then three; the memories that lack something",
        lambda metered, _: ask(metered, behind=2),
        ("",),
    ),
    Request(
        "prompt of a session, its recall included, 5 memories",
        "what the recall takes, the prompt's row; both heads, the session's state in one query, the log, sessions"
        " behind once more, new memories",
        lambda metered, _: ask_for_prompt(metered),
        ("",),
    ),
    Request(
        "inbox, a list of two",
        "the index of ranks; the user head and both rows",
        lambda metered, _: look_into_inbox(metered),
        ("",),
    ),
    Request(
        "… approving a fact",
        "the fact, which moves from the inbox to the ranks, check of the user head",
        lambda metered, _: approve(metered, keep(metered, LIVES, by="assistant").id),
        ("",),
    ),
    Request(
        "… approving a change of a document",
        "the proposal, which leaves the inbox, and the document",
        lambda metered, _: approve(metered, proposed(metered)),
        ("",),
    ),
    Request(
        "erasure, asked for",
        "the user head, which is in the directory of users, and the job, which is due; the user head read",
        lambda metered, _: erase(metered),
        ("",),
    ),
    Request("… asked for again", "user head and job read", lambda metered, _: erase(metered, 2), ("",)),
)


@pytest.mark.parametrize("request_", KNOWLEDGE, ids=[request.name for request in KNOWLEDGE])
def test_a_request_about_knowledge_consumes_what_the_document_says(request_: Request, tmp_path: Path) -> None:
    measured = {request_.name: measure(request_, tmp_path)}
    [*_, line] = table(measured, {request_.name: request_.rows}).splitlines()
    assert line in committed().splitlines(), f"{line}: write the table with python -m tests.contract.capacity_table"
