"""Facts among the lines of a pass: what a rule can tell apart as one statement about the user, with its category
(docs/rules/observe.md#extractive). Where only one thing can be true at a time (a home, a name, a favourite colour), a
new statement updates the fact that was shown, and so does one that ends it; and a statement contradicts the shown fact
that it denies."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache

from neve.domain.memories.statements import statements
from neve.domain.observe.facts import ProposedFact
from neve.domain.records.memories import Category, Kind, Relation
from neve.domain.same.meaning import may_be_the_same, say_the_same
from neve.domain.times import iso
from neve.observers.extractive.candidates import Line
from neve.observers.extractive.denials import Stance, stance_of, without_excuse
from neve.observers.extractive.english.clauses import whole_clauses, with_subject
from neve.observers.extractive.english.ends import end_of
from neve.observers.extractive.english.person import about, as_said
from neve.observers.extractive.english.sentences import sentences
from neve.observers.extractive.life.endings import ends, slots_left_empty
from neve.observers.extractive.life.forms import said_in, tells_of_a_change
from neve.observers.extractive.quotes import quoted, spoken_in, what_it_follows
from neve.observers.extractive.sameness import TEXT_CACHE_SIZE, adds_nothing, content_of
from neve.observing import PriorMemory

_DIET = ": diet"
_DATED = re.compile(r"\(meaning \d{4}")
_MARKS = re.compile(r"^(?:🔴|🟡|🟢|✅)\s*")


@dataclass(frozen=True, slots=True)
class Recognised:
    """``text``: as it is kept; ``says``: as the forms read it, in the third person. ``who``: whom it is about, where
    the form says it. ``slots``: what it fills, or says that nothing fills any more; ``updates``: whether it takes the
    place of what filled them. ``until``: when it ends, in stored form, where it says so."""

    text: str
    says: str
    who: str | None
    category: Category
    importance: int
    slots: tuple[str, ...] = ()
    updates: bool = True
    until: str | None = None


@dataclass(frozen=True, slots=True)
class _Shown:
    """A fact that was shown, and what a rule makes of it (None = it has no form)."""

    id: str
    text: str
    says: str
    stance: Stance
    fact: Recognised | None


def facts_of(
    lines: Iterable[Line],
    prior: Sequence[PriorMemory],
    restated: Mapping[str, Line],
    said_at: Mapping[int, datetime],
) -> list[ProposedFact]:
    """Propose facts of the lines that are the user's own, each slot once, as it was filled last; then the shown facts
    that were said again, in the words in which they were. ``restated``: lines by ids of prior memories;
    ``said_at``: local times by seqs."""
    facts = sorted((row for row in prior if row.kind is Kind.FACT), key=lambda row: row.observed_at)
    shown = {row.id: _shown(row.id, row.text) for row in facts}
    found: dict[str, tuple[_Shown, ProposedFact]] = {}
    for line in lines:
        for text in _statements(line):
            of_pass = [one for one, _ in reversed(found.values())]
            end = end_of(text, said_at[line.seq_to])
            fact = _recognise_statement(text, line, [*reversed(shown.values()), *of_pass], has_end=end is not None)
            if fact is None:
                continue
            fact = replace(fact, until=iso(end) if end else None)
            relation, target, also = _relations(fact, list(reversed(shown.values())))
            beside = [one for one, other in found.values() if target and other.target_id == target]
            if fact.who is None and any(one.fact and one.fact.who for one in beside):
                continue  # another clause says what there is in its place
            for one in of_pass:
                if one in beside or one.says == fact.says or _relation(fact, [one])[0] in ("updates", "contradicts"):
                    del found[one.text]
            proposed = _proposed(fact, relation, target, (line.seq_from, line.seq_to), also)
            found[fact.text] = _Shown("", fact.text, fact.says, stance_of(fact.says), fact), proposed
    new = [fact for _, fact in found.values()]
    settled = {i for fact in new for i in (fact.target_id, *fact.also)}
    again = ((shown[i], line) for i, line in restated.items() if i in shown and i not in settled)
    return [*new, *(_said_again(old, old.fact, line) for old, line in again if old.fact)]


def _said_again(old: _Shown, fact: Recognised, line: Line) -> ProposedFact:
    """Propose a shown fact once more, in the words of the statement that says the same."""
    same = next((one for one in _statements(line) if say_the_same(one, old.text)), None)
    new = _recognised(same, event=line.mark == "✅", asked=line.asked) if same else None
    said = new.text if new else _kept(_reading(same)) if same else fact.text
    return _proposed(replace(fact, text=said), "reinforces", old.id, (line.seq_from, line.seq_to))


def slot_of(text: str) -> str | None:
    """Return the slot that a line of a memory fills, and whose it is: ``User: home``. Only one statement can be true of
    a slot."""
    fact = _recognised(text, event=False)
    return fact.slots[0] if fact and fact.slots else None


def tells_who_one_is(text: str) -> bool:
    """Say whether a line of a memory fills a slot other than the diet. Diets are left to others: a diet that is wrongly
    told of a user harms them less than being served what they must not eat."""
    slot = slot_of(text)
    return slot is not None and not slot.endswith(_DIET)


def _statements(line: Line) -> Sequence[str]:
    if line.played:
        return ()
    return line.states or (statements(line.text) if len(statements(line.text)) == 1 else ())


def _shown(row_id: str, text: str) -> _Shown:
    fact, says = _recognised(text, event=True), _reading(text)
    stance = stance_of(says)
    if fact is None and stance.denied:
        fact = Recognised(text, says, None, "BIOGRAPHY", 4)
    if fact is None and (empty := slots_left_empty(says)):
        fact = Recognised(text, says, None, "BIOGRAPHY", 4, empty)
    return _Shown(row_id, text, says, stance, fact)


@lru_cache(maxsize=TEXT_CACHE_SIZE)
def _reading(text: str) -> str:
    """Return what a line or a fact says, in the third person: of a quotation the first clause that has a form; of a
    quotation that stands behind another one, that other one."""
    bare = _unmarked(text)
    spoken = spoken_in(bare)
    if not spoken:
        return bare
    who, said = spoken[0]
    clauses = [clause for one in sentences(said) for clause in whole_clauses(with_subject(one.text))] or [said]
    readings = [about(who, with_subject(clause)) for clause in clauses]
    return next((one for one in readings if said_in(one)), readings[0])


def _corrected_one(text: str, known: Iterable[_Shown]) -> _Shown | None:
    """Find the known fact that the statement puts right."""
    old = what_it_follows(text)
    if old is None:
        return None
    said = content_of(_reading(old))
    return next((one for one in known if one.id and adds_nothing(said, content_of(one.says))), None)


def _recognise_statement(text: str, line: Line, known: Sequence[_Shown], *, has_end: bool) -> Recognised | None:
    """Recognise the fact that a statement holds. One that denies or ends a known fact has the category of that fact,
    and says what there is in its place. ``has_end``: it says when it ends."""
    fact, says = _recognised(text, event=line.mark == "✅", asked=line.asked, has_end=has_end), _reading(text)
    stance = stance_of(says)
    if fact and fact.who not in (None, line.speaker):
        return None
    if fact and fact.slots:
        return fact
    of = _corrected_one(text, known) if fact is None else None
    if of is None and stance.denied:
        of = next((one for one in known if stance.opposes(one.stance)), None)
    ended = next((one for one in known if one.fact and one.fact.slots and ends(says, one.fact.slots, one.says)), None)
    slots = ended.fact.slots if ended and ended.fact else ()
    of = of or ended
    if of is None:
        return fact
    category, importance = (of.fact.category, of.fact.importance) if of.fact else ("BIOGRAPHY", 4)
    short = without_excuse(says)
    return Recognised(text if spoken_in(text) else _kept(short), short, None, category, importance, slots)


@lru_cache(maxsize=TEXT_CACHE_SIZE)
def _recognised(text: str, *, event: bool, asked: bool = False, has_end: bool = False) -> Recognised | None:
    """Read the fact that a statement holds. ``event``: it tells of something that happened. ``asked``: it was asked to
    be remembered. ``has_end``: it says when it ends."""
    bare, says = _unmarked(text), _reading(text)
    text = bare if spoken_in(bare) else _kept(says)
    if said := said_in(says):
        slots = () if stance_of(says).denied and not said.form.denies else said.slots
        importance = max(said.form.importance, 4 if asked else 1)
        updates = not said.form.many or tells_of_a_change(says)
        return Recognised(text, says, said.who, said.form.category, importance, slots, updates)
    if has_end or (event and _DATED.search(says)):
        return Recognised(text, says, None, "EVENT", 3)
    return Recognised(text, says, None, "BIOGRAPHY", 4) if asked else None


def _kept(says: str) -> str:
    """Return the statement in the third person, or, where it could not be rewritten, as it was said."""
    spoken = as_said(says)
    return quoted(*spoken) if spoken else says


def _unmarked(text: str) -> str:
    return _MARKS.sub("", text).removeprefix("Correction: ")


MAX_ENDED = 3
"""*Chosen*: facts whose place one statement takes beside the first, each a row of its transaction."""


def _relations(fact: Recognised, shown: Sequence[_Shown]) -> tuple[Relation, str | None, tuple[str, ...]]:
    """Return the relation of a fact to the shown ones, and the facts that it replaces: a divorce or a leave ends both
    of two facts of one marriage or one job."""
    relation, target = _relation(fact, shown)
    if relation not in ("updates", "contradicts"):
        return relation, target, ()
    also = (one.id for one in shown if one.id != target and _relation(fact, [one])[0] in ("updates", "contradicts"))
    return relation, target, tuple(also)[:MAX_ENDED]


def _relation(fact: Recognised, shown: Sequence[_Shown]) -> tuple[Relation, str | None]:
    """Find the shown fact that a fact updates, denies or repeats. ``shown``: the newest first, so that where two fill
    one slot it is the newer one that is updated."""
    corrected = _corrected_one(fact.text, shown)
    if corrected is not None:
        return "updates", corrected.id
    stance = stance_of(fact.says)
    for old in shown:
        if old.stance.opposes(stance):
            return "contradicts", old.id
    for old in shown:
        if old.fact and not set(fact.slots).isdisjoint(old.fact.slots):
            if adds_nothing(content_of(fact.says), content_of(old.says)) and may_be_the_same(fact.says, old.says):
                return "reinforces", old.id
            passes = fact.until is not None and not adds_nothing(content_of(old.says), content_of(fact.says))
            if fact.updates and not passes:  # what holds for a while ends nothing that lasts
                return "updates", old.id
    for old in shown:
        if old.id and old.fact and old.fact.slots and ends(fact.says, old.fact.slots, old.says):
            return "updates", old.id
    return "new", None


def _proposed(
    fact: Recognised,
    relation: Relation,
    target: str | None,
    seqs: tuple[int | None, int | None],
    also: tuple[str, ...] = (),
) -> ProposedFact:
    said = (fact.text, fact.category, fact.importance)
    return ProposedFact(*said, "user_stated", relation, target, *seqs, also, fact.until, keeps_words=True)
