"""E8's use case: what it keeps, what it survives, and how it lives beside a compaction (docs/rules/compile.md#cut)."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from local.limits.payloads import MAX_PAYLOAD, payload_bytes
from neve.domain.compact.render import render_summary
from neve.domain.compile.conversation import Image, Text
from neve.domain.errors import NeveError
from neve.domain.records.epochs import SessionEpoch, Summary
from neve.domain.records.memories import Kind, Provenance, Status
from neve.domain.records.sessions import Event, EventType
from neve.domain.tenants.policy import CustomBudget, Policy
from neve.http.schemas.compile.context import CompileBody, ContextOut
from neve.ports.errors import Conflict, StoreUnavailable
from neve.ports.table import Index
from neve.scope import SessionScope, Tenant
from neve.store import rows
from neve.usecases.compile import reads, updates
from neve.usecases.compile.command import CompileCommand
from neve.usecases.compile.compile_context import EPOCH_ERROR, Compiled, compile_context
from neve.usecases.compile.images import IMAGE_BYTES, MISFITS, load_images
from neve.usecases.memories.delete_memory import delete_memory
from neve.usecases.memories.update_memory import MemoryChange, update_memory
from neve.usecases.pack import build_pack
from neve.usecases.pack.gather_pack import gather_pack
from neve.usecases.sessions.append_events import NewEvent, append_events
from tests.unit.compile.logs import event
from tests.unit.recall_world import RecallWorld

SMALL = CustomBudget(total=800, output=0, system=0, memories=400, history=0)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[RecallWorld]:
    made = RecallWorld.make(tmp_path)
    made.open()
    yield made
    made.close()


def session(world: RecallWorld) -> SessionScope:
    return world.user().of_session("s1")


def compiled(world: RecallWorld, message: Any = "And now?", **given: Any) -> Compiled:
    command = CompileCommand(message=message, **{"retrieval": "none", **given})
    return compile_context(session(world), command)


def epoch(world: RecallWorld) -> SessionEpoch:
    item = world.rows.get(session(world).keys.epoch)
    assert item is not None
    return rows.read_epoch(item)


def talk(world: RecallWorld, count: int, first: int = 1) -> None:
    for n in range(first, first + count):
        world.say(f"turn {n} " + "x" * 150, "y" * 160)


def shown(made: Compiled) -> list[str]:
    """The first words of the history."""
    blocks = [block for message in made.plan.prompt.history for block in message.blocks]
    return [block.text[:8].strip() for block in blocks if isinstance(block, Text) and not block.text.startswith("y")]


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


def test_a_cut_that_cannot_be_kept_is_sent_and_said(world: RecallWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    talk(world, 12)
    compiled(world)

    def broken(_: Any) -> None:
        raise StoreUnavailable("table", "down")

    monkeypatch.setattr(world.rows, "write", broken)
    made = compiled(world, profile=SMALL)
    assert made.degraded == [EPOCH_ERROR]
    assert "<neve-su" in shown(made)
    assert made.epoch is not None and made.epoch.epoch == 0

    def lost(_: Any) -> None:
        raise Conflict

    monkeypatch.setattr(world.rows, "write", lost)
    assert compiled(world, profile=SMALL).degraded == [EPOCH_ERROR]


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

PNG = b"\x89PNG\r\n\x1a\n"
HALF = IMAGE_BYTES // 2
GONE = "[an image (image/png) that is not shown]"


def picture(world: RecallWorld, seq: int, size: int) -> Event:
    """A message with an image of so many bytes."""
    name = session(world).keys.image_object(f"{seq}")
    world.objects.put(name, PNG.ljust(size, b"x"), content_type="image/png")
    return event(seq, EventType.USER_MESSAGE, [{"type": "image", "media_type": "image/png", "object": name}])


def send(world: RecallWorld, **sizes: int) -> None:
    """A message with these uploads."""
    for name, size in sizes.items():
        sent = PNG.ljust(size, name.encode())
        world.objects.put(session(world).keys.upload_object(name), sent, content_type="image/png")
    blocks = [{"type": "image", "media_type": "image/png", "upload_id": name} for name in sizes]
    append_events(session(world), [NewEvent(EventType.USER_MESSAGE, blocks)])


def reply(world: RecallWorld) -> None:
    append_events(session(world), [NewEvent(EventType.ASSISTANT_RESPONSE, "I see.")])


def names(found: Mapping[str, str]) -> list[str]:
    return sorted(name.rpartition("/")[2] for name in found)


def test_stored_images_are_shown_up_to_a_limit_and_stay(world: RecallWorld) -> None:
    """Which are shown follows from those before: a later one never takes the place of an earlier one."""
    log = [picture(world, 1, HALF), picture(world, 2, HALF + 1), picture(world, 3, 100)]
    answer = event(9, EventType.ASSISTANT_RESPONSE, "I see.")
    found = [load_images(session(world), [*log[:n], answer]) for n in (1, 2, 3)]
    assert [names(images.history) for images in found] == [["1"], ["1"], ["1", "3"]]
    counted = [(images.history_shown, images.history_left_out, images.dropped_to) for images in found]
    assert counted == [(1, 0, None), (1, 1, None), (2, 1, None)]


def test_images_behind_many_without_room_are_not_read(world: RecallWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is a read of an object, one after the other: a conversation about photos has dozens."""
    log = [picture(world, n, IMAGE_BYTES // 4 + 1) for n in range(1, 40)]
    log += [event(40, EventType.ASSISTANT_RESPONSE, "I see."), picture(world, 41, 100)]
    get, read = world.objects.get, list[str]()

    def counted(name: str) -> bytes | None:
        read.append(name)
        return get(name)

    monkeypatch.setattr(world.objects, "get", counted)
    found = load_images(session(world), log)
    assert (names(found.history), names(found.last), found.history_left_out) == (["1", "2", "3"], ["41"], 36)
    assert len(read) == 3 + MISFITS + 1


def test_the_message_has_room_before_the_history(world: RecallWorld) -> None:
    """The history's images stay where both fit; else all of them go, and stay away."""
    log = [picture(world, 1, HALF), event(2, EventType.ASSISTANT_RESPONSE, "I see."), picture(world, 3, HALF)]
    beside = load_images(session(world), log)
    assert (names(beside.history), names(beside.last), beside.dropped_to) == (["1"], ["3"], None)
    log[2] = picture(world, 3, IMAGE_BYTES)
    alone = load_images(session(world), log)
    assert (names(alone.history), names(alone.last), alone.dropped_to) == ([], ["3"], 2)
    assert (alone.history_left_out, alone.last_left_out) == (1, 0)
    then = load_images(session(world), [*log, event(4, EventType.ASSISTANT_RESPONSE, "Nice.")], after=2)
    assert (names(then.history), then.history_left_out, then.dropped_to) == (["3"], 1, None)


def test_long_texts_take_the_room_of_images(world: RecallWorld) -> None:
    """The answer of a function holds both."""
    largest = picture(world, 2, IMAGE_BYTES)
    short, long = (event(1, EventType.USER_MESSAGE, text) for text in ("\U0001f6b2", "\U0001f6b2" * 200_000))
    assert load_images(session(world), [short, largest]).last_left_out == 0
    assert load_images(session(world), [long, largest]).last_left_out == 1
    assert load_images(session(world), [short, largest], beside=800_000).last_left_out == 1


def test_a_pack_of_a_wide_script_takes_the_room_of_images(world: RecallWorld) -> None:
    """Three bytes a character: with a long log and its image the answer would be one that no function may give."""
    world.tenant = Tenant("acme", Policy(global_budget=100_000))
    for n in range(60):
        world.remember(f"{n} " + "记得他喜欢喝茶" * 650)
    build_pack.build_pack(session(world), "horizon")
    for _ in range(3):
        append_events(session(world), [NewEvent(EventType.USER_MESSAGE, "今天天气如何？" * 12_000)])
        reply(world)
    send(world, a=IMAGE_BYTES * 9 // 10)
    made = compiled(world, None)
    assert payload_bytes({"body": ContextOut.of(made, world.tenant.policy).model_dump_json()}) < MAX_PAYLOAD
    assert made.degraded == ["images:left_out"]
    assert len(made.plan.prompt.pack.encode()) > 800_000 and made.plan.cut is None


def test_images_that_make_room_begin_an_epoch(world: RecallWorld) -> None:
    """Two photos of 1.9 MB, then one of the largest size; the prompt behind it goes on from its own."""
    before, logged = epoch(world).epoch, []
    for name, size in {"a": 1_900_000, "b": 1_900_000, "c": IMAGE_BYTES}.items():
        send(world, **{name: size})
        made = compiled(world, None)
        assert compiled(world, None).plan.prompt == made.plan.prompt, "the same turn again"
        assert made.epoch is not None
        counted = ContextOut.of(made, world.tenant.policy).report.images
        logged.append((counted.shown, counted.left_out, made.epoch.epoch - before, list(made.degraded)))
        assert sum(isinstance(block, Image) for block in made.plan.prompt.last) == 1
        assert payload_bytes({"body": json.dumps(made.request)}) < MAX_PAYLOAD
        reply(world)
    assert logged == [(1, 0, 0, []), (2, 0, 0, []), (1, 2, 1, [])]
    after = compiled(world)
    assert after.plan.prompt.history[: len(made.plan.prompt.history)] == made.plan.prompt.history
    assert after.epoch is not None and after.epoch.epoch == before + 1
    blocks = [block for message in after.plan.prompt.history for block in message.blocks]
    stated = [block.text if isinstance(block, Text) else type(block) for block in blocks]
    assert stated == [GONE, "I see.", GONE, "I see.", Image, "I see."]


def test_images_that_make_room_keep_the_cut(world: RecallWorld) -> None:
    """The new epoch hides and summarises what the one before did."""
    talk(world, 12)
    cut = compiled(world, profile=SMALL)
    assert cut.epoch is not None and cut.plan.cut is not None
    send(world, a=HALF + 1)
    compiled(world, None)
    reply(world)
    send(world, b=HALF + 1)
    made = compiled(world, None)
    assert made.epoch is not None and made.epoch.epoch == cut.epoch.epoch + 1
    assert made.plan.cut is None
    reply(world)
    after = compiled(world)
    assert after.plan.prompt.history[: len(made.plan.prompt.history)] == made.plan.prompt.history
    session_state = after.material.session_state
    assert session_state is not None and session_state.hidden is not None
    assert session_state.hidden == replace(cut.plan.cut, epoch=made.epoch.epoch)
    assert after.plan.summary is not None and cut.plan.summary is not None
    assert render_summary(after.plan.summary) == render_summary(cut.plan.summary)


def test_an_image_of_the_message_that_has_no_room_is_told(world: RecallWorld) -> None:
    send(world, a=HALF + 1, b=HALF + 1)
    made = compiled(world, None)
    assert made.degraded == ["images:left_out"]
    counted = ContextOut.of(made, world.tenant.policy).report.images
    assert (counted.shown, counted.left_out) == (1, 1)
    assert made.plan.prompt.last.count(Text(GONE)) == 1


def test_an_image_of_the_log_is_in_the_prompt(world: RecallWorld) -> None:
    png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
    block = {"type": "image", "media_type": "image/png", "data": png}
    events = [NewEvent(EventType.USER_MESSAGE, [{"type": "text", "text": "Look:"}, block])]
    append_events(session(world), events)
    made = compiled(world, None)
    assert made.request is not None
    shown_ = made.request["messages"][-1]["content"]
    assert shown_[-1] == {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": png}}
    assert [b["text"] for b in shown_ if b["type"] == "text"][-1] == "Look:"


def image(letter: str) -> dict[str, str]:
    data = base64.b64encode(PNG + letter.encode()).decode()
    return {"type": "image", "media_type": "image/png", "data": data}


def images_asked_about(made: Compiled) -> list[str | None]:
    return [block.url or block.data for block in made.plan.prompt.last if isinstance(block, Image)]


@pytest.mark.parametrize("logged", ["Look:", [{"type": "text", "text": "Look:"}, image("a")]])
def test_an_image_of_the_message_that_the_log_has_not_is_not_lost(world: RecallWorld, logged: Any) -> None:
    append_events(session(world), [NewEvent(EventType.USER_MESSAGE, logged)])
    made = compiled(world, [{"type": "text", "text": "Look:"}, image("b")])
    assert image("b")["data"] in images_asked_about(made)


def test_what_is_no_image_is_named(world: RecallWorld) -> None:
    with pytest.raises(NeveError) as refused:
        compiled(world, [image("a") | {"media_type": "image/gif"}])
    assert (refused.value.code, refused.value.errors[0].field) == ("validation_failed", "message[0].data")


@pytest.mark.parametrize("message", [" ", [{"type": "text", "text": "\n"}]])
def test_a_blank_message_asks_nothing(message: Any) -> None:
    with pytest.raises(ValidationError, match="must not be blank"):
        CompileBody.model_validate({"session_id": "s1", "message": message})
    CompileBody.model_validate({"session_id": "s1", "message": [image("a")]})


def test_of_two_images_without_words_both_are_asked_about(world: RecallWorld) -> None:
    append_events(session(world), [NewEvent(EventType.USER_MESSAGE, [image("a")])])
    assert images_asked_about(compiled(world, [image("b")])) == [image("a")["data"], image("b")["data"]]


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
    world.with_policy(recall_k=20, prompt_share=0.0, recall_threshold=0.0)
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


def test_an_image_that_the_log_has_already_is_not_repeated(world: RecallWorld) -> None:
    append_events(session(world), [NewEvent(EventType.USER_MESSAGE, [image("a")])])
    assert images_asked_about(compiled(world, [image("a")])) == [image("a")["data"]]
    reply(world)
    send(world, a=9)  # uploaded, and sent along once more
    assert len(images_asked_about(compiled(world, [image("a")]))) == 1


def test_a_prompt_without_its_message_is_refused(world: RecallWorld) -> None:
    world.say("Hello.", "Hi.")
    with pytest.raises(NeveError) as refused:
        compiled(world, None)
    assert refused.value.errors[0].field == "message"


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
    def slowly(scope: SessionScope, *_: Any) -> Any:
        found = gather_pack(scope)
        world.clock.move(seconds=30)
        world.remember("The code of the door has changed.")
        world.clock.move(seconds=30)
        return found

    monkeypatch.setattr(build_pack, "gather_pack", slowly)
    assert update_lines(built(world)) == ["- The code of the door has changed."]


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
