"""The worker of the night: batch by batch, each once, whatever happens to it and beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from neve import observability
from neve.correlation import FIELD
from neve.domain.jobs.time_limits import LEASE_S, SPARE_S
from neve.domain.records.memories import Kind, Priority, Scope, Status
from neve.domain.reflect.night_limits import ENDS_WITHIN
from neve.observing import Condensed, CondensedRow
from neve.ports.errors import ContentRefused, ModelRefused, ModelUnavailable
from neve.ports.queue import QueueName
from neve.usecases.ask.memories.list_memories import get_memory
from neve.usecases.ask.pack.read_pack import read_pack
from neve.usecases.ask.sessions.read_sessions import get_session
from neve.usecases.ask.tenants.tenant_usage import tenant_usage
from neve.usecases.core.memories.replace_rows import Replacement, _begin
from neve.usecases.tell.memories.create_memory import NewMemory, create_memory
from neve.usecases.tell.memories.delete_memory import delete_memory
from neve.usecases.tell.memories.mark_used import mark_used
from neve.usecases.tell.memories.update_memory import MemoryChange, update_memory
from neve.usecases.work.background.sweep_due import sweep_due
from neve.usecases.work.reflect.request_reflection import plan_reflection, request_reflection
from tests.unit.reflect.night_world import Context, NightWorld


@pytest.fixture
def world(tmp_path: Path) -> Iterator[NightWorld]:
    world = NightWorld.opened(tmp_path)
    yield world
    world.table.close()


def asked(world: NightWorld, user: str | None = "ann", **given: Any) -> str:
    return request_reflection(world.scope, user, given.get("min_age_days")).id


def test_each_batch_becomes_its_own_rows(world: NightWorld) -> None:
    sources = world.fill(8)
    job_id = asked(world)
    world.work()
    assert [len(given.groups) for given in world.observer.condensed] == [6, 2]
    assert [given.target_tokens for given in world.observer.condensed] == [300, 100]
    first, second = world.reflections()
    assert (first.kind, first.scope, first.session_id, first.priority) == (
        Kind.REFLECTION,
        Scope.GLOBAL,
        None,
        Priority.HIGH,
    )
    assert first.tags == ("observational-memory", "reflection", "global-prune")
    assert first.supersedes == tuple(sources[:6])
    assert second.supersedes == tuple(sources[6:])
    for memory_id in sources[:6]:
        old = get_memory(world.user(), memory_id)
        assert (old.status, old.superseded_by) == (Status.SUPERSEDED, first.id)
    job = world.job(job_id)
    expected = {"batches": 2, "replaced": 8, "written": 2}
    unused = ("kept", "refused", "changed", "reflection_left_out", "reflection_cut", "reflection_over_target")
    nothing = dict.fromkeys(unused, 0)
    assert (job.status, job.result) == ("done", expected | nothing)
    assert world.due_users() == []


def test_a_second_run_finds_nothing(world: NightWorld) -> None:
    world.fill(8)
    asked(world)
    world.work()
    before = world.active()
    again = asked(world)
    world.work()
    assert world.active() == before
    assert world.job(again).result["reason"] == "no row is old enough"


def test_what_is_preserved(world: NightWorld) -> None:
    world.open()
    remaining = [
        world.remember("young", 1),
        world.remember("manual", 90, kind=Kind.MANUAL),
        world.remember("note", 90, kind=Kind.NOTE),
        world.remember("fact", 90, kind=Kind.FACT),
        world.remember("condensed", 90, kind=Kind.REFLECTION, scope=Scope.GLOBAL),
        world.remember("done", 90, status=Status.RESOLVED),
    ]
    taken = [world.remember("old", 5, session_id="s1"), world.remember("exactly", 3)]
    folded = world.remember("folded", 4, kind=Kind.REFLECTION, session_id="s1", scope=Scope.SESSION)
    plan = plan_reflection(world.scope, "ann", None)
    assert plan.eligible == [taken[0], folded, taken[1]]
    asked(world)
    world.work()
    assert {m.id for m in world.memories() if m.status is not Status.SUPERSEDED} >= set(remaining)
    assert {m.id for m in world.memories() if m.status is Status.SUPERSEDED} == {*taken, folded}


def test_sessions_mix_and_their_live_lists_follow(world: NightWorld) -> None:
    world.open(session="s1")
    world.open(session="s2")
    one = world.remember("one", 9, session_id="s1")
    two = world.remember("two", 8, session_id="s2")
    young = world.remember("young", 1, session_id="s2")
    packs = {s: read_pack(world.user().of_session(s)) for s in ("s1", "s2")}
    asked(world)
    world.work()
    [made] = world.reflections()
    assert made.supersedes == (one, two)
    assert (made.provenance.session_id, made.provenance.seq_from) == (None, None)
    assert [row.id for row in marker(world, "s1").live] == []
    assert [row.id for row in marker(world, "s2").live] == [young]
    for session, before in packs.items():
        after = read_pack(world.user().of_session(session))
        assert (after.sha256, after.manifest) == (before.sha256, before.manifest), "a frozen pack stays"


def marker(world: NightWorld, session: str) -> Any:
    return get_session(world.user().of_session(session)).marker


def test_an_answer_without_rows_leaves_its_batch(world: NightWorld) -> None:
    sources = world.fill(8)
    world.observer.condensations = [Condensed((), "scripted"), Condensed((CondensedRow("🔴 the rest"),), "scripted")]
    job_id = asked(world)
    world.work()
    assert [m.id for m in world.active() if m.kind is Kind.OBSERVATION] == sources[:6]
    assert [m.supersedes for m in world.reflections()] == [tuple(sources[6:])]
    assert (world.job(job_id).result["kept"], world.job(job_id).result["replaced"]) == (6, 2)


def test_the_caps_of_an_answer(world: NightWorld) -> None:
    """Half of the batch's tokens, each row its share of them."""
    world.fill(6)
    long = tuple(CondensedRow("🔴 " + "y" * 2_000) for _ in range(5))
    world.observer.condensations = [Condensed(long, "scripted")]
    asked(world)
    world.work()
    assert [m.tokens for m in world.reflections()] == [120, 120]


