"""Parts of a log as lists of spans: ascending, apart, both ends included."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from neve.domain.records.sessions import Event, EventType, Span, Spans


def span_of(first: int | None, last: int | None) -> Span | None:
    """Make a span of two ends; None where either end is not known."""
    return (first, last) if first is not None and last is not None else None


def joined(spans: Iterable[Span]) -> Spans:
    """Join spans, ascending and apart: what meets or touches another is one with it."""
    apart: list[Span] = []
    for first, last in sorted(spans):
        if apart and first <= apart[-1][1] + 1:
            apart[-1] = (apart[-1][0], max(apart[-1][1], last))
        else:
            apart.append((first, last))
    return tuple(apart)


def without(within: Span, spans: Sequence[Span]) -> Iterator[Span]:
    """Cut ``spans``, which are joined, out of ``within`` and give the parts that are left; none of an empty span."""
    first, last = within
    for start, end in spans:
        if first > last:
            return
        if start > first:
            yield first, min(start - 1, last)
        first = max(first, end + 1)
    if first <= last:
        yield first, last


def holds(spans: Sequence[Span], seq: int) -> bool:
    return any(first <= seq <= last for first, last in spans)


def meets(spans: Sequence[Span], within: Span) -> bool:
    """Say whether a part of ``within`` is in one of ``spans``."""
    return any(first <= within[1] and last >= within[0] for first, last in spans)


def common(spans: Sequence[Span], others: Sequence[Span]) -> Spans:
    """Give what is in both lists of spans."""
    both = ((max(first, start), min(last, end)) for first, last in spans for start, end in others)
    return joined((first, last) for first, last in both if first <= last)


def blanked(events: Iterable[Event], spans: Sequence[Span]) -> list[Event]:
    """Give the same seqs, with an event that says nothing in place of each that is in ``spans``: for a caller that
    needs a log without gaps."""
    return [_blank(event) if holds(spans, event.seq) else event for event in events]


def _blank(event: Event) -> Event:
    return Event(event.seq, EventType.TASK_BOUNDARY, "", original_tokens=0, created_at=event.created_at)
