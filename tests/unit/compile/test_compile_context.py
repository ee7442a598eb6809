"""E8's use case: what it keeps, what it survives, and how it lives beside a compaction (docs/rules/compile.md#cut)."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from neve.domain.compile.conversation import Text
from neve.domain.errors import NeveError
from neve.domain.records.epochs import SessionEpoch, Summary
from neve.domain.records.memories import Kind
from neve.domain.records.sessions import EventType
from neve.domain.tenants.policy import CustomBudget
from neve.ports.errors import Conflict, StoreUnavailable
from neve.store import rows
from neve.usecases.ask.compile import compile_context as compile_module
from neve.usecases.ask.compile import reads
from neve.usecases.ask.compile.compile_context import EPOCH_ERROR, Compiled
from neve.usecases.ask.compile.keep_epoch import keep_epoch
from neve.usecases.ask.recall.recall import LEDGER_ERROR
from neve.usecases.core.pack.build_pack import build_pack
from neve.usecases.tell.memories.create_memory import NewMemory, create_memory
from neve.usecases.tell.requests.retract_events import Retract, retract_events
from neve.usecases.tell.sessions.append_events import NewEvent, append_events
from tests.unit.compile.compile_world import SMALL, compiled, epoch, session, shown, talk
from tests.unit.recall_world import RecallWorld


def jobs(world: RecallWorld) -> list[dict[str, Any]]:
    page = world.rows.query(world.tenant.keys.jobs, limit=100)
    return [item for item in page.items if item["kind"] == "compact"]


def test_a_cut_asks_for_a_compaction_in_the_same_commit(world: RecallWorld) -> None:
    talk(world, 12)
    made = compiled(world, profile=SMALL)
    assert shown(made) == ["turn 1 x", "turn 2 x", "<neve-su", "turn 10", "turn 11", "turn 12"]
    assert made.epoch is not None and made.epoch.epoch == epoch(world).epoch == 1
    assert [(job["session_id"], job["status"]) for job in jobs(world)] == [("s1", "queued")]
    assert epoch(world).covers_to is None
    assert world.rows.get(session(world).keys.summary(1)) is None, "it is no compaction's summary"
    stored = world.rows.get(session(world).keys.stand_in(1))
    assert stored is not None and (stored["covers_from"], stored["covers_to"]) == (5, 18)


def test_a_dry_run_leaves_no_trace(world: RecallWorld) -> None:
    talk(world, 12)
    before, versions = epoch(world), world.rows.query(session(world).keys.partition, limit=1000).items
    made = compiled(world, profile=SMALL, dry_run=True, retrieval="auto")
    assert made.plan.cut is not None and made.request is None
    assert epoch(world) == before and jobs(world) == []
    assert world.rows.query(session(world).keys.partition, limit=1000).items == versions
    assert world.rows.query(session(world).keys.ledger, limit=10).items == []


def test_two_prompts_at_once_agree_on_one_cut(world: RecallWorld) -> None:
    talk(world, 12)
    compiled(world)  # the session's pack is there, and its prefix noted
    others: list[Compiled] = []

    def meanwhile() -> None:
        others.append(compiled(world, profile=SMALL))

    world.rows.before_write = meanwhile
    made = compiled(world, profile=SMALL)
    assert made.degraded == []
    assert shown(made) == shown(others[0])
    assert epoch(world).epoch == 1 and made.plan.cut is None and others[0].plan.cut is not None
    assert len(jobs(world)) == 1


def test_what_another_prompt_has_cut_meanwhile_is_recalled(world: RecallWorld) -> None:
    talk(world, 3)
    world.say("The boat is called Merganser.", "A fine name.")
    talk(world, 8, first=5)
    world.pump()
    compiled(world)

    def cut() -> None:
        compiled(world, profile=SMALL)

    world.rows.before_write = cut
    made = compiled(world, "What is the boat called?", profile=SMALL, retrieval="auto")
    assert made.epoch is not None and made.epoch.cut is not None and made.plan.cut is None, "it conflicted, and saw it"
    assert "turn 3 x"[:8].strip() not in shown(made)
    assert "evt:s1:7" in made.plan.shown_hits


def test_what_has_left_the_pack_meanwhile_is_recalled(world: RecallWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    """It stood in the pack that the recall saw, and neither in the prompt's nor among the hits."""
    world.with_policy(global_budget=40)
    boat = create_memory(world.user(), NewMemory("The boat is called Merganser.", Kind.NOTE))
    world.pump()
    compiled(world)

    def rebuilt_first(*given: Any) -> SessionEpoch | None:
        monkeypatch.undo()
        world.clock.move(days=1)
        for n in range(9):
            create_memory(world.user(), NewMemory(f"Garden note {n}: water the roses.", Kind.NOTE))
        world.pump()
        pack = build_pack(session(world), "horizon")
        assert boat.id not in {entry.id for entry in pack.manifest.layers["global"]}
        return keep_epoch(*given)

    monkeypatch.setattr(compile_module, "keep_epoch", rebuilt_first)
    made = compiled(world, "What is the boat called?", retrieval="auto", instructions=("Be brief.",))
    assert made.material.pack is not None and made.material.pack.manifest is not None
    assert made.material.pack.manifest.pack_version == 2
    assert boat.id in made.plan.shown_hits


