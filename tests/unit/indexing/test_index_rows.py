"""The index worker: words before vectors, each text embedded once, and nothing lost by a crash between the two."""

from __future__ import annotations

from collections.abc import Sequence

from neve.domain.indexing.passage import Passage, Source
from neve.domain.records.memories import Kind
from neve.ports.queue import QueueName
from neve.ports.search import Owner
from neve.usecases.ask.memories.list_memories import get_memory
from neve.usecases.core.lag.indexed_row import read_indexed
from neve.usecases.tell.memories.delete_memory import delete_memory
from neve.usecases.tell.memories.import_memories import ImportedRow, import_memories
from neve.usecases.tell.memories.update_memory import MemoryChange, update_memory
from tests.unit.indexing.test_embed_rows import embed_calls, usage
from tests.unit.recall_world import RecallWorld


def spans(world: RecallWorld) -> list[tuple[int, int]]:
    """What of the log waits for its vectors in the queue."""
    return [(m.body["seq_from"], m.body["seq_to"]) for m in world.taken(QueueName.EMBED) if m.body["kind"] == "events"]


def embedded(world: RecallWorld) -> tuple[tuple[int, int], ...]:
    keys = world.tenant.keys.of_user("ann").of_session("s1")
    return read_indexed("s1", world.rows.get(keys.indexed)).embedded


def test_words_are_found_before_anything_is_embedded(world: RecallWorld) -> None:
    tea = world.remember("Mary drinks oolong")
    world.say("Bob drinks oolong")
    assert world.words(world.dispatch()) == {}
    world.clock.move(seconds=3)
    hits = world.ask("oolong", legs=("lexical",)).hits
    assert {hit.id for hit in hits} == {tea, "evt:s1:1"} and all("bm25" in hit.components for hit in hits)
    assert embed_calls(world) == []


def test_whoever_moves_the_log_forward_queues_just_that(world: RecallWorld) -> None:
    world.say("line 1", "line 2")
    first = world.dispatch()
    world.say("line 3")
    second = world.dispatch()
    assert world.words(second) == {} and spans(world) == [(1, 3)]
    assert world.words(first) == {} and spans(world) == []


def test_a_message_that_comes_again_makes_up_for_a_crash_before_the_vectors_were_queued(world: RecallWorld) -> None:
    tea = world.remember("tea")
    world.say("line 1", "line 2")
    messages = world.dispatch()
    assert world.words(messages) == {}
    world.taken(QueueName.EMBED)  # the crash
    assert world.words(messages) == {} and world.taken(QueueName.EMBED) == []
    assert world.words(messages, again=True) == {}
    again = world.taken(QueueName.EMBED)
    assert [m.body.get("id") or (m.body["seq_from"], m.body["seq_to"]) for m in again] == [tea, (1, 2)]
    assert world.embed(again) == {}
    assert usage(world) == (3, 0)
    assert world.words(messages, again=True) == {} and world.taken(QueueName.EMBED) == []


def test_quick_appends_are_embedded_once_each(world: RecallWorld) -> None:
    """Two batches hold every other message of one log: none embeds what the other holds."""
    queued = []
    for n in range(1, 9):
        world.say(f"line {n}")
        assert world.words(world.dispatch()) == {}
        queued += world.taken(QueueName.EMBED)
    assert world.embed(queued[::2]) == {}
    assert embedded(world) == ((1, 1), (3, 3), (5, 5), (7, 7))
    assert world.embed(queued[1::2]) == {}
    assert (embedded(world), usage(world)) == (((1, 8),), (8, 0))


def test_words_that_come_in_while_vectors_are_made_are_not_undone(world: RecallWorld) -> None:
    """The vector was made without the next utterance; its write would be refused, and is made again."""
    world.say("my sister plays")
    assert world.words(world.dispatch()) == {}
    queued, passages = world.taken(QueueName.EMBED), world.inner_embedder.embed_passages

    def and_then_more(texts: Sequence[str]) -> list[bytes]:
        world.inner_embedder.embed_passages = passages  # type: ignore[method-assign]
        world.say("the trombone")
        assert world.words(world.dispatch()) == {}
        return passages(texts)

    world.inner_embedder.embed_passages = and_then_more  # type: ignore[method-assign]
    assert world.embed(queued) == {}
    world.pump()
    assert world.found("sibling", legs=("vector",), sources=(Source.EVENT,)) == ["evt:s1:1"]
    assert set(world.found("trombone", legs=("lexical",))) == {"evt:s1:1", "evt:s1:2"}, "as its neighbour, too"
    assert usage(world)[0] == 2


def test_a_row_that_changed_keeps_the_vector_of_its_text(world: RecallWorld) -> None:
    tea = world.remember("my sister drinks tea")
    world.pump()
    update_memory(world.user("ann"), tea, MemoryChange({"tags": ("new",)}), None)
    assert world.words(world.dispatch()) == {}
    assert world.found("sibling", legs=("vector",)) == [tea], "while its new rev waits to be embedded"


def test_a_memory_that_was_deleted_and_brought_in_again_meanwhile_keeps_its_words(world: RecallWorld) -> None:
    """Its row is another one than that whose words were written."""
    ann, upsert = world.user("ann"), world.index.upsert

    def line(text: str) -> ImportedRow:
        return ImportedRow(text, Kind.NOTE, id="x")

    def corrected_first(owner: Owner, passages: Sequence[Passage]) -> None:
        world.index.upsert = upsert  # type: ignore[method-assign]
        delete_memory(ann, "x", None)
        import_memories(ann, [line("Mary drinks sencha")])
        upsert(owner, passages)

    import_memories(ann, [line("Mary drinks oolong")])
    told = world.dispatch()
    world.index.upsert = corrected_first  # type: ignore[method-assign]
    assert world.words(told) == {}
    assert get_memory(ann, "x").text == "Mary drinks sencha"
    world.pump()
    assert world.found("sencha", legs=("lexical",)) == ["x"]


def test_a_user_who_was_erased_gets_no_words(world: RecallWorld) -> None:
    seen: list[Passage] = []
    upsert = world.index.upsert

    def remembering(owner: Owner, passages: Sequence[Passage]) -> None:
        seen.extend(passages)
        upsert(owner, passages)

    world.index.upsert = remembering  # type: ignore[method-assign]
    world.say("line 1")
    [message] = world.dispatch()
    message.body["incarnation"] = 0
    assert world.words([message]) == {} and seen == []
