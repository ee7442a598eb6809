"""The worker of a retraction: what was made of the events follows them (docs/rules/retract.md#job)."""

from __future__ import annotations

import base64
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from neve.domain.memories.live_rows import LivePlace, in_place
from neve.domain.observe.facts import ProposedFact
from neve.domain.records.jobs import Job
from neve.domain.records.markers import LiveRow
from neve.domain.records.memories import Kind, Memory, Status
from neve.domain.records.retractions import RetractReason
from neve.domain.records.sessions import EventType
from neve.observing import for_ever
from neve.ports.errors import AnswerCutOff, AnswerOutOfForm, ContentRefused, ModelRefused, ModelUnavailable
from neve.scope import SessionScope
from neve.store import rows
from neve.store.memories import active_memories
from neve.usecases.ask.pack.read_pack import read_pack
from neve.usecases.core.jobs.messages.compaction import message_of_row
from neve.usecases.core.memories.replace_rows import Replacement, replace_rows
from neve.usecases.core.pack.build_pack import build_pack
from neve.usecases.tell.requests.request_compaction import request_compaction
from neve.usecases.tell.requests.retract_events import Retract, retract_events
from neve.usecases.tell.sessions.append_events import NewEvent, append_events
from neve.usecases.work.background.sweep_due import sweep_due
from neve.usecases.work.compact.compact_session import compact_session
from neve.usecases.work.observe.observe_session import observe_session
from neve.usecases.work.observe.report import ObservationReport
from neve.usecases.work.retract import replace_derived
from neve.usecases.work.retract.retracting import JobEnded, Retracting
from neve.usecases.work.retract.run_retraction import run_retraction
from tests.pictures import TINY_PNG
from tests.unit.world import NOTHING, World, observed_line, time_for

PNG = base64.b64encode(TINY_PNG).decode()
REASON = "status 400 (invalid_request_error)"


@pytest.fixture
def world(tmp_path: Path) -> World:
    world = World.make(tmp_path)
    world.open()
    return world


def scope_of(world: World, session: str = "s1") -> SessionScope:
    return world.user().of_session(session)


def observe(world: World, *texts: str, says: str | None = None) -> str:
    """One pass over these messages; the id of its row."""
    seqs = world.say(*texts).seqs
    world.observer.answers.append(observed_line(says or f"🟡 said {seqs[0]} to {seqs[-1]}", seqs[0], seqs[-1]))
    [written] = observe_session(scope_of(world), 1, ObservationReport()).written
    return written


def retract(world: World, first: int, last: int | None = None, reason: RetractReason = "edited") -> dict[str, Any]:
    """The message of its job."""
    answer = retract_events(scope_of(world), Retract(first, last, reason))
    item = world.table.get(world.tenant.keys.job(answer.job_id))
    assert item is not None
    return message_of_row(item).body


def work(world: World, message: dict[str, Any], **more: Any) -> Job:
    run_retraction(scope_of(world), message, **more)
    return job_of(world, message)


def job_of(world: World, message: dict[str, Any]) -> Job:
    item = world.table.get(world.tenant.keys.job(message["job_id"]))
    assert item is not None
    return rows.read_job(item)


def seen(world: World) -> list[Memory]:
    """What the session's live list shows, in its order."""
    scope = scope_of(world)
    found = world.table.get_many([scope.keys.marker, scope.keys.head])
    marker, head = rows.read_marker(found[scope.keys.marker]), rows.read_head(found[scope.keys.head])
    shown = active_memories(world.table, scope.keys, [row.id for row in marker.live], head.gen, "")
    assert [m.id for m in shown] == [row.id for row in marker.live]
    assert {m.id for m in world.memories() if m.status is Status.ACTIVE} == {row.id for row in marker.live}
    return shown


def unwatched(_: object) -> None:
    """Of what somebody else does meanwhile."""


def ranges(memories: list[Memory]) -> list[tuple[int | None, int | None]]:
    return [(m.provenance.seq_from, m.provenance.seq_to) for m in memories]


