"""Read again what is left of observations that were touched by a retraction (docs/rules/retract.md#again).

A pass that is bounded to the range of one of them: marker and offers stay where they are, and what is still to be read
is in the job, which moves on with every commit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from neve.domain.memories.live_rows import in_place, live_places, live_row
from neve.domain.memories.text import priority_of
from neve.domain.observe.facts import StatedFact, facts_with_room, stated_facts
from neve.domain.observe.lines import room_for
from neve.domain.records.jobs import Job
from neve.domain.records.markers import RefusedEvent, SessionMarker
from neve.domain.records.memories import Memory, Status
from neve.domain.records.sessions import Event, Spans
from neve.domain.sessions.rendered_blocks import strip_event
from neve.domain.sessions.spans import holds, meets, without
from neve.domain.sessions.transcript import images_of, plan_pass
from neve.domain.sessions.voices import Voice, with_one_voice
from neve.observing import Observed, PassInput, SecondsLeft
from neve.ports.errors import ContentRefused, ModelRefused, UnusableAnswer
from neve.ports.table import Check, Item, Key, Version, WriteOp, key_of
from neve.scope import SessionScope
from neve.store import rows
from neve.store.incarnation import UserErased, still_there
from neve.store.memories import memories_of
from neve.store.partitions import all_rows
from neve.usecases.core.lag.note_model import noting_the_model
from neve.usecases.core.privacy.screen_answers import screen_observed
from neve.usecases.core.tenants.usage import answer_cost
from neve.usecases.tell.memories.fact_writes import FactWrites
from neve.usecases.tell.tenants.paid_in_vain import counting_failures, counting_if_lost
from neve.usecases.work.observe.commit_pass import InputRetracted, PassCommit, PassRead
from neve.usecases.work.observe.images import Pictured, pictures_with_room
from neve.usecases.work.observe.lease import release_lease, take_lease, within_lease
from neve.usecases.work.observe.observe_session import OutOfTime, by_name, done_justice, held_by
from neve.usecases.work.observe.prior_memories import facts_elsewhere, prior_memories
from neve.usecases.work.observe.refusals import REFUSED_IN_A_ROW, counted, noted, without_images
from neve.usecases.work.observe.report import ObservationReport
from neve.usecases.work.observe.said_in_session import said_in_pass
from neve.usecases.work.retract.find_derived import made_since
from neve.usecases.work.retract.retracting import Retracting
from neve.usecases.work.retract.settled_facts import without_settled


@dataclass(frozen=True)
class Left:
    """The part of the observation ``memory_id`` that is still to be read."""

    memory_id: str
    first: int
    last: int


@dataclass(frozen=True)
class Narrowed:
    """The state of what the observer has refused of what is left, or gave no usable answer about: ``most``, ``refused``
    and ``unusable`` as ``pass_limit``, ``refused`` and ``unusable`` of a session's marker; in the job's state until a
    pass is committed."""

    most: int | None = None
    refused: tuple[RefusedEvent, ...] = ()
    unusable: tuple[int, int] | None = None

    @classmethod
    def of(cls, state: dict[str, Any]) -> Narrowed:
        kept = state.get("narrowed", {})
        refused = tuple(RefusedEvent(**one) for one in kept.get("refused", ()))
        unusable = kept.get("unusable")
        return cls(kept.get("most"), refused, tuple(unusable) if unusable else None)


def next_left(job: Job) -> tuple[Left, Narrowed] | None:
    """Say what is to be read next; None where nothing is."""
    again = job.state.get("again", ())
    return (Left(*again[0]), Narrowed.of(job.state)) if again else None


def moved_on(job: Job, left: Left, read_to: int, new: ObservationReport, written: str | None = None) -> dict[str, Any]:
    """Give what the job says once ``left`` was read up to a seq. ``new``: what was not observed of it."""
    again = [one for one in job.state["again"] if one[0] != left.memory_id]
    if read_to < left.last:
        again.insert(0, [left.memory_id, read_to + 1, left.last])
    ids = [*job.result.get("written", ()), *([written] if written else [])]
    so_far = ObservationReport.going_on(job.result)
    so_far.also_left_out(new)
    counts = so_far.left_out() | ({"redacted": so_far.redacted} if so_far.redacted else {})
    return {"again": again, "narrowed": {}, "result": {"written": ids, **counts}}


def observe_remainder(work: Retracting, report: ObservationReport) -> None:
    """Observe until nothing of the job's is left to read. ``report`` hears what was not observed, which is in the job's
    result, too. Raises OutOfTime before an answer that the worker's time would not do for, LeaseHeld, LeaseLost,
    UserErased, ModelUnavailable, ModelRefused, StoreUnavailable; what was committed stays, and the job knows the
    rest."""
    if next_left(work.job) is None:
        return
    leased = take_lease(work.scope)
    token, seconds_left = leased.lease_token, within_lease(work.scope, leased, work.seconds_left)
    try:
        while (found := next_left(work.job)) is not None:
            left, narrowed = found
            _Again(work.scope, work.incarnation, token, work, left, report, seconds_left, narrowed).run()
    finally:
        release_lease(work.scope, token)


@dataclass(frozen=True)
class _Shown:
    """The events that one pass shows. ``spans``: what is left, and to be read; ``pictured``: ``events`` as the observer
    is shown them; ``ends``: they are all that can be read of it."""

    marker: SessionMarker
    spans: Spans
    events: Sequence[Event]
    pictured: Pictured
    ends: bool
    voice: Voice

    @property
    def last(self) -> int:
        return self.spans[-1][1] if self.ends else self.events[-1].seq


@dataclass
class _Again:
    """The work on one observation. ``narrowed``: as the job's row has it; ``accepted``: whether an answer could be
    used; ``new``: what the job's result does not say yet of what was not observed."""

    scope: SessionScope
    incarnation: int
    token: int
    work: Retracting
    left: Left
    report: ObservationReport
    seconds_left: SecondsLeft
    narrowed: Narrowed
    accepted: bool = False
    new: ObservationReport = field(default_factory=ObservationReport)

    def __post_init__(self) -> None:
        self.whole = (self.left.first, self.left.last)
        self.new.unobservable += [_told(one) for one in self.narrowed.refused]

    def run(self) -> None:
        """Run consecutive passes over what is left of one observation."""
        while self.left.first <= self.left.last:
            shown = self._read()
            if not shown.events:
                self._end_empty()
                return
            self._need_time()
            try:
                read_to = self._pass(shown)
            except (ContentRefused, UnusableAnswer) as failure:
                self._narrow(shown.events, failure)
            except InputRetracted:
                continue
            else:
                self.left = replace(self.left, first=read_to + 1)
                self.narrowed = Narrowed(self.narrowed.most)
                self.accepted = True

    def _need_time(self) -> None:
        """Check that there is time for one more answer of the observer. Raises OutOfTime."""
        if self.seconds_left() < self.scope.ports.observer.longest_s:
            raise OutOfTime

    def _end_empty(self) -> None:
        self.work.note(**moved_on(self.work.job, self.left, self.left.last, self.new))
        self._tell_report()

    def _tell_report(self) -> None:
        """Tell the report what is new: the job's row says it by now, and the worker is to say it, too."""
        self.report.also_left_out(self.new)
        self.new = ObservationReport()

    def _narrow(self, events: Sequence[Event], failure: ContentRefused | UnusableAnswer) -> None:
        """Ask for less the next time, or once more where an answer about one event could not be used, or leave out an
        event that was refused alone. Raises ModelRefused where it may be no event, but the model."""
        before, refused = self.narrowed, noted(events[0], failure)
        if len(events) > 1:
            self.narrowed = Narrowed(len(events) // 2, before.refused)
        elif unusable := counted(before.unusable, refused):
            self.narrowed = Narrowed(1, before.refused, unusable)
        else:
            self.narrowed = Narrowed(None, (*before.refused, refused))
            self.new.unobservable.append(_told(refused))
        in_doubt = sum(one.unusable for one in self.narrowed.refused)
        if in_doubt >= REFUSED_IN_A_ROW and not self.accepted:
            self._keep(Narrowed())
            with noting_the_model(self.scope.ports):
                raise ModelRefused(f"nothing of its answers can be used: {failure}") from failure
        self._keep(self.narrowed)

    def _keep(self, narrowed: Narrowed) -> None:
        """Note what was refused for the next worker."""
        self.work.note(narrowed=asdict(narrowed))

    def _read(self) -> _Shown:
        """Read what the observer is shown, at most as much as a pass may hold."""
        keys = self.scope.keys
        found = self.scope.ports.table.get_many([keys.head, keys.marker, keys.session_head])
        still_there(rows.read_head(found.get(keys.head)), self.incarnation)
        if keys.marker not in found or keys.session_head not in found:
            raise UserErased
        marker = rows.read_marker(found[keys.marker])
        spans = tuple(without((self.left.first, self.left.last), marker.retracted))
        between = keys.events(self.left.first, self.left.last)
        log = map(rows.read_event, all_rows(self.scope.ports.table, keys.log, between=between))
        refused = {one.seq for one in self.narrowed.refused}
        meant = (e for e in log if holds(spans, e.seq) and e.seq not in refused)
        stripped = [event for event in map(strip_event, meant) if event is not None]
        plan = plan_pass(stripped, self.scope.policy.observer_transcript_cap, self.scope.count)
        plan, voice = with_one_voice(plan, room=rows.read_session(found[keys.session_head]).room)
        ends = not plan.cut_by_cap
        pictured = pictures_with_room(self.scope.ports.objects, plan.events[: self.narrowed.most], stripped)
        events = plan.events[: len(pictured.events)]
        return _Shown(marker, spans, events, pictured, ends and len(events) == len(plan.events), voice)

    def _pass(self, shown: _Shown) -> int:
        """Ask once and commit; give the seq up to where the answer did justice to the events."""
        given = self._input(shown)
        with noting_the_model(self.scope.ports, (ContentRefused, UnusableAnswer)):
            observed, new = self._ask(given, shown.voice)
        with counting_if_lost(self.scope, self.incarnation, answer_cost(observed.calls, observed.usage)):
            said = said_in_pass(self.scope, shown.events, given.prior, observed, shown.marker.retracted)
        unseen, held = tuple(new.images_left_out), held_by(given)
        read = PassRead(
            shown.spans[0][0],
            shown.last,
            shown.last,
            shown.events,
            True,
            unseen=unseen,
            held=held,
            said=said,
            voice=shown.voice,
        )
        room = facts_with_room(stated_facts(observed.facts, said), shown.events[0].seq)
        observed, read = done_justice(observed, read, room)
        new.images_left_out = new.images_left_out or list(shown.pictured.left_out)
        new.lines_left_out = len(observed.lines_left_out)
        new.lines_not_read, new.facts_not_read = observed.lines_not_read, observed.facts_not_read
        new.facts_left_out = room.left_out
        new.also_left_out(self.new)
        read_to = self.left.last if shown.ends and read.covered_to == shown.last else read.covered_to
        commit = _Commit(
            self.scope,
            self.incarnation,
            self.token,
            observed,
            read,
            work=self.work,
            left=self.left,
            read_to=read_to,
            new=new,
        )
        with counting_if_lost(self.scope, self.incarnation, answer_cost(observed.calls, observed.usage)):
            new.facts_left_out += commit.write().facts_left_out
        self.work.read_again()
        self.new = new
        self._tell_report()
        return read_to

    def _ask(self, given: PassInput, voice: Voice) -> tuple[Observed, ObservationReport]:
        """Give the answer, without what the gate takes out, and what was not observed for it. Raises ContentRefused for
        what is refused without its images, too."""
        new = ObservationReport()
        try:
            with counting_failures(self.scope, self.incarnation):
                answer = self.scope.ports.observer.observe(given)
        except ContentRefused:
            new.images_left_out = [event.seq for event in given.events if images_of(event)]
            if not new.images_left_out:
                raise
            self._need_time()
            with counting_failures(self.scope, self.incarnation):
                answer = self.scope.ports.observer.observe(replace(given, events=without_images(given.events)))
        observed, found = screen_observed(self.scope, by_name(answer, voice))
        new.redacted = dict(found)
        return observed, new

    def _input(self, shown: _Shown) -> PassInput:
        found = self.scope.ports.table.get(self.scope.keys.session_head)
        if found is None:
            raise UserErased
        # what was made of the same events is no reason to keep silent about them
        prior = prior_memories(self.scope, shown.marker, shown.events, facts_elsewhere(self.scope), shown.voice)
        return PassInput(
            session_id=self.scope.session,
            events=shown.pictured.events,
            prior=[one for one in prior if one.span is None or not meets([self.whole], one.span)],
            timezone=rows.read_session(found).timezone,
            output_cap=self.scope.policy.observer_output_cap,
            max_lines=room_for(shown.events),
            seconds_left=self.seconds_left,
        )


def _told(refused: RefusedEvent) -> dict[str, Any]:
    return {"seq": refused.seq, "reason": refused.reason}


@dataclass(frozen=True, kw_only=True)
class _Commit(PassCommit):
    """The commit of a bounded pass: the marker stays, and the row stands where its events do. ``before``: the
    observation's row, where this attempt has found it."""

    work: Retracting
    left: Left
    read_to: int
    new: ObservationReport
    before: list[Item] = field(default_factory=list)

    @property
    def _counts(self) -> bool:
        return False

    def _facts_left(self, found: Mapping[Key, Item]) -> Sequence[StatedFact]:
        keys, since = self.scope.keys, made_since(self.scope, rows.read_session(found[self.scope.keys.session_head]))
        return without_settled(self.scope, rows.read_marker(found[keys.marker]), super()._facts_left(found), since)

    def _beside(self, memory: Memory | None) -> list[WriteOp]:
        new = replace(self.new, facts_left_out=self.new.facts_left_out + self._without_room)
        self.work.read_again()
        noted = moved_on(self.work.job, self.left, self.read_to, new, memory.id if memory else None)
        # no writer changes or deletes it between that look and the commit
        unchanged = [Check(key_of(row), Version(row["version"])) for row in self.before]
        return [self.work.put(**noted), *unchanged]

    def _memory(self, memory_id: str, observed: Observed, timezone: str) -> Memory | None:
        memory = super()._memory(memory_id, observed, timezone)
        if memory is None:
            return None
        row, deleted = self.scope.keys.memory(self.left.memory_id), self.scope.keys.deleted_memory(self.left.memory_id)
        found = self.scope.ports.table.get_many([row, deleted])
        self.before[:] = [found[row]] if row in found else []
        if row in found:  # an erasure leaves no row, and none of its marks
            memory = _with_marks_of(memory, rows.read_memory(found[row]))
        elif deleted in found and rows.read_unsaid(found[deleted]) is not None:  # by a person
            return None
        return replace(memory, supersedes=(self.left.memory_id,))

    def _moved(self, marker: SessionMarker, memory: Memory | None, facts: FactWrites) -> SessionMarker:
        live = marker.live
        if memory is not None:
            known = memories_of(self.scope.ports.table, self.scope.keys, [row.id for row in live])
            row = live_row(memory)
            live = in_place(live, row, live_places([memory, *known]))
        live = facts.live(self.scope.session, live)
        return replace(marker, live=live, retold=facts.repeated_with(marker.retold))


def _with_marks_of(observation: Memory, before: Memory) -> Memory:
    """Set on what was read again the marks that a person had put on the row before."""
    was = before.was if before.status is Status.SUPERSEDED else before.status
    return replace(
        observation,
        status=Status.RESOLVED if was is Status.RESOLVED else observation.status,
        tags=before.tags,
        never_recall=before.never_recall,
        valid_from=before.valid_from,
        valid_until=before.valid_until,
        importance=before.importance,
        confidence=before.confidence,
        priority=observation.priority if before.priority == priority_of(before.text) else before.priority,
        label=before.label,
        group=before.group,
        metadata=before.metadata,
    )
