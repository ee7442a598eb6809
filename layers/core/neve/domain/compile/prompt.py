"""A compiled prompt before it takes a provider's form: the parts of docs/rules/compile.md#order, and where its cached
prefixes end."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from neve.domain.compile.conversation import Block, Message, Text

MAX_BLOCKS_APART = 15
"""Content blocks between two breakpoints that need none between them: a provider looks back 20 for what it has."""

Breakpoint = str
"""``static``, ``system``, ``previous`` (where the prompt before this one ended its history) or ``history``."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """``system``: the texts [1] static, [2] instructions, [3] pack, each empty where there is none. ``history`` ends
    with a message of the assistant; ``last`` are the blocks of the user's last message."""

    tools: Sequence[Mapping[str, Any]]
    static: str
    instructions: str
    pack: str
    history: Sequence[Message]
    last: Sequence[Block]

    @property
    def system(self) -> list[str]:
        return [text for text in (self.static, self.instructions, self.pack) if text]

    @property
    def previous(self) -> int | None:
        """How many messages the history had when the last message of the user in it was the one to be answered; None
        where so few blocks follow that nobody has to look for that place."""
        if sum(len(message.blocks) for message in self.history) <= MAX_BLOCKS_APART:
            return None
        return next((n for n in range(len(self.history) - 1, 0, -1) if _speaks(self.history[n])), None)

    def breakpoints(self) -> list[Breakpoint]:
        """In the order of the prompt, at most 4."""
        found = ["static"] if self.static else []
        if self.instructions or self.pack:
            found.append("system")
        if self.previous is not None:
            found.append("previous")
        return [*found, "history"] if self.history else found


def _speaks(message: Message) -> bool:
    return message.role == "user" and any(isinstance(block, Text) for block in message.blocks)
