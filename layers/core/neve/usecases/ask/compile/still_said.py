"""A line of a pack may speak for rows that it does not show (docs/rules/pack.md#repeated-statements). Where the row of
that line was changed or put away, what these others say holds all the same (docs/rules/compile.md#updates)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from neve.domain.pack.repeated_statements import already_stated, may_speak_for, said_in_whole
from neve.domain.records.memories import Kind, Memory
from neve.domain.records.packs import PackEntry

WRITTEN = (Kind.NOTE, Kind.MANUAL)


@dataclass(frozen=True, slots=True)
class StillSaid:
    """The rows of a pack that still say what a row that moved said. ``whole``: one of them says all of it. ``hushed``:
    those that hold, and that the pack does not show because of the moved row."""

    whole: bool
    hushed: tuple[Memory, ...]


def still_said(
    memory: Memory, entry: PackEntry, line: str | None, holding: Iterable[tuple[Memory, PackEntry]]
) -> StillSaid:
    """Say what other rows still hold of a row that moved. ``line``: what the pack says, where it was found.
    ``holding``: rows that say what they said. A correction of a fact is told whatever line says the same: that line
    says what was said then."""
    was = _as_packed(memory, entry, line)
    others = [
        (one, its)
        for one, its in holding
        if one.id != memory.id and may_speak_for(one.provenance.trusted, memory.provenance.trusted)
    ]
    if not entry.tokens:
        twins = [one for one, its in others if its.fingerprint == entry.fingerprint and _written(one, memory)]
        return StillSaid(bool(twins), ())
    hushed = tuple(one for one, its in others if not its.tokens and _speaks_for(was, entry, one))
    return StillSaid(any(_is_whole(was, entry, one) for one in hushed), hushed)


def _as_packed(memory: Memory, entry: PackEntry, line: str | None) -> Memory | None:
    """Return the memory as the pack has it, None where its words then are not known."""
    if memory.fingerprint == entry.fingerprint:
        return memory
    return replace(memory, text=line, fingerprint=entry.fingerprint, passages=()) if line else None


def _speaks_for(was: Memory | None, entry: PackEntry, one: Memory) -> bool:
    if one.fingerprint == entry.fingerprint:
        return True
    return was is not None and one.id in already_stated([was, one], [])


def _is_whole(was: Memory | None, entry: PackEntry, one: Memory) -> bool:
    return one.fingerprint == entry.fingerprint or (was is not None and said_in_whole(was.text, one.text))


def _written(*memories: Memory) -> bool:
    return all(memory.kind in WRITTEN for memory in memories)


def distinct(memories: Iterable[Memory], but: Iterable[str]) -> Iterator[Memory]:
    """Yield each memory once, without those that are told anyway, and one of those that say the same."""
    told, prints = set(but), set[str]()
    for memory in memories:
        if memory.id not in told and memory.fingerprint not in prints:
            prints.add(memory.fingerprint)
            yield memory
