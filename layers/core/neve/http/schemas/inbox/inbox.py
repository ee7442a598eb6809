"""E13: what waits for a person's decision."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Self

from pydantic import Field

from neve.domain.documents.paths import MAX_GIVEN
from neve.domain.librarian.filing import Action, Proposal
from neve.domain.records.memories import Memory, Status
from neve.http.operations import USER_WRITE, Body, Nothing, Operation, Parameters, Response, View, record_of, route
from neve.http.pages import Page
from neve.http.schemas.enums import Category, Certainty, FilingAction, InboxStatus
from neve.http.schemas.fields import Cursor, Filled, Limit
from neve.http.schemas.memories.fields import MAX_REASON, Importance, Text
from neve.http.schemas.memories.memory_view import MemoryView
from neve.usecases.tell.inbox.decision import Choice, Decision

INBOX = "/v1/users/{user_id}/inbox"


class InboxQuery(Parameters):
    limit: Limit = 50
    cursor: Cursor | None = None


class ProposalView(View):
    """A proposal: what the librarian would do to a document. `decided_path` and `rev`: of the document that came of
    it."""

    action: FilingAction
    path: str = Field(description="As it was proposed; a path that no document may have is changed with `edit`.")
    to_path: str | None = None
    title: str | None = None
    text: str
    base_rev: int | None = Field(default=None, description="The rev that the text was made from.")
    tags: list[str]
    importance: int
    certainty: Certainty
    trust: str
    model: str
    seqs: list[int]
    decided_path: str | None = None
    rev: int | None = None

    @classmethod
    def of(cls, proposal: Proposal) -> Self:
        action = {name: getattr(proposal.action, name) for name in cls.model_fields.keys() & _ACTION}
        return super().of(proposal, action=proposal.action.verb, **action)


_ACTION = {field.name for field in fields(Action)}
_STATUS: dict[str, InboxStatus] = {Status.INBOX: "inbox", Status.ARCHIVED: "rejected"}


class InboxItem(View):
    """Exactly one of `memory` and `document`."""

    id: str
    status: InboxStatus
    reason: str = Field(description="Why a person decides.")
    session_id: str | None = None
    created_at: str
    memory: MemoryView | None = None
    document: ProposalView | None = None

    @classmethod
    def of(cls, one: Memory | Proposal, now: str) -> Self:
        if isinstance(one, Proposal):
            own: dict[str, Any] = {"status": one.status, "reason": one.reason, "document": ProposalView.of(one)}
        else:
            reason = one.judged.reason if one.judged else "It waits for a decision."
            own = {"status": _STATUS.get(one.status, "approved"), "reason": reason, "memory": MemoryView.of(one, now)}
        return super().of(one, **{"memory": None, "document": None} | own)


class InboxPage(Page):
    items: list[InboxItem]
    next_cursor: str | None


class ApproveBody(Body):
    def decision(self) -> Decision:
        return Decision("approve")


class RejectBody(Body):
    def decision(self) -> Decision:
        return Decision("reject")


_PATH: Any = Field(default=None, min_length=1, max_length=MAX_GIVEN, description="Where the document is to be.")


class EditBody(Body):
    """The fields to edit, at least one. `path`: of a document; `category`, `importance`: of a fact."""

    text: Text | None = None
    path: str | None = _PATH
    category: Category | None = None
    importance: Importance | None = None

    def decision(self) -> Decision:
        return record_of(self, Decision, choice="edit")


class SupersedeBody(Body):
    """A fact takes the place of `target_id`; a document's text is replaced, whatever its rev."""

    target_id: Filled | None = Field(
        default=None, max_length=128, description="The memory that no longer holds; the one it contradicts when absent."
    )
    reason: Filled | None = Field(default=None, max_length=MAX_REASON, description="For the trace.")
    text: Text | None = None
    path: str | None = _PATH

    def decision(self) -> Decision:
        return record_of(self, Decision, choice="supersede")


LIST_INBOX = Operation(
    **route("GET", INBOX, "listInbox", "inbox", "records"),
    summary="What waits for a decision, oldest first.",
    query=InboxQuery,
    responses={200: Response("A page.", InboxPage)},
)


def _decision(choice: Choice, body: type[Any], summary: str, description: str = "") -> Operation[Nothing, Any]:
    return Operation(
        **route("POST", f"{INBOX}/{{item_id}}/{choice}", f"{choice}InboxItem", "inbox", "records"),
        summary=summary,
        description=f"{description} 409 when it was decided already.".strip(),
        body=body,
        responses={200: Response("As it is now.", InboxItem)},
        codes=("inbox_item_not_found", "memory_not_found", "pii_blocked", *USER_WRITE),
        idempotent=True,
    )


APPROVE = _decision(
    "approve",
    ApproveBody,
    "Keep what waits.",
    "A fact becomes active, as confirmed by the user; a document is changed if it is still at the rev it was read at.",
)
REJECT = _decision("reject", RejectBody, "Keep nothing of it.")
EDIT = _decision("edit", EditBody, "Keep it in other words, or a document at another path.")
SUPERSEDE = _decision(
    "supersede", SupersedeBody, "Keep it in the place of what no longer holds, be it a memory or a document's text."
)
DECISIONS = (APPROVE, REJECT, EDIT, SUPERSEDE)
