"""E18 on rows: each report counts once, and what is shown of session, user, day and tenant adds up."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from neve.domain.errors import NeveError
from neve.domain.tenants.policy import Policy
from neve.domain.tenants.prices import ModelPrice
from neve.domain.tenants.prompt_cache import PromptTotals, ReportedUsage
from neve.domain.tenants.provider_usage import Tokens
from neve.ports.errors import Conflict, StoreUnavailable
from neve.ports.table import Key
from neve.store import rows
from neve.store.idempotency import IdempotencyKey
from neve.store.sessions.prompts import RETENTION
from neve.store.tenants.tenant_rows import TenantRow, put_tenant, read_tenant
from neve.usecases.ask.compile.command import CompileCommand
from neve.usecases.ask.compile.compile_context import compile_context
from neve.usecases.ask.pack.read_pack import read_pack
from neve.usecases.ask.sessions.read_sessions import get_session, list_sessions
from neve.usecases.ask.tenants.user_stats import user_stats
from neve.usecases.core.pack.purge_versions import purge_versions
from neve.usecases.tell.tenants.report_usage import NewReport, report_prompt, report_usage
from tests.unit.world import World

MODEL = "claude-opus-5-5"


@pytest.fixture
def world(world: World) -> World:
    read_pack(world.user().of_session("s1"))
    return world


def new(cache_read: int = 900, **more: Any) -> NewReport:
    given = {"model": MODEL, "pack_version": 1, "input": 50, "cache_write": 50, "output": 5, **more}
    return NewReport(cache_read=cache_read, **given)


def report(
    world: World, given: NewReport | None = None, *, key: str | None = None, user: str = "ann", session: str = "s1"
) -> ReportedUsage:
    idem = IdempotencyKey(f"POST /v1/users/{user}/usage", key, "b" * 64) if key else None
    return report_usage(world.user(user).of_session(session), given or new(), idem)


def totals(world: World, user: str = "ann", session: str = "s1") -> PromptTotals:
    prompts = get_session(world.user(user).of_session(session)).prompts
    assert prompts is not None
    return prompts.totals


# --- once ---------------------------------------------------------------------------------------


def test_without_a_key_every_call_counts(world: World) -> None:
    assert [report(world).session.reports for _ in range(3)] == [1, 2, 3]


def test_a_lost_answer_counts_once(world: World) -> None:
    world.table.lose_response = True
    assert report(world).session.reports == 1
    assert totals(world).reports == 1


def test_a_lost_answer_behind_another_report_counts_once(world: World) -> None:
    """The second writer comes between the write whose answer is lost and the look for it."""
    real = world.table.write
    lost: list[int] = []

    def write(ops: Any) -> None:
        real(ops)
        if not lost:
            lost.append(1)
            report(world, new(cache_read=7))
            raise Conflict

    world.table.write = write  # type: ignore[method-assign]
    assert report(world).report.cache_read == 900
    assert (totals(world).reports, totals(world).cache_read) == (2, 907)


def test_two_reports_at_the_same_time_both_count(world: World) -> None:
    world.open(session="s2")

    def meanwhile() -> None:
        report(world, new(cache_read=1, pack_version=0), session="s2")

    world.table.before_write = meanwhile
    report(world)
    assert user_stats(world.user()).prompts.cache_read == 901


def test_a_report_is_one_read_and_one_transaction(world: World) -> None:
    for version in (1, 1):
        world.table.calls.clear()
        report(world, new(pack_version=version), key="k")
        assert dict(world.table.calls) in ({"get_many": 1, "write": 1}, {"get_many": 1})


# --- what it may name ---------------------------------------------------------------------------


def refusal(world: World, given: NewReport, session: str = "s1") -> str:
    with pytest.raises(NeveError) as refused:
        report(world, given, session=session)
    return refused.value.code


def test_what_there_is_not(world: World) -> None:
    assert refusal(world, new(), "s9") == "session_not_found"
    assert refusal(world, new(pack_version=2)) == "pack_version_not_found"
    assert report(world, new(pack_version=0)).session.reports == 1
    assert totals(world).reports == 1


def test_a_prompt_with_a_pack_that_was_taken_away_since_is_counted(world: World) -> None:
    """It was paid for. That its words were deleted meanwhile is no mistake of the caller's."""
    purge_versions(world.user(), "s1", [1])
    assert report(world).session.reports == 1
    read_pack(world.user().of_session("s1"))
    changed = report(world, new(pack_version=2)).change
    assert changed is not None and (changed.pack_version, changed.trigger) == (2, "initial")
    again = report(world).change
    assert again is not None and (again.pack_version, again.trigger) == (1, None)
    assert refusal(world, new(pack_version=3)) == "pack_version_not_found"


def test_a_prompt_without_a_pack_behind_one_with_it_is_counted_and_read_again(world: World) -> None:
    report(world)
    without = report(world, new(cache_read=0, pack_version=0), key="k")
    assert without.change is not None and (without.change.pack_version, without.change.trigger) == (0, None)
    assert report(world, new(cache_read=0, pack_version=0), key="k") == without, "the first answer"
    assert report(world, new(pack_version=0)).session.reports == 3
    [listed] = list_sessions(world.user(), 10, None)[0]
    assert listed.prompts is not None and listed.prompts.changes == (without.change,)


def test_an_older_version_is_read_for_its_trigger(world: World) -> None:
    scope = world.user().of_session("s1")
    keys = scope.keys
    item = world.table.get(keys.epoch)
    assert item is not None
    epoch = rows.read_epoch(item)
    assert epoch.pack is not None
    newer = replace(epoch, pack=replace(epoch.pack, pack_version=2, trigger="reflection"))
    world.table.write([rows.put_epoch(keys, newer, world.clock.now())])
    report(world, new(pack_version=2))
    counted = report(world, new(cache_read=0, cache_write=950, pack_version=1))
    assert counted.change is not None and counted.change.trigger == "initial"
    assert counted.collapse is not None
    assert (counted.collapse.reason, counted.collapse.pack_version) == ("pack_changed", 1)


