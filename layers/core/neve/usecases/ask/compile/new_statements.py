"""Tell what the memories behind a frozen pack state (docs/rules/compile.md#updates): notes, manual rows and facts as
they are, and the lines of what was observed in other conversations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from neve.domain.compile.updates import Update
from neve.domain.memories.text import HIGHEST, priority_of
from neve.domain.pack.dated import with_its_day
from neve.domain.pack.repeated_statements import already_stated
from neve.domain.records.memories import Kind, Memory, Priority
from neve.usecases.core.pack.served_pack import Uttered


@dataclass(frozen=True, slots=True)
class NewStatements:
    """The statements to be told. ``important``: each has its room; ``others``: the ✅ and 🟡 lines, which have what is
    left of that of the utterances."""

    important: tuple[Update, ...] = ()
    others: tuple[Update, ...] = ()

    @classmethod
    def of(cls, memories: Sequence[Memory], shown: Uttered) -> NewStatements:
        """Choose the statements of ``memories``, in their order. ``shown``: utterances of the pack, which say what was
        made of them. What a fact and a line both say is told once."""
        news = [one for memory in memories for one in _news(memory, shown)]
        high = [one for one in news if one.kind is not Kind.OBSERVATION or HIGHEST in one.text]
        again = already_stated(high, [])
        told = [one for one in high if one.id not in again]
        facts = [one for one in told if one.kind is Kind.FACT]
        plain = [one for one in news if one not in high and not already_stated([one, *facts], [])]
        return cls(tuple(map(_update, told)), tuple(map(_update, plain)))


def _update(memory: Memory) -> Update:
    return Update(memory.id, with_its_day(memory))


def _news(memory: Memory, shown: Uttered) -> Iterable[Memory]:
    """Return the memory, nothing for a fact that the pack shows; for an observation its lines of high and medium
    priority, each by itself."""
    origin = memory.provenance
    if memory.kind is not Kind.OBSERVATION:
        said = memory.kind is Kind.FACT and shown.shows(origin.session_id, origin.seq_from, origin.seq_to)
        return [] if said else [memory]
    return [
        replace(memory, text=one.text, passages=(one,))
        for one in memory.passages
        if priority_of(one.text) is not Priority.LOW and not shown.shows(origin.session_id, one.seq_from, one.seq_to)
    ]
