"""Holds what a librarian is given, and what it comes back with (docs/rules/librarian.md)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from neve.domain.compact.headings import SummaryText
from neve.domain.records.documents import Document
from neve.domain.records.memories import Route, Trust
from neve.domain.records.sessions import Outcome, Spans
from neve.domain.sessions.spans import meets, without

Verb = Literal["create", "update", "append", "move"]


@dataclass(frozen=True, slots=True)
class ShownDocument:
    """A document as the librarian sees it. ``by_person``: the text is a person's own words. ``id``: another one may be
    made at its path, whose revs start over."""

    path: str
    rev: int
    text: str
    by_person: bool = False
    id: str | None = None


@dataclass(frozen=True, slots=True)
class Remembered:
    """A memory of the session. ``first`` and ``last``: seqs of what it was made from, None where that is not known.
    ``corrected_at``: when a person gave it these words, None where an observer's stand."""

    text: str
    first: int | None = None
    last: int | None = None
    corrected_at: str | None = None

    def corrects(self, seq: int, at: str) -> bool:
        """Say whether it puts right what an event says that was appended then."""
        if self.corrected_at is None or self.first is None or self.last is None:
            return False
        return self.first <= seq <= self.last and at <= self.corrected_at


@dataclass(frozen=True, slots=True)
class Action:
    """One change of one document. ``base_rev``: of the text that it was made from; None where there was none.
    ``base_id``: of the document that it was shown in; None where that is not known. ``to_path``: of a move. ``seqs``:
    the events that it rests on, at least one. ``certainty``: as the librarian that proposes it says."""

    verb: Verb
    path: str
    text: str = ""
    base_rev: int | None = None
    base_id: str | None = None
    to_path: str | None = None
    title: str | None = None
    tags: tuple[str, ...] = ()
    importance: int = 3
    certainty: Route = "medium"
    seqs: tuple[int, ...] = ()

    @property
    def places(self) -> tuple[str, ...]:
        """Give the paths that it is about; a transaction writes each once."""
        return (self.path,) if self.to_path is None else (self.path, self.to_path)

    def was_made_for(self, document: Document | None) -> bool:
        """Say whether its text was made from this document at this rev. Another document at its path may have the same
        rev."""
        if document is None:
            return self.base_rev is None
        return document.rev == self.base_rev and self.is_of(document)

    def is_of(self, document: Document) -> bool:
        """Say whether it was shown in this document, at whatever rev."""
        return self.base_id in (None, document.id)


@dataclass(frozen=True, slots=True)
class Account:
    """The account of a session: the one source of its summary as a memory and as a document."""

    title: str
    outcome: Outcome
    emotional_tone: str
    key_topics: tuple[str, ...] = ()
    text: SummaryText = field(default_factory=SummaryText)


@dataclass(frozen=True, slots=True)
class Filed:
    """An answer, validated. ``account`` None: the answer had none. ``illegal``: actions whose path no document may
    have: a person decides. ``rejected``: how many were not of the form, or named what was not shown, by reason.
    ``prompt_version``: of the words, or of the rules of a librarian that asks no model."""

    actions: tuple[Action, ...]
    account: Account | None
    model: str
    prompt_version: str
    illegal: tuple[Action, ...] = ()
    rejected: Mapping[str, int] = field(default_factory=dict)
    usage: Mapping[str, int] = field(default_factory=dict)
    calls: int = 1


@dataclass(frozen=True, slots=True)
class Filing:
    """The state of how far a session is filed (row ``SESF#``): the cursor, and what was made of the session so far.
    ``memory_id`` and ``document_id``: its summary as a memory and as a document, with the fingerprint and the path and
    rev at which the librarian left them; a path alone names none, because another conversation may have taken it since.
    ``left_out``: what of the log had been taken back before it was read; ``read_to``: how far it was ever read, also
    where the cursor has been moved back since. ``last_filing``: the name that the last commit gave itself, and
    ``result`` what it said of itself. ``waiting``: id and kind of the jobs that end when what is taken back has left,
    and the session is filed again. ``theirs``: while ``account`` is not known any more, names of its fields that a
    person had changed on the summary that was written from it."""

    session_id: str
    filed_seq: int = 0
    prompt_version: str | None = None
    account: Account | None = None
    memory_id: str | None = None
    memory_fingerprint: str | None = None
    document_id: str | None = None
    document_path: str | None = None
    document_rev: int | None = None
    left_out: Spans = ()
    read_to: int = 0
    last_filing: str | None = None
    result: dict[str, Any] = field(default_factory=dict)
    waiting: tuple[tuple[str, str], ...] = ()
    theirs: tuple[str, ...] = ()
    version: int = 0

    def holds_any(self, spans: Spans) -> bool:
        """Say whether some of the spans was read into what is filed."""
        return any(meets(spans, part) for part in without((1, self.filed_seq), self.left_out))


ProposalReason = Literal["illegal_path", "low", "medium", "tool", "raced", "not_shown", "refused"]
"""The reason why a person decides: no document may be there; it is a guess; it follows from what the user said, and the
tenant reviews; a tool said it; people were faster each time; there is a document that the librarian was not shown, for
want of room; the document takes no change of a librarian."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A change that a librarian would make, waiting for a decision or decided. ``write_id``: of the call that decided;
    ``rev`` and ``document_id``: of the document that came of it, at ``decided_path``."""

    id: str
    action: Action
    reason: ProposalReason
    session_id: str
    created_at: str
    model: str
    trust: Trust
    status: Literal["inbox", "approved", "rejected"] = "inbox"
    decided_at: str | None = None
    decided_path: str | None = None
    rev: int | None = None
    document_id: str | None = None
    write_id: str | None = None
    version: int = 0
