"""A compaction's two stages: what leaves the log, what takes its place, and that each step may be repeated."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain, repeat
from typing import Any

import pytest

from neve.domain.compact.headings import SummaryText
from neve.domain.records.documents import Document
from neve.domain.records.epochs import Summary
from neve.domain.records.jobs import Job
from neve.domain.records.sessions import Event, EventType
from neve.domain.sessions.transcript import event_text
from neve.domain.tokens import estimate
from neve.observers.extractive.observer import ExtractiveObserver
from neve.observing import Summarised
from neve.ports.errors import (
    AnswerCutOff,
    AnswerOutOfForm,
    ContentRefused,
    ModelRefused,
    StoreUnavailable,
)
from neve.ports.table import Delete, Expect, key_of
from neve.scope import SessionScope
from neve.store import rows
from neve.store.documents import read_document as read_document_row
from neve.usecases.ask.pack.read_pack import read_pack
from neve.usecases.ask.sessions.list_events import list_events
from neve.usecases.ask.sessions.read_sessions import get_session
from neve.usecases.core.jobs.read_jobs import find_job, get_job
from neve.usecases.core.pack.build_pack import build_pack
from neve.usecases.tell.requests.request_compaction import request_compaction
from neve.usecases.tell.requests.retract_events import Retract, retract_events
from neve.usecases.tell.sessions.append_events import NewEvent, append_events
from neve.usecases.work.compact.artifacts import put_away_covered, store_artifacts
from neve.usecases.work.compact.compact_session import compact_session
from neve.usecases.work.erase.erase_user import begin_erasure
from neve.usecases.work.observe.observe_session import observe_session
from tests.unit.world import World, time_for

OUTPUT = "".join(f"line {n} of what the tool printed, ünïcode and <b>tags</b>\n" for n in range(130))
"""7,000 characters."""


@pytest.fixture
def world(new_world: World) -> World:
    new_world.with_policy(window=2_000)
    new_world.open()
    read_pack(new_world.user("ann").of_session("s1"))
    return new_world


def scope_of(world: World) -> Any:
    return world.user("ann").of_session("s1")


def turns(world: World, count: int, tokens: int = 200) -> None:
    for n in range(count):
        world.say(f"turn {n} " + "u" * (tokens // 2 * 32 // 10), "a" * (tokens // 2 * 32 // 10))


def tool_turn(world: World, output: Any = OUTPUT, use: str = "t1") -> int:
    """The seq of the result."""
    data = {"tool_use_id": use, "name": "fetch"}
    events = [
        NewEvent(EventType.USER_MESSAGE, "Look it up."),
        NewEvent(EventType.TOOL_CALL, "", event_data={**data, "args": {"url": "x"}}),
        NewEvent(EventType.TOOL_RESULT, output, event_data=data),
        NewEvent(EventType.ASSISTANT_RESPONSE, "Done."),
    ]
    return append_events(scope_of(world), events).seqs[2]


def moved(job: Job) -> dict[str, Any]:
    """What the job says of the horizon, without what its passes wrote and who files it."""
    of_others = ("observed_seq", "written", "librarian_job_id")
    return {name: value for name, value in job.result.items() if name not in of_others}


def ask(world: World, verbosity: Any = None) -> dict[str, Any]:
    return world.queued(request_compaction(scope_of(world), "manual", wait=False, verbosity=verbosity))


def compact(world: World, verbosity: Any = None) -> Job:
    body = ask(world, verbosity)
    compact_session(scope_of(world), body)
    return get_job(world.user("ann"), body["job_id"])


def log(world: World) -> list[Event]:
    return list_events(scope_of(world), 1, 500).events


def document(world: World, path: str | None) -> Document:
    item = world.table.get(scope_of(world).keys.document(path))
    assert item is not None
    return read_document_row(item)


def summary(world: World, epoch: int) -> Summary:
    item = world.table.get(scope_of(world).keys.summary(epoch))
    assert item is not None
    return rows.read_summary(item)


# --- stage 1 ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("covered", [True, False])
def test_only_what_is_stale_and_large_is_replaced(world: World, covered: bool) -> None:
    """Inside the covered part, and in the turns that stay."""
    world.with_policy(window=200_000 if not covered else 2_000)
    turns(world, 2 if covered else 0)
    small = tool_turn(world, "x" * 4_800, "t1")
    large = tool_turn(world, OUTPUT, "t2")
    turns(world, 6 if covered else 1)
    fresh = tool_turn(world, OUTPUT, "t3")
    turns(world, 1)

    compact(world)

    events = log(world)
    assert [one.seq for one in events if one.pruned] == [large]
    assert [event_text(events[seq - 1]) for seq in (small, fresh)] == ["x" * 4_800, OUTPUT]


def test_images_of_a_result_stay_where_they_are(world: World) -> None:
    picture = {"type": "image", "media_type": "image/png", "url": "https://example.com/a.png"}
    seq = tool_turn(world, [{"type": "text", "text": OUTPUT}, picture])
    turns(world, 11)

    compact(world)

    pruned = log(world)[seq - 1]
    assert pruned.content == [{"type": "text", "text": f"[Tool output saved to {pruned.artifact_path}]"}, picture]
    assert document(world, pruned.artifact_path).text == OUTPUT


def test_with_nothing_to_cover_results_leave_with_an_epoch_of_their_own(world: World) -> None:
    """History is append-only within an epoch, so what it shows may change with an epoch only; the horizon stays."""
    world.with_policy(window=200_000)
    seq = tool_turn(world)
    turns(world, 3)
    before = get_session(scope_of(world)).epoch

    job = compact(world)

    epoch = get_session(scope_of(world)).epoch
    assert moved(job) == {"outcome": "pruned", "epoch": 1, "reason": "manual"}
    assert (epoch.epoch, epoch.covers_to, epoch.pack) == (1, None, before.pack)
    assert log(world)[seq - 1].pruned
    assert compact(world).result["outcome"] == "nothing_to_cover"


def test_a_summary_goes_on_in_an_epoch_that_only_puts_results_away(world: World) -> None:
    turns(world, 12)
    compact(world)
    world.with_policy(window=200_000)
    tool_turn(world)
    turns(world, 3)

    assert moved(compact(world)) == {"outcome": "pruned", "epoch": 2, "reason": "manual"}
    first, second = summary(world, 1), summary(world, 2)
    assert (second.covers_from, second.covers_to, second.insights) == (5, 18, first.insights)


def test_the_largest_text_an_event_can_have_fits_a_row(world: World) -> None:
    """256 KiB of JSON, all of it text that takes as many bytes."""
    output = "é" * (256 * 1024 // 2 - 200)
    seq = tool_turn(world, output)
    turns(world, 11)

    compact(world)

    assert document(world, log(world)[seq - 1].artifact_path).text == output


def test_many_results_are_put_away_in_parts(world: World) -> None:
    for n in range(50):
        tool_turn(world, f"{n}" * 6_000, f"t{n}")
    turns(world, 12)

    compact(world)

    pruned = [one for one in log(world) if one.pruned]
    assert len(pruned) == 50
    texts = [document(world, one.artifact_path).text for one in pruned]
    assert texts == [f"{n}" * 6_000 for n in range(50)]


def test_the_trigger_does_not_count_what_was_put_away(world: World) -> None:
    world.with_policy(window=20_000)
    tool_turn(world)
    turns(world, 3)
    compact(world)

    head, epoch = get_session(scope_of(world)).head, get_session(scope_of(world)).epoch
    left = head.total_tokens - epoch.settled_tokens
    shown = sum(estimate(event_text(one)) for one in log(world)) + estimate('{"url":"x"}')
    assert left == shown < 700


# --- stage 2 ----------------------------------------------------------------------------------------


def test_a_second_compaction_folds_the_summary_in(world: World) -> None:
    turns(world, 12)
    compact(world)
    turns(world, 4)

    compact(world)

    given = world.observer.summarised[1]
    assert [one.seq for one in given.events] == list(range(19, 27))
    assert given.before is not None
    assert given.before.insights == ("What was said from 5 to 18.",)
    assert (summary(world, 2).covers_from, summary(world, 2).covers_to) == (5, 26)


def test_a_session_without_its_summary_gets_one_of_all_that_is_covered(world: World) -> None:
    turns(world, 12)
    compact(world)
    item = world.table.get(scope_of(world).keys.summary(1))
    assert item is not None
    world.table.write([Delete(key_of(item), Expect.ANY)])
    turns(world, 4)

    compact(world)

    given = world.observer.summarised[1]
    assert ([one.seq for one in given.events], given.before) == (list(range(5, 27)), None)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (ContentRefused("no"), {"summary_reason": "the observer refused to read these events"}),
        (Summarised(SummaryText(), "m-1", prompt_version="1"), {}),
        (Summarised(SummaryText(preferences=("user: Tea.",)), "extractive"), {}),
    ],
)
def test_without_a_models_words_the_extract_stands(world: World, answer: Any, reason: dict[str, str]) -> None:
    turns(world, 2)
    world.say("I prefer tea.", "ok")
    turns(world, 10)
    world.observer.summaries = [answer]

    job = compact(world)

    stored = summary(world, 1)
    assert (stored.by, stored.model, stored.prompt_version) == ("extract", None, None)
    assert len(stored.preferences) == 1
    assert {name: job.result[name] for name in reason} == reason


@pytest.mark.parametrize("unusable", [AnswerCutOff("cut off"), AnswerOutOfForm("no call")])
def test_a_summary_waits_for_no_third_answer_that_cannot_be_used(world: World, unusable: Exception) -> None:
    turns(world, 12)
    world.observer.summaries = [unusable, unusable]
    job = compact(world)
    assert (job.status, summary(world, 1).by) == ("done", "extract")
    assert job.result["summary_reason"] == "nothing of the observer's answers could be used"
    assert len(world.observer.summarised) == 2
    turns(world, 12)
    good = Summarised(SummaryText(preferences=("user: Tea.",)), "m-1", prompt_version="1")
    world.observer.summaries = [unusable, good]
    job = compact(world)
    assert summary(world, 2).by == "model"
    assert "summary_reason" not in job.result


@pytest.mark.parametrize("cap", [100, 35_000])
def test_events_that_a_request_has_no_room_for_are_told(world: World, cap: int) -> None:
    """At least 60 tokens of each are shown; the extract reads all of them."""
    world.with_policy(window=2_000, observer_transcript_cap=cap)
    turns(world, 12)
    job = compact(world)
    first, last = job.result["covers"].values()
    shown = len(world.observer.summarised[-1].events)
    assert job.result.get("summary_events_not_shown", 0) == last - first + 1 - shown
    assert ("summary_events_not_shown" in job.result) is (cap == 100)


@pytest.mark.parametrize(("items", "left_out"), [(1, None), (9, 11)])
def test_items_that_a_summary_has_no_room_for_are_told(world: World, items: int, left_out: int | None) -> None:
    """Those that the observer has left out, and those that give way to the request under way."""
    turns(world, 12)
    answer = SummaryText(insights=tuple(f"{n} " + "x" * 300 for n in range(items)))
    world.observer.summaries = [Summarised(answer, "m-1", prompt_version="1", left_out=3 if items > 1 else 0)]
    job = compact(world)
    assert len(summary(world, 1).insights) == (1 if left_out is None else items + 3 - left_out)
    assert job.result.get("summary_items_left_out") == left_out


def test_a_model_that_refuses_the_request_fails_the_job(world: World) -> None:
    turns(world, 12)
    body = ask(world)
    world.observer.summaries = [ModelRefused("401")]

    report = compact_session(scope_of(world), body)

    job = get_job(world.user("ann"), body["job_id"])
    assert job.status == "failed"
    assert report is not None and str(report.failure) == "401"
    assert world.model_is_down
    assert "401" in job.result["reason"]
    assert get_session(scope_of(world)).epoch.epoch == 0


def test_a_summary_by_rules_is_not_begun_without_the_time_that_a_long_log_takes(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cut off in it, a worker would hold what stands behind its message, the deletions of its session for one."""
    turns(world, 12)
    body = ask(world)
    monkeypatch.setattr(world.observer, "longest_s", ExtractiveObserver().longest_s)
    report = compact_session(scope_of(world), body, chain([300.0], repeat(20.0)).__next__)
    assert report is not None
    assert (report.left_off_at, world.observer.summarised) == ("24.summary", [])


