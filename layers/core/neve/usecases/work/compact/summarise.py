"""Stage 2: one summary for what leaves the prompt (docs/rules/compact.md#summary)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from neve.domain.compact.extract import extract_summary
from neve.domain.compact.fit import fitted, items_without_room
from neve.domain.compact.headings import ITEM_CHARACTERS, SummaryText, items_of, summary_target, summary_text
from neve.domain.compact.render import HEADINGS_TOKENS, render_summary
from neve.domain.compact.shorten import within_request
from neve.domain.compact.whose import all_items, mark_summary, marked_items
from neve.domain.observe.trust import SaidHere
from neve.domain.records.epochs import SessionEpoch, Summary, Verbosity
from neve.domain.records.sessions import Event, EventType, Spans
from neve.domain.sessions.rendered_blocks import strip_event, strip_rendered
from neve.domain.sessions.transcript import event_text, images_of
from neve.domain.times import iso
from neve.domain.tokens import trim_to
from neve.observing import SecondsLeft, Summarised, SummaryInput
from neve.ports.errors import ContentRefused, UnusableAnswer
from neve.scope import SessionScope
from neve.usecases.core.lag.note_model import noting_the_model
from neve.usecases.core.privacy.screen_answers import screen_summary
from neve.usecases.core.tenants.usage import answer_cost
from neve.usecases.tell.tenants.paid_in_vain import counting_failures, counting_if_lost
from neve.usecases.work.observe.said_in_session import with_session

MAX_REQUEST = 150_000
"""Tokens of events that a summary is made of: twice what one pass may read, within what a model with a window of
200,000 takes (*chosen*)."""
UNDER_WAY = "Asked by the user and still under way: "
"""Begins the item that stands for the message of a turn that was cut inside."""
IMAGE = "[image]"
REFUSED = "the observer refused to read these events"
UNUSABLE = "nothing of the observer's answers could be used"
ANSWERS = 2
"""*Chosen*: answers of which none can be used, before the extract stands."""


class NoTimeToSummarise(Exception):
    """A summary is due, and less time is left than it may take."""


@dataclass(frozen=True, slots=True)
class Leaving:
    """The events that leave the prompt, and what their summary needs. ``events``: those that are newly covered;
    ``before``: what stood for those before them. ``asked``: the message of the turn that goes on behind them.
    ``timezone``: in which the days are told. ``retracted``: what of the session's log is taken back."""

    events: Sequence[Event]
    before: Summary | None
    asked: str | None
    timezone: str
    retracted: Spans = ()


@dataclass(frozen=True, slots=True)
class Written:
    """A summary of the newly covered events, ``before`` folded in. ``reason``: why no model wrote it although one was
    asked. ``not_shown``: how many of the events the model was not shown, and ``left_out``: how many items of its answer
    do not stand whole in the summary, for want of room. ``cost``: for the usage row."""

    text: SummaryText
    verbosity: Verbosity
    by_model: bool
    model: str | None = None
    prompt_version: str | None = None
    reason: str | None = None
    not_shown: int = 0
    left_out: int = 0
    cost: dict[str, int] = field(default_factory=dict)

    @property
    def result_fields(self) -> dict[str, Any]:
        """Give what the job's result says of what it was not made of, or not made by."""
        found = {
            "summary_reason": self.reason,
            "summary_events_not_shown": self.not_shown,
            "summary_items_left_out": self.left_out,
        }
        return {name: value for name, value in found.items() if value}

    def of_epoch(self, scope: SessionScope, epoch: SessionEpoch, job_id: str) -> Summary:
        """Make the row of what an epoch covers. ``job_id``: of the job that wrote it."""
        return Summary(
            session_id=scope.session,
            epoch=epoch.epoch,
            covers_from=epoch.covers_from or 0,
            covers_to=epoch.covers_to or 0,
            verbosity=self.verbosity,
            by="model" if self.by_model else "extract",
            model=self.model,
            prompt_version=self.prompt_version,
            job_id=job_id,
            tokens=scope.count(render_summary(self.text)),
            created_at=iso(scope.ports.clock.now()),
            decisions=self.text.decisions,
            action_items=self.text.action_items,
            insights=self.text.insights,
            preferences=self.text.preferences,
        )