@pytest.fixture
def heard(monkeypatch: pytest.MonkeyPatch) -> list[tuple[object, ...]]:
    """What is logged and measured of rows that had no room."""
    reported: list[tuple[object, ...]] = []

    def measured(function: str, values: Mapping[str, float]) -> None:
        reported.append((function, {name: n for name, n in values.items() if name.startswith("Reflection")}))

    monkeypatch.setattr(observability, "reflection_left_out", lambda *arguments: reported.append(arguments))
    monkeypatch.setattr(observability, "emit_metrics", measured)
    return reported


TOO_MUCH = Condensed(tuple(CondensedRow("🔴 " + "y" * 2_000) for _ in range(5)), "scripted")
"""Of five rows two are kept of a batch of six rows of 100 tokens, each in part."""


def test_rows_that_have_no_room_are_told_batch_by_batch(world: NightWorld, heard: list[tuple[object, ...]]) -> None:
    world.fill(14)
    world.observer.condensations = [TOO_MUCH, Condensed((CondensedRow("🔴 short"),), "scripted"), TOO_MUCH]
    job_id = asked(world)
    world.work()
    result = world.job(job_id).result
    assert (result["written"], result["reflection_left_out"], result["reflection_cut"]) == (4, 10, 3)
    assert heard == [
        (QueueName.REFLECT, "m", 5, 2),
        (QueueName.REFLECT, "m", 5, 1),
        (QueueName.REFLECT, {"ReflectionRowsLeftOut": 10, "ReflectionRowsTruncated": 3}),
    ]


def test_lines_that_rules_had_no_room_for_are_told(world: NightWorld, heard: list[tuple[object, ...]]) -> None:
    world.fill(6)
    world.observer.condensations = [Condensed((CondensedRow("🔴 short"),), "extractive", left_out=7)]
    job_id = asked(world)
    world.work()
    result = world.job(job_id).result
    assert (result["written"], result["reflection_left_out"], result["reflection_cut"]) == (1, 7, 0)
    assert heard == [(QueueName.REFLECT, "m", 7, 0), (QueueName.REFLECT, {"ReflectionRowsLeftOut": 7})]


