"""A cross-encoder for tests: a text is as good as it says, ``deep=2.5``, and without that neither good nor bad (0)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

_MARKED = re.compile(r"\bdeep=(-?\d+(?:\.\d+)?)")


class FixtureCrossEncoder:
    """``ports.models.CrossEncoder``."""

    def load(self) -> None:
        """Nothing."""

    def scores(self, question: str, texts: Sequence[str], still_wanted: Callable[[], bool]) -> list[float]:  # noqa: ARG002  (of the port)
        """By the last line of each: what stands before it is the message before."""
        marks = (_MARKED.search(text.rpartition("\n")[2]) for text in texts)
        return [float(mark[1]) if mark else 0.0 for mark in marks]