def summarise(
    scope: SessionScope, incarnation: int, leaving: Leaving, verbosity: Verbosity, seconds_left: SecondsLeft
) -> Written:
    """Write a summary. A model that refuses the content of the events, gives no answer that can be used, or finds
    nothing worth a word, leaves the extract. Raises NoTimeToSummarise, ModelUnavailable, ModelRefused."""
    target = summary_target(verbosity, scope.policy.compaction_at)
    earlier = _without_requests(leaving.before) if leaving.before else None
    readable = [_without_images(event) for raw in leaving.events if (event := strip_event(raw)) is not None]
    reason: str | None = None
    done: Summarised | None = None
    shown = within_request(readable, min(MAX_REQUEST, 2 * scope.policy.observer_transcript_cap), scope.count)
    if readable:
        given = SummaryInput(
            session_id=scope.session,
            events=shown,
            verbosity=verbosity,
            target_tokens=target,
            before=earlier,
            timezone=leaving.timezone,
            seconds_left=seconds_left,
        )
        if seconds_left() < scope.ports.observer.longest_s:
            raise NoTimeToSummarise
        answer, reason = _ask_model(scope, incarnation, given)
        if answer is not None:
            done = replace(answer, summary=screen_summary(scope, answer.summary))
            with counting_if_lost(scope, incarnation, answer_cost(done.calls, done.usage)):
                done = _with_marks(scope, done, readable, earlier, leaving.retracted)
    by_model = done is not None and done.prompt_version is not None and done.summary != SummaryText()
    if done is None or done.summary == SummaryText():
        text = extract_summary(readable, target, before=earlier, timezone=leaving.timezone, count=scope.count)
    else:
        text = done.summary
    within = fitted(_with_request(text, leaving.asked, (target - HEADINGS_TOKENS) // 2), target, scope.count)
    return Written(
        text=within,
        verbosity=verbosity,
        by_model=by_model,
        model=done.model if done and by_model else None,
        prompt_version=done.prompt_version if done and by_model else None,
        reason=reason,
        not_shown=len(readable) - len(shown) if by_model else 0,
        left_out=done.left_out + items_without_room(done.summary, within) if done and by_model else 0,
        cost=answer_cost(done.calls, done.usage) if done else {},
    )


def _with_marks(
    scope: SessionScope, done: Summarised, events: Sequence[Event], before: SummaryText | None, retracted: Spans
) -> Summarised:
    """Set the marks of what a tool said on what a model put in its own words. An extract says who spoke. Raises
    StoreUnavailable."""
    if done.prompt_version is None:
        return done
    claims = [(item, ()) for item in all_items(done.summary)]
    said = with_session(scope, SaidHere(events, tools=marked_items(before)), claims, retracted)
    return replace(done, summary=mark_summary(done.summary, said))


def _ask_model(scope: SessionScope, incarnation: int, given: SummaryInput) -> tuple[Summarised | None, str | None]:
    """Give the answer, or why there is none. One that is cut off or out of form is asked for once more, if there is
    time: a horizon that waits for another would wait for ever. Raises ModelUnavailable, ModelRefused."""
    for _ in range(ANSWERS):
        try:
            with noting_the_model(scope.ports), counting_failures(scope, incarnation):
                return scope.ports.observer.summarise(given), None
        except ContentRefused:
            return None, REFUSED
        except UnusableAnswer:
            if given.seconds_left() < scope.ports.observer.longest_s:
                break
    return None, UNUSABLE


def request_of(events: Sequence[Event], before: Summary | None) -> str | None:
    """Give the message that began the turn in which these events end, without what Neve rendered into it; of a turn
    that began behind an earlier horizon, as its summary holds it."""
    asked = [event for event in events if event.event_type is EventType.USER_MESSAGE]
    if asked:
        return strip_rendered(event_text(asked[-1]))
    items = before.action_items if before else ()
    return next((item.removeprefix(UNDER_WAY) for item in items if item.startswith(UNDER_WAY)), None)


def _with_request(text: SummaryText, asked: str | None, room: int) -> SummaryText:
    """Put the message before the action items, in at most ``room`` tokens."""
    if asked is None or not asked.strip():
        return text
    item = trim_to(f"{UNDER_WAY}{' '.join(asked.split())}"[:ITEM_CHARACTERS], room)
    return replace(text, action_items=(item, *text.action_items))


def _without_requests(before: Summary) -> SummaryText:
    items = items_of(before)
    open_items = [item for item in items["action_items"] if not item.startswith(UNDER_WAY)]
    return summary_text({**items, "action_items": open_items})


def _without_images(event: Event) -> Event:
    """Replace images by a note: what a picture showed was observed; that there was one is told."""
    images = images_of(event)
    if not images:
        return event
    return replace(event, content="\n".join(filter(None, [event_text(event), *(IMAGE for _ in images)])))
