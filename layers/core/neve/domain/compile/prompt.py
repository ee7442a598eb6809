"""A compiled prompt before it takes a provider's form: the parts of docs/rules/compile.md#order, and where its cached
prefixes end."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from neve.domain.compile.conversation import Block, PromptMessage, Text, ToolResult

MAX_BLOCKS_APART = 15
"""Content blocks between two breakpoints that need none between them: a provider looks back 20 for what it has."""

Breakpoint = Literal["static", "system", "previous", "history"]
"""``previous``: where the prompt before this one ended its history."""


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool of a prompt. ``declared``: as the provider takes it. ``names``: of what it declares, as the log has
    them; a provider's own tool may have none."""

    names: tuple[str, ...]
    declared: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Prompt:
    """The parts of a prompt. ``system``: the texts [1] static with the caller's behind it, [2] instructions, [3] pack,
    each empty where there is none. ``callers_mark``: of the caller's text, where that is marked by itself. ``history``
    ends with a message of the assistant; ``last`` are the blocks of the user's last message. ``goes_on``: these are
    results of tools, which the next prompt of the turn begins with, too."""

    tools: Sequence[Tool]
    static: str
    instructions: str
    pack: str
    history: Sequence[PromptMessage]
    last: Sequence[Block]
    callers: str = ""
    callers_mark: Mapping[str, Any] | None = None
    goes_on: bool = False

    @property
    def system(self) -> list[str]:
        return [text for text in (self.static, self.callers, self.instructions, self.pack) if text]

    @property
    def static_texts(self) -> int:
        """Count the texts of part [1]."""
        return sum(bool(text) for text in (self.static, self.callers))

    @property
    def previous(self) -> int | None:
        """Count the messages that stood before what was to be answered in the prompt before this one: the turn's
        message, or in a round of tool calls the results before; None where so few blocks follow that no provider has to
        look for that place."""
        if sum(len(message.blocks) for message in self.history) <= MAX_BLOCKS_APART:
            return None
        for n in range(len(self.history) - 1, 0, -1):
            message = self.history[n]
            if self.goes_on and message.role == "user" and isinstance(message.blocks[0], ToolResult):
                return n + 1
            if message.role == "user" and any(isinstance(block, Text) for block in message.blocks):
                return n
        return None

    def ends(self, marks: Collection[Breakpoint]) -> list[int]:
        """Return how many messages, the last one included, end where one of these is marked."""
        found = {self.previous} if "previous" in marks else set()
        if "history" in marks:
            found.add(len(self.history) + self.goes_on)
        return sorted(end for end in found if end)

    def breakpoints(self) -> list[Breakpoint]:
        """Return the prompt's breakpoints in its order, at most 4."""
        found: list[Breakpoint] = ["static"] if self.static_texts else []
        if self.instructions or self.pack:
            found.append("system")
        if self.previous is not None:
            found.append("previous")
        return [*found, "history"] if self.history else found
