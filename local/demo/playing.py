"""Sends the conversation as a chat backend would, and waits until it is remembered."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from local.api_client import ApiClient
from local.demo.conversation import Sample, Talk

PATIENCE_S = 120.0
LOOK_S = 0.1

Progress = Callable[[str, int, int], None]
"""What is being waited for, how much of it is done, and how much there is."""


class TookTooLong(Exception):
    """The service did not finish in ``PATIENCE_S``."""


def play(client: ApiClient, user: str, sample: Sample) -> None:
    """Every session with its events; the passes over them are asked for, not waited for. Raises ApiError."""
    for talk in sample.talks:
        opened = {"session_id": talk.id, "title": talk.title, "user_meta": sample.user_meta}
        client.expect(200, "POST", f"/v1/users/{user}/sessions", opened)
        client.expect(201, "POST", f"{_path(user, talk)}/events", {"events": talk.events})
        client.call("POST", f"{_path(user, talk)}/observe", {"wait": False})


def wait_until_remembered(client: ApiClient, user: str, progress: Progress) -> None:
    """Until everything that was said is in the index, observed, and has its vectors (``memory_lag``). Raises
    TookTooLong."""
    end = time.monotonic() + PATIENCE_S
    for title, what in (("indexing", "unindexed"), ("observing", "unobserved"), ("embedding", "unembedded")):
        most = 0
        while True:
            left = client.expect(200, "GET", f"/v1/users/{user}/stats")["memory_lag"][what]
            most = max(most, left)
            progress(title, most - left, most)
            if not left:
                break
            _pause(end, f"{left} of {most} are still {what}")


def observations(client: ApiClient, user: str, talk: Talk) -> list[dict[str, Any]]:
    query = {"kind": "observation", "session_id": talk.id, "limit": 50}
    found: list[dict[str, Any]] = client.expect(200, "GET", f"/v1/users/{user}/memories", query=query)["memories"]
    return found


def _path(user: str, talk: Talk) -> str:
    return f"/v1/users/{user}/sessions/{talk.id}"


def _pause(end: float, what: str) -> None:
    if time.monotonic() > end:
        raise TookTooLong(f"After {PATIENCE_S:.0f} s {what}.")
    time.sleep(LOOK_S)
