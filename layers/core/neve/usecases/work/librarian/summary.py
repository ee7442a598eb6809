"""A session's summary as a memory and as a document, from one account (docs/rules/librarian.md#account). What a person
has made of either stays: the memory as it is, the document with what is new below it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from neve.domain.documents.change import DocumentChange
from neve.domain.documents.paths import CONVERSATIONS
from neve.domain.errors import NeveError
from neve.domain.librarian.account import SUMMARY_TAG, as_document, as_memory, changed_by_people, facets_of, in_short
from neve.domain.librarian.filing import Account, Filing
from neve.domain.librarian.paths import conversation_path
from neve.domain.memories.marks import OF_A_TOOL
from neve.domain.memories.passages import passages_of
from neve.domain.memories.revised import revised
from neve.domain.memories.text import fingerprint, observed_date, time_of_day
from neve.domain.observe.trust import SaidHere, is_of_a_tool
from neve.domain.records.documents import Document
from neve.domain.records.memories import Kind, Memory, Priority, Provenance, Scope, Status, Tier
from neve.domain.times import iso, parse
from neve.ports.table import Item, Key, WriteOp
from neve.scope import SessionScope
from neve.store import rows
from neve.store.documents import read_document
from neve.usecases.tell.documents.document_writes import WantedWrite, planned_writes, with_text
from neve.usecases.work.librarian.gather import Gathered

KIND = "conversation"
SOURCE_TYPE = "conversation"
IMPORTANCE = 3
_DATED = re.compile(rf"{CONVERSATIONS}\d{{4}}-\d\d-\d\d-")
ANOTHER = 6
"""Characters of the session's own that tell two conversations of one day and title apart."""


@dataclass(frozen=True, slots=True)
class AccountWrites:
    """The writes of a summary. ``result_fields``: what the job's result says."""

    filing: Filing
    ops: tuple[WriteOp, ...]
    result_fields: dict[str, Any]


