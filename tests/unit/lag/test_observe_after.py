"""When a pass runs (docs/rules/observe.md#when): after so many tokens, a silence, or before another session asks."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from neve.domain.languages import ANY_LANGUAGE, ENGLISH
from neve.domain.observe.due import pass_due
from neve.domain.records.sessions import EventType, Participant, SessionHead
from neve.domain.tenants.observe_after import IDLE_S, MODEL_TOKENS, ObserveAfter, PassesAfter, passes_after
from neve.domain.tenants.policy import Policy
from neve.domain.times import iso
from neve.ports.queue import QueueName
from neve.store import rows
from neve.store.keys import tenant_row
from neve.store.stream_records import Change
from neve.store.tenants.tenant_rows import TenantRow, put_tenant, read_tenant
from neve.usecases.tell.sessions.append_events import NewEvent, append_events
from neve.usecases.work.background.dispatch_changes import dispatch_changes
from neve.usecases.work.background.sweep_due import sweep_due
from neve.usecases.work.observe.observe_session import observe_session
from tests.unit.world import World

WORDS_OF_500 = "word " * 400
"""500 tokens by the estimate."""


def said(world: World, words: str = "I live in Lisbon.", session: str = "s1") -> str:
    """What the append of one turn answers of its observation."""
    return world.say(words, "Noted.", session=session).observation


def under(world: World, after: ObserveAfter | None) -> None:
    """The policy, as a process knows it and as its row says it to the sweep."""
    world.tenant = replace(world.tenant, policy=Policy() if after is None else Policy(observe_after=after))
    item = world.table.get(tenant_row("acme"))
    row = read_tenant(item) if item else TenantRow("acme", iso(world.clock.now()))
    world.table.write([put_tenant(replace(row, policy=world.tenant.policy))])
    world.forget()


def asked(world: World, queue: QueueName = QueueName.EXTRACT) -> list[tuple[str, int]]:
    """The passes that were asked for since the last call: which session, up to which event."""
    sent = [(m.body["session"], m.body["last_seq"]) for name, m in world.queue.sent if name is queue]
    world.queue.sent.clear()
    return sent


def dispatched(world: World, *sessions: str, since: int = 0) -> list[tuple[str, int]]:
    """What the outbox asks for when it hears of the events of these sessions behind ``since``."""
    for session in sessions:
        log = world.user().of_session(session).keys
        found = world.table.query(log.log, between=log.events(since + 1), limit=100)
        dispatch_changes(world, [Change("", None, item) for item in found.items])
    return asked(world)


@pytest.fixture
def world(world: World) -> World:
    under(world, None)
    return world


# --- the policy ---------------------------------------------------------------------------------


def test_rules_observe_every_turn_and_a_model_what_is_worth_a_question() -> None:
    assert passes_after(None, (ENGLISH,)) == PassesAfter(0, IDLE_S)
    assert passes_after(None, (ANY_LANGUAGE,)) == PassesAfter(MODEL_TOKENS, IDLE_S)
    assert passes_after(ObserveAfter(idle_s=60), (ANY_LANGUAGE,)) == PassesAfter(MODEL_TOKENS, 60)
    assert passes_after(ObserveAfter(tokens=0), (ANY_LANGUAGE,)) == PassesAfter(0, IDLE_S)
    assert passes_after(ObserveAfter(tokens=500), (ENGLISH,)) == PassesAfter(500, IDLE_S)


@pytest.mark.parametrize(
    ("after", "field", "cure"),
    [
        (ObserveAfter(tokens=35_001), "observe_after.tokens", "at most observer_transcript_cap = 35000"),
        (ObserveAfter(idle_s=59), "observe_after.idle_s", "from 60 to 3600"),
        (ObserveAfter(idle_s=3_601), "observe_after.idle_s", "tokens = 0 observes after every turn"),
    ],
)
def test_what_does_not_fit_is_named_with_what_would(after: ObserveAfter, field: str, cure: str) -> None:
    [problem] = Policy(observe_after=after).problems()
    assert problem.field == field
    assert cure in problem.message


# --- tokens -------------------------------------------------------------------------------------


def test_turns_wait_until_there_are_tokens_enough_for_a_pass(world: World) -> None:
    assert [said(world, WORDS_OF_500) for _ in range(4)] == ["waiting", "waiting", "waiting", "queued"]
    assert dispatched(world, "s1") == [("s1", 8)]
    assert said(world, WORDS_OF_500) == "waiting", "the count begins anew"
    assert dispatched(world, "s1", since=8) == []


def test_half_a_turn_neither_asks_nor_waits_for_itself(world: World) -> None:
    assert world.say(WORDS_OF_500 * 5).observation == "none"
    assert append_events(
        world.user().of_session("s1"), [NewEvent(EventType.ASSISTANT_RESPONSE, "Noted.")]
    ).observation == ("queued")


def test_no_tokens_is_after_every_turn(world: World) -> None:
    under(world, ObserveAfter(tokens=0))
    assert [said(world), said(world)] == ["queued", "queued"]
    assert dispatched(world, "s1") == [("s1", 4)]


def test_what_somebody_observed_by_hand_does_not_count_for_the_next_pass(world: World) -> None:
    for _ in range(3):
        said(world, WORDS_OF_500)
    scope = world.user().of_session("s1")
    observe_session(scope, 1)
    item = world.table.get(scope.keys.session_head)
    assert item is not None
    world.table.write([rows.put_session(scope.keys, replace(rows.read_session(item), behind=()))])
    assert said(world, WORDS_OF_500) == "waiting"


def test_what_is_shared_with_others_does_not_wait(world: World) -> None:
    world.open(session="s2", participants=(Participant("ben", "Ben", "ben", share=True),))
    assert said(world, session="s2") == "queued"


def test_a_repeat_asks_for_nothing(world: World) -> None:
    under(world, ObserveAfter(tokens=0))
    scope = world.user().of_session("s1")
    turn = [NewEvent(EventType.USER_MESSAGE, "Hello.", client_id="a"), NewEvent(EventType.ASSISTANT_RESPONSE, "Hi.")]
    assert append_events(scope, turn).observation == "queued"
    assert append_events(scope, turn[:1]).observation == "none"


# --- silence ------------------------------------------------------------------------------------


def test_a_session_that_fell_silent_is_observed_by_the_sweep(world: World) -> None:
    said(world)
    world.clock.move(seconds=IDLE_S - 1)
    assert sweep_due(world)["silent"] == 0 and asked(world) == []
    world.clock.move(seconds=1)
    swept = sweep_due(world)
    assert (swept["silent"], swept["passes"]) == (1, 0), "nothing was lost"
    assert asked(world) == [("s1", 2)]
    observe_session(world.user().of_session("s1"), 1)
    world.clock.move(seconds=IDLE_S)
    assert sweep_due(world)["silent"] == 0 and asked(world) == []


def test_a_session_that_goes_on_is_not_silent(world: World) -> None:
    for _ in range(4):
        said(world)
        world.clock.move(seconds=IDLE_S // 2)
    assert sweep_due(world)["silent"] == 0


def test_a_tenant_may_wait_for_a_shorter_silence(world: World) -> None:
    under(world, ObserveAfter(idle_s=60))
    said(world)
    world.clock.move(seconds=60)
    assert sweep_due(world)["silent"] == 1


def test_a_pass_whose_message_was_lost_is_told_as_lost(world: World) -> None:
    under(world, ObserveAfter(tokens=0))
    said(world)
    world.clock.move(minutes=9)
    assert sweep_due(world)["passes"] == 0
    world.clock.move(minutes=1)
    swept = sweep_due(world)
    assert (swept["silent"], swept["passes"]) == (0, 1)


START = datetime(2026, 6, 1, tzinfo=UTC)


def head(asked_to: int | None, asked_at: datetime = START) -> SessionHead:
    pass_asked = None if asked_to is None else (asked_to, int(asked_at.timestamp()))
    return SessionHead(
        "s1", "open", iso(START), last_event_at=iso(START), last_seq=4, complete_seq=4, pass_asked=pass_asked
    )


def test_what_was_asked_for_a_moment_ago_is_on_its_way_however_long_it_had_waited() -> None:
    late = START + timedelta(hours=1)
    assert pass_due(head(4, late - timedelta(minutes=1)), 0, 600, late) is None
    assert pass_due(head(4, late - timedelta(minutes=10)), 0, 600, late) == "lost"
    assert pass_due(head(2), 2, 600, late) == "silent"
    assert pass_due(head(None), 4, 600, late) is None


# --- another session ----------------------------------------------------------------------------


def test_a_session_that_is_opened_asks_for_what_waits_in_all_others(world: World) -> None:
    names = [f"w{n}" for n in range(5)]
    for name in names:
        world.open(session=name)
        said(world, session=name)
        observe = asked(world, QueueName.COMPACT)
        assert observe == [] or observe[-1][0] != name
    world.open(session="next")
    assert sorted(asked(world, QueueName.COMPACT)) == [(name, 2) for name in names]


def test_the_outbox_asks_for_them_whatever_call_opened_it(world: World) -> None:
    said(world)
    new = world.user().of_session("s2").keys
    item = rows.put_session(new, SessionHead("s2", "open", iso(world.clock.now()))).item
    dispatch_changes(world, [Change("", None, dict(item))])
    assert asked(world, QueueName.COMPACT) == [("s1", 2)]
    observe_session(world.user().of_session("s1"), 1)
    dispatch_changes(world, [Change("", None, dict(item))])
    assert asked(world, QueueName.COMPACT) == []
