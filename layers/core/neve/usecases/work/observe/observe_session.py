"""Turn a session's unobserved tail into memory: the worker behind E3 and the automatic pass.

A pass reads, asks the observer once, and commits in one transaction conditional on the lease. A conflicting write is
redone from fresh rows; the observer is never asked twice for what it has answered."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from neve.domain.observe.facts import FactRoom, facts_up_to, facts_with_room, stated_facts
from neve.domain.observe.lines import earlier, room_for, up_to
from neve.domain.records.markers import SessionMarker
from neve.domain.records.memories import Memory
from neve.domain.records.sessions import Event, EventType, SessionHead, Span
from neve.domain.records.users import UserHead
from neve.domain.sessions.rendered_blocks import strip_event
from neve.domain.sessions.spans import holds
from neve.domain.sessions.transcript import Pass, event_text, images_of, plan_pass
from neve.domain.sessions.voices import Voice, with_one_voice
from neve.observing import Observed, PassInput, SecondsLeft, for_ever
from neve.ports.errors import AnswerTooLate, ContentRefused, ModelRefused, UnusableAnswer
from neve.scope import SessionScope
from neve.store import rows
from neve.store.incarnation import UserErased, still_there
from neve.store.partitions import all_rows
from neve.usecases.core.jobs.finish_job import NOTHING_NEW
from neve.usecases.core.lag.note_model import note_languages, noting_what_waits
from neve.usecases.core.privacy.screen_answers import screen_observed
from neve.usecases.core.tenants.usage import answer_cost
from neve.usecases.tell.tenants.paid_in_vain import counting_failures, counting_if_lost
from neve.usecases.work.observe.commit_pass import InputRetracted, PassCommit, PassRead
from neve.usecases.work.observe.images import pictures_with_room
from neve.usecases.work.observe.lease import pass_progress, release_lease, take_lease, within_lease
from neve.usecases.work.observe.prior_memories import facts_elsewhere, prior_memories
from neve.usecases.work.observe.refusals import (
    REFUSED_IN_A_ROW,
    given_up,
    halved,
    halved_once,
    in_doubt,
    noted,
    offered,
    once_more,
    singled_out,
    without_images,
    write_marker,
)
from neve.usecases.work.observe.report import ObservationReport, fact_result
from neve.usecases.work.observe.said_in_session import said_in_pass
from neve.usecases.work.observe.share_said import share_said

NOTHING_OBSERVED = "the observer found nothing worth keeping"
KNOWN_ALREADY = "what was said was known already"
NOTHING_READABLE = "the observer refused to read these events"
NOTHING_USABLE = "nothing of the observer's answers about these events could be used; they wait for what is said next"


class OutOfTime(Exception):
    """The worker's time would not do for one more answer."""


def observe_session(
    scope: SessionScope,
    incarnation: int,
    report: ObservationReport | None = None,
    *,
    closing: bool = False,
    seconds_left: SecondsLeft = for_ever,
    passes: type[Passes] | None = None,
) -> ObservationReport:
    """Observe in consecutive passes, oldest events first, until nothing is left, or until less time is left than one
    more pass may take, be it the first: ``left_off_at`` then says where. ``closing`` (compaction, session end): the
    marker advances even past events that hold no memory. ``report``: of the job's earlier workers; it is carried on.
    ``passes``: of another kind than usual.

    Raises LeaseHeld, LeaseLost, UserErased, ModelUnavailable, ModelRefused, StoreUnavailable. Whatever was committed
    before stays; the rest of the tail stays unobserved."""
    report = report or ObservationReport()
    head, session_head, marker = _read(scope)
    report.observed_seq = marker.observed_seq
    still_there(head, incarnation)
    if session_head.last_seq <= _done_through(marker, closing):
        report.reason = report.reason if report.passes else NOTHING_NEW
        return report
    leased = take_lease(scope)
    token = leased.lease_token
    try:
        one = (passes or Passes)(scope, incarnation, token, closing, report, within_lease(scope, leased, seconds_left))
        try:
            while one.run():
                pass
        except OutOfTime:
            report.left_off_at = one.left_off_at()
        return report
    finally:
        release_lease(scope, token)


