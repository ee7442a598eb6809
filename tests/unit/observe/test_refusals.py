"""One bad event never stops a session: what the observer refuses is asked of it without images, then in halves."""

from __future__ import annotations

import base64
import tempfile
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from neve.domain.records.sessions import Event, EventType
from neve.observing import Observed, ObservedLine, PassInput
from neve.ports.errors import (
    AnswerCutOff,
    AnswerOutOfForm,
    AnswerTooLate,
    ContentRefused,
    ModelRefused,
    ModelUnavailable,
    UnusableAnswer,
)
from neve.ports.queue import Message, QueueName
from neve.store import rows
from neve.usecases.ask.sessions.list_events import list_events
from neve.usecases.ask.sessions.read_sessions import get_session
from neve.usecases.core.jobs.finish_job import NOTHING_NEW
from neve.usecases.core.jobs.messages.compaction import message_of_row
from neve.usecases.core.jobs.read_jobs import get_job
from neve.usecases.tell.requests.request_compaction import request_compaction
from neve.usecases.tell.requests.request_observation import request_observation
from neve.usecases.tell.requests.retract_events import Retract, retract_events
from neve.usecases.tell.sessions.append_events import NewEvent, append_events
from neve.usecases.work.compact.compact_session import compact_session
from neve.usecases.work.observe import images
from neve.usecases.work.observe.extract_session import extract_session
from neve.usecases.work.observe.observe_session import NOTHING_USABLE, observe_session
from neve.usecases.work.observe.report import ObservationReport
from neve.usecases.work.retract.run_retraction import run_retraction
from tests.pictures import TINY_PNG, png
from tests.unit.world import ScriptedObserver, World, time_for

USER = EventType.USER_MESSAGE
PNG = base64.b64encode(TINY_PNG).decode()
REASON = "status 400 (invalid_request_error)"


class Fastidious(ScriptedObserver):
    """Refuses any pass that ``refuses`` says; keeps every event of the others as a line. ``asked``: the seqs of each
    request, ``i`` behind those with an image."""

    def __init__(self, refuses: Callable[[Event], bool]) -> None:
        super().__init__()
        self._refuses = refuses
        self.asked: list[str] = []

    def observe(self, given: PassInput) -> Observed:
        self.asked.append(" ".join(f"{event.seq}{'i' if has_image(event) else ''}" for event in given.events))
        if any(self._refuses(event) for event in given.events):
            raise ContentRefused(REASON)
        lines = tuple(ObservedLine(f"🟡 {event.seq}", event.seq, event.seq) for event in given.events)
        return Observed(True, lines, "fastidious")


def has_image(event: Event) -> bool:
    return not isinstance(event.content, str) and any(block["type"] == "image" for block in event.content)


def bad(event: Event) -> bool:
    return "bad" in str(event.content)


@pytest.fixture
def world(world: World) -> World:
    world.observer = Fastidious(bad)
    return world


def tell(world: World, *texts: str) -> None:
    append_events(world.user().of_session("s1"), [NewEvent(USER, text) for text in texts])


def observe(world: World, **more: Any) -> ObservationReport:
    return observe_session(world.user().of_session("s1"), 1, **more)


def asked(world: World) -> list[str]:
    assert isinstance(world.observer, Fastidious)
    return world.observer.asked


def unobservable(world: World) -> dict[int, Any]:
    page = list_events(world.user().of_session("s1"), 1, 100)
    return {event.seq: event.unobservable for event in page.events if event.unobservable}


def lines_of(world: World) -> list[str]:
    return [line.removeprefix("🟡 ") for memory in world.memories() for line in memory.text.splitlines()]


def marker(world: World) -> int:
    return get_session(world.user().of_session("s1")).marker.observed_seq


@pytest.mark.parametrize("places", [{1}, {2}, {8}, {1, 2}, {1, 8}, {3, 4, 5, 6}, {2, 4, 6, 8}, {7, 8}])
def test_wherever_they_stand_bad_events_alone_are_left_out(world: World, places: set[int]) -> None:
    tell(world, *("bad" if n in places else f"text {n}" for n in range(1, 9)))
    observe(world)
    assert set(unobservable(world)) == places
    assert lines_of(world) == [str(n) for n in range(1, 9) if n not in places]
    assert marker(world) == 8