def test_a_compaction_in_between_is_the_reason(world: World) -> None:
    report(world)
    keys = world.user().of_session("s1").keys
    item = world.table.get(keys.epoch)
    assert item is not None
    world.table.write([rows.put_epoch(keys, replace(rows.read_epoch(item), epoch=1), world.clock.now())])
    counted = report(world, new(cache_read=0))
    assert counted.collapse is not None and counted.collapse.reason == "compacted"
    world.clock.move(minutes=6)
    later = report(world, new(cache_read=0))
    assert later.collapse is not None and later.collapse.reason == "ttl_expired"
    assert (later.session.compacted, later.session.ttl_expired) == (1, 1)


@pytest.mark.parametrize(("state", "code"), [("erasing", "erasing"), ("closed", "user_closed")])
def test_of_an_erased_user_nothing_is_counted(world: World, state: Any, code: str) -> None:
    keys = world.user().keys
    head = rows.read_head(world.table.get(keys.head))
    world.table.write([rows.put_head(keys, replace(head, state=state))])
    assert refusal(world, new()) == code


def test_a_store_that_is_down_is_not_a_count(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def down(_: object) -> None:
        raise StoreUnavailable("table", "down")

    with monkeypatch.context() as patched:
        patched.setattr(world.table, "write", down)
        with pytest.raises(StoreUnavailable):
            report(world, key="k1")
    assert report(world, key="k1").session.reports == 1


# --- sums ---------------------------------------------------------------------------------------


def test_the_list_of_sessions_shows_them_and_an_open_one_has_none(world: World) -> None:
    world.open(session="s2")
    report(world)
    views, _ = list_sessions(world.user(), 10, None)
    assert [view.prompts.totals.reports if view.prompts else None for view in views] == [1, None]


def test_the_price_is_the_policys_and_stays_as_it_was_when_it_changes(world: World) -> None:
    world.with_policy(prices={MODEL: ModelPrice(input=1, cache_read=0, cache_write=0, output=0)})
    assert report(world).report.cost == 50 * 1_000_000
    world.with_policy(prices={MODEL: ModelPrice(input=2, cache_read=0, cache_write=0, output=0)})
    assert report(world).session.cost == (50 + 100) * 1_000_000


def test_prices_survive_being_stored(world: World) -> None:
    policy = Policy.model_validate({"prices": {"m": {"input": 1, "cache_read": 0.1, "cache_write": 1, "output": 2}}})
    world.table.write([put_tenant(TenantRow("acme", "2026-03-10T09:30:00.000Z", policy))])
    item = world.table.get(Key("TENANTS", "acme"))
    assert item is not None
    assert read_tenant(item).policy.prices == policy.prices


# --- by the prompt's id -----------------------------------------------------------------------------

TOKENS = Tokens(50, 900, 50, 5)


def prompt_of(world: World, session: str = "s1") -> str:
    made = compile_context(world.user().of_session(session), CompileCommand("Hello.", retrieval="none"))
    assert made.prompt_id is not None
    return made.prompt_id


def test_a_prompt_is_counted_once_with_the_session_and_pack_that_it_had(world: World) -> None:
    first = prompt_of(world)
    made = report_prompt(world.user(), first, MODEL, TOKENS)
    assert report_prompt(world.user(), first, MODEL, replace(TOKENS, output=6)) == made
    assert (totals(world).reports, totals(world).output) == (1, 5)
    prompts = get_session(world.user().of_session("s1")).prompts
    assert prompts is not None and prompts.last is not None and prompts.last.pack_version == 1
    report_prompt(world.user(), prompt_of(world), MODEL, TOKENS)
    assert totals(world).reports == 2


def test_a_lost_answer_of_a_prompt_counts_once(world: World) -> None:
    prompt = prompt_of(world)
    world.table.lose_response = True
    first = report_prompt(world.user(), prompt, MODEL, TOKENS)
    assert report_prompt(world.user(), prompt, MODEL, TOKENS) == first
    assert totals(world).reports == 1


def test_what_stood_before_the_pack_is_known(world: World) -> None:
    report_prompt(world.user(), prompt_of(world), MODEL, TOKENS)
    command = CompileCommand("Hello.", retrieval="none", instructions=("Be brief.",))
    other = compile_context(world.user().of_session("s1"), command)
    report_prompt(world.user(), prompt_of(world), MODEL, TOKENS)
    made = report_prompt(world.user(), str(other.prompt_id), MODEL, replace(TOKENS, cache_read=0))
    assert made.collapse is not None and made.collapse.reason == "prefix_changed"


@pytest.mark.parametrize("asked", ["prm_nothing", "x"])
def test_a_prompt_that_is_not_there_is_not_found(world: World, asked: str) -> None:
    with pytest.raises(NeveError) as refused:
        report_prompt(world.user(), asked, MODEL, TOKENS)
    assert refused.value.code == "prompt_not_found"


def test_a_prompt_of_another_user_or_of_long_ago_is_not_found(world: World) -> None:
    prompt = prompt_of(world)
    with pytest.raises(NeveError, match="not found"):
        report_prompt(world.user("bob"), prompt, MODEL, TOKENS)
    world.clock.at += RETENTION
    with pytest.raises(NeveError, match="not found"):
        report_prompt(world.user(), prompt, MODEL, TOKENS)