def _done_through(marker: SessionMarker, closing: bool) -> int:
    return marker.observed_seq if closing else max(marker.observed_seq, marker.offered_seq)


def _read(scope: SessionScope) -> tuple[UserHead, SessionHead, SessionMarker]:
    """Read the rows of the session. Raises UserErased for a session that is gone."""
    keys = scope.keys
    found = scope.ports.table.get_many([keys.head, keys.session_head, keys.marker])
    if keys.session_head not in found:
        raise UserErased
    return (
        rows.read_head(found.get(keys.head)),
        rows.read_session(found[keys.session_head]),
        rows.read_marker(found[keys.marker]),
    )


def done_justice(observed: Observed, read: PassRead, room: FactRoom) -> tuple[Observed, PassRead]:
    """Cut lines and facts off behind the last event that both do justice to; the next pass reads what follows."""
    read = replace(read, facts=room.facts)
    wanted = earlier(observed.covered_to, room.covered_to)
    if wanted is None:
        return observed, read
    first, last = read.events[0].seq, read.events[-1].seq
    covered_to = min(max(wanted, first), last)
    if covered_to == last:
        return observed, read
    covered = [event for event in read.events if event.seq <= covered_to]
    left_out = tuple(seq for seq in observed.lines_left_out if seq <= covered_to)
    lines = up_to(observed.lines, covered_to)
    scene = observed.scene if wanted == observed.covered_to else None  # in a scene there are no facts without room
    return replace(observed, lines=lines, lines_left_out=left_out, scene=scene), replace(
        read, covered_to=covered_to, events=covered, facts=tuple(facts_up_to(room.facts, covered_to))
    )


