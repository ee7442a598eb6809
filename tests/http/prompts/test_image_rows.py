"""No picture makes every later request of a session one that a provider refuses."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from tests.http.driving.controls import Controls
from tests.http.driving.images import upload
from tests.http.driving.people import Json, Person, answered, user_message
from tests.pictures import PICTURES, png

SCREENSHOT = png(1_170, 2_532)
FORMATS = ("anthropic", "openai")
ROOM = {"total": 400_000, "output": 0, "system": 0, "memories": 10_000, "history": 300_000}
TEXT = {"type": "text", "text": "look"}


def image(body: bytes = SCREENSHOT, media_type: str = "image/png") -> Json:
    return {"type": "image", "media_type": media_type, "data": base64.b64encode(body).decode()}


def link(n: int) -> Json:
    return {"type": "image", "media_type": "image/jpeg", "url": f"https://images.example/{n}.jpg"}


def shown(made: Json) -> list[str]:
    """Base64 or address of each image of a request, nested ones included, in either format."""

    def found(part: Any) -> list[str]:
        if isinstance(part, list):
            return [one for inner in part for one in found(inner)]
        if not isinstance(part, dict):
            return []
        if part.get("type") == "image":
            return [part["source"].get("data") or part["source"]["url"]]
        if part.get("type") == "image_url":
            return [part["image_url"]["url"].rpartition("base64,")[2]]
        return [one for inner in part.values() for one in found(inner)]

    return found(made["request"]["messages"])


def history(made: Json) -> list[Json]:
    """Everything before the last message, without the marks of a cache."""

    def plain(part: Any) -> Any:
        if isinstance(part, list):
            return [plain(one) for one in part]
        return {k: plain(v) for k, v in part.items() if k != "cache_control"} if isinstance(part, dict) else part

    return [plain(message) for message in made["request"]["messages"][:-1]]


@pytest.mark.live
@pytest.mark.parametrize("form", FORMATS)
def test_e21_many_large_screenshots_are_20_at_most(user: Person, form: str) -> None:
    user.open("s1")
    for n in range(21):
        user.append("s1", user_message([TEXT, image(png(1_170, 2_532, noise=bytes([n])))]), answered())
    made = user.context("s1", "What was on the first one?", format=form)
    newest = [base64.b64encode(png(1_170, 2_532, noise=bytes([n]))).decode() for n in range(1, 21)]
    assert shown(made) == newest
    assert made["report"]["images"] == {"shown": 20, "left_out": 1}
    [left_out] = [one for one in made["report"]["pruned"] if one["section"] == "images"]
    assert left_out["items"] == ["event 1"]


@pytest.mark.live
def test_e21_while_one_goes_on_a_history_changes_only_with_its_epoch(user: Person) -> None:
    user.open("s1")
    before, changes = None, 0
    for n in range(24):
        user.append("s1", user_message([TEXT, image(png(1_170, 2_532, noise=bytes([n])))]))
        made = user.context("s1", None)
        assert 1 <= len(shown(made)) <= 20
        assert made["degraded"] == []
        changed = made["report"]["history"]["epoch_changed"]
        if before is not None and not changed:
            assert history(made)[: len(before)] == before
        changes, before = changes + changed, history(made)
        user.append("s1", answered())
    assert changes == 1


@pytest.mark.live
@pytest.mark.parametrize("form", FORMATS)
def test_e21_images_by_an_address_count(user: Person, form: str) -> None:
    user.open("s1")
    for first in range(0, 110, 11):
        user.append("s1", user_message([TEXT, *(link(n) for n in range(first, first + 11))]), answered())
    made = user.context("s1", [TEXT, link(110)], format=form, budget_profile=ROOM)
    assert 12 <= len(shown(made)) <= 100
    assert shown(made)[-12:] == [link(n)["url"] for n in range(99, 111)]


@pytest.mark.live
def test_e21_one_panorama_gives_way_to_many_newer_images_and_takes_the_place_of_many_older_ones(user: Person) -> None:
    user.open("s1")
    panorama = png(7_000, 400)
    user.append("s1", user_message([TEXT, image(panorama)]), answered())
    for _ in range(3):
        user.append("s1", user_message([TEXT, *[image(png(9, 9))] * 10]), answered())
    assert image(panorama)["data"] not in shown(user.context("s1", "And now?"))
    now = user.context("s1", [TEXT, image(panorama)])
    assert shown(now)[-1] == image(panorama)["data"]
    assert len(shown(now)) <= 20


@pytest.mark.live
@pytest.mark.parametrize("form", FORMATS)
def test_e21_images_of_tools_and_of_the_message_count(user: Person, form: str) -> None:
    user.open("s1")
    user.append("s1", user_message("Open the pages."))
    for n in range(3):
        data = {"tool_use_id": f"c{n}", "name": "browse"}
        user.append(
            "s1",
            {"event_type": "tool_call", "content": "", "event_data": data},
            {"event_type": "tool_result", "content": [image()] * 8, "event_data": data},
        )
    loop = user.context("s1", None, format=form)
    assert len(shown(loop)) == (16 if form == "anthropic" else 0), "of the history an event is shown or not"
    user.append("s1", answered())
    assert len(shown(user.context("s1", [TEXT, *[image()] * 15], format=form))) in range(15, 21)


@pytest.mark.live
@pytest.mark.parametrize("by", ["data", "upload", "message"])
def test_e21_what_is_no_whole_picture_is_refused_with_its_cure(user: Person, by: str) -> None:
    user.open("s1")
    whole = png(300, 300)
    for body, media_type, cure in (
        (whole[: len(whole) // 2], "image/png", "send all of it"),
        (whole[:8] + b"<!doctype html><title>Sign in</title>", "image/png", "send all of it"),
        (PICTURES["image/jpeg"][:-2], "image/jpeg", "send all of it"),
        (png(8_001, 2), "image/png", "scale it down"),
        (PICTURES["image/webp"], "image/png", "declare the type that it is"),
    ):
        block = image(body, media_type)
        if by == "upload":
            upload_id, _ = upload(user, body, media_type=media_type)
            block = {"type": "image", "media_type": media_type, "upload_id": upload_id}
        if by == "message":
            refused = user.call("POST", "/context", {"session_id": "s1", "message": [TEXT, block]})
        else:
            refused = user.call("POST", "/sessions/s1/events", {"events": [user_message([TEXT, block])]})
        assert refused.status == 422
        [error] = refused.json()["errors"]
        place = {"data": "events[0].content[1].data", "upload": "events[0].content[1].upload_id"}
        assert (error["field"], cure in error["message"]) == (place.get(by, "message[1].data"), True)


@pytest.mark.live
def test_e21_real_pictures_are_taken(user: Person) -> None:
    """Also with what a phone appends to them, or writes in front of their sides."""
    user.open("s1")
    for media_type, body in PICTURES.items():
        padded = body + bytes(400)
        upload_id, _ = upload(user, padded, media_type=media_type)
        sent = {"type": "image", "media_type": media_type, "upload_id": upload_id}
        user.append("s1", user_message([TEXT, image(body, media_type), sent]), answered())
    assert user.context("s1", "Thanks.")["report"]["images"] == {"shown": 8, "left_out": 0}


@pytest.mark.live
@pytest.mark.parametrize("form", FORMATS)
def test_e21_what_a_provider_refused_is_a_line_of_text_from_then_on(user: Person, form: str) -> None:
    user.open("s1")
    bad, good = image(png(2, 2, noise=b"bad")), image(png(2, 2, noise=b"good"))
    user.append("s1", user_message([TEXT, good]), answered())
    seq = user.append("s1", user_message([TEXT, bad]))["seqs"][0]
    first = user.context("s1", None, format=form)
    assert shown(first) == [good["data"], bad["data"]]
    assert seq in first["report"]["image_events"]
    retried = user.context("s1", None, format=form, images_refused=[seq])
    assert shown(retried) == [good["data"]]
    assert history(retried)[: len(history(first))] == history(first)
    assert shown(user.context("s1", None, format=form)) == [good["data"]]
    user.append("s1", answered())
    later = user.context("s1", "And now?", format=form)
    assert (shown(later), later["report"]["images"]) == ([good["data"]], {"shown": 1, "left_out": 1})
    again = user.context("s1", "And now?", format=form, images_refused=[1, 2, 10_000])
    assert (shown(again), again["report"]["history"]["epoch_changed"]) == ([], True)
    assert not user.context("s1", "And now?", format=form)["report"]["history"]["epoch_changed"]


@pytest.mark.live
def test_e21_a_dry_run_remembers_no_refusal(user: Person) -> None:
    user.open("s1")
    [seq] = user.append("s1", user_message([TEXT, image(png())]))["seqs"]
    user.context("s1", None, images_refused=[seq], dry_run=True)
    assert len(shown(user.context("s1", None))) == 1


@pytest.mark.live
@pytest.mark.parametrize("form", FORMATS)
def test_e21_a_call_says_which_images_it_wants(user: Person, form: str) -> None:
    user.open("s1")
    user.append("s1", user_message([TEXT, image(png(2, 2)), link(1)]), answered())
    now = [TEXT, image(png(3, 3))]
    counts = {
        which: (len(shown(made)), made["report"]["images"], made["degraded"])
        for which in ("all", "recent", "none", "all")
        if (made := user.context("s1", now, format=form, images=which))
    }
    assert counts == {
        "all": (3, {"shown": 3, "left_out": 0}, []),
        "recent": (1, {"shown": 1, "left_out": 2}, []),
        "none": (0, {"shown": 0, "left_out": 3}, []),
    }
    assert user.call("POST", "/context", {"session_id": "s1", "message": "x", "images": "few"}).status == 422


@pytest.mark.controls
def test_e21_what_the_observer_was_refused_is_a_line_of_text_from_then_on(user: Person, controls: Controls) -> None:
    user.open("s1")
    user.append("s1", user_message([{"type": "text", "text": "I have a cat."}, image(png(2, 2))]))
    assert len(shown(user.context("s1", None))) == 1, "nobody looks at it before the turn is complete"
    controls.fault("llm", "status:400", match="[image block]")
    user.append("s1", answered())
    controls.drain()
    for form in FORMATS:
        assert shown(user.context("s1", "And now?", format=form)) == []


@pytest.mark.controls
def test_e21_a_pass_shows_a_model_as_many_images_as_a_provider_takes(user: Person, controls: Controls) -> None:
    user.open("s1")
    controls.script(*[{"has_memory": False}] * 2)
    user.append("s1", *(user_message([TEXT, image(png(1_170, 2_532, noise=bytes([n])))]) for n in range(21)))
    controls.drain()
    counts = [sum(block["type"] == "image" for block in call["content"]) for call in controls.calls("model")]
    assert (sum(counts), max(counts)) == (21, 20)