@pytest.mark.parametrize("count", [1, 2])
def test_a_short_tail_of_bad_events_is_noted(world: World, count: int) -> None:
    tell(world, *["bad"] * count)
    report = observe(world)
    assert set(unobservable(world)) == set(range(1, count + 1))
    assert (marker(world), report.reason) == (count, "the observer refused to read these events")
    tell(world, "good")
    observe(world)
    assert lines_of(world) == [str(count + 1)]


def test_three_refused_in_a_row_and_none_accepted_fail_the_job_and_mark_nothing(world: World) -> None:
    tell(world, *["bad"] * 5)
    scope = world.user().of_session("s1")
    job = request_observation(scope, wait=False)
    before = world.table.get(scope.keys.marker)
    extract_session(scope, world.queue.sent[-1][1].body)
    after = world.table.get(scope.keys.marker)
    failed = get_job(world.user(), job.id)
    assert failed.status == "failed"
    assert REASON in failed.result["reason"]
    assert unobservable(world) == {}
    moving = {"version", "lease_token", "lease_until"}
    assert before is not None
    assert after is not None
    assert {k: v for k, v in after.items() if k not in moving} == {k: v for k, v in before.items() if k not in moving}
    assert asked(world) == ["1 2 3 4 5", "1 2", "1", "2", "3"]


def test_the_limit_is_kept_for_the_next_worker(world: World) -> None:
    tell(world, *[f"text {n}" for n in range(1, 8)], "bad")
    report = observe(world, seconds_left=time_for(1))
    assert (report.left_off_at, asked(world)) == ("0.4.0.0", ["1 2 3 4 5 6 7 8"])
    for _ in range(20):
        report = ObservationReport.going_on(report.result())
        if observe(world, report=report, seconds_left=time_for(1)).left_off_at is None:
            break
    assert asked(world)[1:] == ["1 2 3 4", "5 6 7 8", "5 6", "7 8", "7", "8"]
    assert report.unobservable == [{"seq": 8, "reason": REASON}]
    assert marker(world) == 8


def test_single_refusals_are_kept_for_the_next_worker(world: World) -> None:
    tell(world, "bad", "bad", "good")
    report = ObservationReport()
    for _ in range(20):
        report = observe(world, report=ObservationReport.going_on(report.result()), seconds_left=time_for(1))
        if report.left_off_at is None:
            break
    assert asked(world) == ["1 2 3", "1", "2", "3"]
    assert set(unobservable(world)) == {1, 2}
    assert lines_of(world) == ["3"]


def test_images_are_left_out_before_anything_is_halved(world: World) -> None:
    world.observer = Fastidious(has_image)
    blocks = [{"type": "text", "text": "my cat"}, {"type": "image", "media_type": "image/png", "data": PNG}]
    append_events(world.user().of_session("s1"), [NewEvent(USER, "one"), NewEvent(USER, blocks), NewEvent(USER, "x")])
    report = observe(world)
    assert asked(world) == ["1 2i 3", "1 2 3"]
    assert lines_of(world) == ["1", "2", "3"]
    assert (report.images_left_out, unobservable(world)) == ([2], {})
    assert report.result()["images_left_out"] == [2]


def test_a_compaction_goes_on_past_a_bad_event(world: World) -> None:
    world.with_policy(window=400)
    tell(world, *[f"text {n} " * 20 for n in range(1, 10)], "bad", *["more " * 40] * 10)
    scope = world.user().of_session("s1")
    job = request_compaction(scope, "manual", wait=False)
    compact_session(scope, world.queued(job))
    result = get_job(world.user(), job.id).result
    assert result["outcome"] == "covered"
    assert result["unobservable"] == [{"seq": 10, "reason": REASON}]


