"""Keeps what a person has set on a reflection or a summary beside its words, which holds for what comes in its place
when an answer is taken back (docs/rules/retract.md#corrected). Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from neve.domain.observe.defaults import DEFAULT_CONFIDENCE
from neve.domain.records.memories import Memory, Priority, Scope, Status
from neve.domain.reflect.inherited import OWN_TAGS, inherited
from neve.domain.retract.outliving import in_their_words

OF_A_SUMMARY = ("tags", "importance", "confidence", "label", "group", "metadata", "never_recall")
"""Fields that no librarian changes of a summary that is there."""


@dataclass(frozen=True, slots=True)
class Marks:
    """The settings that a person made on a memory. ``fields``: those that were set, with their values; ``tags`` and
    ``taken_away``: what was added to the tags, and taken out of them."""

    fields: Mapping[str, Any]
    tags: tuple[str, ...] = ()
    taken_away: frozenset[str] = frozenset()

    def on(self, memory: Memory) -> Memory:
        left = (tag for tag in memory.tags if tag not in self.taken_away)
        return replace(memory, **self.fields, tags=tuple(dict.fromkeys((*left, *self.tags))))


def marks_of(reflection: Memory, sources: Sequence[Memory]) -> Marks:
    """Give what a reflection has that it did not take over from its sources. What a source that is gone had is not
    known: then what may be its own is no mark. Nor is the priority of a night's, which follows from an answer that was
    not kept."""
    if not sources:
        return Marks({})
    made = inherited(sources, ())
    whole = {one.id for one in sources} >= set(reflection.supersedes)
    fields: dict[str, Any] = {}
    if was(reflection) is Status.RESOLVED:
        fields["status"] = Status.RESOLVED
    if reflection.never_recall:
        fields["never_recall"] = True
    for name in ("label", "group"):
        value = getattr(reflection, name)
        if value != getattr(made, name) and (whole or value is not None):
            fields[name] = value
    if reflection.metadata:
        fields["metadata"] = reflection.metadata
    if reflection.importance != made.importance and (whole or reflection.importance < made.importance):
        fields["importance"] = reflection.importance
    if reflection.confidence not in (made.confidence, DEFAULT_CONFIDENCE):
        fields["confidence"] = reflection.confidence
    own_priority = reflection.scope is Scope.SESSION and not in_their_words(reflection)
    if own_priority and reflection.priority is not Priority.HIGH:
        fields["priority"] = reflection.priority
    added = tuple(tag for tag in reflection.tags if tag not in (*made.tags, *OWN_TAGS))
    taken_away = frozenset(made.tags).difference(reflection.tags) if whole else frozenset[str]()
    return Marks(fields, added, taken_away)


def with_marks(memory: Memory, reflections: Iterable[Memory], known: Mapping[str, Memory]) -> Memory:
    """Set the marks of the reflections that a memory stood in. ``reflections``: the innermost first; the last one to
    have been marked prevails. ``known``: their sources, by id, as far as they are there."""
    for one in reflections:
        memory = marks_of(one, [known[i] for i in one.supersedes if i in known]).on(memory)
    return memory


def with_marks_of_summary(summary: Memory, before: Memory, theirs: Iterable[str]) -> Memory:
    """Set a person's marks on the summary of a session that is written again. ``theirs``: what else a person has set of
    the one before, of the fields that follow from an account."""
    kept = {name: getattr(before, name) for name in (*OF_A_SUMMARY, *theirs)}
    return replace(summary, status=Status.RESOLVED if was(before) is Status.RESOLVED else summary.status, **kept)


def was(memory: Memory) -> Status | None:
    """Give its status before something replaced it; None for an active one."""
    return memory.was if memory.status is Status.SUPERSEDED else memory.status