def test_a_worker_without_time_for_the_summary_leaves_it_to_the_next(world: World) -> None:
    turns(world, 12)
    body = ask(world)

    report = compact_session(scope_of(world), body, time_for(1))

    assert report is not None
    assert report.left_off_at == "24.summary"
    assert get_job(world.user("ann"), body["job_id"]).status == "running"
    assert world.observer.summarised == []
    report = compact_session(scope_of(world), body, time_for(1))
    assert report is not None
    assert report.left_off_at is None
    assert get_job(world.user("ann"), body["job_id"]).result["outcome"] == "covered"


@pytest.mark.parametrize("before", ["", f'<neve-memory format="1">\n{"It rained. " * 60}\n</neve-memory>\n'])
def test_the_message_of_a_turn_that_is_cut_stays_in_words(world: World, before: str) -> None:
    """Its own words, also where a backend logs the whole prompt."""
    turns(world, 6)
    append_events(scope_of(world), [NewEvent(EventType.USER_MESSAGE, f"{before}Migrate the whole shop.")])
    for n in range(30):
        data = {"tool_use_id": f"t{n}", "name": "run"}
        call = NewEvent(EventType.TOOL_CALL, "c" * 320, event_data=data)
        append_events(scope_of(world), [call, NewEvent(EventType.TOOL_RESULT, "r" * 320, event_data=data)])

    job = compact(world)

    asked = "Asked by the user and still under way: Migrate the whole shop."
    assert job.result["covers"]["from"] == 5
    assert 13 < job.result["covers"]["to"] < 73
    assert job.result["summary"]["action_items"] == [asked]
    for n in range(30, 50):
        data = {"tool_use_id": f"t{n}", "name": "run"}
        call = NewEvent(EventType.TOOL_CALL, "c" * 320, event_data=data)
        append_events(scope_of(world), [call, NewEvent(EventType.TOOL_RESULT, "r" * 320, event_data=data)])
    assert compact(world).result["summary"]["action_items"] == [asked]
    assert world.observer.summarised[1].before.action_items == ()  # type: ignore[union-attr]
    append_events(scope_of(world), [NewEvent(EventType.ASSISTANT_RESPONSE, "It runs.")])
    turns(world, 8)
    assert compact(world).result["summary"]["action_items"] == []