def test_what_rules_keep_above_the_target_is_neither_dropped_nor_cut_and_is_told(world: NightWorld) -> None:
    world.fill(6)
    long = tuple(CondensedRow(f"🔴 {n} " + "y" * 2_000) for n in range(5))
    world.observer.condensations = [Condensed(long, "extractive", left_out=1, over_target=2_840)]
    job_id = asked(world)
    world.work()
    result = world.job(job_id).result
    assert {memory.text for memory in world.reflections()} == {row.text for row in long}
    assert (result["reflection_left_out"], result["reflection_cut"], result["reflection_over_target"]) == (1, 0, 2_840)


def test_what_a_worker_did_before_it_failed_is_told(world: NightWorld, heard: list[tuple[object, ...]]) -> None:
    world.fill(8)
    world.observer.condensations = [TOO_MUCH, ModelUnavailable("down")]
    asked(world)
    [message] = world.messages()
    assert not world.deliver(message)
    logged = [
        (QueueName.REFLECT, "m", 5, 2),
        (QueueName.REFLECT, {"ReflectionRowsLeftOut": 5, "ReflectionRowsTruncated": 2}),
    ]
    assert heard == logged
    world.clock.move(seconds=LEASE_S)
    assert world.deliver(message)
    assert heard == [*logged, (QueueName.REFLECT, {})], "once"
    assert world.job(message.body["job_id"]).result["reflection_left_out"] == 5


def test_rows_of_a_batch_that_is_not_replaced_are_not_left_out(
    world: NightWorld, heard: list[tuple[object, ...]]
) -> None:
    sources = world.fill(6)
    world.observer.condensations = [TOO_MUCH]

    def meanwhile() -> None:
        delete_memory(world.user(), sources[0], None)

    world.observer.meanwhile = meanwhile
    job_id = asked(world)
    world.work()
    assert heard == [(QueueName.REFLECT, {})]
    assert world.job(job_id).result["reflection_left_out"] == 0


def test_what_a_row_says_of_itself(world: NightWorld) -> None:
    sources = world.fill(3)
    rows = (
        CondensedRow("said low", (sources[0],), Priority.LOW, "2026-03-01"),
        CondensedRow("🔴 marked", (sources[1], "mem_other"), None, "1999-01-01"),
        CondensedRow("plain"),
    )
    world.observer.condensations = [Condensed(rows, "scripted")]
    world.with_policy(window=200_000)
    asked(world)
    world.work()
    low, marked, plain = sorted(world.reflections(), key=lambda m: m.id)
    assert [m.priority for m in (low, marked, plain)] == [Priority.LOW, Priority.HIGH, Priority.MEDIUM]
    assert [m.supersedes for m in (low, marked, plain)] == [(sources[0],), (sources[1],), tuple(sources)]
    assert marked.observed_date == get_memory(world.user(), sources[1]).observed_date, "no source is of 1999"


@pytest.mark.parametrize("named", [True, False])
def test_trust_is_the_lowest_of_what_was_read(world: NightWorld, named: bool) -> None:
    world.remember("user", 9)
    tool = world.remember("page", 8, trust="tool")
    world.observer.condensations = [
        Condensed((CondensedRow("🔴 of people", ("mem_user",) if named else ()),), "scripted"),
        Condensed((CondensedRow("🔴 of a page", (tool,) if named else ()),), "scripted"),
    ]
    asked(world)
    world.work()
    assert {m.text: m.provenance.trust for m in world.reflections()} == {
        "🔴 of people": "import",
        "🔴 of a page": "tool",
    }


# --- what happens meanwhile -----------------------------------------------------------------------


