"""What an answer says: k, tokens, the text for a prompt, and the lines for a person."""

from __future__ import annotations

from neve.domain.sessions.rendered_blocks import strip_rendered
from neve.domain.tokens import estimate
from neve.usecases.ask.recall.answer import HIT_TOKENS, INJECTED_TOKENS
from tests.unit.recall_world import RecallWorld


def test_the_text_for_a_prompt(world: RecallWorld) -> None:
    world.open()
    note = world.remember("Mary drinks\noolong tea", observed_at="2026-02-01T08:00:00.000Z")
    world.say("tea with Mary", names=("Ann", "Bot"))
    text = world.ask("Mary tea oolong", session_id="s1").injection_text
    assert text.startswith("<neve-retrieved>\nCandidates from memory")
    assert f"- [{note}] 2026-02-01, manual: Mary drinks\n  oolong tea\n" in text
    assert "- [evt:s1:1] 2026-03-10, Ann said: tea with Mary\n" in text
    assert text.endswith("</neve-retrieved>\n")
    assert strip_rendered(f"before {text} after") == "before \n after", "it is never observed again"


def test_a_prompt_gets_whole_hits_that_fit(world: RecallWorld) -> None:
    for n in range(30):
        world.remember(f"tea {n} " + f"word{n} " * 140)
    answer = world.ask("tea", k=30)
    assert len(answer.hits) == 30
    shown = [hit for hit in answer.hits if f"[{hit.id}]" in answer.injection_text]
    assert 0 < len(shown) < 30
    assert estimate(answer.injection_text) <= INJECTED_TOKENS
    assert answer.transparency[0] == f"Loaded {len(shown)} relevant entries: {', '.join(h.id for h in shown)}"


def test_a_long_message_is_answered_with_its_matching_part(world: RecallWorld) -> None:
    world.open()
    filler = "\n\n".join(f"Paragraph {n} " + "lorem ipsum dolor " * 40 for n in range(30))
    world.say(f"{filler}\n\nthe capybara is called Otto\n\n{filler}")
    for _ in ("new", "indexed"):
        [hit] = world.ask("capybara Otto", session_id="s1").hits
        assert "the capybara is called Otto" in hit.text
        assert estimate(hit.text) <= HIT_TOKENS and hit.n > 0
        world.pump()


def test_a_long_message_is_answered_with_the_part_that_has_the_words(world: RecallWorld) -> None:
    """Though the leg that finds another part of it places it better."""
    world.open()
    world.say("kayak " * 400 + "\n\n" + "lorem " * 300 + "The red bicycle stands in the shed.")
    world.say("A bicycle, red as wine.")
    world.pump()
    hits = world.ask("red bicycle", question="kayak", threshold=0, mode="tool").hits
    long = next(hit for hit in hits if hit.seq == 1)
    assert (long.components["rank_vec"], long.components["rank_lex"]) == (1, 2)
    assert "The red bicycle stands in the shed." in long.text


def test_legs_tell_when_they_ran(world: RecallWorld) -> None:
    world.remember("tea")
    world.broken("embed=slow:20", "vector=slow:30", "lexical=slow:5")
    legs = world.ask("tea").legs
    assert (legs["vector"].started_ms, legs["vector"].ms, legs["vector"].embed_ms) == (0, 50, 20)
    assert (legs["lexical"].started_ms, legs["lexical"].ms) == (0, 5)
