"""Runs T0 as a client sees it: a wrong key gets nowhere, what is said becomes memory and is recalled by meaning, the
session that ended is filed, which is the librarian's, and the user exported and erased, as jobs."""

from __future__ import annotations

import json
import time
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

WITHIN_S = 300.0
"""For the emulator's subprocesses, which load the encoder each for itself, and for a stage's first cold starts."""
LOOK_S = 1.0
ANSWERS_S = 240.0
REFUSED = (401, 403)
"""The emulator does not read the gateway answers that stand in an API's body, and says its own for a Deny."""


class T0Failed(Exception):
    """The message says at which step."""


def run_t0(base_url: str, key: str, user: str) -> None:
    """``user``: one that nobody else uses; their erasure is under way when this ends. Raises T0Failed."""
    refused = _call(base_url, "GET", "/v1/policy", "nv_wrong_key")
    if refused[0] not in REFUSED:
        raise T0Failed(f"a wrong key: {refused}")
    own = f"/v1/users/{user}"
    expect(200, base_url, "POST", f"{own}/sessions", key, {"session_id": "s1"})
    events = [
        {"event_type": "user_message", "content": "I moved to Lisbon, and I am a vegetarian now."},
        {"event_type": "assistant_response", "content": "Congratulations on the move!"},
    ]
    expect(201, base_url, "POST", f"{own}/sessions/s1/events", key, {"events": events})
    ended = expect(202, base_url, "POST", f"{own}/sessions/s1/end", key, {})
    _recalled_by_meaning(base_url, own, key)
    _done(base_url, f"{own}/jobs/{ended['id']}", key)
    if not expect(200, base_url, "GET", f"{own}/documents/list", key)["documents"]:
        raise T0Failed("the session has ended, and no document was written")
    exported = expect(202, base_url, "POST", f"{own}/export", key)
    _done(base_url, f"/v1/admin/jobs/{exported['id']}", key)
    expect(202, base_url, "DELETE", own, key)


def _recalled_by_meaning(base_url: str, own: str, key: str) -> None:
    end = time.monotonic() + WITHIN_S
    while time.monotonic() < end:
        memories = expect(200, base_url, "GET", f"{own}/memories", key)["memories"]
        found = expect(200, base_url, "POST", f"{own}/recall", key, {"query": "Which city did I relocate to?"})
        by_meaning = any("rank_vec" in hit["components"] for hit in found["hits"])
        if by_meaning and memories and all(memory["embedding_state"] == "ready" for memory in memories):
            return
        time.sleep(LOOK_S)
    raise T0Failed(f"not observed and recalled by meaning within {WITHIN_S:.0f} s: {memories} {found['hits']}")


def _done(base_url: str, path: str, key: str) -> None:
    """Waits for a job."""
    end = time.monotonic() + WITHIN_S
    while (job := expect(200, base_url, "GET", path, key))["status"] != "done":
        if job["status"] == "failed" or time.monotonic() > end:
            raise T0Failed(f"{path} within {WITHIN_S:.0f} s: {job}")
        time.sleep(LOOK_S)


def expect(status: int, base_url: str, method: str, path: str, key: str, body: Any = None) -> dict[str, Any]:
    """Make a call and give its body. Raises T0Failed for another status."""
    answered, found = _call(base_url, method, path, key, body)
    if answered != status:
        raise T0Failed(f"{method} {path}: {answered} {found}")
    return found


def _call(base_url: str, method: str, path: str, key: str, body: Any = None) -> tuple[int, dict[str, Any]]:
    data = None if body is None else json.dumps(body).encode()
    headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
    request = Request(base_url + path, data=data, headers=headers, method=method)  # noqa: S310  (a stage, or loopback)
    try:
        with urlopen(request, timeout=ANSWERS_S) as answer:  # noqa: S310
            return answer.status, dict(json.loads(answer.read() or b"{}"))
    except TimeoutError as error:
        raise T0Failed(f"{method} {path}: no answer within {ANSWERS_S:.0f} s") from error
    except HTTPError as error:
        text = error.read().decode(errors="replace")
        try:
            return error.code, dict(json.loads(text))
        except ValueError:
            return error.code, {"text": text}
