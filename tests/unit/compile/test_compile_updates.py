"""What a prompt tells of changes since its pack was frozen (docs/rules/compile.md#updates)."""

from dataclasses import replace
from typing import Any

import pytest

from neve.domain.compile.conversation import Text
from neve.domain.records.memories import Kind, Provenance, Status
from neve.ports.errors import StoreUnavailable
from neve.ports.table import Index
from neve.scope import SessionScope
from neve.usecases.ask.compile import updates
from neve.usecases.ask.compile.compile_context import Compiled
from neve.usecases.core.pack import build_pack
from neve.usecases.core.pack.gather_pack import gather_pack
from neve.usecases.tell.memories.delete_memory import delete_memory
from neve.usecases.tell.memories.update_memory import MemoryChange, update_memory
from tests.unit.compile.compile_world import compiled
from tests.unit.recall_world import RecallWorld

HOUSE = "The house rules. " + "Guests may stay two nights and must sign the book. " * 100


def update_lines(made: Compiled) -> list[str]:
    """The lines of the updates, without the frame."""
    text = "".join(block.text for block in made.plan.prompt.last if isinstance(block, Text))
    return text.partition("hold.\n")[2].partition("\n</neve-updates>")[0].splitlines()


def left_out(made: Compiled) -> list[tuple[str, tuple[str, ...]]]:
    return [(one.section, one.items) for one in made.plan.pruned]


def built(world: RecallWorld) -> Compiled:
    """With the pack's first version, a minute ago."""
    made = compiled(world, retrieval="none")
    world.clock.move(minutes=1)
    return made


