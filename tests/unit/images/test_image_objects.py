"""The object of an image goes when the last event that shows it does, and not before
(docs/rules/sessions.md#images)."""

from __future__ import annotations

import base64
from collections.abc import Callable, Sequence, Set
from dataclasses import replace
from typing import Any

import pytest

from neve.domain.records.sessions import EventType
from neve.ports.table import Expect, Put, WriteOp
from neve.scope import SessionScope, UserScope
from neve.store import rows
from neve.usecases.core.images import image_objects
from neve.usecases.core.images.image_objects import read_image, remove_images
from neve.usecases.core.images.shown_images import ShownImages
from neve.usecases.core.jobs.messages.compaction import message_of_row
from neve.usecases.core.jobs.read_jobs import get_job
from neve.usecases.tell.requests.retract_events import Retract, retract_events
from neve.usecases.tell.sessions.append_events import NewEvent, append_events
from neve.usecases.work.observe.images import with_images
from neve.usecases.work.retract import erase_retracted
from neve.usecases.work.retract.run_retraction import run_retraction
from tests.pictures import TINY_PNG
from tests.unit.world import World

PNG = TINY_PNG
BLOCK = {"type": "image", "media_type": "image/png"}


class Killed(BaseException):
    """The process ends here."""


@pytest.fixture
def world(world: World) -> World:
    """Event 1 of ``s1`` shows an image."""
    world.open(session="s2")
    show(world.user().of_session("s1"))
    return world


def show(scope: SessionScope) -> None:
    block = {**BLOCK, "data": base64.b64encode(PNG).decode()}
    append_events(scope, [NewEvent(EventType.USER_MESSAGE, [block])])


def hide(scope: SessionScope) -> None:
    """The session's first event, as its deletion leaves it."""
    event = rows.read_event(scope.ports.table.get(scope.keys.event(1)) or {})
    hidden = replace(event, content="", erased=True)
    scope.ports.table.write([replace(rows.put_event(scope.keys, hidden, 1), expect=Expect.ANY)])


def stored(world: World) -> list[str]:
    return world.objects.list(world.user().keys.images_prefix)


def before_deletion(world: World, work: Callable[[], None]) -> None:
    """Once, between the look and the removal."""
    delete = world.objects.delete

    def meddled(key: str) -> None:
        del world.objects.delete
        work()
        delete(key)

    world.objects.delete = meddled  # type: ignore[method-assign]


def test_it_goes_with_the_last_event_that_shows_it(world: World) -> None:
    [name] = stored(world)
    assert remove_images(world.user(), {name}, sent=False) == frozenset()
    assert stored(world) == [name]
    hide(world.user().of_session("s1"))
    assert remove_images(world.user(), {name}, sent=False) == {name}
    assert stored(world) == []


def test_who_shows_it_between_the_look_and_the_removal_keeps_it(world: World) -> None:
    [name] = stored(world)
    hide(world.user().of_session("s1"))
    before_deletion(world, lambda: show(world.user().of_session("s2")))
    assert remove_images(world.user(), {name}, sent=False) == frozenset()
    assert stored(world) == [name]


def test_who_shows_it_behind_one_that_ended_a_removal_that_stands_still_keeps_it(world: World) -> None:
    """Another worker has taken away the copy of this one as well, when it deletes what an event has stored anew."""
    [name] = stored(world)
    hide(world.user().of_session("s1"))

    def ended_and_shown() -> None:
        assert remove_images(world.user(), {name}, sent=False) == {name}
        assert stored(world) == []
        show(world.user().of_session("s2"))

    before_deletion(world, ended_and_shown)
    assert remove_images(world.user(), {name}, sent=False) == frozenset()
    assert stored(world) == [name]
    assert read_image(world.objects, name) == PNG
    started = world.objects.peek(name, 1)
    assert started is not None
    assert started.content_type == "image/png"