# --- others at the same time ------------------------------------------------------------------------


def test_what_is_appended_while_the_model_thinks_is_neither_lost_nor_covered(world: World) -> None:
    turns(world, 12)
    world.observer.meanwhile = None
    body = ask(world)
    compact_session_with(world, body, lambda: turns(world, 4))

    view = list_events(scope_of(world), 1, 500)
    assert view.covers == (5, 18)
    assert len(view.events) == 32


def compact_session_with(world: World, body: dict[str, Any], meanwhile: Callable[[], None]) -> None:
    """``meanwhile`` runs while the summary is being written."""
    observe_session(scope_of(world), body["incarnation"], closing=True)
    world.observer.meanwhile = meanwhile
    compact_session(scope_of(world), body)


def test_a_pack_that_is_built_meanwhile_does_not_cost_another_summary(world: World) -> None:
    turns(world, 12)

    compact_session_with(world, ask(world), lambda: void(build_pack(scope_of(world), "reflection")))

    assert len(world.observer.summarised) == 1
    assert get_session(scope_of(world)).epoch.epoch == 1


def void(_: object) -> None:
    return None


def test_of_two_compactions_at_once_one_moves_the_horizon(world: World) -> None:
    turns(world, 12)
    first, second = ask(world), ask(world)

    compact_session_with(world, first, lambda: void(compact_session(scope_of(world), second)))

    epoch = get_session(scope_of(world)).epoch
    assert (epoch.epoch, epoch.compacted_by, epoch.covers_to) == (1, second["job_id"], 18)
    assert get_job(world.user("ann"), first["job_id"]).result["outcome"] == "nothing_to_cover"