@pytest.mark.parametrize("error", [ModelRefused("401"), ModelUnavailable("529")])
def test_a_wrong_key_or_an_outage_is_no_refusal_of_an_event(world: World, error: Exception) -> None:
    world.observer = ScriptedObserver()
    world.observer.answers = [error]
    tell(world, "one", "two")
    with pytest.raises(type(error)):
        observe(world)
    assert unobservable(world) == {}
    assert len(world.observer.passes) == 1
    assert marker(world) == 0


class Talkative(Fastidious):
    """Nothing of its answer about more than two events can be used."""

    def __init__(self, failure: UnusableAnswer) -> None:
        super().__init__(bad)
        self._failure = failure

    def observe(self, given: PassInput) -> Observed:
        if len(given.events) > 2:
            self.asked.append(" ".join(str(event.seq) for event in given.events))
            raise self._failure
        return super().observe(given)


CUT_OFF = AnswerCutOff("model: the tool call was cut off (max_tokens)")
OUT_OF_FORM = AnswerOutOfForm("model answered out of form (ValidationError)")
UNUSABLE = pytest.mark.parametrize("failure", [CUT_OFF, OUT_OF_FORM], ids=lambda failure: type(failure).__name__)


@UNUSABLE
def test_an_answer_that_cannot_be_used_is_asked_for_in_halves(world: World, failure: UnusableAnswer) -> None:
    world.observer = Talkative(failure)
    tell(world, *[f"text {n}" for n in range(1, 9)])
    report = observe(world)
    assert asked(world) == ["1 2 3 4 5 6 7 8", "1 2 3 4", "1 2", "3 4", "5 6 7 8", "5 6", "7 8"]
    assert lines_of(world) == [str(n) for n in range(1, 9)]
    assert (report.unobservable, unobservable(world), marker(world)) == ([], {}, 8)


class Stumbling(Fastidious):
    """Nothing of its answer can be used where a bad event is shown."""

    def __init__(self, failure: UnusableAnswer, stumbles: Callable[[Event], bool] = bad) -> None:
        super().__init__(stumbles)
        self._failure = failure

    def observe(self, given: PassInput) -> Observed:
        try:
            return super().observe(given)
        except ContentRefused:
            raise self._failure from None


@UNUSABLE
def test_an_event_that_no_answer_can_be_used_about_is_noted_and_the_others_are_observed(
    world: World, failure: UnusableAnswer
) -> None:
    world.observer = Stumbling(failure)
    tell(world, "one", "two", "bad", "four", "five", "six")
    report = observe(world)
    assert lines_of(world) == ["1", "2", "4", "5", "6"]
    assert unobservable(world) == {3: {"reason": str(failure)}}
    assert report.unreported()[0] == [{"seq": 3, "reason": str(failure)}], "one warning, and one in the metric"
    assert marker(world) == 6
    assert asked(world) == ["1 2 3 4 5 6", "1 2 3", "1", "2", "3", "3", "3", "4 5 6"]


@UNUSABLE
@given(places=st.sets(st.integers(1, 8), max_size=7), passes=st.integers(1, 3))
@settings(deadline=None, max_examples=25)
def test_wherever_they_stand_such_events_alone_are_left_out(
    failure: UnusableAnswer, places: set[int], passes: int
) -> None:
    """However often a worker's time is up. What is behind the last good one waits for the session's end."""
    with tempfile.TemporaryDirectory() as folder:
        world = World.make(Path(folder))
        with closing(world.table):
            world.open()
            world.observer = Stumbling(failure)
            tell(world, *("bad" if n in places else f"text {n}" for n in range(1, 9)))
            failed = worked_off(world, passes)
            three = any({n, n + 1, n + 2} <= places and not set(range(1, n)) - places for n in range(1, 7))
            assert failed == three, "three in a row, and none accepted before"
            if not failed:
                assert set(unobservable(world)) == places
                assert lines_of(world) == [str(n) for n in range(1, 9) if n not in places]
                assert marker(world) == 8
            else:
                assert (unobservable(world), lines_of(world), marker(world)) == ({}, [], 0)


def worked_off(world: World, passes: int) -> bool:
    """Whether the job fails of workers that have time for so many passes each, up to the session's end."""
    report = ObservationReport()
    for _ in range(100):
        report = ObservationReport.going_on(report.result())
        try:
            observe(world, report=report, seconds_left=time_for(passes), closing=True)
        except ModelRefused:
            return True
        if report.left_off_at is None:
            return False
    raise AssertionError("it does not end")