def test_the_last_use_of_what_a_night_makes_starts_at_the_latest_of_its_sources(world: NightWorld) -> None:
    sources = world.fill(4)
    latest = max(get_memory(world.user(), one).last_used_at for one in sources)
    asked(world)
    world.work()
    made = [memory for memory in world.active() if memory.kind is Kind.REFLECTION]
    assert made and {memory.last_used_at for memory in made} == {latest} and made[0].created_at > latest


def test_what_is_written_while_the_model_thinks_survives(world: NightWorld) -> None:
    sources = world.fill(4)
    other = world.remember("young", 1)
    made: list[str] = []

    def meanwhile() -> None:
        made.append(create_memory(world.user(), NewMemory("typed meanwhile")).id)
        mark_used(world.user(), [other, sources[0]])

    world.observer.meanwhile = meanwhile
    asked(world)
    world.work()
    active = {m.id: m for m in world.active()}
    assert {made[0], other} <= set(active)
    now = active[other].last_used_at
    assert active[other].last_used_at > active[other].created_at
    assert get_memory(world.user(), sources[0]).last_used_at == now
    assert get_memory(world.user(), sources[0]).status is Status.SUPERSEDED


@pytest.mark.parametrize("what", ["edited", "deleted", "resolved"])
def test_a_batch_that_a_person_changed_meanwhile_waits_for_the_next_run(world: NightWorld, what: str) -> None:
    sources = world.fill(4)

    def meanwhile() -> None:
        if what == "deleted":
            delete_memory(world.user(), sources[1], None)
        else:
            fields = {"text": "🟡 corrected"} if what == "edited" else {"status": Status.RESOLVED}
            update_memory(world.user(), sources[1], MemoryChange(fields), None)

    world.observer.meanwhile = meanwhile
    job_id = asked(world)
    world.work()
    assert world.reflections() == []
    assert (world.job(job_id).result["changed"], world.job(job_id).result["kept"]) == (4, 4)
    if what == "edited":
        assert get_memory(world.user(), sources[1]).text == "🟡 corrected"
    asked(world)
    world.work()
    assert len(world.reflections()) == 1


def test_a_change_between_the_first_step_and_the_stamp_undoes_the_replacement(world: NightWorld) -> None:
    sources = world.fill(4)
    asked(world)
    [message] = world.messages()
    step = iter(range(10_000))

    def meddle() -> None:
        if next(step) == 3:  # take up, begin, new rows: now the sources would be stamped
            update_memory(world.user(), sources[1], MemoryChange({"text": "🟡 corrected"}), None)
        else:
            world.table.before_write = meddle

    world.table.before_write = meddle
    assert world.deliver(message)
    assert world.reflections() == []
    assert {m.id for m in world.active()} == set(sources)
    assert all(m.died_gen is None for m in world.active())


# --- workers that end early -----------------------------------------------------------------------


def test_a_worker_stops_with_a_minute_to_spare_and_another_goes_on(world: NightWorld) -> None:
    sources = world.fill(14)
    world.observer.condensations = [Condensed((), "scripted")]
    job_id = asked(world)
    [message] = world.messages()
    assert world.deliver(message, Context(900.0, 900.0, SPARE_S - 1))
    assert len(world.observer.condensed) == 1, "one batch, which came to nothing"
    assert world.job(job_id).status == "running"
    [again] = world.messages()
    assert again.body == {**message.body, FIELD: "m"}, "it says what it was caused by"
    assert world.deliver(again)
    assert [len(given.groups) for given in world.observer.condensed] == [6, 6, 2], "the first is not asked about again"
    assert world.job(job_id).result["kept"] == 6
    assert [m.id for m in world.active() if m.kind is Kind.OBSERVATION] == sources[:6]


def test_two_workers_of_one_user_do_not_meet(world: NightWorld) -> None:
    world.fill(4)
    first, second = asked(world), asked(world)
    one, two = world.messages()
    world.observer.meanwhile = lambda: worked.append(world.deliver(two))
    worked: list[bool] = []
    assert world.deliver(one)
    assert worked == [True]
    assert len(world.observer.condensed) == 1
    sweep_due(world)
    world.work()
    assert world.job(first).result["replaced"] == 4
    assert world.job(second).result["reason"] == "no row is old enough"


