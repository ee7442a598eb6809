"""Facts among the lines of a pass: what a rule can tell apart as one statement about the user, with its category
(docs/rules/observe.md#extractive). Where only one thing can be true at a time (a home, a name, a favourite colour), a
new statement updates the fact that was shown; and a statement contradicts the shown fact that it denies."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from neve.domain.memories.statements import statements
from neve.domain.observe.facts import ProposedFact
from neve.domain.records.memories import Category, Kind, Relation
from neve.observers.extractive.candidates import Line, was_cut
from neve.observers.extractive.denials import Stance, stance_of, without_excuse
from neve.observers.extractive.english.verbs import is_only_past
from neve.observers.extractive.english.vocabulary import any_of
from neve.observers.extractive.sameness import TEXT_CACHE_SIZE, adds_nothing, content_of, one_spelling
from neve.observers.extractive.sequels import what_it_corrects
from neve.observing import PriorMemory

_CLOSE = any_of(
    "wife husband partner spouse fiance fiancee girlfriend boyfriend sons? daughters? child children kids? dog cat",
    "mother father mom mum dad parents sisters? brothers? twin grandmother grandfather grandma grandpa horse boss",
    "best friend",
)
_ADVERB = r"(?:really|also|still|now|currently|absolutely|just|recently|only|mostly|usually)"
_LEFT = rf"(?: (?:left|quit) [^,;]{{1,60}}?(?:,? and|,)(?: now)?(?: they)?(?: {_ADVERB})*)?"
"""What was before: "left Siemens and now works at …", "quit Acme, they now work for …"."""
_HEAD = rf"^(?P<who>[\w-]+(?: [A-Z][\w-]*)?)(?:\s+(?:has\s+)?{_ADVERB})*"


@dataclass(frozen=True, slots=True)
class Form:
    """``slot``: of what only one can be true of somebody; the group ``of`` belongs to its name. The group ``habit``: a
    verb, which tells of none where it can only be past."""

    pattern: re.Pattern[str]
    category: Category
    importance: int
    slot: str | None = None


def _form(rest: str, category: Category, importance: int, slot: str | None = None) -> Form:
    return Form(re.compile(_HEAD + rest), category, importance, slot)


_NO_PLACE = any_of(
    "pain fear hope peace poverty luxury constant denial harmony silence isolation town decaf coffee tea tears remote",
    "online nights days react python vue rust java typescript javascript linux windows android ios here there vegan",
    "React Vue Angular Svelte Python Rust Go Java JavaScript TypeScript Postgres PostgreSQL MySQL MongoDB Kubernetes",
    "Docker AWS Azure GCP Linux Ubuntu Windows Mac Android Notion Slack Zoom Teams Git GitHub GitLab Vim Jira Gmail",
    "a an my their our his her another new bigger smaller different part-time full-time someone it this that home",
)
_HOUSE = any_of("place house flat apartment studio room village town suburb district part city")
_NAME = r"[^\W\da-z_]"
"""Its first letter: no small one of English."""
_PLACE = (
    rf" (?:(?:an?|the|my|their|our) (?:[\w'-]+ ){{0,3}}{_HOUSE} (?:in|of|near) {_NAME}"
    rf"|(?!{_NO_PLACE}\b)(?:(?:the )?{_NAME}|\d+\w? {_NAME}"
    r"|[a-z-]+(?=$|[,.;]| (?:now|and|with|for|again|in|last|\())))"
)
"""A name, an address, or one word of somebody who writes no capitals: nobody moves away by moving to a new team."""
_FROM = r" (?!(?:a|an|the|my|their|our|work|home|here|there|it|this|that)\b(?! [A-Z]))[\w(]"
_EMPLOYER = (
    r" (?!(?:\d|nights?\b|home\b|weekends?\b|dawn\b|present\b|free\b|fun\b|hours\b|years\b|once\b|best\b|most\b"
    r"|least\b|full\b|half\b|the (?:moment|weekend)|a (?:desk|time|computer|living|few|couple|long|while|change)"
    r"|(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve) ))\w"
)
_NAMED = rf"(?: (?:actually|really|now|just))? (?:{_NAME}|[a-z-]+(?=$|[,.;]| (?:please|instead|and|but|not|from)\b))"
_NAME_IS = rf"(?! (?:(?:mis)?spell|pronounced|wrong|missing|taken|common|unusual|long|short|hard|difficult)){_NAMED}"
_A_DAY = (
    r"(?=.*(?:\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"
    r"|\d{1,2}(?:st|nd|rd|th)\b|(?<!\d)\d{1,2}[/.]\d|\(meaning \d{4}-\d\d-\d\d\)))"
)
_MARRIAGE = (
    r"(?:married|single|divorced|engaged|widowed)"
    rf"(?=$|[,.;!]| (?:now|again|since|and|with|for|but)\b| (?:to|from) (?:{_NAME}|an? |the |someone))"
)
_MOVED = (
    r"(?: has| said: (?:I|We)(?:'ve| have)?)?(?: (?:just|now|recently|finally))?"
    r" (?:moved (?:back )?to|relocated to)"
)
_LIVES = r"(?: (?:lives|lives at|is living|is based) in| lives at| said: We(?: now)? live in)"
_LONG_AGO = re.compile(
    r"\bwhen (?:they|he|she|I|we) (?:was|were)\b|\bas an? (?:kid|child|student|teenager|teen|boy|girl|baby)\b"
    r"|\bin (?:19|20)\d\d\b"
)
"""Where somebody moved to then may not be their home."""
FORMS = (
    _form(rf"'s (?:full )?name is\b{_NAME_IS}", "PERSON", 5, "name"),
    _form(
        rf" wants to be called\b(?! (?:an?|the|when|if|at|back|before|after|in|on)\b){_NAMED}",
        "PREFERENCE",
        4,
        "called",
    ),
    _form(rf"'s birthday is\b{_A_DAY}", "BIOGRAPHY", 4, "birthday"),
    _form(r" is \d{1,3}(?: years? old\b|(?=$|[,.;]? (?:now|not)\b))", "BIOGRAPHY", 4, "age"),
    _form(rf"{_LEFT}(?:{_LIVES}|{_MOVED})\b{_PLACE}(?!.* (?:office|team|branch|department)\b)", "PLACE", 4, "home"),
    _form(rf" (?:is|comes|originally comes) from\b{_FROM}", "BIOGRAPHY", 4, "origin"),
    _form(r" was born\b", "BIOGRAPHY", 4),
    _form(rf"{_LEFT} works? as\b(?= (?:an?|the) (?!volunteer\b))", "BIOGRAPHY", 4, "job"),
    _form(rf"{_LEFT} works? (?:at|for)\b{_EMPLOYER}", "BIOGRAPHY", 4, "employer"),
    _form(rf" is {_MARRIAGE}", "BIOGRAPHY", 4, "marriage"),
    _form(r" is (?:severely |mildly )?(?:allergic|intolerant) to\b", "BIOGRAPHY", 5),
    _form(r" is (?:an? )?(?:vegetarian|vegan|pescatarian)\b", "PREFERENCE", 4, "diet"),
    _form(r"'s favou?rite (?P<of>[\w ]{1,40}?) (?:is|are)\b", "PREFERENCE", 3, "favourite"),
    _form(rf"'s (?:\w+ )?{_CLOSE}\b", "PERSON", 3),
    _form(rf" has (?:an?|one|two|three|four|five|\d+) (?:\w+ )?{_CLOSE}\b", "PERSON", 4),
    _form(
        r" (?:likes|loves|enjoys|adores|prefers|hates|dislikes|can't stand|doesn't like"
        r"|(?:never|always)(?: (?P<habit>[\w']+))?)\b",
        "PREFERENCE",
        3,
    ),
)
_DIET = ": diet "
_DATED = re.compile(r"\(meaning \d{4}")
_MARKS = re.compile(r"^(?:🔴|🟡|🟢|✅)\s*")
_ASKED = " (asked to remember this)"


@dataclass(frozen=True, slots=True)
class Recognised:
    """``who``: whom it is about, where the form says it."""

    text: str
    who: str | None
    category: Category
    importance: int
    slot: str | None


@dataclass(frozen=True, slots=True)
class _Shown:
    """A fact that was shown, and what a rule makes of it (None = it has no form)."""

    id: str
    text: str
    stance: Stance
    fact: Recognised | None


def facts_of(lines: Iterable[Line], prior: Sequence[PriorMemory], restated: Iterable[str]) -> list[ProposedFact]:
    """Of the lines that are the user's own, each slot once, as it was filled last; then the shown facts that were said
    again. ``restated``: ids of prior memories."""
    facts = sorted((row for row in prior if row.kind is Kind.FACT), key=lambda row: row.observed_at)
    shown = {row.id: _shown(row) for row in facts}
    found: dict[str, tuple[Stance, ProposedFact]] = {}
    for line in lines:
        for text in _statements(line):
            stance = stance_of(text)
            opposed = {key: one for key, (other, one) in found.items() if stance.opposes(other)}
            fact = _of_statement(text, line, [*shown.values(), *map(_shown_before, opposed.values())])
            if fact is not None:
                relation, target = _relation(fact, list(reversed(shown.values())))
                for key in (fact.slot or fact.text, *opposed):
                    found.pop(key, None)
                proposed = _proposed(fact, relation, target, (line.seq_from, line.seq_to))
                found[fact.slot or fact.text] = stance_of(fact.text), proposed
    new = [fact for _, fact in found.values()]
    settled = {fact.target_id for fact in new}
    again = ((i, shown[i].fact) for i in restated if i in shown and i not in settled)
    return [*new, *(_proposed(old, "reinforces", i, (None, None)) for i, old in again if old)]


def slot_of(text: str) -> str | None:
    """What a line of a memory fills of which only one can be true, and of whom: ``User: home``."""
    fact = _recognised(text, event=False)
    return fact.slot if fact else None


def tells_who_one_is(text: str) -> bool:
    """Whether a line of a memory fills what only one can be true of, but for a diet: who is told of one wrongly is
    harmed less than who is served what they must not eat."""
    slot = slot_of(text)
    return slot is not None and not slot.endswith(_DIET)


def _shown(row: PriorMemory) -> _Shown:
    fact, stance = _recognised(row.text, event=True), stance_of(row.text)
    if fact is None and stance.denied:
        fact = Recognised(row.text, None, "BIOGRAPHY", 4, None)
    return _Shown(row.id, row.text, stance, fact)


def _shown_before(fact: ProposedFact) -> _Shown:
    """In the same pass."""
    recognised = Recognised(fact.text, None, fact.category, fact.importance, None)
    return _Shown("", fact.text, stance_of(fact.text), recognised)


def _statements(line: Line) -> Iterator[str]:
    if line.speaker != "Assistant" and not line.played:
        parts = [line.text] if what_it_corrects(line.text) else statements(line.text)
        yield from (_unmarked(text) for text in parts if not was_cut(text))


def _corrected_one(text: str, known: Iterable[_Shown]) -> _Shown | None:
    """The known fact that it puts right."""
    old = what_it_corrects(text)
    if old is None:
        return None
    return next((one for one in known if one.id and adds_nothing(content_of(old), content_of(one.text))), None)


def _of_statement(text: str, line: Line, known: Sequence[_Shown]) -> Recognised | None:
    """A denial without a form is a fact where it denies one that is known, and of its category."""
    fact, stance = _recognised(text, event=line.mark == "✅"), stance_of(text)
    if fact and fact.who not in (None, line.speaker):
        return None
    of = _corrected_one(text, known) if fact is None else None
    if of is None and stance.denied:
        of = next((one for one in known if stance.opposes(one.stance)), None)
    if of is None:
        return fact
    category, importance = (of.fact.category, of.fact.importance) if of.fact else ("BIOGRAPHY", 4)
    return Recognised(without_excuse(text), None, category, importance, None)


@lru_cache(maxsize=TEXT_CACHE_SIZE)
def _recognised(text: str, *, event: bool) -> Recognised | None:
    """``event``: it tells of something that happened."""
    asked = _ASKED in text
    bare = says = _unmarked(text).replace(_ASKED, "")
    while (old := what_it_corrects(says)) is not None:
        says = old
    for form in FORMS:
        match = form.pattern.search(says)
        if match and not is_only_past((match.groupdict().get("habit") or "").lower()):
            of = one_spelling(match.groupdict().get("of", "").casefold())
            holds_now = not stance_of(says).denied and not (form.slot == "home" and _LONG_AGO.search(says))
            slot = f"{match['who']}: {form.slot} {of}" if form.slot and holds_now else None
            return Recognised(bare, match["who"], form.category, max(form.importance, 4 if asked else 1), slot)
    if event and _DATED.search(bare):
        return Recognised(bare, None, "EVENT", 3, None)
    return Recognised(bare, None, "BIOGRAPHY", 4, None) if asked else None


def _unmarked(text: str) -> str:
    return _MARKS.sub("", text).removeprefix("Correction: ")


def _relation(fact: Recognised, shown: Sequence[_Shown]) -> tuple[Relation, str | None]:
    """``shown``: the newest first, so that where two fill one slot it is the newer one that is updated."""
    corrected = _corrected_one(fact.text, shown)
    if corrected is not None:
        return "updates", corrected.id
    stance = stance_of(fact.text)
    for old in shown:
        if old.stance.opposes(stance):
            return "contradicts", old.id
    for old in shown:
        if fact.slot is not None and old.fact is not None and old.fact.slot == fact.slot:
            same = adds_nothing(content_of(fact.text), content_of(old.text))
            return ("reinforces" if same else "updates"), old.id
    return "new", None


def _proposed(
    fact: Recognised, relation: Relation, target: str | None, seqs: tuple[int | None, int | None]
) -> ProposedFact:
    return ProposedFact(fact.text, fact.category, fact.importance, "user_stated", relation, target, *seqs)