@UNUSABLE
def test_an_answer_that_can_be_used_in_the_end_is_kept(world: World, failure: UnusableAnswer) -> None:
    world.observer = ScriptedObserver()
    world.observer.answers = [failure] * 3
    tell(world, "one", "two", "three")
    observe(world)
    assert [len(given.events) for given in world.observer.passes] == [3, 1, 1, 1, 1, 1]
    assert (unobservable(world), marker(world)) == ({}, 3)


def test_what_one_worker_has_asked_the_next_one_counts(world: World) -> None:
    world.observer = Stumbling(CUT_OFF)
    tell(world, "one", "bad", "three")
    places = []
    for _ in range(20):
        report = ObservationReport()
        places.append(observe(world, report=report, seconds_left=time_for(1)).left_off_at)
        if places[-1] is None:
            break
    assert asked(world) == ["1 2 3", "1", "2", "2", "2", "3"]
    assert len(set(places)) == len(places), "each has got somewhere"
    assert (set(unobservable(world)), lines_of(world)) == ({2}, ["1", "3"])


@pytest.mark.parametrize("outage", [ModelUnavailable("status 529"), ModelUnavailable("APITimeoutError")])
def test_an_outage_marks_no_event_however_long_it_lasts(world: World, outage: Exception) -> None:
    world.observer = ScriptedObserver()
    world.observer.answers = [CUT_OFF, OUT_OF_FORM, OUT_OF_FORM, *[outage] * 10]
    tell(world, "one", "two")
    for _ in range(10):
        with pytest.raises(ModelUnavailable, match=str(outage)):
            observe(world, closing=True)
    assert (unobservable(world), marker(world)) == ({}, 0)
    observe(world)
    assert (unobservable(world), marker(world)) == ({}, 2)


class Slow(Fastidious):
    """Gives no answer in time about more than ``most`` events, as often as ``late`` says."""

    def __init__(self, most: int, late: int) -> None:
        super().__init__(bad)
        self._most, self._late = most, late

    def observe(self, given: PassInput) -> Observed:
        observed = super().observe(given)
        if len(given.events) > self._most and self._late:
            self._late -= 1
            raise AnswerTooLate("APITimeoutError")
        return observed


def test_what_no_answer_came_about_in_time_is_asked_about_in_halves_the_next_time(world: World) -> None:
    world.observer = Slow(4, late=9)
    tell(world, *(f"text {n}" for n in range(1, 9)))
    with pytest.raises(AnswerTooLate):
        observe(world)
    assert (marker(world), unobservable(world)) == (0, {})
    observe(world)
    assert asked(world) == ["1 2 3 4 5 6 7 8", "1 2 3 4", "5 6 7 8"]
    tell(world, *(f"text {n}" for n in range(9, 14)))
    with pytest.raises(AnswerTooLate):
        observe(world)
    assert asked(world)[-1] == "9 10 11 12 13", "what comes behind it is a whole pass again"


def test_a_provider_that_hangs_leaves_halves_and_no_single_events(world: World) -> None:
    world.observer = Slow(0, late=5)
    tell(world, *(f"text {n}" for n in range(1, 9)))
    for _ in range(5):
        with pytest.raises(AnswerTooLate):
            observe(world)
    observe(world)
    assert asked(world)[-3:] == ["1 2 3 4", "1 2 3 4", "5 6 7 8"]
    assert (marker(world), unobservable(world)) == (8, {})


@UNUSABLE
def test_a_model_of_which_no_answer_can_be_used_fails_the_job_and_marks_nothing(
    world: World, failure: UnusableAnswer
) -> None:
    world.observer = Stumbling(failure)
    tell(world, *["bad"] * 5)
    job = request_observation(world.user().of_session("s1"), wait=False)
    report = extract_session(world.user().of_session("s1"), world.queue.sent[-1][1].body)
    assert report is not None and report.failure is not None, "one failure in the log and in the metrics"
    failed = get_job(world.user(), job.id)
    assert failed.status == "failed"
    assert str(failure) in failed.result["reason"]
    assert (unobservable(world), marker(world)) == ({}, 0)
    assert world.model_is_down
    world.observer = Fastidious(lambda _: False)
    tell(world, "six")
    observe(world)
    assert (lines_of(world), unobservable(world)) == (["1", "2", "3", "4", "5", "6"], {})
    assert not world.model_is_down


