"""Facts among the lines of a pass: what a rule can tell apart as one statement about the user, with its category
(docs/rules/observe.md#extractive). Where only one thing can be true at a time (a home, a name, a favourite colour), a
new statement updates the fact that was shown, and so does one that ends it; and a statement contradicts the shown fact
that it denies."""

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
from neve.observers.extractive.life.endings import ends, slots_left_empty
from neve.observers.extractive.life.forms import said_in, tells_of_a_change
from neve.observers.extractive.sameness import TEXT_CACHE_SIZE, adds_nothing, content_of
from neve.observers.extractive.sequels import what_it_corrects
from neve.observing import PriorMemory

_DIET = ": diet"
_DATED = re.compile(r"\(meaning \d{4}")
_MARKS = re.compile(r"^(?:🔴|🟡|🟢|✅)\s*")
_ASKED = " (asked to remember this)"


@dataclass(frozen=True, slots=True)
class Recognised:
    """``who``: whom it is about, where the form says it. ``slots``: what it fills, or says that nothing fills any more;
    ``updates``: whether it takes the place of what filled them."""

    text: str
    who: str | None
    category: Category
    importance: int
    slots: tuple[str, ...] = ()
    updates: bool = True


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
    shown = {row.id: _shown(row.id, row.text) for row in facts}
    found: dict[str, tuple[_Shown, ProposedFact]] = {}
    for line in lines:
        for text in _statements(line):
            of_pass = [one for one, _ in reversed(found.values())]
            fact = _of_statement(text, line, [*reversed(shown.values()), *of_pass])
            if fact is not None:
                relation, target, also = _relations(fact, list(reversed(shown.values())))
                for one in of_pass:
                    if one.text == fact.text or _relation(fact, [one])[0] in ("updates", "contradicts"):
                        del found[one.text]
                proposed = _proposed(fact, relation, target, (line.seq_from, line.seq_to), also)
                found[fact.text] = _Shown("", fact.text, stance_of(fact.text), fact), proposed
    new = [fact for _, fact in found.values()]
    settled = {i for fact in new for i in (fact.target_id, *fact.also)}
    again = ((i, shown[i].fact) for i in restated if i in shown and i not in settled)
    return [*new, *(_proposed(old, "reinforces", i, (None, None)) for i, old in again if old)]


def slot_of(text: str) -> str | None:
    """What a line of a memory fills of which only one can be true, and of whom: ``User: home``."""
    fact = _recognised(text, event=False)
    return fact.slots[0] if fact and fact.slots else None


def tells_who_one_is(text: str) -> bool:
    """Whether a line of a memory fills what only one can be true of, but for a diet: who is told of one wrongly is
    harmed less than who is served what they must not eat."""
    slot = slot_of(text)
    return slot is not None and not slot.endswith(_DIET)


def _shown(row_id: str, text: str) -> _Shown:
    fact, stance = _recognised(text, event=True), stance_of(text)
    if fact is None and stance.denied:
        fact = Recognised(text, None, "BIOGRAPHY", 4)
    if fact is None and (empty := slots_left_empty(text)):
        fact = Recognised(text, None, "BIOGRAPHY", 4, empty)
    return _Shown(row_id, text, stance, fact)


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
    """What denies or ends a fact that is known is one of its category, and says what there is in its place."""
    fact, stance = _recognised(text, event=line.mark == "✅"), stance_of(text)
    if fact and fact.who not in (None, line.speaker):
        return None
    if fact and fact.slots:
        return fact
    of = _corrected_one(text, known) if fact is None else None
    if of is None and stance.denied:
        of = next((one for one in known if stance.opposes(one.stance)), None)
    ended = next((one for one in known if one.fact and one.fact.slots and ends(text, one.fact.slots, one.text)), None)
    slots = ended.fact.slots if ended and ended.fact else ()
    of = of or ended
    if of is None:
        return fact
    category, importance = (of.fact.category, of.fact.importance) if of.fact else ("BIOGRAPHY", 4)
    return Recognised(without_excuse(text), None, category, importance, slots)


@lru_cache(maxsize=TEXT_CACHE_SIZE)
def _recognised(text: str, *, event: bool) -> Recognised | None:
    """``event``: it tells of something that happened."""
    asked = _ASKED in text
    bare = says = _unmarked(text).replace(_ASKED, "")
    while (old := what_it_corrects(says)) is not None:
        says = old
    if said := said_in(says):
        slots = () if stance_of(says).denied and not said.form.denies else said.slots
        importance = max(said.form.importance, 4 if asked else 1)
        updates = not said.form.many or tells_of_a_change(says)
        return Recognised(bare, said.who, said.form.category, importance, slots, updates)
    if event and _DATED.search(bare):
        return Recognised(bare, None, "EVENT", 3)
    return Recognised(bare, None, "BIOGRAPHY", 4) if asked else None


def _unmarked(text: str) -> str:
    return _MARKS.sub("", text).removeprefix("Correction: ")


MAX_ENDED = 3
"""*Chosen*: facts whose place one statement takes beside the first, each a row of its transaction."""


def _relations(fact: Recognised, shown: Sequence[_Shown]) -> tuple[Relation, str | None, tuple[str, ...]]:
    """Of two facts of one marriage or one job a divorce or a leave ends both."""
    relation, target = _relation(fact, shown)
    if relation not in ("updates", "contradicts"):
        return relation, target, ()
    also = (one.id for one in shown if one.id != target and _relation(fact, [one])[0] in ("updates", "contradicts"))
    return relation, target, tuple(also)[:MAX_ENDED]


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
        if old.fact and not set(fact.slots).isdisjoint(old.fact.slots):
            if adds_nothing(content_of(fact.text), content_of(old.text)):
                return "reinforces", old.id
            if fact.updates:
                return "updates", old.id
    for old in shown:
        if old.fact and old.fact.slots and ends(fact.text, old.fact.slots, old.text):
            return "updates", old.id
    return "new", None


def _proposed(
    fact: Recognised,
    relation: Relation,
    target: str | None,
    seqs: tuple[int | None, int | None],
    also: tuple[str, ...] = (),
) -> ProposedFact:
    return ProposedFact(fact.text, fact.category, fact.importance, "user_stated", relation, target, *seqs, also)
