"""One filing's commit: the documents, what waits for a decision, the session's summary and the cursor, in one
transaction (docs/rules/librarian.md#commit)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from neve.domain.documents.change import DocumentChange, changed_document
from neve.domain.documents.paths import is_below
from neve.domain.errors import NeveError
from neve.domain.librarian.answer import TOO_MANY
from neve.domain.librarian.filing import Account, Action, Filed, Filing, Proposal, ProposalReason
from neve.domain.librarian.paths import folder_of
from neve.domain.librarian.routing import certainty_of, place_for, trust_of_action
from neve.domain.memories.text import fingerprint
from neve.domain.observe.trust import SaidHere
from neve.domain.records.documents import Document
from neve.domain.records.markers import SessionMarker
from neve.domain.records.memories import Provenance, Status, Trust
from neve.domain.records.sessions import Event
from neve.domain.sessions.spans import common
from neve.domain.times import iso
from neve.ports.table import MAX_WRITE_OPS, Check, Item, Key, Version, WriteOp
from neve.scope import SessionScope
from neve.store import rows
from neve.store.documents import read_document
from neve.store.filings import put_filing, put_proposal, read_filing
from neve.store.incarnation import UserErased, still_there
from neve.store.transact import transact
from neve.usecases.core.tenants.usage import model_usage, usage_put
from neve.usecases.tell.documents.document_writes import (
    DocumentWrites,
    WantedWrite,
    planned_writes,
    rows_to_read,
    with_text,
    writes_of,
)
from neve.usecases.work.librarian.gather import Gathered
from neve.usecases.work.librarian.remembered import corrections, remembered_of
from neve.usecases.work.librarian.summary import SessionSummary

SOURCE_TYPE = "session"


class FilingOvertaken(Exception):
    """Another librarian has filed the session while this one was thinking."""


class FilingRetracted(Exception):
    """Something of what was read has been taken back meanwhile (docs/rules/retract.md#librarian)."""


class InputCorrected(Exception):
    """A person has corrected meanwhile what is remembered of it (docs/rules/librarian.md#corrected)."""


class EditConflict(Exception):
    """Documents have moved since they were shown: ``paths``. ``not_shown``: those that are there, and there had been no
    room to show them."""

    def __init__(self, paths: Sequence[str], not_shown: Sequence[str]) -> None:
        super().__init__(f"{len(paths)} documents moved, {len(not_shown)} were not shown")
        self.paths, self.not_shown = tuple(paths), tuple(not_shown)


class _Stale(Exception):
    """A document has moved since it was shown."""


class _Refused(Exception):
    """A document takes no change of a librarian."""


@dataclass
class _Room:
    """The room that is left in the one transaction: how many operations, and every path once."""

    operations: int
    written: set[str] = field(default_factory=set)

    def take(self, operations: int, places: Sequence[str] = ()) -> bool:
        """Take room for operations, and say whether there is any."""
        if operations > self.operations or not self.written.isdisjoint(places):
            return False
        self.operations -= operations
        self.written.update(places)
        return True


@dataclass
class FilingCommit:
    """One attempt to commit. ``said``: what its texts are held against. ``write_id`` names it, and its answer where
    that was lost. ``insist``: what is stale by now waits for a decision instead of being asked about again;
    ``insist_unseen``: of documents that were not shown, too. ``done``, ``too_many``: what the last attempt wrote, and
    how many actions it had no room for."""

    scope: SessionScope
    incarnation: int
    read: Gathered
    filed: Filed
    said: SaidHere
    account: Account
    write_id: str
    insist: bool = False
    insist_unseen: bool = False
    done: list[dict[str, Any]] = field(default_factory=list)
    too_many: int = 0

    def write(self) -> dict[str, Any]:
        """Commit, and give what the job's result says of it. Raises UserErased, Overtaken, InputRetracted,
        InputCorrected, EditConflict, StoreUnavailable."""
        return transact(self.scope.ports, self._attempt)

    def _attempt(self) -> dict[str, Any]:
        keys, now = self.scope.keys, self.scope.ports.clock.now()
        summary = SessionSummary(self.scope, self.read, self.account, self.filed.model, self.said)
        found = self.scope.ports.table.get_many(self._rows_to_read(summary))
        user = rows.read_head(found.get(keys.head))
        still_there(user, self.incarnation)
        if keys.session_head not in found or keys.marker not in found:
            raise UserErased
        filing = read_filing(self.scope.session, found.get(keys.filing))
        if filing.last_filing == self.write_id:  # our own commit, whose response was lost
            return filing.result
        if filing.filed_seq != self.read.filing.filed_seq:
            raise FilingOvertaken
        marker = rows.read_marker(found[keys.marker])
        if _retracted_since(self.read, marker):
            raise FilingRetracted
        if self.read.cut.events and corrections(remembered_of(self.scope, user, marker)) != self.read.corrections:
            raise InputCorrected
        # no caller takes anything back between this look and the commit
        ops: list[WriteOp] = [rows.check_head(keys, user), Check(keys.marker, Version(marker.version))]
        written = summary.writes(found, filing, user.gen, iso(now))
        ops += written.ops
        head = rows.read_session(found[keys.session_head])
        if head.status == "closed" and head.last_seq == self.read.last_seq:
            ops.append(rows.put_session(keys, replace(head, status="extracted")))
        if self.filed.usage:
            ops.append(usage_put(keys, found.get(keys.usage), model_usage(self.filed.calls, self.filed.usage)))
        own_row = 1
        changes, proposals = self._actions(found, _Room(MAX_WRITE_OPS - len(ops) - own_row))
        ops += [*changes, *(put_proposal(keys, proposal) for proposal in proposals)]
        result = self._result(proposals, written.result_fields)
        moved = replace(
            written.filing,
            filed_seq=self.read.last_seq,
            prompt_version=self.filed.prompt_version,
            account=None if self.read.nothing_is_left else self.account,
            theirs=written.filing.theirs if self.read.nothing_is_left else (),
            left_out=self.read.left_out,
            read_to=max(written.filing.read_to, self.read.last_seq),
            last_filing=self.write_id,
            result=result,
        )
        self.scope.ports.table.write([*ops, put_filing(keys, moved)])
        return result

    def _rows_to_read(self, summary: SessionSummary) -> list[Key]:
        keys = self.scope.keys
        paths = [path for action in self.filed.actions for path in action.places]
        wanted = [keys.head, keys.session_head, keys.marker, keys.filing, keys.usage, *map(keys.document, paths)]
        return list(dict.fromkeys([*wanted, *summary.rows_to_read()]))

    # --- documents --------------------------------------------------------------------------------

    def _actions(self, found: Mapping[Key, Item], room: _Room) -> tuple[list[WriteOp], list[Proposal]]:
        """Plan the changes of documents, and the proposals. What there is no room for is left out, and counted. Raises
        EditConflict."""
        self.done, self.too_many = [], 0
        ops: list[WriteOp] = []
        made: list[str] = []
        waiting: list[tuple[Action, ProposalReason]] = [
            (action, "illegal_path") for action in self._with_base(self.filed.illegal)
        ]
        for action in self._with_base(self.filed.actions):
            reason = self._reason_to_wait(action)
            try:
                planned = None if reason else self._planned(action, found)
            except _Stale:
                planned, reason = None, "not_shown" if self._was_not_shown(action) else "raced"
            except _Refused:
                planned, reason = None, "refused"
            if planned and _crosses(planned.written.document.path, made):
                planned, reason = None, "refused"
            if reason:
                waiting.append((action, reason))
            elif planned and planned.ops:
                if not room.take(len(planned.ops), action.places):
                    self.too_many += 1
                    continue
                ops += planned.ops
                document = planned.written.document
                made.append(document.path)
                self.done.append({"action": action.verb, "id": document.id, "rev": document.rev})
        raced, not_shown = ([action.path for action, why in waiting if why == one] for one in ("raced", "not_shown"))
        if (raced and not self.insist) or (not_shown and not self.insist_unseen):
            raise EditConflict(raced, not_shown)
        proposals = [self._proposal(action, reason) for action, reason in waiting if room.take(1)]
        self.too_many += len(waiting) - len(proposals)
        return ops, proposals

    def _was_not_shown(self, action: Action) -> bool:
        return not set(action.places).isdisjoint(self.read.not_shown)

    def _reason_to_wait(self, action: Action) -> ProposalReason | None:
        trust, certainty = self._trust(action), certainty_of(action, self._events)
        if place_for(certainty, trust, self.scope.policy.review_mode) == "store":
            return None
        if trust == "tool":
            return "tool"
        return "low" if certainty == "low" else "medium"

    def _planned(self, action: Action, found: Mapping[Key, Item]) -> DocumentWrites:
        item = found.get(self.scope.keys.document(action.path))
        before = read_document(item) if item else None
        if before is not None and not (before.editable and before.status is Status.ACTIVE):
            raise _Refused  # no librarian is shown it: to ask again would not help
        if not action.was_made_for(before):
            raise _Stale
        try:
            return self._move(action, before, found) if action.verb == "move" else self._change(action, before, found)
        except NeveError as problem:
            raise (_Stale if problem.code == "precondition_failed" else _Refused) from None

    def _with_base(self, actions: Iterable[Action]) -> list[Action]:
        """Add to actions which documents they were shown in: a proposal is decided long after."""
        shown = {document.path: document.id for document in self.read.documents}
        return [replace(action, base_id=shown.get(action.path)) for action in actions]

    def _change(self, action: Action, before: Document | None, found: Mapping[Key, Item]) -> DocumentWrites:
        text = action.text
        if action.verb == "append" and before is not None:
            text = f"{with_text(self.scope, before).text.rstrip()}\n\n{action.text}"
        # what an outside system calls a document stays what it is called
        source = before is None
        change = DocumentChange(
            text=text,
            name=action.title if before is None else None,
            tags=(action.tags or (folder_of(action.path),)) if before is None else None,
            importance=action.importance if before is None else None,
            source_type=SOURCE_TYPE if source else None,
            source_id=f"{self.scope.session}:{fingerprint(action.path)[:16]}" if source else None,
            extracted_at=iso(self.scope.ports.clock.now()),
            provenance=self._provenance(action),
        )
        wanted = self._wanted(action.path, change, before)
        places = rows_to_read(self.scope, wanted)
        found = {**found, **self.scope.ports.table.get_many([key for key in places if key not in found])}
        if any(key in found for key in places[1:]):  # its source is one that a person has moved from here
            wanted = replace(wanted, change=replace(change, source_type=None, source_id=None))
        return planned_writes(self.scope, wanted, found)

    def _move(self, action: Action, before: Document | None, found: Mapping[Key, Item]) -> DocumentWrites:
        """Plan a move to a path that is free. A document keeps its text, and whose it is."""
        to_path = str(action.to_path)
        if before is None or self.scope.keys.document(to_path) in found:
            raise _Stale
        before = with_text(self.scope, before)
        now = iso(self.scope.ports.clock.now())
        after = changed_document(before, to_path, DocumentChange(), now, self.scope.count)
        wanted = self._wanted(to_path, DocumentChange(), before)
        return writes_of(self.scope, wanted, before, after)

    def _wanted(self, path: str, change: DocumentChange, before: Document | None) -> WantedWrite:
        revs = None if before is None else (before.rev,)
        new_id = f"doc_{self.scope.ports.ids.ulid(self.scope.ports.clock.now())}"
        return WantedWrite(path, change, revs, before is None, self.write_id, new_id)

    def _provenance(self, action: Action) -> Provenance:
        return Provenance(
            by="assistant",
            session_id=self.scope.session,
            seq_from=action.seqs[0],
            seq_to=action.seqs[-1],
            model=self.filed.model,
            trust=self._trust(action),
            left_out=common(self.read.retracted, ((action.seqs[0], action.seqs[-1]),)),
        )

    def _proposal(self, action: Action, reason: ProposalReason) -> Proposal:
        now = self.scope.ports.clock.now()
        if action.verb == "create" and action.path in self.read.not_shown:
            action = replace(action, verb="append")  # which a person can approve: there is a document
        return Proposal(
            id=f"prp_{self.scope.ports.ids.ulid(now)}",
            action=action,
            reason=reason,
            session_id=self.scope.session,
            created_at=iso(now),
            model=self.filed.model,
            trust=self._trust(action),
        )

    def _trust(self, action: Action) -> Trust:
        return trust_of_action(action, self.said, self.read.text_of(action.path))

    @property
    def _events(self) -> Sequence[Event]:
        return self.read.cut.events

    # --- result -----------------------------------------------------------------------------------

    def _result(self, proposals: Sequence[Proposal], summary: Mapping[str, Any]) -> dict[str, Any]:
        filed = {
            "seq_from": self.read.first_seq,
            "seq_to": self.read.last_seq,
            "prompt_version": self.filed.prompt_version,
        }
        result: dict[str, Any] = {"filed": filed, "documents": self.done, "session_summary": dict(summary)}
        if proposals:
            result["inbox"] = [proposal.id for proposal in proposals]
        if rejected := Counter(self.filed.rejected) + Counter({TOO_MANY: self.too_many}):
            result["rejected"] = dict(rejected)
        if self.read.cut.left_out:
            result["events_not_shown"] = self.read.cut.left_out
        if self.read.not_shown:
            result["documents_not_shown"] = len(self.read.not_shown)
        return result


def _crosses(path: str, made: Sequence[str]) -> bool:
    """Say whether a path is below or above one of ``made``: where the same transaction has documents, which no read
    shows yet."""
    return any(is_below(path, other) or is_below(other, path) for other in made)


def _retracted_since(read: Gathered, marker: SessionMarker) -> bool:
    return common(marker.retracted, ((1, read.last_seq),)) != read.retracted


def result_of(filing: Filing) -> dict[str, Any]:
    """Give the result of a session of which nothing new is to be filed: what the last commit said."""
    return filing.result or {"filed": None, "documents": []}