def test_a_cut_that_cannot_be_kept_is_sent_and_said(world: RecallWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    talk(world, 12)
    compiled(world)

    def broken(_: Any) -> None:
        raise StoreUnavailable("table", "down")

    monkeypatch.setattr(world.rows, "write", broken)
    made = compiled(world, profile=SMALL)
    assert made.degraded == [EPOCH_ERROR, LEDGER_ERROR] and made.prompt_id is None
    assert "<neve-su" in shown(made)
    assert made.epoch is not None and made.epoch.epoch == 0

    def lost(_: Any) -> None:
        raise Conflict

    monkeypatch.setattr(world.rows, "write", lost)
    assert compiled(world, profile=SMALL).degraded == [EPOCH_ERROR, LEDGER_ERROR]


def test_the_next_epoch_ends_a_cut(world: RecallWorld) -> None:
    """As a compaction begins it: what it covers is hidden for its own summary, and everything behind is shown again."""
    talk(world, 12)
    compiled(world, profile=SMALL)
    keys, now = session(world).keys, world.clock.now()
    moved = replace(epoch(world), epoch=2, covers_from=5, covers_to=10)
    summary = Summary("s1", 2, 5, 10, "standard", "model", 10, "2026-03-10T09:30:00.000Z", decisions=("Bees.",))
    world.rows.write([rows.put_epoch(keys, moved, now), rows.put_summary(keys, summary)])
    made = compiled(world)
    assert shown(made) == ["turn 1 x", "turn 2 x", "<neve-su", *(f"turn {n} x"[:8].strip() for n in range(6, 13))]
    assert made.plan.cut is None
    again = compiled(world, profile=SMALL)
    assert again.plan.cut is not None and again.epoch is not None and again.epoch.epoch == 3
    carried = world.rows.get(keys.summary(3))
    assert carried is not None and (carried["decisions"], carried["covers_to"]) == (["Bees."], 10)
    folded = world.rows.get(keys.stand_in(3))
    assert folded is not None and folded["decisions"] == ["Bees."]


def test_what_was_taken_back_meanwhile_is_kept_for_no_epoch(world: RecallWorld) -> None:
    """A deletion has looked for the summaries of epochs that are over, and nobody looks again."""
    world.say("I decided to buy the red boat.", "Noted.")
    talk(world, 6, first=2)
    compiled(world)  # its prefix is noted
    keys = session(world).keys
    moved = replace(epoch(world), epoch=1, covers_from=1, covers_to=2)
    world.rows.write([rows.put_epoch(keys, moved, world.clock.now())])
    retract_events(session(world), Retract(14, 14, "deleted"))
    over = epoch(world).epoch

    def meanwhile() -> None:
        retract_events(session(world), Retract(1, 1, "deleted"))

    world.rows.before_write = meanwhile
    made = compiled(world)
    assert world.rows.get(keys.summary(over)) is None
    assert made.epoch is not None and made.epoch.epoch == over + 1
    assert "the red boat" not in str(made.request)


def test_a_horizon_without_a_summary_gets_one_made_by_rules(world: RecallWorld) -> None:
    world.say("I decided to buy the red boat.", "Noted.")
    talk(world, 6, first=2)
    keys = session(world).keys
    moved = replace(epoch(world), epoch=1, covers_from=1, covers_to=2)
    world.rows.write([rows.put_epoch(keys, moved, world.clock.now())])
    made = compiled(world)
    assert made.plan.summary is not None
    assert "the red boat" in str(made.plan.summary)
    stored = world.rows.get(keys.summary(1))
    assert stored is not None and stored["by"] == "extract"
    assert compiled(world).plan.prompt.history == made.plan.prompt.history


def test_a_user_who_is_erased_has_no_history(world: RecallWorld) -> None:
    talk(world, 2)
    compiled(world)
    keys = session(world).keys
    head = rows.read_head(world.rows.get(keys.head))
    world.rows.write([rows.put_head(keys, replace(head, state="erasing"))])
    made = compiled(world)
    assert made.plan.prompt.history == [] and made.plan.prompt.pack == ""
    head = rows.read_head(world.rows.get(keys.head))
    world.rows.write([rows.put_head(keys, replace(head, state="closed"))])
    with pytest.raises(NeveError) as refused:
        compiled(world)
    assert refused.value.code == "user_closed"


def test_the_events_of_an_earlier_incarnation_are_not_shown(world: RecallWorld) -> None:
    talk(world, 2)
    keys = session(world).keys
    head = rows.read_head(world.rows.get(keys.head))
    world.rows.write([rows.put_head(keys, replace(head, incarnation=head.incarnation + 1))])
    assert compiled(world).plan.prompt.history == []


# --- images -----------------------------------------------------------------------------------------


def test_a_message_that_the_log_has_without_a_secret_is_not_repeated(world: RecallWorld) -> None:
    world.say("hello", "hi")
    said = "My password is hunter2xyz9, please note it."
    append_events(session(world), [NewEvent(EventType.USER_MESSAGE, said)])
    sent = json.dumps(compiled(world, said).request)
    assert sent.count("please note it") == 1
    assert "hunter2xyz9" not in sent


def test_the_prefix_is_that_of_the_instructions_that_are_sent(world: RecallWorld) -> None:
    """A long message leaves them less room, and the provider reads its cache no further than to what changed."""
    tight = CustomBudget(total=600, output=0, system=100, memories=0, history=500)
    given: dict[str, Any] = {"profile": tight, "instructions": ("a" * 300, "b" * 300)}
    whole, cut, again = (compiled(world, message, **given) for message in ("short", "long " * 250, "short"))
    assert [len(one.plan.prompt.instructions) for one in (whole, cut, again)] == [602, 300, 602]
    assert whole.prefix_sha == again.prefix_sha != cut.prefix_sha
    assert [one.prefix_changed for one in (whole, cut, again)] == [False, True, True]


def test_a_hit_that_no_retrieved_text_has_room_for_is_named(world: RecallWorld) -> None:
    """And told as an update, where it is one."""
    world.with_policy(recall_limit=20, prompt_share=0.0, recall_threshold=0.0)
    compiled(world)
    world.clock.move(minutes=1)
    notes = {world.remember(f"Falcon note {n}: " + " ".join(f"f{n}w{m}" for m in range(250))) for n in range(20)}
    world.pump()
    made = compiled(world, "Tell me about the falcon", retrieval="auto")
    assert made.recalled is not None and {hit.id for hit in made.recalled.hits} == notes
    shown = set(made.plan.shown_hits)
    left_out, not_told = (set(one.items) for one in made.plan.pruned)
    assert (shown | left_out, shown & left_out) == (notes, set())
    assert [one.section for one in made.plan.pruned] == ["retrieved", "updates"]
    assert made.transparency[0].startswith(f"Loaded {len(shown)} relevant entries")
    assert 0 < len(left_out - not_told) < len(left_out), "some are updates instead"


@pytest.mark.parametrize("broken", ["_events", "_session_state"])
def test_a_prompt_whose_message_is_in_a_log_that_cannot_be_read_is_an_error(
    world: RecallWorld, monkeypatch: pytest.MonkeyPatch, broken: str
) -> None:
    """Without it a model would answer to nothing. Where the call has the message, the prompt is without history."""
    world.say("Hello.", "Hi.", "Which trains run today?")

    def fails(*_: object) -> None:
        raise StoreUnavailable("table", "down")

    monkeypatch.setattr(reads, broken, fails)
    with pytest.raises(NeveError) as refused:
        compiled(world, None)
    assert (refused.value.code, refused.value.errors[0].field) == ("store_unavailable", "message")
    assert compiled(world, "Which trains run today?").plan.prompt.last[-1] == Text("Which trains run today?")


# --- updates --------------------------------------------------------------------------------------