def test_a_user_who_is_erased_meanwhile_keeps_nothing(world: World) -> None:
    tool_turn(world)
    turns(world, 12)
    keys = scope_of(world).keys

    def erase() -> None:
        begin_erasure(world.table, keys)
        world_without_search(world)

    body = ask(world)
    compact_session_with(world, body, erase)

    assert world.table.query(keys.partition, prefix="DOC#", limit=10).items == []
    assert world.table.query(keys.partition, prefix="SUM#", limit=10).items == []


def world_without_search(world: World) -> None:
    """The rows only."""
    keys = scope_of(world).keys
    for partition in (keys.log, keys.partition):
        items = world.table.query(partition, limit=500).items
        for item in items:
            if key_of(item) != keys.head:
                world.table.write([Delete(key_of(item), Expect.ANY)])


# --- broken between any two steps -------------------------------------------------------------------


class Broken(Exception):
    """The worker dies."""


def break_at(world: World, call: int, monkeypatch: pytest.MonkeyPatch, *, after: bool) -> None:
    """At the ``call``-th write of the table or the objects, before it or behind it."""
    left = [call]
    for engine, name in ((world.table, "write"), (world.objects, "put_new")):
        real = getattr(engine, name)

        def broken(*args: Any, real: Any = real, **kwargs: Any) -> Any:
            left[0] -= 1
            if left[0] == 0 and not after:
                raise Broken
            done = real(*args, **kwargs)
            if left[0] == 0:
                raise Broken
            return done

        monkeypatch.setattr(engine, name, broken)