def fold(world: World, *sources: str, text: str = "🔴 folded") -> str:
    """A reflection in place of these rows."""
    by_id = {m.id: m for m in world.memories()}
    named = [by_id[i] for i in sources]
    new = replace(
        named[0],
        id=f"mem_{world.ids.ulid(world.clock.now())}",
        kind=Kind.REFLECTION,
        text=text,
        passages=(),
        supersedes=tuple(sources),
        provenance=replace(
            named[0].provenance,
            seq_from=min(m.provenance.seq_from or 0 for m in named),
            seq_to=max(m.provenance.seq_to or 0 for m in named),
        ),
        version=0,
    )
    [made] = replace_rows(world.user(), 1, Replacement((new,), tuple(named), "folded", "s1"))
    return made


def test_what_was_made_of_the_events_leaves_and_the_rest_is_read_again(world: World) -> None:
    first = observe(world, "one", "two")
    second = observe(world, "three", "four", "five", "six")
    build_pack(scope_of(world), "initial")
    message = retract(world, 4, 6)
    job = work(world, message)
    assert (job.status, job.result["superseded"], len(job.result["written"])) == ("done", 1, 1)
    assert ranges(seen(world)) == [(1, 2), (3, 3)]
    assert seen(world)[0].id == first
    assert seen(world)[1].supersedes == (second,)
    assert [[event.seq for event in one.events] for one in world.observer.passes][-1] == [3]
    [gone] = [m for m in world.memories() if m.id == second]
    assert (gone.status, gone.superseded_reason) == (Status.SUPERSEDED, "taken back (edited)")
    pack = read_pack(scope_of(world))
    assert pack.manifest is not None
    assert (pack.manifest.pack_version, pack.manifest.trigger) == (2, "reflection")
    assert "said 3 to 6" not in str(pack.text)
    item = world.table.get(scope_of(world).keys.marker)
    assert item is not None and (item["observed_seq"], item["offered_seq"]) == (6, 6)


def test_a_message_that_comes_again_does_nothing_again(world: World) -> None:
    observe(world, "one", "two", "three")
    message = retract(world, 3)
    before = work(world, message)
    rows_before = world.memories()
    assert work(world, message) == before
    assert world.memories() == rows_before
    assert len(world.observer.passes) == 2


def test_a_job_that_another_worker_has_ended_stays_ended(world: World) -> None:
    """The message came twice: the slower worker notes what it did, and dies before the end."""
    observe(world, "one", "two", "three")
    message = retract(world, 3)
    late = Retracting.read(scope_of(world), message, for_ever)
    ended = work(world, message)
    with pytest.raises(JobEnded):
        late.note("erased", result={"erased": {}})
    assert job_of(world, message) == ended
    assert ended.status == "done"


def test_the_row_that_is_read_again_stands_where_its_events_do(world: World) -> None:
    observe(world, "one", "two", "three")
    observe(world, "four", "five")
    work(world, retract(world, 2, 2))
    assert ranges(seen(world)) == [(1, 3), (4, 5)]
    assert seen(world)[0].provenance.left_out == ((2, 2),)
    work(world, retract(world, 4, 5))
    assert ranges(seen(world)) == [(1, 3)]


def test_nothing_left_is_no_row(world: World) -> None:
    observe(world, "one", "two")
    job = work(world, retract(world, 1))
    assert (job.status, job.result.get("written", [])) == ("done", [])
    assert seen(world) == []
    assert len(world.observer.passes) == 1


def test_the_sources_of_a_reflection_come_back_in_their_places(world: World) -> None:
    first, second = observe(world, "one", "two"), observe(world, "three", "four", "five")
    third, last = observe(world, "six", "seven"), observe(world, "eight", "nine")
    reflection = fold(world, first, second, third)
    job = work(world, retract(world, 4, 5))
    assert job.result["restored"] == 2
    assert ranges(seen(world)) == [(1, 2), (3, 3), (6, 7), (8, 9)]
    assert [m.supersedes for m in seen(world)] == [(first,), (second,), (third,), ()]
    assert seen(world)[3].id == last
    assert {m.status for m in world.memories() if m.id == reflection} == {Status.SUPERSEDED}


