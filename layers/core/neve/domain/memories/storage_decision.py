"""Decides what becomes of a fact: one decision for every fact, by whatever way it came, and always with its reasons
(docs/rules/facts.md#decision). Pure: the rows it asks about are read by ``usecases/tell/memories/store_fact.py``."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

from neve.domain.memories.text import fingerprint
from neve.domain.records.memories import (
    BY_A_PERSON,
    By,
    Category,
    Criteria,
    Judged,
    Kind,
    Memory,
    Pii,
    Priority,
    Provenance,
    Relation,
    Route,
    Scope,
    Status,
    Via,
    WrittenBy,
)
from neve.domain.records.sessions import Audience
from neve.domain.same.meaning import may_be_the_same
from neve.domain.tenants.policy import ReviewMode, WriteTools

Decision = Literal["stored", "reinforced", "superseded", "inbox", "rejected"]
"""``superseded``: stored, and it took the place of what it corrects."""

CONFIDENT = 0.8
"""The confidence from which a fact is kept without having been said plainly (docs/rules/facts.md#routing)."""
OFTEN = 3
"""How many times a fact must be said to be kept without having been said plainly."""
MAY_STATE: frozenset[By] = frozenset({"user_stated", "user_confirmed", "human_edit", "import"})
"""Sources of facts. What an assistant or a tool says of the user waits for the user."""
_CONFIDENCE: dict[By, float] = {"user_confirmed": 1.0, "human_edit": 1.0, "import": 1.0, "user_stated": 0.9}
_INFERRED = 0.5

_REMEMBER = re.compile(
    r"^\W*(?:please\s+)?(?:remember(?:\s+(?:this|that))?\b|(?:don't|don’t|do not) forget\b|keep in mind\b)",
    re.IGNORECASE,
)
_PLAIN = re.compile(r"\b(?:always|never|prefers?)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FactCandidate:
    """One statement as it was proposed, already screened: ``pii`` says what the gate did to it. ``origin``: whose word
    it is and where it was said; its ``trust`` None follows from ``by``. ``relation`` and ``target_id``: what an
    extractor that saw the neighbours said; ``also``: ids of what else it corrects. ``keeps_words``: a fact
    that it says again stays in its own words. ``remembered``: the user asked to
    remember it. ``confidence`` None follows from ``by``. ``scope`` None: the session's with a session, else global.
    ``observed_at``: stored form, None = now. ``timezone``: in which its day is told. ``written_by``, ``about``,
    ``audience``: see ``Memory``."""

    text: str
    category: Category
    origin: Provenance
    importance: int = 3
    relation: Relation = "not_checked"
    target_id: str | None = None
    also: tuple[str, ...] = ()
    keeps_words: bool = False
    remembered: bool = False
    confidence: float | None = None
    pii: Pii = "clear"
    scope: Scope | None = None
    priority: Priority | None = None
    label: str | None = None
    group: str | None = None
    tags: tuple[str, ...] = ()
    metadata: dict[str, str] = field(default_factory=dict)
    never_recall: bool = False
    valid_from: str | None = None
    valid_until: str | None = None
    written_by: WrittenBy | None = None
    observed_at: str | None = None
    timezone: str = "UTC"
    about: tuple[str, ...] = ()
    audience: Audience | None = None

    @property
    def sure(self) -> float:
        """Give how sure it is that this was said: the candidate's own confidence, or that of its source."""
        return self.confidence if self.confidence is not None else confidence_of(self.origin.by)

    @property
    def to_remember(self) -> bool:
        return self.remembered or asks_to_remember(self.text)

    @property
    def by_a_person(self) -> bool:
        """Say whether a person stated it in a call, and not in a conversation."""
        return self.origin.by in BY_A_PERSON

    @property
    def corrects(self) -> bool:
        return self.relation in ("updates", "contradicts")


@dataclass(frozen=True, slots=True)
class Rules:
    """The rules for facts that a tenant's policy sets."""

    min_importance: int = 2
    review_mode: ReviewMode = "auto"
    write_tools: WriteTools = "off"

    def let_in(self, candidate: FactCandidate) -> bool:
        """Say whether the tenant lets a model state what the user has not said."""
        return candidate.written_by == "model" and self.write_tools == "on"


@dataclass(frozen=True, slots=True)
class KnownFacts:
    """The facts that are kept already. ``same``: the fact, active or in the inbox, that says this, in whatever words;
    ``target``: the active fact that the candidate is said to be about."""

    same: Memory | None = None
    target: Memory | None = None


@dataclass(frozen=True, slots=True)
class StorageVerdict:
    decision: Decision
    judged: Judged

    @property
    def criteria(self) -> Criteria:
        return self.judged.criteria


def confidence_of(by: By) -> float:
    """Give the confidence of a statement that has none of its own, by its source."""
    return _CONFIDENCE.get(by, _INFERRED)


def asks_to_remember(text: str) -> bool:
    """Say whether a text begins with a wish to keep it: ``Remember this: …``, ``Don't forget that …``."""
    return _REMEMBER.search(text) is not None


def decide(candidate: FactCandidate, known: KnownFacts, rules: Rules, at: str, via: Via) -> StorageVerdict:
    """Decide what becomes of a candidate. ``at``: when it was said, in stored form.

    What waits in the inbox is stored when it is said again in a way that would be stored by itself, or often enough."""
    criteria = _criteria(candidate, known, rules)
    route = "high" if rules.let_in(candidate) else _route(candidate, known.same)
    decision, reason = _decided(candidate, known, rules, criteria, route, at)
    about = known.target.id if known.target and criteria.contradiction not in ("new", "not_checked") else None
    return StorageVerdict(decision, Judged(criteria, route, reason, via, about))


def _criteria(candidate: FactCandidate, known: KnownFacts, rules: Rules) -> Criteria:
    relation: Relation = candidate.relation
    vetoed = relation == "reinforces" and known.target and not may_be_the_same(candidate.text, known.target.text)
    if relation != "not_checked" and (known.target is None or vetoed):
        relation = "new"
    return Criteria(
        pii=candidate.pii,
        provenance=rules.let_in(candidate) or (candidate.origin.by in MAY_STATE and candidate.origin.trust != "tool"),
        importance=candidate.importance >= rules.min_importance or candidate.to_remember,
        novelty=known.same is None and relation != "reinforces",
        contradiction=relation,
    )


def _route(candidate: FactCandidate, same: Memory | None) -> Route:
    if candidate.by_a_person or candidate.corrects or candidate.to_remember or _PLAIN.search(candidate.text):
        return "high"
    often = same is not None and same.occurrences + 1 >= OFTEN
    return "medium" if often or candidate.sure >= CONFIDENT else "low"


def _decided(
    candidate: FactCandidate, known: KnownFacts, rules: Rules, criteria: Criteria, route: Route, at: str
) -> tuple[Decision, str]:
    if criteria.pii == "blocked":
        return "rejected", "It holds what is never kept."
    if not criteria.importance:
        return "rejected", f"Importance {candidate.importance} is below the minimum of {rules.min_importance}."
    if known.same and known.same.status is not Status.INBOX:
        return "reinforced", _known(candidate, known.same)
    if criteria.contradiction == "reinforces" and known.target:
        return "reinforced", f"It says what is known: {known.target.id}."
    held_back = _held_back(candidate, known, rules, criteria, route, at)
    if held_back:
        return ("reinforced", f"It waits in the inbox. {held_back}") if known.same else ("inbox", held_back)
    if candidate.corrects and known.target:
        return "superseded", "It corrects what was known."
    if known.same is not None:
        return "stored", "It was said again."
    vetoed = candidate.relation == "reinforces" and known.target is not None
    return "stored", f"It is new: it is not what {known.target.id} says." if vetoed and known.target else "It is new."


def _known(candidate: FactCandidate, same: Memory) -> str:
    """Tell of a fact that is known which one it is, where the words are others."""
    if fingerprint(candidate.text) == same.fingerprint:
        return "It is known word for word."
    return f"It is known in other words: {same.id}."


def _held_back(
    candidate: FactCandidate, known: KnownFacts, rules: Rules, criteria: Criteria, route: Route, at: str
) -> str | None:
    """Give the reason why it is left to a person; None where it is not."""
    if candidate.written_by == "model":
        if rules.write_tools != "on":
            return "A model proposes it."
        if known.same and candidate.origin.by not in MAY_STATE:
            return "A model's word lets nothing in that waits for a person."
    if not criteria.provenance:
        return "The user has not said or confirmed it."
    if candidate.corrects and known.target and not outweighs(candidate, known.target, at):
        return "What it contradicts was said later, or with more authority."
    if route == "low":
        return "It was neither said plainly nor often, and is not certain."
    if route == "medium" and rules.review_mode == "interactive":
        return "The tenant reviews what was not said plainly."
    return None


# --- authority ----------------------------------------------------------------------------------


def outweighs(candidate: FactCandidate, target: Memory, at: str) -> bool:
    """Say whether a candidate may correct a fact: it was not said before it, and has at least its authority."""
    by, old = candidate.origin.by, target.provenance.by
    return at >= last_said(target) and _authority(by, candidate.sure, corrects=True) >= _authority(
        old, target.confidence, corrects=target.supersedes != ()
    )


def last_said(fact: Memory) -> str:
    """Give the time when a fact was last said, by any speaker. What a person changed or confirmed was said when they
    did."""
    again = (statement.observed_at for statement in fact.restatements)
    return max(fact.observed_at, fact.person_at or "", *again)


def _authority(by: By, confidence: float, *, corrects: bool) -> int:
    """Rank a source: a person's correction, then what was said in a session, then a confident memory, then what was
    inferred."""
    if by in BY_A_PERSON or (by == "user_stated" and corrects):
        return 3
    if by == "user_stated":
        return 2
    return 1 if by in MAY_STATE and confidence >= CONFIDENT else 0


def correctable(memory: Memory) -> bool:
    """Say whether a statement may take its place by itself: one row, one statement. An observation says more than what
    was corrected."""
    return memory.kind is Kind.FACT and memory.status is Status.ACTIVE