def test_what_was_stated_before_the_index_of_the_pack_knew_is_an_update(
    world: RecallWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is older than the pack, which does not have it. What the pack has is not told twice."""
    known, late = world.remember("The door is green."), world.remember("The code of the door has changed.")
    query = world.rows.query

    def behind(*given: Any, **more: Any) -> Any:
        page = query(*given, **more)
        if more.get("index") is not Index.RANK:
            return page
        return replace(page, items=[item for item in page.items if item["id"] != late])

    monkeypatch.setattr(world.rows, "query", behind)
    assert update_lines(built(world)) == ["- The code of the door has changed."]
    monkeypatch.undo()
    made = compiled(world, retrieval="none")
    assert update_lines(made) == ["- The code of the door has changed."] and left_out(made) == []
    assert "The door is green." in made.plan.prompt.pack and known != late


def test_what_is_stated_while_a_pack_is_read_is_an_update(world: RecallWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    def slowly(scope: SessionScope, *_: Any, **__: Any) -> Any:
        found = gather_pack(scope)
        world.clock.move(seconds=30)
        world.remember("The code of the door has changed.")
        world.clock.move(seconds=30)
        return found

    monkeypatch.setattr(build_pack, "gather_pack", slowly)
    assert update_lines(built(world)) == ["- The code of the door has changed."]


def test_updates_are_those_since_the_pack_that_is_shown(world: RecallWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process goes on with the version that it knows while the newer one cannot be read."""
    built(world)
    world.remember("The code of the door has changed.")
    world.clock.move(minutes=1)
    build_pack.build_pack(world.user().of_session("s1"), "horizon")

    def fails(_: str) -> None:
        raise StoreUnavailable("objects", "down")

    monkeypatch.setattr(world.objects, "get", fails)
    made = compiled(world, retrieval="none")
    assert made.degraded == ["pack:stale"] and "The code" not in made.plan.prompt.pack
    assert update_lines(made) == ["- The code of the door has changed."]


def test_a_correction_that_is_too_long_says_that_the_pack_is_wrong(world: RecallWorld) -> None:
    rules = world.remember(HOUSE)
    before = built(world)
    update_memory(world.user(), rules, MemoryChange({"text": f"New: {HOUSE.replace('two nights', 'ONE night')}"}), None)
    made = compiled(world, retrieval="none")
    assert made.plan.prompt.pack == before.plan.prompt.pack
    [line] = update_lines(made)
    assert line.startswith("- No longer holds, its new text is not shown: The house rules. Guests may stay two nights")
    assert line.endswith("…")
    assert left_out(made) == [("updates", (rules,))]
    [section] = [one for one in made.plan.sections if one.name == "updates"]
    assert section.need > 1_600 and section.used < 100
    assert made.metrics()["UpdatesLeftOut"] == 1
    assert compiled(world, retrieval="none").plan.prompt == made.plan.prompt


def test_a_long_text_that_was_removed_is_told_by_its_beginning(world: RecallWorld) -> None:
    rules = world.remember(HOUSE)
    built(world)
    update_memory(world.user(), rules, MemoryChange({"status": Status.ARCHIVED}), None)
    [line] = update_lines(compiled(world, retrieval="none"))
    assert line.startswith("- No longer holds: The house rules. Guests may stay") and line.endswith("…")


def test_a_change_of_no_word_never_says_that_the_pack_is_wrong(world: RecallWorld) -> None:
    rules = world.remember(HOUSE)
    built(world)
    world.change(rules, rev=2, occurrences=2)
    made = compiled(world, retrieval="none")
    assert (update_lines(made), left_out(made)) == ([], [("updates", (rules,))])


def test_many_new_statements_do_not_hide_a_correction(world: RecallWorld) -> None:
    home = world.remember("Ana lives in Lyon.")
    built(world)
    update_memory(world.user(), home, MemoryChange({"text": "Ana lives in Nice."}), None)
    ids = []
    rules = updates.NEWEST - 1  # beside the one that is corrected
    for n in range(rules):
        world.clock.move(seconds=1)
        ids.append(world.remember(f"Rule {n}: " + "leave the key under the mat by the door " * 3))
    made = compiled(world, retrieval="none")
    lines = update_lines(made)
    assert lines[-1] == "- Now: Ana lives in Nice."
    assert lines[0].startswith(f"- Rule {rules - 1}:")
    assert left_out(made) == [("updates", tuple(reversed(ids[: rules + 1 - len(lines)])))]
    [section] = [one for one in made.plan.sections if one.name == "updates"]
    assert section.need > 1_500 and section.used <= section.granted <= 1_000


def test_memories_that_were_not_looked_at_are_named(world: RecallWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(updates, "NEWEST", 2)
    built(world)
    ids = [world.remember(f"Rule {n}.") for n in range(2)]
    assert left_out(compiled(world, retrieval="none")) == []
    world.clock.move(seconds=1)
    ids.append(world.remember("Rule 2."))
    made = compiled(world, retrieval="none")
    [(section, [item])] = left_out(made)
    assert section == "updates" and item in {f"memories before {one}" for one in ids}
    assert made.plan.pruned[0].why == "more than are looked at"
    assert len(update_lines(made)) == 2


def test_statements_of_the_pack_that_were_not_compared_are_counted(
    world: RecallWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(5):
        world.remember(f"Rule {n}.")
    built(world)
    assert left_out(compiled(world, retrieval="none")) == []
    monkeypatch.setattr(updates, "FROM_THE_PACK", 3)
    made = compiled(world, retrieval="none")
    assert (update_lines(made), left_out(made)) == ([], [("updates", ("2 statements of the pack",))])


def observed(world: RecallWorld, text: str) -> str:
    """An observation of another conversation."""
    memory = world.remember(text)
    world.change(memory, kind=Kind.OBSERVATION, provenance=Provenance("assistant", "s0", 1, 2))
    return memory


def test_what_a_person_corrects_of_an_observation_is_an_update(world: RecallWorld) -> None:
    cats, locker, remaining = (
        observed(world, f"🟡 {text}") for text in ("Two cats.", "The code is 1234.", "Likes tea.")
    )
    built(world)
    assert update_lines(compiled(world, retrieval="none")) == []
    update_memory(world.user(), cats, MemoryChange({"text": "🟡 Three cats."}), None)
    delete_memory(world.user(), locker, None)
    made = compiled(world, retrieval="none")
    assert sorted(update_lines(made)) == ["- No longer holds: The code is 1234.", "- Now: 🟡 Three cats."]
    update_memory(world.user(), remaining, MemoryChange({"status": Status.ARCHIVED}), None)
    assert "- No longer holds: 🟡 Likes tea." in update_lines(compiled(world, retrieval="none"))


def packed_twice(world: RecallWorld, text: str) -> tuple[str, str]:
    """Two notes: the one that the pack shows, and the one that it speaks for."""
    ids = [world.remember(text)]
    world.clock.move(minutes=1)
    ids.append(world.remember(text))
    made = built(world)
    assert made.material.pack is not None and made.material.pack.manifest is not None
    [entry] = [one for one in made.material.pack.manifest.layers["global"] if one.tokens]
    return entry.id, next(one for one in ids if one != entry.id)


CODE = "The cottage door code is 9921."


def test_what_another_note_says_as_well_holds_when_one_is_put_away(world: RecallWorld) -> None:
    shown, other = packed_twice(world, CODE)
    update_memory(world.user(), shown, MemoryChange({"status": Status.ARCHIVED}), None)
    assert update_lines(compiled(world, retrieval="none")) == []
    update_memory(world.user(), other, MemoryChange({"status": Status.ARCHIVED}), None)
    assert set(update_lines(compiled(world, retrieval="none"))) == {f"- No longer holds: {CODE}"}


def test_nor_does_the_pack_get_wrong_by_the_one_that_it_does_not_show(world: RecallWorld) -> None:
    _, other = packed_twice(world, CODE)
    update_memory(world.user(), other, MemoryChange({"text": "The bike lock code is 1200."}), None)
    assert update_lines(compiled(world, retrieval="none")) == ["- Now: The bike lock code is 1200."]
    update_memory(world.user(), other, MemoryChange({"status": Status.ARCHIVED}), None)
    assert update_lines(compiled(world, retrieval="none")) == []


def test_what_another_note_says_as_well_is_told_when_one_is_changed(world: RecallWorld) -> None:
    shown, other = packed_twice(world, CODE)
    update_memory(world.user(), shown, MemoryChange({"text": "The bike lock code is 1200."}), None)
    lines = ["- Now: The bike lock code is 1200.", f"- Still holds: {CODE}"]
    assert update_lines(compiled(world, retrieval="none")) == lines
    update_memory(world.user(), other, MemoryChange({"text": "The garage code is 7."}), None)
    assert not any("Still holds" in line for line in update_lines(compiled(world, retrieval="none")))


@pytest.mark.parametrize("more", ["", "\n🟡 Two cats."])
def test_a_fact_holds_without_the_line_that_said_it(world: RecallWorld, more: str) -> None:
    line = observed(world, f"🟡 {CODE}{more}")
    world.remember(CODE, kind=Kind.FACT)
    built(world)
    update_memory(world.user(), line, MemoryChange({"status": Status.ARCHIVED}), None)
    told = [f"- No longer holds: 🟡 {CODE}", "  🟡 Two cats.", f"- Still holds: {CODE}"] if more else []
    assert update_lines(compiled(world, retrieval="none")) == told


def test_what_a_reflection_made_of_an_observation_is_no_update(world: RecallWorld) -> None:
    replaced = observed(world, "🟡 Two cats.")
    built(world)
    gen = 1
    world.change(replaced, status=Status.SUPERSEDED, died_gen=gen, rev=9)
    assert update_lines(compiled(world, retrieval="none")) == []


def test_observations_of_the_pack_that_were_not_compared_are_counted(
    world: RecallWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    for n in range(3):
        observed(world, f"🟡 Rule {n}.")
    built(world)
    monkeypatch.setattr(updates, "FROM_THE_PACK", 2)
    assert left_out(compiled(world, retrieval="none")) == [("updates", ("1 statements of the pack",))]