def test_more_than_may_be_held_at_once_is_removed_in_rounds(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    other = PNG + b"another"
    block = {**BLOCK, "data": base64.b64encode(other).decode()}
    append_events(world.user().of_session("s2"), [NewEvent(EventType.USER_MESSAGE, [block])])
    hide(world.user().of_session("s1"))
    hide(world.user().of_session("s2"))
    monkeypatch.setattr(image_objects, "HELD_BYTES", 1)
    both = set(stored(world))
    assert len(both) == 2
    assert remove_images(world.user(), both, sent=False) == both
    assert stored(world) == []


def test_a_further_look_sees_who_shows_it_since_and_who_does_no_more(world: World) -> None:
    [name] = stored(world)
    shown = ShownImages(world.user())
    one, other = (world.user().of_session(session) for session in ("s1", "s2"))
    assert shown.of({name, "another"}) == {name}
    hide(one)
    assert shown.of({name}) == set()
    show(other)
    assert shown.of({name}) == {name}
    hide(other)
    assert shown.of({name}) == set()
    show(one)
    assert shown.of({name}) == {name}


def test_but_not_who_is_deleted_by_then(world: World) -> None:
    [name] = stored(world)
    other, copy = world.user().of_session("s2"), world.objects.copy
    hide(world.user().of_session("s1"))

    def deleted_after(source: str, target: str) -> bool:
        done = copy(source, target)
        if target == name:
            hide(other)
        return done

    before_deletion(world, lambda: show(other))
    world.objects.copy = deleted_after  # type: ignore[method-assign]
    assert remove_images(world.user(), {name}, sent=False) == {name}
    assert stored(world) == []


@pytest.mark.parametrize("looked", [False, True])
def test_what_was_shown_meanwhile_outlives_a_worker_that_dies(world: World, looked: bool) -> None:
    """Behind the removal, and behind the second look, before what it has laid aside is deleted."""
    [name] = stored(world)
    hide(world.user().of_session("s1"))
    delete = world.objects.delete

    def dying(key: str) -> None:
        if key == name:
            show(world.user().of_session("s2"))
            delete(key)
        if key != name or not looked:
            raise Killed

    world.objects.delete = dying  # type: ignore[method-assign]
    with pytest.raises(Killed):
        remove_images(world.user(), {name}, sent=True)
    del world.objects.delete
    assert read_image(world.objects, name) == PNG
    assert remove_images(world.user(), {name}, sent=True) == frozenset()
    assert name in stored(world)
    hide(world.user().of_session("s2"))
    assert remove_images(world.user(), {name}, sent=True) == {name}
    assert stored(world) == []


@pytest.mark.parametrize("dies", [False, True])
def test_of_two_deletions_at_once_the_last_one_takes_it_away(world: World, dies: bool) -> None:
    """Each finds it shown by the other's event; also where the last one dies as soon as its event says nothing."""
    one, other = (world.user().of_session(session) for session in ("s1", "s2"))
    show(other)
    messages = [deleting(world, scope) for scope in (one, other)]
    write = world.table.write

    def erases(ops: Sequence[WriteOp]) -> bool:
        return any(isinstance(op, Put) and op.item.get("erased") for op in ops)

    def meeting(ops: Sequence[WriteOp]) -> None:
        if not erases(ops):
            write(ops)
            return
        del world.table.write
        run_retraction(other, messages[1])
        assert len(stored(world)) == 1
        if dies:
            world.table.write = last  # type: ignore[method-assign]
        world.table.write(ops)

    def last(ops: Sequence[WriteOp]) -> None:
        """The other has moved the user's row, so what read it before has to be read again."""
        write(ops)
        if erases(ops):
            del world.table.write
            raise Killed

    world.table.write = meeting  # type: ignore[method-assign]
    if dies:
        with pytest.raises(Killed):
            run_retraction(one, messages[0])
    run_retraction(one, messages[0])
    assert stored(world) == []
    jobs = [get_job(world.user(), message["job_id"]) for message in messages]
    assert [(job.status, job.result["erased"]["verified"]) for job in jobs] == [("done", True)] * 2


def test_what_one_of_two_workers_laid_aside_before_it_died_goes_too(world: World) -> None:
    """Two deliveries of one message: one has looked for copies and made none yet, the other makes one and dies."""
    scope, copy = world.user().of_session("s1"), world.objects.copy
    message = deleting(world, scope)

    def killed(key: str) -> None:
        raise Killed

    def behind_the_look(source: str, target: str) -> bool:
        del world.objects.copy
        world.objects.delete = killed  # type: ignore[method-assign]
        with pytest.raises(Killed):
            run_retraction(scope, message)
        del world.objects.delete
        return copy(source, target)

    world.objects.copy = behind_the_look  # type: ignore[method-assign]
    run_retraction(scope, message)
    assert stored(world) == []


def test_a_copy_of_one_that_died_long_ago_goes_too(world: World) -> None:
    scope, [name] = world.user().of_session("s1"), stored(world)
    world.objects.copy(name, world.user().keys.image_aside(name, "t"))
    run_retraction(scope, deleting(world, scope))
    assert stored(world) == []


@pytest.mark.parametrize("removed", [False, True])
def test_a_worker_that_dies_behind_the_blank_event_is_followed(world: World, removed: bool) -> None:
    """Before the image is removed, or as it is; the event's row names it until it is gone, and is then like any."""
    scope, [name] = world.user().of_session("s1"), stored(world)
    message = deleting(world, scope)

    def killed(key: str) -> None:
        del world.objects.delete
        if removed:
            world.objects.delete(key)
        raise Killed

    world.objects.delete = killed  # type: ignore[method-assign]
    with pytest.raises(Killed):
        run_retraction(scope, message)
    row = world.table.get(scope.keys.event(1)) or {}
    assert (row["erased"], row["content"], rows.images_of_row(row)) == (True, "", [name])
    run_retraction(scope, message)
    assert stored(world) == []
    row = world.table.get(scope.keys.event(1)) or {}
    assert (row["erased"], rows.images_of_row(row)) == (True, [])
    assert get_job(world.user(), message["job_id"]).result["erased"]["verified"] is True


def test_a_copy_that_is_put_back_by_another_one_before_the_event_is_blank_goes_too(world: World) -> None:
    """An append that brought the same image and was refused ends what this worker began, and leaves the image to the
    event that still shows it."""
    scope, [name] = world.user().of_session("s1"), stored(world)
    message, write = deleting(world, scope), world.table.write

    def meddled(ops: Sequence[WriteOp]) -> None:
        if any(isinstance(op, Put) and op.item.get("erased") for op in ops):
            del world.table.write
            assert remove_images(world.user(), {name}, sent=False) == frozenset()
        write(ops)

    world.table.write = meddled  # type: ignore[method-assign]
    run_retraction(scope, message)
    assert "write" not in vars(world.table)
    assert stored(world) == []


def test_what_another_one_puts_back_behind_the_look_is_removed_again(world: World) -> None:
    """It was slower, and died as soon as it had put it back."""
    [name], delete = stored(world), world.objects.delete
    hide(world.user().of_session("s1"))

    def put_back(key: str) -> None:
        if key != name:
            del world.objects.delete
            world.objects.copy(key, name)
        delete(key)

    world.objects.delete = put_back  # type: ignore[method-assign]
    assert remove_images(world.user(), {name}, sent=False) == {name}
    assert "delete" not in vars(world.objects)
    assert stored(world) == []


def test_who_could_lay_nothing_aside_deletes_nothing(world: World) -> None:
    """Another one has just removed it, and an event that was written since has stored it again."""
    [name], copy = stored(world), world.objects.copy
    hide(world.user().of_session("s1"))

    def overtaken(source: str, target: str) -> bool:
        del world.objects.copy
        world.objects.delete(name)
        done = copy(source, target)
        show(world.user().of_session("s2"))
        return done

    world.objects.copy = overtaken  # type: ignore[method-assign]
    assert remove_images(world.user(), {name}, sent=False) == frozenset()
    assert "copy" not in vars(world.objects)
    assert stored(world) == [name]


def test_a_reader_finds_what_is_put_back_as_it_looks_for_a_copy(world: World) -> None:
    [name], get = stored(world), world.objects.get

    def put_back(key: str) -> bytes | None:
        del world.objects.get
        world.objects.delete(name)
        found = get(key)
        world.objects.put_new(name, PNG, content_type="image/png")
        return found

    world.objects.get = put_back  # type: ignore[method-assign]
    assert read_image(world.objects, name) == PNG
    assert "get" not in vars(world.objects)


def test_a_worker_that_is_cut_off_is_followed_where_it_stopped(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The images of an event are removed in parts, and each part is noted."""
    scope = world.user().of_session("s1")
    blocks = [{**BLOCK, "data": base64.b64encode(PNG + bytes([n])).decode()} for n in range(3)]
    append_events(scope, [NewEvent(EventType.USER_MESSAGE, blocks)])
    message = message_of_row(
        world.table.get(world.tenant.keys.job(retract_events(scope, Retract(1, 2, "deleted")).job_id)) or {}
    ).body
    monkeypatch.setattr(erase_retracted, "IMAGE_BATCH_SIZE", 2)
    parts: list[set[str]] = []

    def removing(scope: UserScope, images: Set[str], **more: Any) -> Set[str]:
        parts.append(set(images))
        if len(parts) == 2:
            raise Killed
        return remove_images(scope, images, **more)

    monkeypatch.setattr(erase_retracted, "remove_images", removing)
    with pytest.raises(Killed):
        run_retraction(scope, message)
    assert len(stored(world)) == 2
    run_retraction(scope, message)
    assert stored(world) == []
    assert [len(part) for part in parts] == [2, 2, 2]
    assert parts[1] == parts[2]
    assert not parts[0] & parts[1]
    for seq in (1, 2):
        assert rows.images_of_row(world.table.get(scope.keys.event(seq)) or {}) == []


def deleting(world: World, scope: SessionScope) -> dict[str, Any]:
    """The message of its job."""
    retraction = retract_events(scope, Retract(1, 1, "deleted"))
    return message_of_row(world.table.get(world.tenant.keys.job(retraction.job_id)) or {}).body


def test_a_pass_is_shown_what_was_laid_aside(world: World) -> None:
    """By an append that was refused, and died as it took its image away."""
    [name] = stored(world)
    world.objects.copy(name, world.user().keys.image_aside(name, "t"))
    world.objects.delete(name)
    event = rows.read_event(world.table.get(world.user().of_session("s1").keys.event(1)) or {})
    shown = with_images(world.objects, event)
    assert shown.content == [{**BLOCK, "data": base64.b64encode(PNG).decode()}]


def test_what_is_gone_is_gone(world: World) -> None:
    [name] = stored(world)
    world.objects.delete(name)
    assert read_image(world.objects, name) is None