def whole(world: World, texts: dict[int, str]) -> None:
    """The old state or the new one, and every text readable."""
    view = list_events(scope_of(world), 1, 500)
    epoch = get_session(scope_of(world)).epoch
    found = world.table.get(scope_of(world).keys.summary(epoch.epoch))
    if epoch.epoch == 0:
        assert (view.covers, found) == (None, None)
        assert not any(one.pruned for one in view.events)
    else:
        assert view.covers is not None
        assert found is not None
        stored = rows.read_summary(found)
        assert (stored.covers_from, stored.covers_to) == view.covers
        assert view.events[2].pruned  # of the first turn, which a prompt shows
    for seq, text in texts.items():
        one = view.events[seq - 1]
        path = one.artifact_path
        before = document(world, path).text if path else event_text(one)
        assert before == text
        assert one.pruned is (path is not None)


STEPS = 12
"""More than a compaction has writes."""


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("call", range(1, STEPS + 1))
def test_whichever_write_it_dies_at_the_next_worker_finishes(
    world: World, monkeypatch: pytest.MonkeyPatch, call: int, after: bool
) -> None:
    texts = {tool_turn(world, OUTPUT, "t1"): OUTPUT}
    turns(world, 2)
    texts[tool_turn(world, OUTPUT * 2, "t2")] = OUTPUT * 2
    turns(world, 10)
    body = ask(world)
    died = False

    with monkeypatch.context() as broken:
        break_at(world, call, broken, after=after)
        try:
            compact_session(scope_of(world), body)
        except Broken:
            died = True
    whole(world, texts)
    world.clock.move(seconds=100)  # a lease of the dead worker is over
    compact_session(scope_of(world), body)

    whole(world, texts)
    assert died or call > 9
    epoch = get_session(scope_of(world)).epoch
    assert (epoch.epoch, epoch.compacted_by) == (1, body["job_id"])
    assert (epoch.pruned_to, epoch.rebuild_due) == (epoch.covers_to, None)
    assert sum(one.pruned for one in log(world)) == 2
    assert len(world.table.query(scope_of(world).keys.partition, prefix="DOC#", limit=10).items) == 2
    job = find_job(world.scope, body["job_id"])
    assert job is not None
    assert (job.status, job.result["outcome"]) == ("done", "covered")


