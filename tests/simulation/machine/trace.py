"""What happened in a run, in order, for whoever wants to compare or to read it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from hashlib import blake2b
from typing import Any

What = str | tuple[Callable[[Any], str], Any]
"""A text, or what makes it and of what."""


class Trace:
    """It is noted always, and made into text when somebody asks: most runs are not looked at."""

    def __init__(self) -> None:
        self._noted: list[tuple[float, str, What, str]] = []
        self.note = self._noted.append

    def add(self, at_s: float, who: str, what: What, outcome: str = "") -> None:
        self.note((at_s, who, what, outcome))

    def lines(self) -> Iterator[str]:
        for at_s, who, what, outcome in self._noted:
            text = what if isinstance(what, str) else what[0](what[1])
            yield f"{at_s:12.3f} {who} {text} {outcome}\n"

    def digest(self) -> str:
        """Two runs are the same iff their digests are."""
        return blake2b("".join(self.lines()).encode(), digest_size=16).hexdigest()
