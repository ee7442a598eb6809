"""Images in prompts: which have room, and which are told (docs/rules/compile.md#images)."""

import base64
import json
from dataclasses import replace
from typing import Any

import pytest
from pydantic import ValidationError

from local.limits.payloads import MAX_PAYLOAD, payload_bytes
from neve.domain.compact.render import render_summary
from neve.domain.compile.conversation import Image, Text
from neve.domain.compile.shown_images import IMAGE_BYTES, LEFT_OUT
from neve.domain.errors import NeveError
from neve.domain.records.epochs import SessionEpoch
from neve.domain.records.sessions import Event, EventType
from neve.domain.sessions.transcript import images_of
from neve.domain.tenants.policy import Policy
from neve.http.schemas.compile.context import CompileBody, ContextOut
from neve.ports.errors import StoreUnavailable
from neve.scope import Tenant
from neve.store import rows
from neve.usecases.ask.compile.compile_context import Compiled
from neve.usecases.ask.compile.images import Images, Wanted, load_images
from neve.usecases.core.pack import build_pack
from neve.usecases.tell.requests.retract_events import Retract, retract_events
from neve.usecases.tell.sessions.append_events import NewEvent, append_events
from tests.pictures import TINY_PNG, png
from tests.unit.compile.compile_world import SMALL, compiled, epoch, session, talk
from tests.unit.compile.logs import event
from tests.unit.recall_world import RecallWorld

PNG = TINY_PNG
HALF = IMAGE_BYTES // 2
LINK = {"type": "image", "media_type": "image/jpeg", "url": "https://images.example/a.jpg"}
PROMPTED = SessionEpoch("s1", prefix="static:1")
GONE = "[an image (image/png) that is not shown]"


def picture(world: RecallWorld, seq: int, size: int, side: int = 1) -> Event:
    """A message with an image of so many bytes."""
    name = session(world).keys.image_object(f"{seq}")
    world.objects.put(name, PNG.ljust(size, b"x"), content_type="image/png")
    block = {"type": "image", "media_type": "image/png", "object": name, "bytes": size, "width": side, "height": 1}
    return event(seq, EventType.USER_MESSAGE, [block])


def answer(seq: int) -> Event:
    return event(seq, EventType.ASSISTANT_RESPONSE, "I see.")


def shown(images: Images) -> list[int]:
    """Seqs of the events whose images are shown."""
    return [event.seq for event in images.events if any(LEFT_OUT not in block for block in images_of(event))]


def send(world: RecallWorld, **sizes: int) -> None:
    """A message with these uploads."""
    for name, size in sizes.items():
        sent = PNG.ljust(size, name.encode())
        world.objects.put(session(world).keys.upload_object(name), sent, content_type="image/png")
    blocks = [{"type": "image", "media_type": "image/png", "upload_id": name} for name in sizes]
    append_events(session(world), [NewEvent(EventType.USER_MESSAGE, blocks)])


def reply(world: RecallWorld) -> None:
    append_events(session(world), [NewEvent(EventType.ASSISTANT_RESPONSE, "I see.")])


def load(world: RecallWorld, log: list[Event], asked: SessionEpoch | None = None, **more: Any) -> Images:
    """Of a session that had a prompt before."""
    return load_images(session(world), log, None, asked or PROMPTED, **more)