def test_they_stand_before_what_a_pass_writes_meanwhile(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which was not there when the order of the list was read."""
    first, second = observe(world, "one", "two"), observe(world, "three", "four", "five")
    fold(world, first, second)
    message, order = retract(world, 4, 5), replace_derived._order

    def then_a_pass(*given: Any) -> Any:
        found = order(*given)
        monkeypatch.undo()
        observe(world, "six", "seven")
        return found

    monkeypatch.setattr(replace_derived, "_order", then_a_pass)
    assert work(world, message).result["restored"] == 1
    assert ranges(seen(world)) == [(1, 2), (3, 3), (6, 7)]


def test_a_later_retraction_takes_copies_and_what_was_read_again(world: World) -> None:
    first, second = observe(world, "one", "two"), observe(world, "three", "four", "five")
    fold(world, first, second)
    work(world, retract(world, 5, 5))
    assert ranges(seen(world)) == [(1, 2), (3, 4)]
    work(world, retract(world, 1, 3))
    assert ranges(seen(world)) == [(4, 4)]
    work(world, retract(world, 1))
    assert seen(world) == []


def test_a_model_that_is_down_is_asked_again_by_the_next_worker(world: World) -> None:
    observe(world, "one", "two", "three")
    message = retract(world, 3)
    world.observer.answers.append(ModelUnavailable("down"))
    with pytest.raises(ModelUnavailable):
        work(world, message)
    assert seen(world) == []
    assert world.model_is_down
    marker = rows.read_marker(world.table.get(scope_of(world).keys.marker) or {})
    assert marker.model_failed_at is None, "what is said meanwhile is observed by a pass of its own"
    assert work(world, message).status == "done"
    assert ranges(seen(world)) == [(1, 2)]
    assert not world.model_is_down


def test_a_worker_without_time_sends_its_message_again(world: World) -> None:
    observe(world, "one", "two", "three")
    message = retract(world, 3)
    report = run_retraction(scope_of(world), message, time_for(0))
    assert report is not None and report.left_off_at is not None
    assert job_of(world, message).status == "running"
    assert work(world, message).status == "done"


def test_an_answer_that_stops_early_is_followed_by_another_pass(world: World) -> None:
    observe(world, "one", "two", "three", "four")
    message = retract(world, 4)
    world.observer.answers.append(observed_line("🟡 said 1", 1, 1, covered_to=1))
    work(world, message)
    assert ranges(seen(world)) == [(1, 1), (2, 3)]


def test_what_is_read_again_and_says_nothing_leaves_no_row(world: World) -> None:
    observe(world, "one", "two")
    message = retract(world, 2)
    world.observer.answers.append(NOTHING)
    assert work(world, message).status == "done"
    assert seen(world) == []


def test_a_pass_whose_input_is_taken_back_writes_nothing_and_is_asked_again(world: World) -> None:
    world.say("one", "two", "three", "four")
    world.observer.meanwhile = lambda: unwatched(retract(world, 3))
    report = observe_session(scope_of(world), 1, ObservationReport())
    assert [[event.seq for event in one.events] for one in world.observer.passes] == [[1, 2, 3, 4], [1, 2]]
    assert (report.passes, len(report.written), report.observed_seq) == (1, 1, 4)
    [row] = seen(world)
    assert (row.text, row.provenance.left_out) == ("🟡 said 1 to 2", ((3, 4),))


def test_a_pass_goes_on_over_a_tail_of_which_nothing_is_left(world: World) -> None:
    observe(world, "one", "two")
    world.say("three", "four")
    retract(world, 3)
    report = observe_session(scope_of(world), 1, ObservationReport())
    assert (report.passes, report.observed_seq) == (0, 4)
    assert len(world.observer.passes) == 1


def test_memories_of_what_is_taken_back_are_not_shown_to_a_pass(world: World) -> None:
    observe(world, "one", "two")
    observe(world, "three", "four")
    message = retract(world, 1, 2)
    observe(world, "five", "six")
    assert [one.text for one in world.observer.passes[-1].prior] == ["🟡 said 3 to 4"]
    work(world, message)
    assert ranges(seen(world)) == [(3, 4), (5, 6)]


def test_a_reflection_that_was_faster_is_taken_apart(world: World) -> None:
    first, second = observe(world, "one", "two"), observe(world, "three", "four")
    message = retract(world, 4)
    world.table.before_write = lambda: unwatched(fold(world, first, second))
    work(world, message)
    assert ranges(seen(world)) == [(1, 2), (3, 3)]


def test_deleted_words_are_nowhere(world: World) -> None:
    first = observe(world, "a common word", "two")
    observe(world, "my MARKER", "noted MARKER", "a common word", says="🔴 User has a MARKER")
    world.open(session="s2")
    build_pack(scope_of(world), "initial")
    build_pack(scope_of(world, "s2"), "initial")
    fold(world, first, *[m.id for m in world.memories() if "MARKER" in m.text], text="🔴 MARKER, folded")
    build_pack(scope_of(world), "reflection")
    job = work(world, retract(world, 3, 4, "deleted"))
    assert job.result["erased"] == {
        "events": 2,
        "images": 0,
        "documents": 0,
        "revisions": 0,
        "memories": 2,
        "vectors": 0,
        "summaries": 0,
        "packs": 3,
        "exports": 0,
        "rebuilt_packs": ["s1", "s2"],
        "verified": True,
    }
    assert ranges(seen(world)) == [(1, 2), (5, 5)]
    for session in ("s1", "s2"):
        pack = read_pack(scope_of(world, session))
        assert pack.manifest is not None and pack.manifest.pack_version > 1
        assert "MARKER" not in str(pack.text)
    assert not [path for path in world.folder.rglob("*.json") if b"MARKER" in path.read_bytes()]
    world.table.discard_changes(world.table.read_changes(0, 10_000)[-1].seq)
    world.table.close()
    assert b"MARKER" not in (world.folder / "table.db").read_bytes()


def text_of(world: World, session: str) -> str:
    return str(read_pack(scope_of(world, session)).text)


def test_other_sessions_keep_what_is_left_of_a_row_that_held_a_deleted_message(world: World) -> None:
    """Also one whose pack was rebuilt by a reader, before what is left had been read again."""
    observe(world, "never suggest IKEA", "my MARKER", "two cats", says="🔴 IKEA, MARKER, cats")
    for session in ("s2", "s3", "s4"):
        world.open(session=session)
        build_pack(scope_of(world, session), "initial")
    build_pack(scope_of(world, "s4"), "reflection")
    between: list[str] = []
    world.observer.meanwhile = lambda: between.append(text_of(world, "s3"))
    world.observer.answers.append(observed_line("🔴 IKEA, and cats", 1, 3))
    job = work(world, retract(world, 2, 2, "deleted"))
    assert len(between) == 1 and "MARKER" not in between[0] and "IKEA" not in between[0]
    assert job.result["erased"]["rebuilt_packs"] == ["s2", "s3", "s4"]
    for session in ("s2", "s3", "s4"):
        item = world.table.get(scope_of(world, session).keys.epoch)
        assert item is not None and rows.read_epoch(item).pack is not None, "it was not rebuilt"
        assert "IKEA, and cats" in text_of(world, session)
        assert "MARKER" not in text_of(world, session)


def test_other_sessions_get_a_pack_when_the_model_refuses_to_read_what_is_left(world: World) -> None:
    observe(world, "one thing", says="🔴 User said one thing")
    observe(world, "my MARKER", "two", says="🔴 MARKER and two")
    world.open(session="s2")
    build_pack(scope_of(world, "s2"), "initial")
    world.observer.answers.append(ModelRefused("status 401"))
    message = retract(world, 2, 2, "deleted")
    report = run_retraction(scope_of(world), message)
    assert report is not None and str(report.failure) == "status 401"
    job = job_of(world, message)
    assert (job.status, job.result["erased"]["rebuilt_packs"]) == ("running", ["s2"])
    assert "one thing" in text_of(world, "s2") and "MARKER" not in text_of(world, "s2")
    world.observer.answers.append(observed_line("🔴 User said two", 3, 3))
    assert work(world, message).result["erased"]["rebuilt_packs"] == ["s2"]
    assert "User said two" in text_of(world, "s2"), "its pack is built again with what is left"


def test_a_model_that_refuses_every_request_is_waited_for_and_told_once(world: World) -> None:
    """Nobody took back what is left: it is read when the key is right again."""
    observe(world, "one", "two", "three", "four")
    message = retract(world, 4)
    world.observer.answers.append(ModelRefused("status 401"))
    report = run_retraction(scope_of(world), message)
    job = job_of(world, message)
    assert report is not None and str(report.failure) == "status 401"
    assert (job.status, job.finished_at) == ("running", None)
    assert "status 401" in job.result["reason"], "whoever polls sees why it waits"
    sent: list[str] = []
    for _ in range(2):  # ten minutes later, and twenty
        world.clock.move(minutes=30)
        sweep_due(world, lost=lambda one: sent.append(one.id))
    assert sent == [message["job_id"]] * 2
    world.observer.answers.append(ModelRefused("status 401"))
    report = run_retraction(scope_of(world), message)
    assert report is not None and report.failure is None
    world.observer.answers.append(ModelRefused("status 403"))
    report = run_retraction(scope_of(world), message)
    assert report is not None and str(report.failure) == "status 403"
    job = work(world, message)
    assert (job.status, job.result["reason"], len(job.result["written"])) == ("done", "edited", 1)
    assert ranges(seen(world)) == [(1, 3)]
    pack = read_pack(scope_of(world))
    assert "said 1 to 3" in str(pack.text)


def test_a_worker_that_dies_behind_the_purge_is_followed_to_the_packs(world: World) -> None:
    observe(world, "my MARKER", "two", says="🔴 MARKER and two")
    world.open(session="s2")
    build_pack(scope_of(world, "s2"), "initial")
    world.observer.answers.append(ModelUnavailable("timeout"))
    message = retract(world, 1, 1, "deleted")
    with pytest.raises(ModelUnavailable):
        run_retraction(scope_of(world), message)
    assert text_of(world, "s2").count("MARKER") == 0
    world.clock.move(seconds=1_000)
    world.observer.answers.append(observed_line("🔴 User said two", 2, 2))
    job = work(world, message)
    assert job.result["erased"]["rebuilt_packs"] == ["s2"]
    assert "User said two" in text_of(world, "s2")


def test_a_deleted_image_is_gone_where_it_was_uploaded_to(world: World) -> None:
    """Of the images that were sent, too, that of another message stays."""
    keys, png = world.user().keys, TINY_PNG
    for name in ("upl_1", "upl_2"):
        world.objects.put(keys.upload_object(name), png, content_type="image/png")
        block = {"type": "image", "media_type": "image/png", "upload_id": name}
        append_events(scope_of(world), [NewEvent(EventType.USER_MESSAGE, [block])])
    done = work(world, retract(world, 1, 1, "deleted"))
    assert done.result is not None and done.result["erased"]["images"] == 1
    assert world.objects.list(keys.images_prefix) == [keys.image_object("upl_2")]
    assert world.objects.list(keys.uploads_prefix) == [keys.upload_object("upl_2")]


# --- what is left is read again, and what of it is not is told ---------------------------------------


def test_an_event_that_is_refused_alone_is_told(world: World) -> None:
    observe(world, "one", "two", "three", "four")
    message = retract(world, 4)
    world.observer.answers += [ContentRefused(REASON), ContentRefused(REASON)]
    report = run_retraction(scope_of(world), message)
    assert ranges(seen(world)) == [(1, 3)]
    assert seen(world)[0].text == "🟡 said 2 to 3"
    reported = [{"seq": 1, "reason": REASON}]
    assert report is not None and report.unreported()[0] == reported
    assert job_of(world, message).result["unobservable"] == reported


def test_where_all_that_is_left_is_refused_it_is_told_once(world: World) -> None:
    observe(world, "one", "two")
    message = retract(world, 2)
    world.observer.answers.append(ContentRefused(REASON))
    report = run_retraction(scope_of(world), message)
    job = job_of(world, message)
    assert (job.status, seen(world)) == ("done", [])
    assert report is not None and report.unobservable == job.result["unobservable"] == [{"seq": 1, "reason": REASON}]


UNUSABLE = pytest.mark.parametrize("failure", [AnswerCutOff("cut off"), AnswerOutOfForm("out of form")])


@UNUSABLE
def test_an_event_that_no_answer_can_be_used_about_is_left_out_and_told(world: World, failure: Exception) -> None:
    observe(world, "one", "two", "three", "four")
    message = retract(world, 4)
    world.observer.answers += [failure] * 4
    report = run_retraction(scope_of(world), message)
    assert [[event.seq for event in one.events] for one in world.observer.passes[1:]] == [
        [1, 2, 3],
        *[[1]] * 3,
        [2, 3],
    ]
    reported = [{"seq": 1, "reason": str(failure)}]
    assert report is not None and report.unreported()[0] == reported
    job = job_of(world, message)
    assert (job.status, job.result["unobservable"], ranges(seen(world))) == ("done", reported, [(1, 3)])


@pytest.mark.parametrize("failure", [AnswerCutOff("cut off"), ContentRefused(REASON)])
def test_what_one_worker_was_refused_the_next_one_knows(world: World, failure: Exception) -> None:
    """Where there is time for one answer at a time."""
    observe(world, "one", "two", "three", "four")
    message = retract(world, 4)
    alone = 3 if isinstance(failure, AnswerCutOff) else 1
    world.observer.answers += [failure] * (1 + alone)
    places, told = [], []
    for _ in range(20):
        report = run_retraction(scope_of(world), message, seconds_left=time_for(1))
        assert report is not None
        places.append(report.left_off_at)
        told += report.unreported()[0]
        if report.left_off_at is None:
            break
    assert [len(one.events) for one in world.observer.passes[1:]] == [3, *[1] * alone, 2]
    assert len(set(places)) == len(places), "each has got somewhere"
    assert told == job_of(world, message).result["unobservable"] == [{"seq": 1, "reason": str(failure)}]


@UNUSABLE
def test_a_model_of_which_no_answer_can_be_used_is_waited_for(world: World, failure: Exception) -> None:
    """Three events and nothing accepted: it is the model. What was to be read again is, when it is mended."""
    observe(world, "one", "two", "three", "four")
    message = retract(world, 4)
    world.observer.answers += [failure] * 20
    report = run_retraction(scope_of(world), message)
    job = job_of(world, message)
    assert report is not None and str(failure) in str(report.failure)
    assert (job.status, "unobservable" in job.result, world.model_is_down) == ("running", False, True)
    world.observer.answers.clear()
    run_retraction(scope_of(world), message)
    assert (job_of(world, message).status, ranges(seen(world))) == ("done", [(1, 3)])


def test_an_outage_leaves_nothing_out_of_what_is_read_again(world: World) -> None:
    observe(world, "one", "two")
    message = retract(world, 2)
    world.observer.answers += [AnswerCutOff("cut off"), *[ModelUnavailable("status 529")] * 5]
    for _ in range(5):
        with pytest.raises(ModelUnavailable, match="529"):
            run_retraction(scope_of(world), message)
    run_retraction(scope_of(world), message)
    job = job_of(world, message)
    assert (job.status, "unobservable" in job.result, ranges(seen(world))) == ("done", False, [(1, 1)])


def test_images_that_are_left_out_are_told(world: World) -> None:
    image = {"type": "image", "media_type": "image/png", "data": PNG}
    append_events(scope_of(world), [NewEvent(EventType.USER_MESSAGE, [image, {"type": "text", "text": "My bike."}])])
    observe(world, "two", "three")
    message = retract(world, 3)
    world.observer.answers.append(ContentRefused(REASON))
    report = run_retraction(scope_of(world), message)
    assert ranges(seen(world)) == [(1, 2)]
    assert report is not None and report.unreported()[1] == [1]
    assert job_of(world, message).result["images_left_out"] == [1]


def test_facts_without_room_are_told_of_every_pass(world: World) -> None:
    observe(world, "one", "two", "three")
    message = retract(world, 3)
    facts = tuple(
        ProposedFact(f"User has been to island {n}.", "PLACE", 3, "user_stated", "new", None, 1, 1) for n in range(12)
    )
    world.observer.answers.append(observed_line("🟡 islands", 1, 2, facts=facts))
    report = run_retraction(scope_of(world), message)
    assert report is not None and report.unreported_facts()["left_out"] == 2
    assert job_of(world, message).result["facts_left_out"] == 2


def test_lines_without_room_are_told(world: World) -> None:
    observe(world, "one", "two", "three")
    message = retract(world, 3)
    world.observer.answers.append(observed_line("🟡 islands", 1, 2, lines_left_out=(1, 1)))
    report = run_retraction(scope_of(world), message)
    assert report is not None and report.unreported_lines()["left_out"] == 2
    assert job_of(world, message).result["lines_left_out"] == 2


def test_what_was_not_kept_is_told_also_where_the_worker_then_fails(world: World) -> None:
    observe(world, "one", "two")
    observe(world, "three", "four")
    message = retract(world, 2, 3)
    world.observer.answers += [
        observed_line("🟡 one", 1, 1, lines_not_read=3, facts_not_read=2),
        ModelUnavailable("status 529"),
    ]
    report = ObservationReport()
    with pytest.raises(ModelUnavailable):
        run_retraction(scope_of(world), message, report=report)
    assert report.unreported_facts()["not_read"] == job_of(world, message).result["facts_not_read"] == 2
    assert report.unreported_lines()["not_read"] == job_of(world, message).result["lines_not_read"] == 3
    later = ObservationReport()
    run_retraction(scope_of(world), message, report=later)
    assert (job_of(world, message).status, later.unreported_facts()["not_read"]) == ("done", 0)


def test_an_answer_passes_the_gate(world: World) -> None:
    observe(world, "one", "two")
    message = retract(world, 2)
    card = "4111 1111 1111 1111"
    world.observer.answers.append(observed_line(f"🟡 pays with {card}", 1, 1, current_task=f"Charge {card}."))
    report = run_retraction(scope_of(world), message)
    assert [row.text for row in seen(world)] == ["🟡 pays with [removed]"]
    assert card not in str(world.table.get(scope_of(world).keys.marker))
    assert report is not None and report.uncounted() == {"card_number": 2}
    assert job_of(world, message).result["redacted"] == {"card_number": 2}


def of_a_summary(world: World) -> dict[str, Any]:
    """A retraction of what a compaction has summarised."""
    world.with_policy(window=2_000)
    for _ in range(12):
        world.say("u" * 320, "a" * 320)
    compaction = request_compaction(scope_of(world), "manual", wait=False)
    compact_session(scope_of(world), world.queued(compaction))
    return retract(world, 5, 6)


def test_a_summary_that_no_model_wrote_says_why(world: World) -> None:
    message = of_a_summary(world)
    world.observer.summaries.append(ContentRefused(REASON))
    report = run_retraction(scope_of(world), message)
    result = job_of(world, message).result
    assert (result["summary"], result["summary_reason"]) == ("rewritten", "the observer refused to read these events")
    assert report is not None and report.summary_refused


def test_a_summary_is_written_anew_with_the_users_days(world: World) -> None:
    world.open(user_meta={"timezone": "Pacific/Pago_Pago"})
    message = of_a_summary(world)
    run_retraction(scope_of(world), message)
    assert [given.timezone for given in world.observer.summarised] == ["Pacific/Pago_Pago"] * 2


def test_a_summary_that_is_refused_is_waited_for(world: World) -> None:
    message = of_a_summary(world)
    world.observer.summaries.append(ModelRefused("status 401"))
    assert work(world, message).status == "running"
    job = work(world, message)
    assert (job.status, job.result["summary"], job.result["reason"]) == ("done", "rewritten", "edited")


def test_a_row_that_is_read_again_stands_behind_all_that_begin_before_it() -> None:
    """A fact that waited, and was said again at 8, stands where it was written; what a call said begins nowhere."""
    begin = {"first": 1, "again": 8, "second": 6, "fact": 10, "late": 2, "last": 12, "read": 7}
    seqs = {i: LivePlace(seq, "") for i, seq in begin.items()}
    facts = {"again", "call", "fact", "late"}
    ids = ("first", "again", "call", "second", "fact", "last", "late")
    live = tuple(LiveRow(i, Kind.FACT if i in facts else Kind.OBSERVATION, 1) for i in ids)
    row = LiveRow("read", Kind.OBSERVATION, 1)
    placed = [one.id for one in in_place(live, row, seqs)]
    assert placed == ["first", "again", "call", "second", "read", "fact", "last", "late"]
    assert in_place((), row, seqs) == (row,)
    assert in_place(live, row, {**seqs, "read": LivePlace(13, "")}) == (*live, row)
    assert [one.id for one in in_place(live[3:], row, {**seqs, "read": LivePlace(2, "")})] == [
        "read",
        "second",
        "fact",
        "last",
        "late",
    ]
