"""Telling an answer from a wait that would never end, without measuring time."""

from __future__ import annotations

import threading
from collections.abc import Callable

from tests.patience import PATIENCE_S


def answers_at_once(question: Callable[[], bool]) -> bool:
    """The answer of a call that must not block. Fails, and leaves the call behind, when it does."""
    answers: list[bool] = []
    asking = threading.Thread(target=lambda: answers.append(question()), daemon=True)
    asking.start()
    asking.join(PATIENCE_S)
    assert not asking.is_alive(), "still waiting"
    return answers[0]