def test_only_what_is_shown_is_read(world: RecallWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is a read of an object: a conversation about photos has dozens."""
    log = [picture(world, n, IMAGE_BYTES // 4 + 1) for n in range(1, 40)]
    log += [answer(40), picture(world, 41, 100)]
    get, read = world.objects.get, list[str]()

    def counted(name: str) -> bytes | None:
        read.append(name)
        return get(name)

    monkeypatch.setattr(world.objects, "get", counted)
    assert shown(load(world, log)) == [39, 41]
    assert len(read) == 2


def test_the_message_has_room_before_the_history(world: RecallWorld) -> None:
    log = [picture(world, 1, HALF), answer(2), picture(world, 3, HALF)]
    assert shown(load(world, log)) == [1, 3]
    log[2] = picture(world, 3, IMAGE_BYTES)
    alone = load(world, log)
    assert (shown(alone), alone.left_out, alone.changes_history) == ([3], ((1, 1),), True)


def test_before_the_first_prompt_all_the_room_is_used_and_no_epoch_begins(world: RecallWorld) -> None:
    log = [event for n in range(1, 43, 2) for event in (picture(world, n, 100, side=2_532), answer(n + 1))]
    first, later = load(world, log, SessionEpoch("s1")), load(world, log)
    assert (shown(first), first.left_out, first.changes_history) == ([*range(3, 43, 2)], ((1, 1),), False)
    assert (shown(later), later.left_out, later.changes_history) == ([*range(23, 43, 2)], ((1, 21),), True)


def test_an_image_that_is_gone_is_told_from_then_on(world: RecallWorld) -> None:
    log = [picture(world, 1, 100), answer(2), picture(world, 3, 100), answer(4)]
    world.objects.delete(session(world).keys.image_object("1"))
    found = load(world, log)
    assert (shown(found), found.unusable, found.changes_history, found.missing) == ([3], ((1, 1),), True, False)
    again = load(world, log, replace(PROMPTED, images_unusable=found.unusable))
    assert (shown(again), again.unusable, again.changes_history) == ([3], ((1, 1),), False)


def test_while_nobody_can_read_them_stored_images_are_told_and_nothing_is_kept(
    world: RecallWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    def down(name: str) -> bytes:
        raise StoreUnavailable("objects", "GetObject: down")

    log = [picture(world, 1, 100), event(2, EventType.USER_MESSAGE, [LINK]), answer(3)]
    monkeypatch.setattr(world.objects, "get", down)
    found = load(world, log)
    assert (shown(found), found.missing, found.unusable, found.changes_history) == ([2], True, (), False)


def test_an_image_of_the_message_is_counted_once_where_the_log_has_it(world: RecallWorld) -> None:
    for n in range(20):
        append_events(session(world), [NewEvent(EventType.USER_MESSAGE, [large(n)])])
        reply(world) if n < 19 else None
    made = compiled(world, [large(19)])
    assert (made.images.shown, made.images.left_out) == (20, {})
    reply(world)
    then = compiled(world, [large(20)])
    assert (then.images.shown, then.material.images.changes_history) == (10, True)


def test_what_a_call_wants_of_images_is_not_kept(world: RecallWorld) -> None:
    log = [picture(world, 1, 100), answer(2), picture(world, 3, 100)]
    recent, none = (load(world, log, wanted=Wanted(which)) for which in ("recent", "none"))
    assert (shown(recent), shown(none)) == ([3], [])
    assert [(one.left_out, one.unusable, one.changes_history) for one in (recent, none)] == [((), (), False)] * 2


def test_long_texts_take_the_room_of_images(world: RecallWorld) -> None:
    """The answer of a function holds both."""
    largest = picture(world, 2, IMAGE_BYTES)
    short, long = (event(1, EventType.USER_MESSAGE, text) for text in ("\U0001f6b2", "\U0001f6b2" * 200_000))
    assert not load(world, [short, largest]).last_left_out
    assert load(world, [long, largest]).last_left_out
    assert load(world, [short, largest], beside=800_000).last_left_out


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
    assert payload_bytes({"body": ContextOut.of(made).model_dump_json()}) < MAX_PAYLOAD
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
        counted = ContextOut.of(made).report.images
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
    counted = ContextOut.of(made).report.images
    assert (counted.shown, counted.left_out) == (1, 1)
    assert made.plan.prompt.last.count(Text(GONE)) == 1


def test_an_image_before_the_hidden_part_is_shown_when_it_is_asked_about_again(world: RecallWorld) -> None:
    """All behind it was taken back, and the caller has it answered anew."""
    talk(world, 1)
    send(world, a=100)
    talk(world, 2)
    retract_events(session(world), Retract(4, None, "branched"))
    covered = replace(epoch(world), covers_from=4, covers_to=7)
    world.table.write([rows.put_epoch(session(world).keys, covered, world.clock.now())])
    made = compiled(world, None)
    session_state = made.material.session_state
    assert session_state is not None and session_state.hidden is not None
    assert images_asked_about(made) == [base64.b64encode(PNG.ljust(100, b"a")).decode()]


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


def large(n: int) -> dict[str, str]:
    data = base64.b64encode(png(1, 2_001, noise=bytes([n]))).decode()
    return {"type": "image", "media_type": "image/png", "data": data}


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


def test_of_two_images_without_words_both_are_asked_about(world: RecallWorld) -> None:
    append_events(session(world), [NewEvent(EventType.USER_MESSAGE, [image("a")])])
    assert images_asked_about(compiled(world, [image("b")])) == [image("a")["data"], image("b")["data"]]


def test_an_image_that_the_log_has_already_is_not_repeated(world: RecallWorld) -> None:
    append_events(session(world), [NewEvent(EventType.USER_MESSAGE, [image("a")])])
    assert images_asked_about(compiled(world, [image("a")])) == [image("a")["data"]]
    reply(world)
    send(world, a=9)  # uploaded, and sent along once more
    assert len(images_asked_about(compiled(world, [image("a")]))) == 1


@pytest.mark.parametrize("message", [" ", [{"type": "text", "text": "\n"}]])
def test_a_blank_message_asks_nothing(message: Any) -> None:
    with pytest.raises(ValidationError, match="must not be blank"):
        CompileBody.model_validate({"session_id": "s1", "message": message})
    CompileBody.model_validate({"session_id": "s1", "message": [image("a")]})
