"""Judges which English statements are worth remembering, and how much (docs/rules/observe.md, "extractive").

The classifier says what kind of statement a sentence is; the rules here say where that is not to be trusted. The
marks follow the observer's scale: 🔴 durable identity, preference, standing wish, correction, unresolved blocker; 🟡
plans, events, decisions, work; 🟢 tentative; ✅ a change of state that really happened. The weights only order the
lines of one pass against each other, where more qualify than a pass may keep."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal

from neve.observers.extractive.classifier import Kind, classify
from neve.observers.extractive.english.clauses import is_hypothetical, speaks_of_self, whole_clauses
from neve.observers.extractive.english.handed_over import Owner, owner_behind
from neve.observers.extractive.english.health import is_about_health, tells_of_health
from neve.observers.extractive.english.orders import is_order, says_always
from neve.observers.extractive.english.person import about
from neve.observers.extractive.english.vocabulary import ADVERB, TRAITS, any_of
from neve.observers.extractive.english.wishes import is_habit, is_standing_wish
from neve.observers.extractive.life.endings import is_plain_ending
from neve.observers.extractive.life.forms import SPEAKER, said_in, tells_of_a_change
from neve.observers.extractive.sameness import NOT_THE_OLD, values_in

Mark = Literal["🔴", "🟡", "🟢", "✅"]
Wording = Literal["", "remember", "rule"]
"""The two things that a sentence may ask for: to keep something (``remember``), or to do it from now on (``rule``)."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """``weight`` grows with how surely the statement should be kept."""

    kind: Kind
    mark: Mark
    weight: int
    wording: Wording = ""


MIN_LIKELIHOOD = 0.55
"""The least likelihood of being worth it: chosen on ``evals/observer/dev.jsonl``."""
MIN_LIKELIHOOD_OF_OTHERS = 0.45
MIN_LIKELIHOOD_OF_CORRECTIONS = 0.3
TAKEN_BACK = Verdict(Kind.CORRECTION, "🔴", 9)
_VERDICTS = {
    Kind.WISH: Verdict(Kind.WISH, "🔴", 9, "rule"),
    Kind.CORRECTION: TAKEN_BACK,
    Kind.SELF: Verdict(Kind.SELF, "🔴", 8),
    Kind.BLOCKER: Verdict(Kind.BLOCKER, "🔴", 7),
    Kind.DONE: Verdict(Kind.DONE, "✅", 7),
    Kind.NOTE: Verdict(Kind.NOTE, "🟡", 5),
    Kind.MAYBE: Verdict(Kind.MAYBE, "🟢", 3),
}
_REMEMBER = Verdict(Kind.WISH, "🔴", 10, "remember")

_ASKED_TO_REMEMBER = re.compile(
    r"^(?:please\s+)?(?:can you\s+|could you\s+)?(?:just\s+)?"
    r"(?:(?:remember|note|keep in mind|bear in mind|don't forget|do not forget|make a note)"
    r"(?:\s+that\b|(?:\s+this)?\s*[:,])"
    r"|(?:important|for the record|fyi|note to self)\s*[:,])\s*\w",
    re.IGNORECASE,
)
_TO_REMEMBER = re.compile(
    r"^(?:please\s+)?(?:remember|note|keep in mind|bear in mind|don't forget|do not forget|make a note)\b",
    re.IGNORECASE,
)
_TASTE = re.compile(
    rf"^(?:and |but )?i(?:\s+{ADVERB})*\s+"
    + any_of("love like enjoy prefer hate dislike adore detest")
    + r"\s+(?!"
    + any_of("to the a an when how what where who if being hearing seeing knowing option version draft number")
    + r"\b)(?!.*\b"
    + any_of("you your yours you're this that these those it its here there one")
    + r"\b)\w",
    re.IGNORECASE,
)
"""A taste in so few words that nothing else tells it: "I like jazz". Not what was said or shown just now."""
_TRAIT = re.compile(
    r"\b(?:i'm|i am|my (?:\w+ ){1,2}(?:is|are))\s+(?:not\s+)?(?:an?\s+)?(?:\w+\s+)?"
    + any_of(*TRAITS)
    + r"\b|^i was born (?:in|on|at|near)\b",
    re.IGNORECASE,
)
"""Traits that must not be missed, however they are worded, nor their end."""
_IDENTITY = re.compile(
    r"^(?:i'm|i am) (?:an? (?!(?:bit|little|lot|tad|few|fan|huge|big|firm)\b)"
    r"|the (?:only|one who)\b|(?:into|scared of|afraid of|from)\b)"
    r"|^(?:i|we) (?:speak|study|teach|freelance|was raised|grew up)\b"
    r"|^(?:my|our) (?:address|pronouns|nationality|religion|parents|surname)\b"
    r"|^my .{1,40}(?:'s name is|\bis called|\bis named|\bgoes by)\b|^i(?:'d| would) rather\b",
    re.IGNORECASE,
)
_BLOCKED = re.compile(
    r"(?:\b(?:am|is|are|was)|'m|'re|'s) (?:\w+ )?(?:blocked|stuck|locked out|held up|waiting (?:on|for) .* before)\b"
    r"|\bkeeps? (?:tripping|failing|crashing|leaking|breaking|stopping|freezing|disconnecting|rejecting|overheating)\b"
    r"|\b(?:can't|cannot) (?:log in|sign in|access|connect|install|reach)\b"
    r"|\bstill (?:don't|doesn't|haven't|hasn't|do not|have not) (?:have|got|gotten|received|arrived|heard)\b"
    r"|\b(?:won't|refuses? to) (?:give|pay|refund|let)\b",
    re.IGNORECASE,
)
"""Problems that are open, and stand in the speaker's way."""
_HEARSAY = re.compile(
    r"^(?:my|the|our|an?|some|people|everyone|everybody|he|she|they)\b(?: \w+){0,3}?"
    r" (?:says?|said|thinks?|thought|claims?|claimed|jokes?|joked)(?: that)? (?:i|i'm|my)\b",
    re.IGNORECASE,
)
"""Words of another person about the user, which are not known to be true."""
_USER_STORY = re.compile(
    rf"^as an? (?!(?:\w+ )?{any_of(*TRAITS)}\b)[\w -]{{2,40}}?,? (?:i|we) (?:want|would like|can|should be able) to\b",
    re.IGNORECASE,
)
"""Wishes of a role in a plan for software: ``As a nurse I want to see my shifts``"""
_TO_THE_LISTENER = re.compile(r"\b(?:you|you're|your|yours|yourself)\b", re.IGNORECASE)
_OF_SPEAKER = re.compile(
    r"\b(?:i|i'm|i've|i'd|i'll|my|me|mine|please|from now on|in (?:the )?future|answers?|repl(?:y|ies)|responses?)\b",
    re.IGNORECASE,
)
_STATES = re.compile(
    r"^(?:it|that|the|this|he|she|they)\b.*\b(?:is|are|was|were|isn't|aren't|has|have)\b|^(?:it|that|he|she)'s\b",
    re.IGNORECASE,
)


