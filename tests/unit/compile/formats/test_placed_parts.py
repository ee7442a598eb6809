"""Each part of a prompt is found in the request that was made of it."""

from __future__ import annotations

import pytest

from neve.domain.compile.conversation import PromptMessage, Text
from neve.domain.compile.formats.every import FORMATS
from neve.domain.compile.placed_parts import PlacedPart, placed_parts
from neve.domain.compile.plan import PromptPlan, Section
from neve.domain.compile.prompt import Prompt

SECTIONS = ("tools", "static", "boundaries", "instructions", "pack", "updates", "retrieved", "history", "message")


def plan_of(**texts: str) -> PromptPlan:
    history = [PromptMessage("user", (Text("What?"),)), PromptMessage("assistant", (Text("That."),))]
    last = (Text("\n".join(text for name, text in texts.items() if name != "message")), Text(texts["message"]))
    prompt = Prompt((), "Be kind.", "Be short.", "<pack/>", history, last)
    sections = tuple(Section(name, 1, 3, 3, 3) for name in SECTIONS)
    return PromptPlan(prompt, sections, (), (), None, None, 2, 1, 9, 9, 99, texts=texts)


@pytest.mark.parametrize("form", sorted(FORMATS))
def test_a_part_that_the_history_says_too_is_found_at_the_end(form: str) -> None:
    plan = plan_of(retrieved="<r/>", session="<s/>", message="What?")
    request = FORMATS[form].render(plan.prompt, ())
    parts = {one.name: one for one in placed_parts(plan, request)}
    assert list(parts) == ["static", "instructions", "pack", "history", "retrieved", "session", "message"]
    assert parts["static"].tokens == 6, "with its boundaries"
    assert all(one.at is not None for one in parts.values())
    assert str(parts["history"].at) < str(parts["message"].at)
    assert not str(parts["message"].at).startswith(str(parts["history"].at) + "/")
    session = parts["session"]
    assert (session.start, session.end) == (5, 9)


def test_what_a_form_writes_otherwise_has_no_place() -> None:
    plan = plan_of(session="<s/>", message="What?")
    assert placed_parts(plan, {})[0] == PlacedPart("static", 6)