@dataclass
class Passes:
    """The passes of one worker. ``report.passes`` counts the answers that were accepted. ``ahead``: events that were
    read and not observed yet; ``facts``: what other conversations hold, once it was read."""

    scope: SessionScope
    incarnation: int
    token: int
    closing: bool
    report: ObservationReport
    seconds_left: SecondsLeft
    ahead: list[Event] = field(default_factory=list)
    facts: list[Memory] | None = None

    def run(self) -> bool:
        """Do one pass; False when there is nothing left to read. Raises ContentRefused when the observer reads nothing
        at all, OutOfTime."""
        self._need_time()
        _, head, marker = _read(self.scope)
        if head.last_seq <= _done_through(marker, self.closing):
            return False
        raw = self._tail(_read_through(marker))
        plan, voice = with_one_voice(self._plan(marker, raw), room=head.room)
        first = marker.observed_seq + 1
        if not plan.events:  # all of it was our own rendering, or was refused
            last = raw[-1].seq if raw else _read_through(marker)
            if last >= head.last_seq and self._in_doubt(marker):
                write_marker(self.scope, self.token, offered(marker, last))
                self.report.reason = NOTHING_USABLE
                return False
            self._commit(None, PassRead(first, last, last, (), True, marker.refused))
            return True
        new = (one for one in plan.events if one.seq > marker.offered_seq)
        note_languages(self.scope.ports, (event_text(e) for e in new if e.event_type is EventType.USER_MESSAGE))
        self._hand_on(head, plan.events)
        pictured = pictures_with_room(self.scope.ports.objects, plan.events, raw)
        if len(pictured.events) < len(plan.events):
            plan = Pass(plan.events[: len(pictured.events)], cut_by_cap=True)
        given = replace(self._input(head, marker, plan.events, voice), events=pictured.events)
        try:
            with noting_what_waits(self.scope, (ContentRefused, UnusableAnswer)):
                answer, unseen = self._ask(given)
        except (ContentRefused, UnusableAnswer) as failure:
            self._narrow(marker, plan.events, failure)
            return True
        except AnswerTooLate:
            write_marker(self.scope, self.token, halved_once(marker, plan.events))
            raise
        observed, found = screen_observed(self.scope, by_name(answer, voice))
        with counting_if_lost(self.scope, self.incarnation, answer_cost(observed.calls, observed.usage)):
            said = said_in_pass(self.scope, plan.events, given.prior, observed, marker.retracted)
        room = facts_with_room(stated_facts(observed.facts, said), plan.events[0].seq)
        last = (plan.through or plan.events[-1].seq) if plan.cut_by_cap else raw[-1].seq
        advance = plan.cut_by_cap or self.closing
        held = held_by(given)
        read = PassRead(
            first, last, last, plan.events, advance, marker.refused, tuple(unseen), held=held, said=said, voice=voice
        )
        observed, read = done_justice(observed, read, room)
        with contextlib.suppress(InputRetracted):  # asked again without it
            self._commit(observed, read)
            self.report.passes += 1
            self.report.also_left_out(
                ObservationReport(
                    images_left_out=self._not_reported_yet((*unseen, *pictured.left_out)),
                    lines_left_out=len(observed.lines_left_out),
                    facts_left_out=room.left_out,
                    lines_not_read=observed.lines_not_read,
                    facts_not_read=observed.facts_not_read,
                    redacted=dict(found),
                )
            )
        return True

    def _hand_on(self, head: SessionHead, events: Sequence[Event]) -> None:
        """Hand on what participants share."""
        share_said(self.scope, head, events)

    def left_off_at(self) -> str | None:
        """Name where the passes have come to; None when nothing is left to read."""
        _, head, marker = _read(self.scope)
        return None if head.last_seq <= _done_through(marker, self.closing) else pass_progress(marker)

    def _need_time(self) -> None:
        """Raise OutOfTime unless there is time for one more answer of the observer."""
        if self.seconds_left() < self.scope.ports.observer.longest_s:
            raise OutOfTime

    # --- reading --------------------------------------------------------------------------------

    def _tail(self, read_through: int) -> list[Event]:
        """Read the unobserved events, oldest first, a little more than one pass can hold. Events that an earlier pass
        of this worker has read and left are not read again: an event does not change."""
        events = [event for event in self.ahead if event.seq > read_through]
        if not events or events[0].seq != read_through + 1:
            events = []
        tokens = sum(event.original_tokens for event in events)
        keys, most = self.scope.keys, 2 * self.scope.policy.observer_transcript_cap
        if tokens <= most:
            behind = keys.events((events[-1].seq if events else read_through) + 1)
            for item in all_rows(self.scope.ports.table, keys.log, between=behind):
                events.append(rows.read_event(item))
                tokens += events[-1].original_tokens
                if tokens > most:
                    break
        self.ahead = events
        return events

    def _plan(self, marker: SessionMarker, raw: Sequence[Event]) -> Pass:
        """Choose the events that the next pass reads, without those that were taken back. Where the observer has
        refused, the pass is cut to the marker's limit as it is by the cap."""
        meant = (event for event in raw if not holds(marker.retracted, event.seq))
        stripped = [event for event in (strip_event(e) for e in meant) if event is not None]
        plan = plan_pass(stripped, self.scope.policy.observer_transcript_cap, self.scope.count)
        if marker.pass_limit is None:
            return plan
        return Pass(plan.events[: marker.pass_limit], cut_by_cap=True)

    def _input(self, head: SessionHead, marker: SessionMarker, events: Sequence[Event], voice: Voice) -> PassInput:
        """Gather what the observer is given for a pass, without the bytes of images."""
        policy = self.scope.policy
        return PassInput(
            session_id=self.scope.session,
            events=events,
            prior=prior_memories(self.scope, marker, events, self._facts(), voice),
            timezone=head.timezone,
            output_cap=policy.observer_output_cap,
            max_lines=room_for(events),
            scene=None if voice.audience else marker.scene,
            seconds_left=self.seconds_left,
        )

    def _facts(self) -> list[Memory]:
        if self.facts is None:
            self.facts = facts_elsewhere(self.scope)
        return self.facts

    # --- asking ---------------------------------------------------------------------------------

    def _ask(self, given: PassInput) -> tuple[Observed, Sequence[int]]:
        """Ask the observer, and return its answer and the seqs of the events that it was given without their images.
        Raises ContentRefused for what is refused without its images, too, and OutOfTime before that is asked."""
        try:
            with counting_failures(self.scope, self.incarnation):
                return self.scope.ports.observer.observe(given), ()
        except ContentRefused:
            pictured = [event.seq for event in given.events if images_of(event)]
            if not pictured:
                raise
        self._need_time()
        with counting_failures(self.scope, self.incarnation):
            return self.scope.ports.observer.observe(replace(given, events=without_images(given.events))), pictured

    def _not_reported_yet(self, seqs: Sequence[int]) -> list[int]:
        """Return the events that the report does not name yet: events that are shown again, because nothing was found
        in them, are reported once."""
        return [seq for seq in dict.fromkeys(seqs) if seq not in self.report.images_left_out]

    def _narrow(self, marker: SessionMarker, events: Sequence[Event], failure: ContentRefused | UnusableAnswer) -> None:
        """Ask for less the next time, or once more where an answer about one event could not be used, or note an event
        that was refused alone. Raises ``failure``, as one that a job fails of, where it is not the events."""
        if len(events) > 1:
            write_marker(self.scope, self.token, halved(marker, events))
            return
        refused = noted(events[0], failure)
        if again := once_more(marker, refused):
            write_marker(self.scope, self.token, again)
        elif self.report.passes:
            first, last = marker.observed_seq + 1, refused.seq
            self._commit(None, PassRead(first, last, last, events, True, (*marker.refused, refused)))
        elif len(marker.refused) + 1 < REFUSED_IN_A_ROW:
            write_marker(self.scope, self.token, singled_out(marker, refused))
        else:
            write_marker(self.scope, self.token, given_up(marker))
            self._fail(failure)

    def _fail(self, failure: ContentRefused | UnusableAnswer) -> None:
        """Fail the job. Where nothing of the answers can be used, that the tail waits until an operator changes
        something is noted."""
        if isinstance(failure, ContentRefused):
            raise failure
        with noting_what_waits(self.scope):
            raise ModelRefused(f"nothing of its answers can be used: {failure}") from failure

    def _in_doubt(self, marker: SessionMarker) -> bool:
        """Say whether the events that were given up have to wait for a usable answer about another one: until then the
        model may be at fault, and nothing is marked. Where the session is closed there is nothing to wait for."""
        return in_doubt(marker) and not (self.closing or self.report.passes)

    # --- commit ---------------------------------------------------------------------------------

    def _commit(self, observed: Observed | None, read: PassRead) -> None:
        cost = answer_cost(observed.calls, observed.usage) if observed else {}
        with counting_if_lost(self.scope, self.incarnation, cost):
            done = PassCommit(self.scope, self.incarnation, self.token, observed, read).write()
        self.report.committed = True
        self.report.observed_seq = done.marker.observed_seq
        self.report.reinforced += done.reinforced
        self.report.unobservable += [{"seq": one.seq, "reason": one.reason} for one in read.refused]
        self.report.facts += [fact_result(fact) for fact in done.facts]
        self.report.facts_left_out += done.facts_left_out
        if done.written:
            self.report.written.append(done.written)
        if done.written or any(fact.memory for fact in done.facts):
            self.report.reason = None
        elif self.report.found_nothing:
            nothing_new = KNOWN_ALREADY if self.report.reinforced else NOTHING_OBSERVED
            self.report.reason = nothing_new if observed or not read.refused else NOTHING_READABLE


def by_name(answer: Observed, voice: Voice) -> Observed:
    """Name the speaker in an answer where the observer says "User"."""
    if voice.name is None:
        return answer
    lines = tuple(replace(line, text=voice.named(line.text)) for line in answer.lines)
    return replace(answer, lines=lines, facts=tuple(replace(one, text=voice.fact(one.text)) for one in answer.facts))


def held_by(given: PassInput) -> tuple[Span, ...]:
    """Return the parts of the log that an answer may hold words of."""
    return (*((event.seq, event.seq) for event in given.events), *(part for one in given.prior for part in one.parts))


def _read_through(marker: SessionMarker) -> int:
    """Return the last event that the next pass does not read."""
    return marker.refused[-1].seq if marker.refused else marker.observed_seq