def judge(sentence: str, *, dated: bool, corrects: bool, among_people: bool, casual: bool) -> Verdict | None:
    """Return how a statement is kept, or None if it is not worth keeping. ``dated``: it holds a resolved date.
    ``corrects``: it began by taking something back. ``among_people``: the listener is a person, who is given advice
    where an assistant is given orders. ``casual``: too short a message to be pasted."""
    if is_hypothetical(sentence) or _HEARSAY.search(sentence) or (not dated and _USER_STORY.match(sentence)):
        return None
    verdict = _REMEMBER if _ASKED_TO_REMEMBER.search(sentence) else _correction(sentence, corrects=corrects)
    if verdict is None:
        verdict = _classified(sentence)
        if verdict and _is_errand(sentence, verdict, dated=dated):
            return None
        if verdict and not verdict.wording:
            states = speaks_of_self(sentence) or dated or (casual and not among_people)
            verdict = verdict if states else None
    if verdict is None or (among_people and verdict.wording and not _is_about_speaker(sentence, verdict.wording)):
        return None
    if verdict.mark == "🔴" and verdict.kind in (Kind.SELF, Kind.CORRECTION) and not _lasts(sentence):
        verdict = replace(verdict, mark="🟡")
    return verdict


def _lasts(sentence: str) -> bool:
    """Say whether a sentence is about who its speaker is, their health or family, or what they prefer and always do:
    every conversation needs this."""
    if any(form.search(sentence) for form in (_TRAIT, _TASTE, _IDENTITY)) or is_habit(sentence):
        return True
    if tells_of_health(sentence) or is_about_health(sentence):
        return True
    said = [said_in(about(SPEAKER, clause)) for clause in whole_clauses(sentence)]
    return any(one is not None and one.form.lasts for one in said)


