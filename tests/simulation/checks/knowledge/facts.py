"""Facts: one row for one statement, and one successor for each that is corrected."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from neve.domain.memories.unheld import is_unheld
from neve.domain.memories.visibility import status_at, visible
from neve.domain.records.memories import Kind, Memory
from neve.domain.same.meaning import place_of
from neve.ports.table import Item
from neve.store import rows
from neve.store.keys import MEMORY, is_unheld_key
from neve.usecases.tell.memories.fact_place import place_key
from tests.simulation.checks.memories import memories_of
from tests.simulation.checks.replay import Found, row, transactions
from tests.simulation.clients.history import DISLIKING

if TYPE_CHECKING:
    from tests.simulation.run import Run

_HOLDING = ("active", "inbox")


def no_two_facts_say_the_same(run: Run) -> Found:
    """At no time do two facts of a user that readers see, and that are active or in the inbox, say the same. One that a
    replacement takes away counts no more, also where its worker died and another one is to take it away."""
    holders: dict[tuple[str, str], dict[str, int]] = defaultdict(dict)
    gens: dict[str, int] = defaultdict(int)
    leaving: set[str] = set()
    for written in transactions(run):
        touched = set()
        for one in written:
            if one.new is not None and one.new["type"] == "user" and one.new["gen"] != gens[one.key.pk]:
                gens[one.key.pk] = one.new["gen"]
                touched |= {place for place in holders if place[0] == one.key.pk}
            if one.new is not None and "died_gen" in one.new:
                leaving.add(str(one.new["id"]))
            for item, holds in ((one.old, False), (one.new, True)):
                place = _place(item)
                if place and item:
                    if holds:
                        holders[place][str(item["id"])] = item["born_gen"]
                    else:
                        holders[place].pop(str(item["id"]), None)
                    touched.add(place)
        for place in touched:
            seen = sorted(i for i, born in holders[place].items() if born <= gens[place[0]] and i not in leaving)
            if len(seen) > 1:
                yield f"{seen} of {place[0]} say the same"


def what_is_stated_is_kept_as_it_was_meant(run: Run) -> Found:
    """A caller is answered with a fact that likes what they like, and dislikes what they dislike."""
    for did in run.history.of("fact"):
        if did.ok and (DISLIKING in did.given.casefold()) != (DISLIKING in did.value.text.casefold()):
            yield f"{did.given!r} was kept as {did.value.text!r}"


def a_fact_is_in_its_place(run: Run) -> Found:
    """When calm: what is said again is counted on it."""
    for keys in run.history.users():
        gen = rows.read_head(row(run, keys, "head")).gen
        for memory in memories_of(run, keys):
            shown = visible(memory.born_gen, memory.died_gen, gen) and status_at(memory, gen) in _HOLDING
            if memory.kind is not Kind.FACT or not shown:
                continue
            place = run.cloud.table.rows.get(place_key(keys, memory.text))
            if place is None or place["memory_id"] != memory.id:
                yield f"{memory.id}: its place names {place and place['memory_id']}"


def _place(row: Item | None) -> tuple[str, str] | None:
    fact = row is not None and row["type"] == "memory" and row["kind"] == "fact" and row["status"] in _HOLDING
    return (str(row["pk"]), place_of(str(row["text"]))) if row and fact and "died_gen" not in row else None


def what_evolved_has_one_successor(run: Run) -> Found:
    """A row names what took its place, which was written in the same transaction and names it, too; and of the calls
    that evolve one memory one is told that it did."""
    taken: dict[tuple[str, str], str] = {}
    for written in transactions(run):
        new_rows = {
            str(one.new["id"]): one.new for one in written if one.new is not None and one.key.sk.startswith(MEMORY)
        }
        evolved: set[str] = set()
        for one in written:
            if not _superseded_now(one.old, one.new):
                continue
            assert one.new is not None
            evolved.add(str(one.new["id"]))
            new = new_rows.get(str(one.new.get("superseded_by")))
            if new is None or one.new["id"] not in new.get("supersedes", ()):
                yield f"{one.new['id']} does not name what took its place"
        for new in (one for one in new_rows.values() if one["kind"] != "reflection"):
            for old in sorted(evolved.intersection(new.get("supersedes", ()))):  # replacements supersede later
                if taken.setdefault((str(new["pk"]), str(old)), str(new["id"])) != new["id"]:
                    yield f"{old} has two successors"
    succeeded: set[str] = set()
    for did in run.history.of("evolve"):
        if did.ok and did.given[0] in succeeded:
            yield f"{did.given[0]} evolved twice"
        succeeded |= {did.given[0]} if did.ok else set()


def _superseded_now(old: Item | None, new: Item | None) -> bool:
    """By a statement; a replacement has its own rule."""
    now = new is not None and new["type"] == "memory" and new["status"] == "superseded" and "died_gen" not in new
    return now and old is not None and old["status"] != "superseded"


def builds_and_recalls_find_what_does_not_hold(run: Run) -> Found:
    """When calm: what was superseded or rejected, or waits, is where they look, and the user's row says that there is
    something, unless all of it was taken back: nobody reads what was, nor the messages that it stood in."""
    for keys in run.history.users():
        unheld = [memory.id for memory in memories_of(run, keys) if is_unheld(memory)]
        told = {str(item["id"]) for item in run.cloud.table.rows.values() if is_unheld_key(item.get("recent_sk", ""))}
        if lost := [one for one in unheld if one not in told]:
            yield f"{lost} do not hold, and nobody finds them"
        left = [one.id for one in memories_of(run, keys) if is_unheld(one) and not _taken_back(one)]
        if left and not rows.read_head(row(run, keys, "head")).unheld:
            yield f"{left} do not hold, and the row of {keys.user} does not say so"


def _taken_back(memory: Memory) -> bool:
    """What a person said in the same words besides stands as a copy, which is named as what holds instead."""
    return (memory.superseded_reason or "").startswith("taken back")


INVARIANTS = (
    no_two_facts_say_the_same,
    what_is_stated_is_kept_as_it_was_meant,
    a_fact_is_in_its_place,
    what_evolved_has_one_successor,
    builds_and_recalls_find_what_does_not_hold,
)