def test_a_model_that_is_down_is_asked_again_when_the_lease_is_over(world: NightWorld) -> None:
    world.fill(8)
    job_id = asked(world)
    [message] = world.messages()
    world.observer.condensations = [ModelUnavailable("down")]
    assert not world.deliver(message)
    assert world.job(job_id).status == "running"
    assert world.model_is_down
    world.clock.move(seconds=LEASE_S)
    assert world.deliver(message)
    assert world.job(job_id).result["replaced"] == 8
    assert not world.model_is_down


def test_a_model_that_refuses_the_request_fails_the_job(world: NightWorld) -> None:
    sources = world.fill(8)
    job_id = asked(world)
    world.observer.condensations = [ModelRefused("the key")]
    world.work()
    job = world.job(job_id)
    assert (job.status, job.result["reason"]) == ("failed", "the language model refused the request: the key")
    assert [m.id for m in world.active()] == sources


def test_content_that_the_model_will_not_read_stays_and_the_others_go_on(world: NightWorld) -> None:
    sources = world.fill(8)
    world.observer.condensations = [ContentRefused("no")]
    job_id = asked(world)
    world.work()
    assert world.job(job_id).result["refused"] == 6
    assert [m.supersedes for m in world.reflections()] == [tuple(sources[6:])]


def test_what_it_cost_is_counted_with_the_batch(world: NightWorld) -> None:
    world.fill(8)
    usage = {"input": 100, "cache_read": 10, "output": 20}
    answer = Condensed((CondensedRow("🔴 short"),), "scripted", usage)
    world.observer.condensations = [answer, Condensed((), "scripted", usage)]
    asked(world)
    world.work()
    found = tenant_usage(world.scope).usage
    assert (found.model_calls, found.model_input_tokens, found.model_output_tokens) == (2, 220, 40)


def test_a_night_that_meets_another_replacement_waits_for_the_next_sweep(world: NightWorld) -> None:
    sources = world.fill(8)
    one = get_memory(world.user(), sources[0])
    _begin(world.user(), 1, Replacement((replace(one, id="mem_x", version=0),), (one,), "of a worker that dies"))
    job_id = asked(world)
    world.work()
    assert (world.job(job_id).status, world.reflections()) == ("running", [])
    world.clock.move(minutes=10)
    sweep_due(world)
    world.work()
    assert (world.job(job_id).status, world.job(job_id).result["replaced"]) == ("done", 8)


def test_round_trips_of_a_batch(world: NightWorld) -> None:
    """Of 6 rows without a session: what a run of one batch costs beyond one of none, with the outbox's write into the
    feed; the newest row there was asked for by the run before."""
    world.remember("young", 1)
    world.table.calls.clear()
    asked(world)
    world.work()
    nothing = dict(world.table.calls)
    world.fill(6)
    world.table.calls.clear()
    asked(world)
    world.work()
    counted = {name: n - nothing.get(name, 0) for name, n in world.table.calls.items()}
    assert counted == {"get": -1, "get_many": 7, "write": 7, "query": 0}


def test_of_a_user_who_does_not_exist_nothing_is_left(world: NightWorld) -> None:
    job_id = asked(world, "nobody")
    world.work()
    assert world.job(job_id).result == {"reason": "there is no such user"}
    assert world.due_users() == []


def test_a_job_that_does_not_end_in_time_has_failed_and_the_user_stays_due(world: NightWorld) -> None:
    world.fill(4)
    job_id, run = asked(world), asked(world, None)
    world.observer.condensations = [ModelUnavailable("down")] * 100
    for _ in range(3):
        for message in world.messages():
            world.deliver(message)
        sweep_due(world)
    world.clock.move(seconds=ENDS_WITHIN.total_seconds() + LEASE_S)
    sweep_due(world)
    world.work()
    assert (world.job(job_id).status, world.job(run).status, world.job(run).result["failed"]) == ("failed", "done", 1)
    assert "the next night goes on" in world.job(job_id).result["reason"]
    assert world.due_users() == ["ann"]