def _correction(sentence: str, *, corrects: bool) -> Verdict | None:
    if NOT_THE_OLD.search(sentence) and (values_in(sentence) or speaks_of_self(sentence)):
        return TAKEN_BACK
    if not corrects:
        return None
    if speaks_of_self(sentence):
        return TAKEN_BACK if classify(sentence).likelihood > MIN_LIKELIHOOD_OF_CORRECTIONS else None
    return TAKEN_BACK if _STATES.search(sentence) and values_in(sentence) else None


def _is_errand(sentence: str, verdict: Verdict, *, dated: bool) -> bool:
    """Say whether a sentence orders something to be done now, be it to a text that is handed over: once that is done,
    it says nothing. A wish how answers are to be needs no "always": ``Give me short answers``."""
    if dated or says_always(sentence) or not is_order(sentence) or sentence.lower().startswith("let's"):
        return False
    return verdict.wording == "" or owner_behind(sentence) is Owner.ANOTHER


def _classified(sentence: str) -> Verdict | None:
    if _TRAIT.search(sentence) or _TASTE.search(sentence) or tells_of_health(sentence):
        return _VERDICTS[Kind.SELF]
    if is_standing_wish(sentence):
        return _VERDICTS[Kind.WISH]
    found = classify(sentence)
    if found.likelihood < (MIN_LIKELIHOOD if speaks_of_self(sentence) else MIN_LIKELIHOOD_OF_OTHERS):
        return _VERDICTS[Kind.SELF] if _changes_a_life(sentence) else None
    if found.kind is Kind.WISH and _TO_REMEMBER.search(sentence):
        return _REMEMBER
    return _VERDICTS[_raise_note(sentence, found.kind)]


def _changes_a_life(sentence: str) -> bool:
    """Say whether a sentence fills or ends a slot, of which only one statement can be true: if it were not kept, the
    statement that it replaces would go on being said."""
    return any(_changes(about(SPEAKER, clause)) for clause in whole_clauses(sentence))


def _changes(text: str) -> bool:
    said = said_in(text)
    return is_plain_ending(text) or (
        said is not None
        and said.who == SPEAKER
        and bool(said.slots)
        and (not said.form.many or tells_of_a_change(text))
    )


def _raise_note(sentence: str, kind: Kind) -> Kind:
    """Raise the mark of a note that is about a habit, a taste, an illness, a change of one's life or what does not
    work."""
    if kind is Kind.NOTE and _BLOCKED.search(sentence):
        return Kind.BLOCKER
    if kind is Kind.NOTE and (is_habit(sentence) or is_about_health(sentence) or _changes_a_life(sentence)):
        return Kind.SELF
    return kind


def _is_about_speaker(sentence: str, wording: Wording) -> bool:
    """Say whether an order between people is about its speaker or the way to talk to them, not advice such as "never
    give up"."""
    if wording == "remember" and _TO_THE_LISTENER.search(sentence):
        return False
    return _OF_SPEAKER.search(sentence) is not None
