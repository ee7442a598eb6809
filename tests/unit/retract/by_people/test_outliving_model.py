"""Which corrected memories stay, against a model that looks at each event (docs/rules/retract.md#corrected)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, cast

from hypothesis import given
from hypothesis import strategies as st

from neve.domain.records.memories import Kind, Memory, Provenance, Status
from neve.domain.records.sessions import Event, EventType, SessionHead, Span
from neve.domain.retract.derived import Elsewhere, consequences
from neve.domain.sessions.spans import holds, joined
from neve.usecases.tell.memories.by_people.outliving import Outliving
from tests.unit.domain_rows import memory

SESSION = "s1"
SPANS = st.lists(st.tuples(st.integers(1, 12), st.integers(0, 4)).map(lambda t: (t[0], t[0] + t[1])), max_size=3)


@dataclass
class OfEvents(Outliving):
    """``kinds`` by seq; one that is not there was removed."""

    kinds: Any = None

    def _log(self, part: Span) -> Iterator[Event]:
        known = ((seq, self.kinds.get(seq)) for seq in range(part[0], part[1] + 1))
        return (Event(seq, kind, "", 0, "") for seq, kind in known if kind is not None)


@given(
    st.dictionaries(st.integers(1, 16), st.sampled_from(list(EventType))),
    SPANS,
    SPANS,
    st.tuples(st.integers(1, 12), st.integers(0, 4)),
    SPANS,
)
def test_a_correction_stays_where_nothing_of_the_user_is_taken_back(
    kinds: dict[int, EventType], edited: list[Span], deleted: list[Span], place: Span, left_out: list[Span]
) -> None:
    own = (place[0], place[0] + place[1])
    erased, retracted = joined(deleted), joined([*edited, *deleted])
    left = tuple((max(first, own[0]), min(last, own[1])) for first, last in joined(left_out))
    origin = Provenance("human_edit", SESSION, *own, left_out=tuple(one for one in left if one[0] <= one[1]))
    corrected = _row(origin)
    session = SessionHead(SESSION, "open", "", retracted=retracted, erased=erased)
    found = OfEvents(cast(Any, SimpleNamespace(session=SESSION)), session, kinds=kinds).of([corrected])

    seqs = {seq for seq in range(own[0], own[1] + 1) if not holds(origin.left_out, seq)}
    gone = {seq for seq in seqs if holds(retracted, seq)}
    theirs = {seq for seq in gone if kinds.get(seq, EventType.USER_MESSAGE) is EventType.USER_MESSAGE}
    stays = bool(gone) and gone != seqs and not theirs and not any(holds(erased, seq) for seq in gone)
    assert (corrected.id in found) == stays

    outcome = consequences([corrected], SESSION, retracted, 1, Elsewhere(outliving=found))
    assert bool(outcome.leave) == (bool(gone) and not stays)
    assert outcome.touched.isdisjoint(found)


def _row(origin: Provenance) -> Memory:
    return memory("mem_1", kind=Kind.OBSERVATION, status=Status.ACTIVE, provenance=origin, person_at="2026-03-10")