@dataclass(frozen=True)
class SessionSummary:
    scope: SessionScope
    read: Gathered
    account: Account
    model: str
    said: SaidHere

    def rows_to_read(self) -> list[Key]:
        keys, filing = self.scope.keys, self.read.filing
        wanted = [keys.document(path) for path in self._paths]
        wanted.append(keys.document_source(SOURCE_TYPE, self.scope.session))
        wanted += [keys.memory(filing.memory_id)] if filing.memory_id is not None else []
        return wanted

    def writes(self, found: Mapping[Key, Item], filing: Filing, gen: int, now: str) -> AccountWrites:
        """Plan at most six operations; none of a session of which nothing is left. ``gen``: the user's generation."""
        if self.read.nothing_is_left:
            return AccountWrites(filing, (), {})
        filing, memory_ops = self._memory(found, filing, gen, now)
        filing, document_ops = self._document(found, filing)
        named = {"memory_id": filing.memory_id, "document_id": filing.document_id, "outcome": self.account.outcome}
        return AccountWrites(filing, (*memory_ops, *document_ops), {n: v for n, v in named.items() if v is not None})

    # --- the memory -------------------------------------------------------------------------------

    def _memory(
        self, found: Mapping[Key, Item], filing: Filing, gen: int, now: str
    ) -> tuple[Filing, tuple[WriteOp, ...]]:
        """Plan the memory. One that a person reworded, deleted or put away is not written again."""
        keys, text = self.scope.keys, as_memory(self.account, self._date)
        if filing.memory_id is None:
            made = self._new_memory(text, gen, now)
            named = replace(filing, memory_id=made.id, memory_fingerprint=made.fingerprint)
            return named, (rows.put_memory(keys, made),)
        item = found.get(keys.memory(filing.memory_id))
        before = rows.read_memory(item) if item else None
        if before is None or before.fingerprint != filing.memory_fingerprint or before.status is not Status.ACTIVE:
            return filing, ()
        after = replace(self._of_account(before, text), **self._kept(before, filing))
        if self.read.cut.events:
            after = self._of_time(after, now)
        if after == before:
            return filing, ()
        # what the index has of it: the text, its range and its time
        if (passages_of(after), after.observed_at) != (passages_of(before), before.observed_at):
            after = revised(after, now)
        filing = replace(filing, memory_fingerprint=after.fingerprint)
        return filing, (rows.put_memory(keys, after),)

    def _new_memory(self, text: str, gen: int, now: str) -> Memory:
        blank = Memory(
            id=f"mem_{self.scope.ports.ids.ulid(parse(now))}",
            kind=Kind.SESSION_SUMMARY,
            tier=Tier.EPISODIC,
            scope=Scope.GLOBAL,
            session_id=self.scope.session,
            text="",
            priority=Priority.MEDIUM,
            importance=IMPORTANCE,
            fingerprint="",
            status=Status.ACTIVE,
            tags=(SUMMARY_TAG,),
            provenance=Provenance("assistant"),
            observed_date="",
            time_of_day="",
            created_at=now,
            observed_at=now,
            last_used_at=now,
            tokens=0,
            rev=1,
            rev_at=now,
            born_gen=gen,
        )
        made = self._of_time(self._of_account(blank, text), now)
        return replace(made, last_used_at=min(now, made.observed_at))

    def _of_time(self, memory: Memory, now: str) -> Memory:
        """Give the memory the time of the last event, which may be of before, and appended today."""
        events = self.read.cut.events
        at = iso(parse(events[-1].created_at if events else self.read.head.last_event_at or now))
        day, time = observed_date(at, self.read.head.timezone), time_of_day(at, self.read.head.timezone)
        return replace(memory, observed_date=day, time_of_day=time, observed_at=at)

    def _of_account(self, memory: Memory, text: str) -> Memory:
        return replace(
            memory,
            text=text,
            **facets_of(self.account),
            fingerprint=fingerprint(text),
            tokens=self.scope.count(text),
            provenance=self._provenance(text),
        )

    def _kept(self, before: Memory, filing: Filing) -> dict[str, Any]:
        """Give what a person has changed beside its text. An outcome that the caller has named since holds, where it is
        known from which account it was written."""
        last = filing.account
        kept = {name: getattr(before, name) for name in (*filing.theirs, *changed_by_people(before, last))}
        if last is None:
            return kept
        if self.read.head.outcome not in (None, last.outcome):
            kept.pop("outcome", None)
        return kept

    # --- the document -----------------------------------------------------------------------------

    def _document(self, found: Mapping[Key, Item], filing: Filing) -> tuple[Filing, tuple[WriteOp, ...]]:
        path, before = self._place(found, filing)
        if filing.document_id is not None and before is None:
            return filing, ()  # a person has deleted or moved it
        text = as_document(self.account, self._date)
        if before is not None and before.rev != filing.document_rev:
            theirs = with_text(self.scope, before).text.rstrip()
            text = theirs if text in theirs else f"{theirs}\n\n{text}"
        change = DocumentChange(
            text=text,
            name=self.account.title,
            summary=in_short(self.account),
            tags=(SUMMARY_TAG,),
            kind=KIND,
            source_type=SOURCE_TYPE,
            source_id=self.scope.session,
            extracted_at=iso(self.scope.ports.clock.now()),
            provenance=self._provenance(text),
        )
        if before is not None and before.rev != filing.document_rev:
            change = DocumentChange(text=text, provenance=change.provenance)
        try:
            planned = planned_writes(self.scope, self._wanted(path, change, before), found)
        except NeveError:  # superseded, or no longer to be edited: a person's decision
            return filing, ()
        document = planned.written.document
        left = replace(filing, document_id=document.id, document_path=document.path, document_rev=document.rev)
        return left, planned.ops

    def _wanted(self, path: str, change: DocumentChange, before: Document | None) -> WantedWrite:
        new_id = f"doc_{self.scope.ports.ids.ulid(self.scope.ports.clock.now())}"
        return WantedWrite(path, change, None, before is None, self.scope.ports.ids.token(), new_id)

    def _place(self, found: Mapping[Key, Item], filing: Filing) -> tuple[str, Document | None]:
        """Give the path where it is, or will be, and the document there: the path of another conversation is left to
        it."""
        free = (path for path in self._paths if self.scope.keys.document(path) not in found)
        path = filing.document_path or next(free, self._paths[-1])
        item = found.get(self.scope.keys.document(path))
        there = read_document(item) if item else None
        return path, there if there and there.id == filing.document_id else None

    @property
    def _paths(self) -> list[str]:
        if self.read.filing.document_path is not None:
            return [self.read.filing.document_path]
        return [
            conversation_path(self._date, self.account.title),
            conversation_path(self._date, self.account.title, self._another),
        ]

    @cached_property
    def _another(self) -> str:
        return fingerprint(f"{self.scope.user}/{self.scope.session}")[:ANOTHER]

    # --- both -------------------------------------------------------------------------------------

    @property
    def _date(self) -> str:
        """Give the day of the first event; of a session that is filed already, the one in the path of its document."""
        path = self.read.filing.document_path or ""
        if _DATED.match(path):
            return path.removeprefix(CONVERSATIONS)[: len("2026-03-10")]
        events = self.read.cut.events
        return observed_date(events[0].created_at if events else self.read.head.started_at, self.read.head.timezone)

    def _provenance(self, text: str) -> Provenance:
        return Provenance(
            by="assistant",
            session_id=self.scope.session,
            seq_from=1,
            seq_to=self.read.last_seq,
            model=self.model,
            trust="tool" if OF_A_TOOL in text or is_of_a_tool(self.account.title, (), self.said) else "assistant",
            left_out=self.read.left_out,
        )
