"""Row D27 of docs/features.md: a text of a session's log that is too long for an event is uploaded."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from local.api_client import ApiClient
from tests.http.driving.controls import Controls
from tests.http.driving.downloads import exported_text
from tests.http.driving.images import upload
from tests.http.driving.people import Json, Person, answered, user_message
from tests.http.retraction.test_retract_rows import done, retract

JobEnded = Callable[[ApiClient, Json], Json]
CARD = "4111 1111 1111 1111"
CALL: Json = {
    "event_type": "tool_call",
    "content": "",
    "event_data": {"tool_use_id": "t1", "name": "fetch", "args": {}},
}


def long_text(word: str, size: int = 600_000) -> str:
    line = f"{word} is what the ferry's log says of the crossing.\n"
    return (line * (size // len(line) + 1))[:size]


def sent_text(user: Person, text: str, **more: Any) -> str:
    return upload(user, text.encode(), **{"media_type": "text/plain"} | more)[0]


def result(upload_id: str, *blocks: Json) -> Json:
    data = {"tool_use_id": "t1", "name": "fetch"}
    content = [*blocks, {"type": "text", "upload_id": upload_id}]
    return {"event_type": "tool_result", "content": content, "event_data": data}


def read(user: Person, path: str, offset: int = 0) -> Json:
    arguments = {"path": path, "offset": offset}
    return dict(user.expect(200, "POST", "/tools/read_document", {"arguments": arguments}))


@pytest.mark.live
def test_d27_an_uploaded_result_is_a_line_in_the_prompt_and_a_document_to_read(user: Person) -> None:
    user.open("s1")
    text = long_text("anchor")
    upload_id = sent_text(user, text)
    user.append("s1", user_message("Fetch the log."), CALL, result(upload_id))
    event = user.events("s1")[-1]
    path = event["artifact_path"]
    assert event["content"] == [{"type": "text", "text": f"[Tool output saved to {path}]", "upload_id": upload_id}]
    request = json.dumps(user.context("s1")["request"])
    assert f"[Tool output saved to {path}]" in request and upload_id not in request and "anchor" not in request
    page = read(user, path)
    assert text.startswith(page["text"]) and page["next_offset"] == len(page["text"]) > 1_000
    assert user.document(path)["text"] == text
    assert read(user, path, 599_990)["text"] == text[599_990:]


@pytest.mark.live
def test_d27_a_person_says_something_beside_the_text_and_a_repeat_is_the_same_event(user: Person) -> None:
    user.open("s1")
    upload_id = sent_text(user, long_text("anchor"))
    block = {"type": "text", "upload_id": upload_id}
    said = user_message([{"type": "text", "text": "I am Ada. Look at this log."}, block], client_id="m1")
    first, again = (user.append("s1", said)["seqs"] for _ in range(2))
    assert first == again == [1]
    (event,) = user.events("s1")
    assert [part["text"] for part in event["content"]] == [
        "I am Ada. Look at this log.",
        f"[Text saved to {event['artifact_path']}]",
    ]
    assert event["original_tokens"] < 100


@pytest.mark.live
def test_d27_what_the_policy_takes_out_is_taken_out_of_an_uploaded_text(user: Person) -> None:
    user.open("s1")
    text = long_text("anchor", 300_000) + f"\nThe card is {CARD}."
    appended = user.append("s1", CALL, result(sent_text(user, text)))
    assert appended["redacted"] == {"card_number": 1}
    kept = user.document(user.events("s1")[-1]["artifact_path"])["text"]
    assert "4111" not in kept and kept.startswith("anchor is what")


@pytest.mark.live
def test_d27_an_export_has_the_text_and_names_no_object(user: Person, job_ended: JobEnded) -> None:
    user.open("s1")
    text = long_text("anchor", 300_000)
    user.append("s1", CALL, result(sent_text(user, text)))
    path = user.events("s1")[-1]["artifact_path"]
    job = job_ended(user.api, user.expect(202, "POST", "/export"))
    lines = [json.loads(line) for line in exported_text(job).splitlines()]
    (document,) = [line for line in lines if line.get("path") == path]
    assert document["text"] == text
    (event,) = [line for line in lines if line.get("event_type") == "tool_result"]
    assert event["content"] == [{"type": "text", "text": f"[Tool output saved to {path}]"}]


@pytest.mark.controls
@pytest.mark.parametrize("how", ["deleted", "session", "user"])
def test_d27_an_uploaded_text_goes_with_its_event(
    user: Person, controls: Controls, job_ended: JobEnded, how: str
) -> None:
    user.open("s1")
    marker = f"zq{user.id[-12:]}xv"
    user.append("s1", user_message("Fetch it."), CALL, result(sent_text(user, long_text(marker))), answered("Read."))
    path = user.events("s1")[2]["artifact_path"]
    assert any("object" in place or "images" in place for place in controls.stored(marker))
    if how == "deleted":
        done(user, retract(user, "s1", 1, 4, "deleted"))
    elif how == "session":
        user.ended(user.expect(200, "DELETE", "/sessions/s1")["job_id"])
    else:
        job_ended(user.api, user.expect(202, "DELETE", ""))
    assert controls.left(marker) == []
    assert user.call("GET", f"/documents?path={path}").status == 404


@pytest.mark.live
@pytest.mark.parametrize(
    ("body", "code", "why"),
    [
        (b"\xff\xfe\x00", "validation_failed", "UTF-8"),
        (b"  \n", "validation_failed", "not blank"),
        (b"a" * (4 * 1024 * 1024 + 1), "event_too_large", "4194304 are accepted"),
    ],
    ids=["no text", "blank", "too large"],
)
def test_d27_an_upload_that_is_no_text_is_refused_and_named(user: Person, body: bytes, code: str, why: str) -> None:
    user.open("s1")
    upload_id, _ = upload(user, body, media_type="text/plain")
    reply = user.call("POST", "/sessions/s1/events", {"events": [CALL, result(upload_id)]})
    assert reply.json()["code"] == code
    (error,) = reply.json()["errors"]
    assert error["field"] == "events[1].content[0].upload_id" and why in error["message"]
    assert user.events("s1") == []


@pytest.mark.live
def test_d27_two_texts_of_one_event_both_sources_and_five_of_one_call_are_refused(user: Person) -> None:
    user.open("s1")
    one = {"type": "text", "upload_id": "upl_1"}
    for events in (
        [user_message([one, one])],
        [user_message([one | {"text": "or this"}])],
        [user_message([{"type": "text"}])],
        [user_message([one]) for _ in range(5)],
        [*(user_message([one]) for _ in range(2)), *(answered() for _ in range(45)), user_message("x")],
    ):
        assert user.call("POST", "/sessions/s1/events", {"events": events}).json()["code"] == "validation_failed"
    missing = user.call("POST", "/sessions/s1/events", {"events": [user_message([one])]})
    assert (missing.status, missing.json()["code"]) == (404, "upload_not_found")
    size = user.call("POST", "/uploads", {"media_type": "text/plain", "size": 4_194_305})
    assert (size.status, size.json()["code"]) == (413, "event_too_large")
