"""Documents in the search index and among the hits: how they get there, what is found of them, and when they leave."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from neve.domain.documents.change import DocumentChange
from neve.domain.indexing.passage import Source
from neve.domain.records.documents import Document
from neve.domain.records.memories import EmbeddingState, Status
from neve.ports.queue import QueueName
from neve.store.documents import MAX_ROW_TEXT_BYTES, read_document
from neve.usecases.ask.recall.answer import Hit
from neve.usecases.ask.recall.command import RecallFilters
from neve.usecases.core.lag.memory_lag import MemoryLag, user_lag
from neve.usecases.tell.documents.delete_document import delete_document
from neve.usecases.tell.documents.to_another_path import move_document
from neve.usecases.tell.documents.write_document import write_document
from neve.usecases.work.indexing.drain_embeddings import drain_embeddings
from neve.usecases.work.indexing.embed_rows import embed_rows
from tests.unit.recall_world import RecallWorld, delivered

PATH = "/projects/alpha/plan"
STORY = "\n\n".join(["A short beginning about the harbour.", "The ferry waits. " * 180, "An end with a lighthouse."])


@pytest.fixture
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RecallWorld]:
    world = RecallWorld.make(tmp_path_factory.mktemp("recall"))
    yield world
    world.close()


def put(world: RecallWorld, text: str, path: str = PATH, **more: object) -> Document:
    return write_document(world.user(), path, DocumentChange(text=text, **more)).document  # type: ignore[arg-type]


def head(world: RecallWorld, path: str = PATH) -> Document:
    item = world.rows.get(world.user().keys.document(path))
    assert item is not None
    return read_document(item)


def hits(world: RecallWorld, query: str, **given: Any) -> list[Hit]:
    return world.ask(query, mode="tool", **given).hits


def paths(world: RecallWorld, query: str, **given: Any) -> list[str | None]:
    return [hit.path for hit in hits(world, query, **given)]


# --- into the index -----------------------------------------------------------------------------


def test_words_never_wait_for_vectors_and_the_lag_counts_documents(world: RecallWorld) -> None:
    put(world, "The harbour is closed.")
    assert user_lag(world.user()).unindexed == 1
    assert paths(world, "harbour") == [PATH]  # too new for the index: from its row
    world.words(world.dispatch())
    lag = user_lag(world.user())
    assert (lag.unindexed, lag.unembedded) == (0, 1)
    world.clock.move(minutes=5)
    assert paths(world, "harbour") == [PATH]
    assert drain_embeddings(world.scope, None, 0).result["pending"] == 1
    world.pump()
    assert user_lag(world.user()).none
    assert drain_embeddings(world.scope, None, 0).status == "done"


def test_a_shorter_text_leaves_no_passage_behind(world: RecallWorld) -> None:
    put(world, STORY)
    world.pump()
    put(world, "Only this.")
    world.pump()
    assert world.index.count(world.user().keys.owner) == 1
    assert paths(world, "lighthouse", legs=("lexical",)) == []


def test_a_late_message_of_an_older_rev_changes_nothing(world: RecallWorld) -> None:
    put(world, "The harbour.")
    early = world.dispatch()
    put(world, "The lighthouse.")
    world.pump()
    world.embed(early)
    assert paths(world, "harbour", legs=("lexical",)) == []
    assert paths(world, "lighthouse") == [PATH]


def test_what_could_not_be_embedded_is_found_by_words_and_drained_later(world: RecallWorld) -> None:
    world.broken("embed=status:401")
    put(world, "The harbour.")
    world.pump()
    assert head(world).embedding_state is EmbeddingState.FAILED
    world.broken()
    assert drain_embeddings(world.scope, None, 0).result["queued"] == 1
    world.pump()
    assert head(world).embedding_state is EmbeddingState.READY


# --- what a hit is checked against --------------------------------------------------------------


def test_a_document_that_changed_or_is_gone_is_not_answered_with(world: RecallWorld) -> None:
    put(world, "The harbour.")
    put(world, "The lighthouse.", "/b")
    world.pump()
    put(world, "The windmill.")
    delete_document(world.user(), "/b", None)
    assert paths(world, "harbour lighthouse", legs=("lexical",)) == []
    assert paths(world, "windmill") == [PATH]
    world.pump()
    assert world.index.count(world.user().keys.owner) == 1


def test_a_moved_document_is_found_where_it_is(world: RecallWorld) -> None:
    put(world, "The harbour.")
    world.pump()
    move_document(world.user(), PATH, "/reference/plan")
    for _ in range(2):
        assert paths(world, "harbour") == ["/reference/plan"]
        assert paths(world, "harbour", filters=RecallFilters(path_prefix="/projects")) == []
        world.pump()
    assert world.index.count(world.user().keys.owner) == 1


def test_an_archived_document_is_never_recalled(world: RecallWorld) -> None:
    put(world, "The harbour.")
    world.pump()
    put(world, "The harbour.", status=Status.ARCHIVED)
    world.pump()
    assert world.index.count(world.user().keys.owner) == 0


# --- filters and sources ------------------------------------------------------------------------


# --- long texts ---------------------------------------------------------------------------------


def test_a_text_that_is_an_object_is_found_and_said_to_be_missing_when_it_cannot_be_read(world: RecallWorld) -> None:
    filling = "Nothing but words that fill the page. " * 200
    long = "\n\n".join([*[filling] * (MAX_ROW_TEXT_BYTES // len(filling) + 1), "At the end a lighthouse."])
    written = put(world, long)
    world.pump()
    assert [hit.text for hit in hits(world, "lighthouse", k=1)] == ["At the end a lighthouse.\n(from: plan)"]
    [name] = world.objects.list("documents/")
    assert name == written.text_object
    body = world.objects.get(name)
    world.objects.delete(name)
    answer = world.ask("lighthouse", mode="tool")
    assert (answer.hits, answer.degraded) == ([], ["documents:error"])
    world.objects.put(name, body or b"", content_type="text/markdown")
    delete_document(world.user(), PATH, None)
    world.objects.put(name, b"left behind", content_type="text/markdown")  # as by a process that died just then
    world.pump()
    assert world.objects.list("documents/") == []


def test_a_long_text_that_the_index_has_not_heard_of_is_not_nothing(world: RecallWorld) -> None:
    put(world, "The harbour.")
    world.pump()
    put(world, "A walrus. " * (MAX_ROW_TEXT_BYTES // 10 + 1), path="/walrus")
    put(world, "Another harbour.", path="/other")
    answer = world.ask("walrus", mode="tool")
    assert (answer.hits, answer.result_state, answer.degraded) == ([], "none", ["index:behind"])
    assert answer.lag == MemoryLag(unindexed=2, unembedded=2)
    assert world.ask("walrus", mode="tool", sources=(Source.MEMORY, Source.EVENT)).degraded == []
    assert world.ask("harbour", mode="tool", filters=RecallFilters(path_prefix="/projects")).degraded == []
    world.pump()
    answer = world.ask("walrus", mode="tool")
    assert [hit.path for hit in answer.hits] == ["/walrus"] and answer.degraded == []


def test_the_words_hand_a_document_on_to_the_vectors(world: RecallWorld) -> None:
    put(world, "The harbour.")
    assert world.words(world.dispatch()) == {}
    [message] = world.taken(QueueName.EMBED)
    assert (message.body["kind"], message.body["rev"]) == ("document", 1)
    assert embed_rows(world, delivered([message])) == {}
    assert head(world).embedding_state is EmbeddingState.READY
