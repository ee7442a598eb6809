"""The answer of a librarian model: its schema, and how what came back is read (docs/rules/librarian.md#answer).

A model's answer is data that cannot be trusted. Each action is read by itself: one that is not of the form, or names
what was not shown, is counted and left out, and takes no other with it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Annotated, Any, Literal
from unicodedata import normalize

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from neve.domain.compact.headings import HEADINGS, summary_text
from neve.domain.compact.prompt import cap_item
from neve.domain.librarian.filing import Account, Action, ShownDocument
from neve.domain.librarian.paths import librarian_path
from neve.domain.observe.answer import AnswerForm, Text
from neve.domain.records.sessions import Outcome
from neve.domain.sessions.frames import as_written

MAX_ACTIONS = 16
"""Actions of one answer (*chosen*). One commit holds 100 operations: what they are too many for is left out there."""
MAX_TEXT = 100_000
"""Characters of one document in an answer, as UTF-8 far below what one row may hold (*chosen*)."""
MAX_TOPICS, TOPIC_CHARACTERS, TITLE_CHARACTERS, TONE_CHARACTERS = 8, 60, 120, 60
MALFORMED, UNFOUNDED, UNKNOWN_PATH, STALE, TOO_MANY, CUT_SHORT = (
    "malformed",
    "unknown_events",
    "unknown_path",
    "stale_base_rev",
    "too_many",
    "not_shown_whole",
)
"""Reasons for which an action is left out."""


class ActionAnswer(AnswerForm):
    """One change of one document. Strict: what asks for a user or a tenant is no action."""

    model_config = ConfigDict(extra="forbid")

    action: Literal["create", "update", "append", "move", "noop"]
    path: Text = Field(default="", max_length=1_000)
    text: Text = Field(default="", max_length=MAX_TEXT, description="New text, or what is added.")
    base_rev: int | None = Field(default=None, ge=1, description="The shown rev of the document that changes.")
    to_path: Text | None = Field(default=None, max_length=1_000, description="Of a move.")
    title: Text | None = Field(default=None, max_length=TITLE_CHARACTERS)
    tags: list[Annotated[Text, Field(min_length=1, max_length=64)]] = Field(default=[], max_length=16)
    importance: int = Field(default=3, ge=1, le=5)
    certainty: Literal["high", "medium", "low"] = "medium"
    seqs: list[int] = Field(min_length=1, max_length=200, description="Numbers of the events that it rests on.")


class AccountAnswer(AnswerForm):
    title: Text = ""
    outcome: Outcome = "SUCCESS"
    emotional_tone: Text = "neutral"
    key_topics: list[Text] = Field(default=[], json_schema_extra={"maxItems": MAX_TOPICS})
    decisions: list[Text] = Field(default=[])
    action_items: list[Text] = Field(default=[])
    insights: list[Text] = Field(default=[])
    preferences: list[Text] = Field(default=[])


class FilingAnswer(AccountAnswer):
    """The input of the tool call."""

    actions: list[Any] = Field(default=[])


class _Schema(AccountAnswer):
    actions: list[ActionAnswer] = Field(default=[], json_schema_extra={"maxItems": MAX_ACTIONS})


@cache
def filing_schema() -> Mapping[str, Any]:
    """Give the JSON schema of the tool's input; all requests share it, so no caller may change it."""
    return _Schema.model_json_schema()


class Read(BaseModel):
    """An answer that was read and is within bounds: see ``Filed``."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    actions: tuple[Action, ...] = ()
    illegal: tuple[Action, ...] = ()
    rejected: dict[str, int] = {}
    account: Account


def read_filing_answer(
    given: Mapping[str, Any], *, seqs: Collection[int], shown: Sequence[ShownDocument], whole: Collection[str]
) -> Read:
    """Read an answer. ``seqs``: of the events that were shown; ``shown``: the documents, ``whole`` the paths of those
    that were shown to their end. Raises ValueError when the frame is not of the form."""
    answer = FilingAnswer.model_validate(given)
    reader = _Reader(seqs, {document.path: document for document in shown}, whole)
    for entry in answer.actions:
        reader.take(entry)
    return Read(
        actions=tuple(reader.actions),
        illegal=tuple(reader.illegal),
        rejected=dict(sorted(reader.rejected.items())),
        account=_account(answer),
    )


class _Reader:
    def __init__(self, seqs: Collection[int], shown: Mapping[str, ShownDocument], whole: Collection[str]) -> None:
        self.seqs, self.shown, self.whole = seqs, shown, whole
        self.actions: list[Action] = []
        self.taken: set[str] = set()
        self.illegal: list[Action] = []
        self.rejected: Counter[str] = Counter()

    def take(self, entry: Any) -> None:
        if isinstance(entry, dict) and entry.get("action") == "noop":
            return  # rests on no event: the form asks for one of all others
        try:
            read = ActionAnswer.model_validate(entry)
        except ValidationError:
            self.rejected[MALFORMED] += 1
            return
        action = self._bounded(read)
        if reason := self._refused(action):
            self.rejected[reason] += 1
            return
        try:
            path = librarian_path(action.path)
            to_path = librarian_path(action.to_path) if action.to_path is not None else None
        except ValueError:
            self.illegal.append(action)
            return
        action = replace(action, path=path, to_path=to_path)
        if reason := self._unfounded(action):
            self.rejected[reason] += 1
            return
        self.actions.append(action)
        self.taken.update(action.places)

    def _bounded(self, read: ActionAnswer) -> Action:
        return Action(
            verb=read.action,  # type: ignore[arg-type]  # a noop has been left out
            path=read.path,
            text=as_written(read.text.strip()),
            base_rev=read.base_rev,
            to_path=read.to_path,
            title=cap_item(read.title) if read.title else None,
            tags=tuple(dict.fromkeys(normalize("NFC", cap_item(tag)) for tag in read.tags)),
            importance=read.importance,
            certainty=read.certainty,
            seqs=tuple(sorted({seq for seq in read.seqs if seq in self.seqs})),
        )

    def _refused(self, action: Action) -> str | None:
        if len(self.actions) + len(self.illegal) == MAX_ACTIONS:
            return TOO_MANY
        lacks = not action.text if action.verb != "move" else action.to_path is None
        if lacks or not action.path:
            return MALFORMED
        return None if action.seqs else UNFOUNDED

    def _unfounded(self, action: Action) -> str | None:
        """Give the reason why the action cannot be meant, None where it can; a second one for a path, or to it, cannot
        either."""
        if not self.taken.isdisjoint(action.places):
            return TOO_MANY
        if action.to_path in self.shown:
            return STALE  # as with a create
        document = self.shown.get(action.path)
        if document is None:
            return None if action.verb == "create" else UNKNOWN_PATH
        if action.verb == "create":
            return STALE  # it is there: what changes is what was shown
        if action.base_rev != document.rev:
            return STALE
        return CUT_SHORT if action.verb == "update" and action.path not in self.whole else None


def _account(answer: AccountAnswer) -> Account:
    items = {heading: getattr(answer, heading) for heading in HEADINGS}
    return Account(
        title=cap_item(answer.title)[:TITLE_CHARACTERS],
        outcome=answer.outcome,
        emotional_tone=cap_item(answer.emotional_tone)[:TONE_CHARACTERS] or "neutral",
        key_topics=tuple(dict.fromkeys(t for topic in answer.key_topics if (t := cap_item(topic)[:TOPIC_CHARACTERS])))[
            :MAX_TOPICS
        ],
        text=summary_text(
            {heading: [line for item in given if (line := cap_item(item))] for heading, given in items.items()}
        ),
    )
