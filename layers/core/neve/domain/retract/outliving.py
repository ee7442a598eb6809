"""Decides which memories outlive, by what a person has said of them, an answer that is taken back
(docs/rules/retract.md#corrected). Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from neve.domain.memories.made_of import Sources, ranges_of
from neve.domain.memories.text import priority_of
from neve.domain.observe.defaults import BASE_TAG, DEFAULT_CONFIDENCE, DEFAULT_IMPORTANCE
from neve.domain.records.memories import BY_A_PERSON, Kind, Memory, Status
from neve.domain.records.sessions import Span, Spans
from neve.domain.sessions.spans import joined, meets, without


def in_their_words(memory: Memory) -> bool:
    """Say whether a person gave a memory these words, or said in a call that they are so."""
    return memory.provenance.by in BY_A_PERSON and memory.person_at is not None


def may_outlive(memory: Memory, session: str, retracted: Spans) -> bool:
    """Say whether it stays where nothing of it is taken back that the user uttered. Where a person has only put a mark
    on an observation, no line may be of what is taken back: the words are the observer's. What is left of a fact must
    say the words, which is for the log to tell."""
    if in_their_words(memory):
        return True
    if memory.kind is Kind.OBSERVATION:
        return _marked(memory) and not _says_any(memory, session, retracted)
    return memory.kind is Kind.FACT and memory.provenance.by == "user_stated"


def leaves_for_sure(memory: Memory, session: str, retracted: Spans, erased: Spans) -> bool:
    """Say whether it will be gone with what is taken back, as far as that can be told without the log: nothing is left
    of its range, some of it is ``erased``, or no person has said anything of it. What was said elsewhere, too, may
    stay."""
    ranges = ranges_of(memory, session)
    if memory.restatements or not any(meets(retracted, part) for part in ranges):
        return False
    nothing_left = not any(True for own in ranges for _ in without(own, retracted))
    of_erased = any(meets(erased, part) for part in ranges)
    return nothing_left or of_erased or not may_outlive(memory, session, retracted)


def _marked(observation: Memory) -> bool:
    """Say whether something of it is not as a pass leaves it."""
    return (
        observation.status in (Status.RESOLVED, Status.ARCHIVED)
        or observation.never_recall
        or observation.tags != (BASE_TAG,)
        or observation.importance != DEFAULT_IMPORTANCE
        or observation.confidence != DEFAULT_CONFIDENCE
        or observation.priority != priority_of(observation.text)
        or (observation.label, observation.group) != (None, None)
        or observation.metadata != {}
    )


def _says_any(observation: Memory, session: str, retracted: Spans) -> bool:
    """Say whether a line of it is of what is taken back. A line that does not say where it is from may be from anywhere
    in the range."""
    for line in observation.passages:
        if line.seq_from is None or line.seq_to is None or meets(retracted, (line.seq_from, line.seq_to)):
            return True
    return not observation.passages and any(meets(retracted, part) for part in ranges_of(observation, session))


def with_marks_of(observation: Memory, before: Memory) -> Memory:
    """Set on what was read again the marks that a person had put on the row before, beside its words."""
    was = before.was if before.status is Status.SUPERSEDED else before.status
    own_priority = not in_their_words(before) and before.priority != priority_of(before.text)
    return replace(
        observation,
        status=Status.RESOLVED if was is Status.RESOLVED else observation.status,
        tags=before.tags,
        never_recall=before.never_recall,
        importance=before.importance,
        confidence=before.confidence,
        priority=before.priority if own_priority else observation.priority,
        label=before.label,
        group=before.group,
        metadata=before.metadata,
    )


def made_of_here(
    memory: Memory, session: str, known: Mapping[str, Memory], gone: Mapping[str, Sources | None]
) -> Spans | None:
    """Give the part of a session's log that a memory was made from; for a reflection of several sessions, by its
    sources. ``gone``: what those of them that were deleted had been made of. None where it is not known."""
    own = ranges_of(memory, session)
    if own or memory.kind is not Kind.REFLECTION:
        return own
    parts, ids = list[Span](), list(memory.supersedes)
    seen = {memory.id}
    while ids:
        one = ids.pop()
        if one in seen:
            continue
        seen.add(one)
        if one in gone:
            sources = gone[one]
            if sources is None:
                return None
            parts += [(first, last) for where, first, last in sources if where == session]
        elif one in known:
            parts += ranges_of(known[one], session)
            ids += known[one].supersedes if known[one].kind is Kind.REFLECTION else ()
    return joined(parts)
