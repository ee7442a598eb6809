"""A message that is longer than any search reads (docs/rules/recall.md#long-messages)."""

from __future__ import annotations

from neve.domain.recall.long_message import MAX_BYTES
from neve.usecases.ask.recall.answer import ENDS_ONLY
from tests.unit.compile.compile_world import compiled
from tests.unit.recall_world import RecallWorld

QUESTION = "What is my daughter allergic to?"
PAGE = " ".join(f"step{n} compiles module{n} against header{n} and links target{n}." for n in range(3_200))


def test_a_page_of_200_kb_costs_a_recall_no_more_than_its_question(world: RecallWorld) -> None:
    compiled(world)  # the session's pack is there: what comes now is not in it
    memory = world.remember("My daughter Mia is allergic to hazelnuts.")
    world.pump()
    embedded: list[str] = []
    embed = world.inner_embedder.embed_query

    def noted(text: str) -> bytes:
        embedded.append(text)
        return embed(text)

    world.inner_embedder.embed_query = noted  # type: ignore[method-assign]
    message = f"{PAGE}\n{QUESTION}"
    assert len(message) > 200_000
    made = compiled(world, message, retrieval="auto")
    assert embedded == [QUESTION]
    assert made.recalled is not None and [hit.id for hit in made.recalled.hits] == [memory]
    assert (made.degraded, made.transparency) == ([], [f"Loaded 1 relevant entries: {memory}", ENDS_ONLY])
    compiled(world, f"{PAGE} And so on.", retrieval="auto")
    assert len(embedded[-1].encode()) <= MAX_BYTES + 1


def test_the_message_itself_is_not_cut(world: RecallWorld) -> None:
    message = f"{PAGE}\n{QUESTION}"
    made = compiled(world, message, retrieval="auto")
    assert message in str(made.request).replace("\\n", "\n")
