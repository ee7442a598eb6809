"""Lists of spans, against sets of seqs."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from neve.domain.records.sessions import Event, EventType, Span, Spans
from neve.domain.sessions.spans import blanked, common, holds, joined, meets, without

SPAN = st.tuples(st.integers(1, 40), st.integers(0, 9)).map(lambda t: (t[0], t[0] + t[1]))
SPANS = st.lists(SPAN, max_size=8)


def seqs(spans: list[Span] | Spans) -> set[int]:
    return {seq for first, last in spans for seq in range(first, last + 1)}


@given(SPANS)
def test_joined_spans_hold_the_same_seqs_ascending_and_apart(spans: list[Span]) -> None:
    merged = joined(spans)
    assert seqs(merged) == seqs(spans)
    assert all(first <= last for first, last in merged)
    assert all(before[1] + 1 < after[0] for before, after in pairwise(merged))
    assert joined(reversed(merged)) == merged


@given(SPANS, st.lists(SPAN, max_size=4))
def test_the_order_of_retractions_does_not_matter(spans: list[Span], more: list[Span]) -> None:
    assert joined((*joined(spans), *more)) == joined((*joined(more), *spans))


@given(SPAN, SPANS)
def test_without_and_common_part_a_span(within: Span, spans: list[Span]) -> None:
    merged = joined(spans)
    outside, inside = tuple(without(within, merged)), common([within], merged)
    assert seqs(outside) == seqs([within]) - seqs(spans)
    assert seqs(inside) == seqs([within]) & seqs(spans)
    assert joined((*outside, *inside)) == (within,)
    assert meets(merged, within) == bool(inside)


@given(SPANS, st.integers(1, 60))
def test_holds(spans: list[Span], seq: int) -> None:
    assert holds(joined(spans), seq) == (seq in seqs(spans))


def test_a_blanked_event_keeps_its_place_and_says_nothing() -> None:
    events = [Event(seq, EventType.USER_MESSAGE, f"word {seq}", 5, "2026-03-10T09:30:00.000Z") for seq in (1, 2, 3)]
    shown = blanked(events, [(2, 2)])
    assert [event.seq for event in shown] == [1, 2, 3]
    assert [event.content for event in shown] == ["word 1", "", "word 3"]
    assert shown[1].original_tokens == 0
