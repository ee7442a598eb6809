"""Neutral events: kept and given back, and no part of what was said."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from neve.domain.compile.history import answered_to, units_of
from neve.domain.indexing.utterances import utterance_of
from neve.domain.records.sessions import Event, EventType
from neve.domain.sessions.rendered_blocks import shown_event, strip_event
from neve.domain.sessions.transcript import completed_to, completes_turn, event_text, last_of_turn
from neve.domain.tails.told import told_of
from neve.usecases.ask.sessions.list_events import list_events
from neve.usecases.tell.sessions.append_events import NewEvent, append_events
from tests.unit.compile.logs import drawn_logs
from tests.unit.world import World

KINDS = [kind for kind in EventType if kind is not EventType.NEUTRAL]


def neutral(seq: int) -> Event:
    return Event(
        seq, EventType.NEUTRAL, "My name is Ada.", 0, "2026-03-10T09:30:00.000Z", event_data={"part": {"a": 1}}
    )


def test_it_is_given_back_as_it_was_and_counts_nothing(world: World) -> None:
    scope = world.user("ann").of_session("s1")
    sent = NewEvent(EventType.NEUTRAL, "My name is Ada.", event_data={"part": {"type": "file"}})
    assert append_events(scope, [sent]).observation == "none"
    (event,) = list_events(scope, 1, 200).events
    assert (event.content, event.event_data, event.original_tokens) == (sent.content, sent.event_data, 0)


def test_nobody_reads_it() -> None:
    event = neutral(1)
    assert (strip_event(event), shown_event(event), utterance_of("s1", event)) == (None, None, None)
    assert event_text(event) == ""
    assert told_of("s1", [event], None, "UTC") == []


@given(st.lists(st.sampled_from(KINDS)), st.data())
def test_a_turn_neither_begins_nor_ends_with_it(kinds: list[EventType], data: st.DataObject) -> None:
    mixed = list(kinds)
    for _ in range(data.draw(st.integers(1, 3))):
        mixed.insert(data.draw(st.integers(0, len(mixed))), EventType.NEUTRAL)
    for before in (None, *KINDS):
        assert completes_turn(mixed, before) == completes_turn(kinds, before)
        assert last_of_turn(mixed, before) == last_of_turn(kinds, before)
    assert (completed_to(0, list(enumerate(mixed, 1))) > 0) == (completed_to(0, list(enumerate(kinds, 1))) > 0) or (
        mixed[0] is EventType.NEUTRAL
    )


@given(drawn_logs(), st.data())
def test_a_history_is_parted_as_if_it_were_not_there(events: list[Event], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(events)))
    mixed = [*events[:place], neutral(10_000), *events[place:]]
    at, beside = answered_to(events, None), answered_to(mixed, None)
    assert [e.seq for e in mixed[beside:] if e.seq != 10_000] == [e.seq for e in events[at:]]
    assert sum(unit.tokens for unit in units_of(mixed)) == sum(unit.tokens for unit in units_of(events))
