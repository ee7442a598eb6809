"""Counts what became of lines that were sent, and says it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

DONE, FAILED, LEFT_OUT = 0, 1, 2
"""Exit codes; the last: everything was taken but what standard error counts."""


@dataclass
class Sent:
    """``repeated``: facts that another memory there states. ``conflicting``: ids and paths of what is there with
    another text. ``rejected``: number of the line, and why. ``skipped``: what is sent nowhere, by kind. ``documents``:
    written, and there already. ``messages`` and ``conversations``: there now, of this time or an earlier one."""

    imported: int = 0
    unchanged: int = 0
    repeated: int = 0
    conflicting: list[str] = field(default_factory=list)
    rejected: dict[int, str] = field(default_factory=dict)
    skipped: Counter[str] = field(default_factory=Counter)
    documents: int = 0
    documents_there: int = 0
    messages: int = 0
    conversations: int = 0
    redacted: Counter[str] = field(default_factory=Counter)

    def summary(self) -> str:
        """What is there now, in a line."""
        memories = f"{self.imported} memories imported, {self.unchanged} were there"
        repeated = f", {self.repeated} are stated there by another" if self.repeated else ""
        documents = f"; {self.documents} documents written, {self.documents_there} were there"
        said = f"; {self.messages} messages of {self.conversations} conversations are there"
        return (
            memories
            + repeated
            + (documents if self.documents or self.documents_there else "")
            + (said if self.conversations else "")
        )

    def complaints(self) -> Iterator[str]:
        """What was not taken, a line each."""
        for number, reason in sorted(self.rejected.items()):
            yield f"{number}: {reason}"
        for name in self.conflicting:
            yield f"{name}: is there with another text, which stays"
        for name, count in sorted(self.redacted.items()):
            yield f"taken out, as the policy says: {count} x {name}"


def left_out_lines(left_out: Counter[str]) -> Iterator[str]:
    """What a file has and its lines do not have, a line each."""
    for what, count in sorted(left_out.items()):
        if count > 0:
            yield f"left out: {count} {what}"


def exit_code(complaints: Iterable[str], left_out: Counter[str], say: Callable[[str], None], *, failed: bool) -> int:
    """Says everything that is not there, line by line, and returns what that is to the shell."""
    counted = list(left_out_lines(left_out))
    for line in (*complaints, *counted):
        say(line)
    return FAILED if failed else LEFT_OUT if counted else DONE
