"""No pack says what no longer holds as if it held, nor what was rejected or waits for a decision
(docs/rules/pack.md#what-no-longer-holds)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from neve.domain.memories.marks import REPLACED
from neve.domain.memories.unheld import (
    Unheld,
    is_unheld,
    last_successors,
    may_repeat,
    retold,
    unheld_facts,
    with_successors,
)
from neve.domain.records.memories import Kind, Memory, MemoryPassage, Status
from neve.domain.records.users import UserHead
from neve.domain.sessions.spans import span_of
from neve.domain.tokens import estimate
from neve.ports.runtime import Task
from neve.ports.table import Item, Key
from neve.scope import UserScope
from neve.store import rows
from neve.store.memories import unheld_rows


@dataclass(frozen=True, slots=True)
class UnheldFacts:
    """The facts that do not hold at a time, before it is known what holds instead. ``items``: their rows, under way
    beside the ranks; None of a user who has none."""

    scope: UserScope
    gen: int
    at: str
    items: Task[list[Item]] | None = None

    @classmethod
    def start(cls, scope: UserScope, head: UserHead, at: str) -> UnheldFacts:
        if not head.unheld:
            return cls(scope, head.gen, at)
        return cls(
            scope, head.gen, at, scope.ports.tasks.start_read(lambda: unheld_rows(scope.ports.table, scope.keys))
        )

    def facts(self) -> list[Memory]:
        """Give the facts that do not hold. Raises StoreUnavailable."""
        return unheld_facts(map(rows.read_memory, self.items.result() if self.items else ()), self.gen, self.at)

    def successors(self) -> list[Key]:
        """List the rows that say what holds instead. Raises StoreUnavailable."""
        return [self.scope.keys.memory(i) for i in dict.fromkeys(last_successors(self.facts()).values())]

    def known(self, found: Mapping[Key, Item]) -> HoldingLines:
        """Join the facts with what holds instead. ``found``: those rows, and others."""
        read = [rows.read_memory(found[key]) for key in self.successors() if key in found]
        known = {memory.id: memory for memory in read}
        return HoldingLines(with_successors(self.facts(), known, self.gen, self.at))


@dataclass(frozen=True, slots=True)
class HoldingLines:
    """The knowledge of what holds. ``unheld``: facts that do not hold."""

    unheld: Sequence[Unheld] = ()

    def of(self, memories: Iterable[Memory]) -> list[Memory]:
        """Leave out the lines, and the rows, that say nothing else; a line that says more has the mark."""
        if not self.unheld:
            return list(memories)
        return [told for memory in memories if (told := self._told(memory)) is not None]

    @property
    def named(self) -> tuple[tuple[str, int], ...]:
        """Give id and rev of the facts that a pack of the same rows depends on."""
        return tuple((one.fact.id, one.fact.rev) for one in self.unheld)

    def _told(self, memory: Memory) -> Memory | None:
        if not may_repeat(memory):
            return memory
        origin = memory.provenance
        lines = memory.passages or [
            MemoryPassage(line, origin.seq_from, origin.seq_to) for line in memory.text.splitlines()
        ]
        told = [replace(line, text=self._line(memory, line)) for line in lines]
        if all(now.text == before.text for now, before in zip(told, lines, strict=True)):
            return memory
        left = [line for line in told if line.text]
        text = "\n".join(line.text for line in left)
        tokens = max(0, memory.tokens - estimate(memory.text) + estimate(text))
        passages = tuple(left) if memory.passages else ()
        return replace(memory, text=text, passages=passages, tokens=tokens) if text else None

    def _line(self, memory: Memory, line: MemoryPassage) -> str:
        span = span_of(line.seq_from, line.seq_to)
        if span is None and memory.kind is not Kind.REFLECTION:
            return line.text
        return retold(line.text, memory.provenance.session_id, span, self.unheld, _mark).text


def what_holds_of(memories: Sequence[Memory], gen: int, at: str) -> HoldingLines:
    """Judge by those of the memories that are facts: a line is written with its fact, and read with it."""
    facts = unheld_facts(filter(is_unheld, memories), gen, at)
    return HoldingLines(with_successors(facts, {memory.id: memory for memory in memories}, gen, at))


def _mark(one: Unheld, more: bool) -> str | None:
    return f"{REPLACED[:-1]}: {one.fact.text}]" if more and one.why is Status.SUPERSEDED else None