@UNUSABLE
def test_a_turn_that_no_answer_can_be_used_about_waits_for_one_about_another(
    world: World, failure: UnusableAnswer
) -> None:
    """It may be the model, and no event. It is not asked about again meanwhile."""
    world.observer = Stumbling(failure)
    tell(world, "bad", "bad")
    report = observe(world)
    assert (report.reason, report.unobservable, unobservable(world)) == (NOTHING_USABLE, [], {})
    assert observe(world).reason == NOTHING_NEW
    assert asked(world) == ["1 2", "1", "1", "1", "2", "2", "2"]
    tell(world, "three")
    report = observe(world)
    assert [one["seq"] for one in report.unobservable] == [1, 2]
    assert (set(unobservable(world)), lines_of(world), marker(world)) == ({1, 2}, ["3"], 3)


@UNUSABLE
def test_turns_that_a_broken_model_was_shown_are_read_when_it_is_mended(world: World, failure: UnusableAnswer) -> None:
    world.observer = Stumbling(failure)
    tell(world, "bad", "bad")
    observe(world)
    tell(world, "bad", "bad")
    with pytest.raises(ModelRefused):
        observe(world)
    world.observer = Fastidious(lambda _: False)
    observe(world)
    assert (lines_of(world), unobservable(world)) == (["1", "2", "3", "4"], {})


@UNUSABLE
def test_a_sessions_end_notes_what_waits(world: World, failure: UnusableAnswer) -> None:
    world.observer = Stumbling(failure)
    tell(world, "one")
    observe(world)
    tell(world, "bad")
    observe(world)
    assert unobservable(world) == {}
    report = observe(world, closing=True)
    assert (report.unobservable, marker(world)) == ([{"seq": 2, "reason": str(failure)}], 2)
    assert asked(world) == ["1", "2", "2", "2"]


@UNUSABLE
def test_what_is_read_again_is_halved_where_its_answer_cannot_be_used(world: World, failure: UnusableAnswer) -> None:
    world.observer = ScriptedObserver()
    tell(world, *[f"text {n}" for n in range(1, 6)])
    observe(world)
    world.observer = Talkative(failure)
    scope = world.user().of_session("s1")
    job_id = retract_events(scope, Retract(5, 5, "edited")).job_id
    run_retraction(scope, message_of_row(world.table.get(scope.keys.job(job_id)) or {}).body)
    assert asked(world) == ["1 2 3 4", "1 2", "3 4"]
    assert get_job(world.user(), job_id).status == "done"


def test_a_note_on_an_event_asks_for_no_other_work(world: World) -> None:
    """An event that changes is no new event: the outbox reads inserted ones only."""
    tell(world, "one", "bad", "three")
    sent: list[tuple[QueueName, Message]] = list(world.queue.sent)
    observe(world)
    assert world.queue.sent == sent
    row = world.table.get(world.user().of_session("s1").keys.event(2))
    assert row is not None
    assert (row["content"], row["version"], row["unobservable"]) == ("bad", 2, {"reason": REASON})


# --- what one request has room for --------------------------------------------------------------------


def drawn(message: int, n: int) -> str:
    return base64.b64encode(TINY_PNG + bytes([message, n] * 30)).decode()


def pictures(world: World, *counts: int) -> None:
    """A message for each number, with so many images of one length."""
    for message, count in enumerate(counts):
        images = [{"type": "image", "media_type": "image/png", "data": drawn(message, n)} for n in range(count)]
        content = [{"type": "text", "text": f"message {message}"}, *images]
        append_events(world.user().of_session("s1"), [NewEvent(USER, content)])