def test_a_commit_whose_answer_was_lost_is_recognised(world: World) -> None:
    turns(world, 12)
    body = ask(world)
    compact_session_with(world, body, lambda: setattr(world.table, "lose_response", True))

    assert get_session(scope_of(world)).epoch.epoch == 1
    assert get_job(world.user("ann"), body["job_id"]).result["outcome"] == "covered"


def test_what_an_interrupted_compaction_left_is_put_away_by_the_next(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its message was lost for good."""
    seq = interrupted(world, monkeypatch)
    assert not log(world)[seq - 1].pruned
    turns(world, 6)

    compact(world)

    assert log(world)[seq - 1].pruned


def test_what_is_taken_back_while_it_is_put_away_keeps_its_text(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Behind the look at the log: it has no document, and its row must name none."""
    seq = interrupted(world, monkeypatch)
    text = log(world)[seq - 1].content

    def meddled(scope: SessionScope, incarnation: int, results: Sequence[Event]) -> None:
        retract_events(scope, Retract(seq, seq, "edited"))
        store_artifacts(scope, incarnation, results)

    monkeypatch.setattr("neve.usecases.work.compact.artifacts.store_artifacts", meddled)
    put_away_covered(scope_of(world), 1)
    row = rows.read_event(world.table.get(scope_of(world).keys.event(seq)) or {})
    assert (row.pruned, row.content) == (False, text)


def interrupted(world: World, monkeypatch: pytest.MonkeyPatch) -> int:
    """A compaction that covers a tool's output and ends before it puts that away; its seq."""
    turns(world, 2)
    seq = tool_turn(world)
    turns(world, 10)
    body = ask(world)
    with monkeypatch.context() as broken:
        broken.setattr("neve.usecases.work.compact.compact_session.put_away_covered", refuse)
        with pytest.raises(StoreUnavailable):
            compact_session(scope_of(world), body)
    return seq


def refuse(*_: object) -> None:
    raise StoreUnavailable("table", "down")


# --- erasure ----------------------------------------------------------------------------------------


# --- days -------------------------------------------------------------------------------------------


def test_a_summary_has_the_users_days_and_keeps_them(world: World) -> None:
    """In Pago Pago the 9th has not ended."""
    world.open(user_meta={"timezone": "Pacific/Pago_Pago"})
    turns(world, 3)
    world.say("I prefer tea.", "Noted.")
    turns(world, 10)
    world.observer.summaries = [Summarised(SummaryText(), "scripted")]
    compact(world)
    assert [given.timezone for given in world.observer.summarised] == ["Pacific/Pago_Pago"]
    assert summary(world, 1).preferences == ("user (2026-03-09): I prefer tea.",)
    world.open(user_meta={"timezone": "Europe/Vienna"})
    turns(world, 10)
    world.observer.summaries = [Summarised(SummaryText(), "scripted")]
    compact(world)
    assert world.observer.summarised[-1].timezone == "Europe/Vienna"
    assert summary(world, 1).preferences == ("user (2026-03-09): I prefer tea.",)
    assert "user (2026-03-09): I prefer tea." in summary(world, 2).preferences, "it is folded in as it stands"
