"""Sends the conversation as a chat backend would, and waits until it is remembered."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any, Literal

from local.demo.conversation import Sample, Talk
from sdk.python.neve import Neve
from sdk.python.neve.types import MemoryView

PATIENCE_S = 120.0
LOOK_S = 0.1

Progress = Callable[[str, int, int], None]
"""What is being waited for, how much of it is done, and how much there is."""


class TookTooLong(Exception):
    """The service did not finish in ``PATIENCE_S``."""


def play(neve: Neve, user: str, sample: Sample) -> None:
    """Every session with its events, whose times lie back; the passes over them are asked for, not waited for. Raises
    NeveError."""
    meta: Any = sample.user_meta
    for talk in sample.talks:
        events: Any = talk.events
        neve.raw.open_session(user, {"session_id": talk.id, "title": talk.title, "user_meta": meta})
        neve.raw.append_events(user, talk.id, {"events": events})
        neve.raw.observe_session(user, talk.id, {"wait": False})


def wait_until_remembered(neve: Neve, user: str, progress: Progress) -> None:
    """Until everything that was said is in the index, observed, and has its vectors (``memory_lag``). Raises
    TookTooLong."""
    end = time.monotonic() + PATIENCE_S
    lags: tuple[tuple[str, Literal["unindexed", "unobserved", "unembedded"]], ...] = (
        ("indexing", "unindexed"),
        ("observing", "unobserved"),
        ("embedding", "unembedded"),
    )
    for title, what in lags:
        most = 0
        while True:
            left = neve.raw.user_stats(user)["memory_lag"][what]
            most = max(most, left)
            progress(title, most - left, most)
            if not left:
                break
            _pause(end, f"{left} of {most} are still {what}")


def observations(neve: Neve, user: str, talk: Talk) -> list[MemoryView]:
    return neve.user(user).memories(kind="observation", session_id=talk.id)


def _pause(end: float, what: str) -> None:
    if time.monotonic() > end:
        raise TookTooLong(f"After {PATIENCE_S:.0f} s {what}.")
    time.sleep(LOOK_S)