def blocks(event: Event) -> list[str]:
    assert not isinstance(event.content, str)
    return [block["type"] for block in event.content]


def test_images_that_one_request_has_no_room_for_are_the_next_passs(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise the provider refused the whole request for its size, and all of them were left out."""
    monkeypatch.setattr(images, "REQUEST_BYTES", 2 * len(drawn(0, 0)) + 20)
    pictures(world, 1, 1, 0, 1, 2)
    report = observe(world)
    assert asked(world) == ["1i 2i 3", "4i", "5i"]
    assert (lines_of(world), report.images_left_out, marker(world)) == (["1", "2", "3", "4", "5"], [], 5)


def test_large_screenshots_of_a_long_tail_are_two_requests(world: World) -> None:
    """A provider refuses more than 20 images where one has a side over 2,000 pixels."""
    world.observer = ScriptedObserver()
    shot = {"type": "image", "media_type": "image/png", "data": base64.b64encode(png(1_170, 2_532)).decode()}
    for _ in range(21):
        append_events(world.user().of_session("s1"), [NewEvent(USER, [shot])])
    report = observe(world)
    assert [len(one.events) for one in world.observer.passes] == [20, 1]
    assert (report.images_left_out, marker(world)) == ([], 21)


def test_an_image_that_was_refused_is_noted_on_its_event_and_not_sent_again(world: World) -> None:
    world.observer = Fastidious(has_image)
    pictures(world, 0, 1)
    observe(world)
    scope = world.user().of_session("s1")
    assert [row.images_refused for row in list_events(scope, 1, 10).events] == [False, True]
    world.observer = ScriptedObserver()
    job_id = retract_events(scope, Retract(1, 1, "edited")).job_id
    run_retraction(scope, message_of_row(world.table.get(scope.keys.job(job_id)) or {}).body)
    assert not any(has_image(event) for one in world.observer.passes for event in one.events)


def test_an_image_that_no_request_has_room_for_beside_its_events_others_is_told(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(images, "REQUEST_BYTES", 2 * len(drawn(0, 0)) + 20)
    world.observer = ScriptedObserver()
    pictures(world, 3, 1)
    report = observe(world)
    [first], [second] = (one.events for one in world.observer.passes)
    assert blocks(first) == ["text", "image", "image", "text"]
    assert blocks(second) == ["text", "image"]
    assert (report.images_left_out, report.unreported()[1]) == ([1], [1])


def test_images_of_an_event_above_the_cap_are_told(world: World) -> None:
    world.with_policy(observer_transcript_cap=2_000)
    world.observer = ScriptedObserver()
    pictures(world, 3)
    report = observe(world)
    [[shown]] = [one.events for one in world.observer.passes]
    assert blocks(shown) == ["text", "image"], "an image weighs 1,600 tokens"
    assert (report.images_left_out, report.result()["images_left_out"]) == ([1], [1])


def test_an_image_that_is_not_stored_any_more_is_told(world: World) -> None:
    pictures(world, 0, 1, 1)
    scope = world.user().of_session("s1")
    row = world.table.get(scope.keys.event(2))
    assert row is not None
    [image] = rows.images_of_row(row)
    world.objects.delete(image)
    world.observer = ScriptedObserver()
    report = observe(world)
    assert [blocks(event) for event in world.observer.passes[0].events[1:]] == [["text", "text"], ["text", "image"]]
    assert (report.images_left_out, marker(world)) == ([2], 3)


def test_what_is_read_again_has_the_same_room(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    pictures(world, 1, 1, 3)
    tell(world, "the last")
    world.observer = ScriptedObserver()
    observe(world)
    monkeypatch.setattr(images, "REQUEST_BYTES", 2 * len(drawn(0, 0)) + 20)
    scope = world.user().of_session("s1")
    job_id = retract_events(scope, Retract(4, 4, "edited")).job_id
    report = run_retraction(scope, message_of_row(world.table.get(scope.keys.job(job_id)) or {}).body)
    assert [[event.seq for event in one.events] for one in world.observer.passes] == [[1, 2, 3, 4], [1, 2], [3]]
    assert report is not None and report.images_left_out == [3]
