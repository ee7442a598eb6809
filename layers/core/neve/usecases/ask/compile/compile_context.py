"""E8: the whole prompt of one turn, ready for a provider (docs/rules/compile.md).

On the chat path: what cannot be read is left out and said, and nothing waits for a model. Three steps of port calls,
those of the recall included. The recall's ledger row is written beside the planning and the rendering, and beside the
one write where something is to be kept; it is waited for at the end."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import partial
from typing import Any

from neve.domain.compact.headings import summary_target
from neve.domain.compile.breakpoints import CacheRules, PrefixEnd
from neve.domain.compile.conversation import THINKING, Text, content_blocks, with_speaker
from neve.domain.compile.formats.declared_tools import OfferedTools
from neve.domain.compile.formats.every import FORMATS
from neve.domain.compile.history import is_hidden, message_of
from neve.domain.compile.last_turn import session_text
from neve.domain.compile.placed_parts import PlacedPart, placed_parts
from neve.domain.compile.plan import Limits, PromptInput, PromptPlan, make_plan
from neve.domain.compile.prompt import Breakpoint
from neve.domain.compile.shown_images import ImageCount, beyond_its_room, count_images, mark_out, room_for_the_log
from neve.domain.errors import FieldError, NeveError, invalid
from neve.domain.images.room import Taken, taken_by
from neve.domain.pack.render import escape
from neve.domain.records.epochs import SessionEpoch
from neve.domain.records.prompts import TurnStart
from neve.domain.records.sessions import SILENT, Event, EventType
from neve.domain.sessions.new_event import NewEvent
from neve.domain.sessions.transcript import content_text, event_text, images_of
from neve.domain.tenants.budgets import Budget
from neve.domain.tenants.policy import budget_of
from neve.domain.times import iso, parse
from neve.domain.tokens import compact_json, estimate
from neve.ports.errors import Conflict, StoreUnavailable
from neve.ports.runtime import Task
from neve.scope import SessionScope
from neve.store.keys import image_name
from neve.usecases.ask.compile.command import CompileCommand, Content
from neve.usecases.ask.compile.images import Wanted
from neve.usecases.ask.compile.keep_epoch import keep_epoch, shown_hits, start_recording, told_updates
from neve.usecases.ask.compile.reads import Material, start_context_reads
from neve.usecases.ask.compile.turn_start import BegunTurn
from neve.usecases.ask.recall.answer import Hit, RecallAnswer, injected, transparency
from neve.usecases.ask.recall.command import RecallCommand
from neve.usecases.ask.recall.recall import LEDGER_ERROR, Recording, recall_and_record
from neve.usecases.ask.recall.tool import VERSIONS, offered_version
from neve.usecases.core.images.event_images import NewImage, name_images, shaped
from neve.usecases.core.lag.model_down import QUEUED
from neve.usecases.core.privacy.screen_event import screen_event

EPOCH_ERROR = "epoch:error"
"""The cut of the history, or the prefix, could not be kept: the next prompt may begin otherwise."""
READINGS = 3
"""*Chosen*: how often a prompt is made while others move the epoch under it. The last one is answered all the same, and
says ``EPOCH_ERROR``."""
_DIGEST = re.compile("[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Compiled:
    """A compiled prompt. ``request``: for the provider; None of a dry run without it. ``epoch``: as it is now;
    ``prefix_changed``: what stands before the pack is not what it was in the prompt before. ``prefix_ends``: where what
    a provider caches ends. ``images``: of the prompt. ``hits``: those that there were for it; ``recall_id``: of the
    recall that found them. ``prompt_id``: None of a dry run, and where nothing could be kept. ``elapsed_ms`` of all of
    it."""

    command: CompileCommand
    budget: Budget
    plan: PromptPlan
    material: Material
    epoch: SessionEpoch | None
    prefix_changed: bool
    recalled: RecallAnswer | None
    request: Mapping[str, Any] | None
    degraded: Sequence[str]
    elapsed_ms: float
    prefix_sha: Mapping[str, str]
    prefix_ends: Sequence[PrefixEnd]
    images: ImageCount = field(default_factory=ImageCount)
    hits: Sequence[Hit] = ()
    recall_id: str | None = None
    prompt_id: str | None = None

    @property
    def parts(self) -> list[PlacedPart] | None:
        """Place the parts in the request, where the call asks for it."""
        if not self.command.with_request or self.request is None:
            return None
        return placed_parts(self.plan, self.request)

    @property
    def shown_hits(self) -> list[Hit]:
        shown = set(self.plan.shown_hits)
        return [hit for hit in self.hits if hit.id in shown]

    @property
    def transparency(self) -> list[str]:
        """Tell which recalled rows were put into the prompt, and what was not possible."""
        return transparency(self.shown_hits, list(self.degraded), self.recalled.query_lines if self.recalled else ())

    def metrics(self) -> dict[str, float]:
        """Return the counts that the dashboard adds up."""
        pack = self.material.pack
        rows_left_out = sum(entry.path is None for entry in pack.left_out) + pack.also_left_out if pack else 0
        return {
            "Compiles": 1,
            "CompileDegraded": any(flag not in ("index:behind", QUEUED) for flag in self.degraded),
            "HistoryCuts": self.plan.kept_cut is not None,
            "PackRowsLeftOut": rows_left_out,
            "UpdatesLeftOut": sum(len(one.items) for one in self.plan.pruned if one.section == "updates"),
        }


def compile_context(scope: SessionScope, command: CompileCommand) -> Compiled:
    """Compile a prompt for a model. Raises session_not_found, user_closed; 422 ``validation_failed`` where nothing is
    to be answered, ``budget_infeasible`` and ``profile_mismatch``; store_unavailable where only the log has what is to
    be answered, and it cannot be read."""
    check_command(scope, command)
    recalls = Recalls(scope, command)
    try:
        return _compiled(scope, command, recalls)
    finally:
        recalls.wait()


def _compiled(scope: SessionScope, command: CompileCommand, recalls: Recalls) -> Compiled:
    began = scope.ports.clock.monotonic_ms()
    wanted = _wanted(scope, command)
    in_round = command.message is None
    reads = start_context_reads(
        scope, read_only=command.dry_run, beside=command.bytes, wanted=wanted, in_round=in_round
    )
    if command.text.strip():
        recalls.ask(command.text)
    material = reads.collect()
    for attempt in range(READINGS):
        work = _Compilation.of(scope, command, material, recalls.answer)
        if work.recalls_now:
            recalls.ask(work.asked_text)
            work = replace(work, recalled=recalls.answer)
        made = work.plan()
        shas = work.shas(made)
        recording = work.start_recording(made, shas)
        try:
            new_epoch = None if command.dry_run else keep_epoch(scope, material, made, _prefix(shas))
        except Conflict:
            if attempt + 1 < READINGS:
                if recording:
                    _written(recording[1])
                material = start_context_reads(scope, beside=command.bytes, wanted=wanted, in_round=in_round).collect()
                continue
            work, new_epoch = work.flagged(EPOCH_ERROR), None
        except StoreUnavailable:
            work, new_epoch = work.flagged(EPOCH_ERROR), None
        ends = work.prefix_ends(made)
        rendered = work.rendered(made, ends)
        work = replace(work, recalled=recalls.recorded())
        prompt_id = recording[0] if recording else None
        if recording and not _written(recording[1]):
            work, prompt_id = work.flagged(LEDGER_ERROR), None
        return replace(work.compiled(made, shas, ends, rendered, new_epoch, began), prompt_id=prompt_id)
    raise AssertionError("the last attempt returns")


def _written(row: Task[None]) -> bool:
    try:
        row.result()
    except (StoreUnavailable, Conflict):
        return False
    return True


def check_command(scope: SessionScope, command: CompileCommand) -> None:
    """Check the images of the message and the sections of the profile. Raises 422 for what is no image, and for
    sections that exceed the total."""
    name_images(scope, command.message or "", "message")
    if command.profile is None:
        return
    problems = budget_of(command.profile, scope.policy.effective_window).problems("budget_profile")
    if problems:
        raise NeveError("validation_failed", f"budget_profile: {problems[0].message}", errors=problems)


@dataclass(frozen=True, slots=True)
class _Compilation:
    """One attempt over what was read. ``now``: the one clock that it shows and keeps. ``events``: the log without the
    message; ``asked``: the message, None in a round of tool calls, whose turn goes on from the event ``front``;
    ``by``: which participant says it, by name, where it is in the log."""

    scope: SessionScope
    command: CompileCommand
    material: Material
    recalled: RecallAnswer | None
    now: datetime
    events: tuple[Event, ...]
    asked: Content | None
    front: Event | None = None
    flags: tuple[str, ...] = ()
    by: str | None = None

    @classmethod
    def of(
        cls, scope: SessionScope, command: CompileCommand, material: Material, recalled: RecallAnswer | None
    ) -> _Compilation:
        log = material.log.events if material.log else []
        message = command.message
        if command.images == "none" and message is not None:
            message = mark_out(message, "not_wanted")
        events, asked = _parted(scope, log, message)
        if asked is None and material.log is None:
            raise _unread()
        if asked is None and not _goes_on(events):
            why = "is required: the log does not end with a message or a tool's result that waits for an answer"
            raise invalid("message", why)
        front = (message_of(events) or events[0]) if asked is None else None
        shown = tuple(_only_thinking_behind(events, front))
        by = _speaker(front if front else message_of(log) if len(events) < len(log) else None)
        return cls(scope, command, material, recalled, scope.ports.clock.now(), shown, asked, front, by=by)

    @property
    def asked_text(self) -> str:
        """Return the text of the message; in a round of tool calls, of the turn's message."""
        request = self.front.content if self._goes_on_from_message and self.front else self.asked
        return content_text(request or "")

    @property
    def _goes_on_from_message(self) -> bool:
        return self.front is not None and self.front.event_type is EventType.USER_MESSAGE

    @property
    def recalls_now(self) -> bool:
        """Say whether the recall is to be made now: the message was in the log only; or the history was cut, or
        compacted, or the pack built again, behind the recall, which left out what the prompt does not show any more."""
        return self.command.recalls and bool(self.asked_text.strip()) and not self._recalled_beside_this

    @property
    def _recalled_beside_this(self) -> bool:
        if self.begun is not None:
            return True
        if self.recalled is None:
            return False
        seen, session_state = self.recalled.history, self.material.session_state
        if session_state is None:
            return True
        now, then = session_state.epoch.pack, self.recalled.pack_version
        beside_its_pack = now is None or then is None or then >= now.pack_version
        return beside_its_pack and (seen is None or seen.hidden == session_state.hidden)

    @property
    def begun(self) -> BegunTurn | None:
        """Return, in a round of tool calls, what the first prompt of the turn showed; None where there was none."""
        begun, session_state = self.material.begun, self.material.session_state
        if self.front is None or begun is None or session_state is None:
            return None
        is_of = begun.start.is_of(self.front.seq, self.events, session_state.epoch.retracted)
        return begun if is_of else None

    @property
    def hits(self) -> Sequence[Hit]:
        if self.begun is not None:
            return self.begun.hits
        return self.recalled.hits if self.recalled else ()

    @property
    def timezone(self) -> str:
        """Return the timezone that ``<neve-session>`` names."""
        return self.material.session_state.session.timezone if self.material.session_state else "UTC"

    def turn_start(self, plan: PromptPlan) -> TurnStart:
        """Return what all prompts of the turn show from now on: what this one shows."""
        hits, told = shown_hits(plan, self.hits, self.timezone), told_updates(plan)
        if self.begun is not None:
            unread = self.material.updates is None  # this time: a later prompt may have them again
            return replace(self.begun.start, hits=hits, updates=self.begun.start.updates if unread else told)
        log = self.material.log.events if self.material.log else ()
        in_log = [event for event in log if len(log) > len(self.events) and event.event_type is EventType.USER_MESSAGE]
        request = self.front or (in_log[-1] if in_log else None)
        state = self.material.session_state
        return TurnStart(
            at=iso(self.now),
            behind=state.session.last_seq if state else 0,
            request=request.seq if request else None,
            hits=hits,
            updates=told,
            recall_id=self.recalled.recall_id if self.recalled else None,
        )

    def start_recording(self, plan: PromptPlan, shas: Mapping[str, str]) -> tuple[str, Task[None]] | None:
        """Start to record the prompt; return its id and the write. None for a dry run; and for a round that could not
        read what its turn began with: later rounds would take this prompt for the turn's first."""
        if self.command.dry_run or (self.front is not None and self.material.begun_unread):
            return None
        return start_recording(self.scope, self.material, self.turn_start(plan), shas)

    @property
    def budget(self) -> Budget:
        policy = self.scope.policy
        if self.command.profile is None:
            return policy.budget
        return budget_of(self.command.profile, policy.effective_window)

    def shas(self, plan: PromptPlan) -> dict[str, str]:
        """Return the SHA-256 of each part in front of the pack, as it is sent."""
        parts = {
            "tools": compact_json([tool.declared for tool in plan.prompt.tools]) if plan.prompt.tools else "",
            "static": plan.prompt.static,
            "system": plan.prompt.callers,
            "instructions": plan.prompt.instructions,
        }
        return {name: hashlib.sha256(text.encode()).hexdigest() for name, text in parts.items() if text}

    def flagged(self, flag: str) -> _Compilation:
        return replace(self, flags=(*self.flags, flag))

    def plan(self) -> PromptPlan:
        """Plan the prompt. Raises budget_infeasible, profile_mismatch."""
        prompt_input, budget = self.prompt_input(), self.budget
        if self.command.profile is not None and prompt_input.pack_tokens > budget.pack_limit:
            message = f"the stored pack has {prompt_input.pack_tokens} tokens, the profile {budget.pack_limit} for it"
            field = FieldError("budget_profile", message)
            raise NeveError("profile_mismatch", f"budget_profile: {message}.", errors=[field])
        policy = self.scope.policy
        target = summary_target(policy.summary_verbosity, policy.compaction_at)
        room = room_for_the_log(self.command.bytes + beyond_its_room(prompt_input.pack))
        return make_plan(prompt_input, Limits(budget, self.command.history_window, target, room))

    def prompt_input(self) -> PromptInput:
        material, policy = self.material, self.scope.policy
        session_state, pack, log = material.session_state, material.pack, material.log
        recalled, timezone = self.hits, self.timezone
        hits = injected(recalled, timezone)[1]
        shown = {hit.id for hit in hits}
        found = {hit.id for hit in hits if hit.path is None}  # of a document a hit shows a part
        return PromptInput(
            static=policy.static_prefix.rendered if policy.static_prefix else "",
            boundaries=policy.static_prefix.boundaries if policy.static_prefix else "",
            callers=self.command.system,
            callers_mark=self.command.system_mark,
            tools=OfferedTools(
                self.command.format,
                self.command.tools,
                VERSIONS[offered_version(policy)] if self.command.offers_tools else (),
            ),
            instructions=self.command.instructions,
            pack=(pack.text or "") if pack else "",
            pack_tokens=_pack_tokens(material),
            events=self.events,
            hidden=session_state.hidden if session_state else None,
            summary=log.summary if log else None,
            message=_message(self.asked, material, self.by),
            session=self._session(),
            timezone=timezone,
            updates=self.begun.updates(material.updates or ())
            if self.begun is not None
            else [one for one in material.updates or () if one.id not in found],
            retrieved=lambda n: injected(hits[:n], timezone)[0],
            hits=[hit.id for hit in hits],
            too_long=[hit.id for hit in recalled if hit.id not in shown],
            lost=self.begun.lost if self.begun else (),
            task=self.command.task,
            images=material.images.bodies,
            shown_pending=session_state.epoch.shown_pending if session_state else (),
            front=self.front.seq if self.front else None,
            asked=_message(self.front.content, material, self.by)
            if self.front and self._goes_on_from_message
            else None,
        )

    def _session(self) -> str:
        session_state = self.material.session_state
        meta = session_state.session.user_meta if session_state else {}
        before = session_state.session.previous_at if session_state else None
        now = parse(self.begun.start.at) if self.begun is not None else self.now
        return session_text(now, meta, parse(before) if before else None)

    def prefix_ends(self, plan: PromptPlan) -> tuple[PrefixEnd, ...]:
        used = {section.name: section.used for section in plan.sections}
        static = used["tools"] + used["static"] + used["boundaries"] + used.get("system", 0)
        tokens: dict[Breakpoint, int] = {
            "static": static,
            "system": static + used["instructions"] + used["pack"],
            "previous": plan.stable_tokens - plan.newest_tokens,
            "history": plan.stable_tokens,
        }
        policy, command = self.scope.policy, self.command
        rules = CacheRules(command.format, policy.chat_model, policy.cacheable_tokens, command.max_breakpoints)
        return rules.ends(plan.prompt, tokens)

    def rendered(self, plan: PromptPlan, ends: Sequence[PrefixEnd]) -> Mapping[str, Any] | None:
        """Render the prompt in the format that was asked for; None for a dry run that does not ask for it."""
        if self.command.dry_run and not self.command.with_request:
            return None
        return FORMATS[self.command.format].render(plan.prompt, [end.at for end in ends if end.marked])

    def _images(self, plan: PromptPlan) -> ImageCount:
        log = self.material.log.events if self.material.log else ()
        shown = [event for event in log if not is_hidden(event.seq, plan.cut)]
        beside: list[Mapping[str, Any]] = []
        if len(log) == len(self.events) and isinstance(self.asked, list):
            beside = [block for block in self.asked if block["type"] == "image"]
        return count_images(shown, beside, FORMATS[self.command.format].takes)

    def compiled(
        self,
        plan: PromptPlan,
        shas: Mapping[str, str],
        ends: Sequence[PrefixEnd],
        request: Mapping[str, Any] | None,
        new_epoch: SessionEpoch | None,
        began_ms: float,
    ) -> Compiled:
        session_state = self.material.session_state
        before = session_state.epoch.prefix if session_state else None
        recall_flags = self.recalled.degraded if self.recalled else []
        return Compiled(
            command=self.command,
            budget=self.budget,
            plan=plan,
            material=self.material,
            epoch=new_epoch or (session_state.epoch if session_state else None),
            prefix_changed=before is not None and before != _prefix(shas),
            recalled=self.recalled,
            request=request,
            degraded=list(dict.fromkeys((*self.material.degraded, *recall_flags, *self.flags))),
            elapsed_ms=round(self.scope.ports.clock.monotonic_ms() - began_ms, 3),
            prefix_sha=shas,
            prefix_ends=ends,
            images=self._images(plan),
            hits=self.hits,
            recall_id=self.begun.start.recall_id
            if self.begun is not None
            else (self.recalled.recall_id if self.recalled else None),
        )


def _prefix(shas: Mapping[str, str]) -> str:
    """Render the SHA-256 sums as the epoch keeps them."""
    return " ".join(f"{name}:{sha[:16]}" for name, sha in shas.items())


def _wanted(scope: SessionScope, command: CompileCommand) -> Wanted:
    return Wanted(command.images, command.images_refused, partial(_beside_the_log, scope, command.message))


def _beside_the_log(scope: SessionScope, message: Content | None, events: Sequence[Event]) -> Taken:
    """Count what the images of the message take; nothing for a message that is in the log."""
    if isinstance(message, str) or message is None or _parted(scope, events, message)[1] is not message:
        return Taken()
    named, sent = name_images(scope, message, "message")
    blocks = shaped(named, {one.name: one.shape for one in sent if isinstance(one, NewImage) and one.shape is not None})
    return sum((taken_by(block) for block in blocks if isinstance(block, dict) and block["type"] == "image"), Taken())


# --- the message ------------------------------------------------------------------------------------


def _parted(
    scope: SessionScope, events: Sequence[Event], message: Content | None
) -> tuple[list[Event], Content | None]:
    """Return the log without an unanswered message that is the one of the request, and that message."""
    messages = [event for event in events if event.event_type not in SILENT]
    last = messages[-1] if messages else None
    if last is None or last.event_type is not EventType.USER_MESSAGE:
        return list(events), message
    if message is None or _is_in_log(scope, message, last):
        return [event for event in events if event.seq != last.seq], last.content
    return list(events), message


def _is_in_log(scope: SessionScope, message: Content, event: Event) -> bool:
    """Say whether the event has the words of the message, without what the gate takes out of them, and each of its
    images. An upload is named by its id and not by its bytes, so it may be any of them."""
    said, in_log = message, event_text(event).strip()
    if content_text(said).strip() != in_log:
        said = screen_event(NewEvent(EventType.USER_MESSAGE, message), scope.policy.pii.actions)[0].content
        if content_text(said).strip() != in_log:
            return False
    named, _ = name_images(scope, said, "message")
    if isinstance(named, str):
        return True
    there = images_of(event)
    known = [_source(block) for block in there]
    missing = [block for block in named if block["type"] == "image" and _source(block) not in known]
    uploads = [block for block in there if "object" in block and not _DIGEST.fullmatch(image_name(block["object"]))]
    return len(missing) <= len(uploads)


def _source(block: Mapping[str, Any]) -> tuple[Any, ...]:
    return block["media_type"], block.get("object"), block.get("url")


def _unread() -> NeveError:
    """Make the error for a message that cannot be read: a prompt without its message would have a model answer to
    nothing."""
    why = "is in the log only, which cannot be read: send it with the call, or try again shortly"
    return NeveError("store_unavailable", f"message: {why}.", errors=[FieldError("message", why)], retry_after_s=5)


def _goes_on(events: Sequence[Event]) -> bool:
    messages = [event for event in events if event.event_type not in SILENT]
    return bool(messages) and messages[-1].event_type is EventType.TOOL_RESULT


def _only_thinking_behind(events: Sequence[Event], front: Event | None) -> list[Event]:
    """Remove from events of the past what a model thought: it comes back as long as its turn goes on, and has no place
    before that."""
    past = front.seq if front else max((event.seq for event in events), default=0)
    return [
        replace(event, event_data={name: value for name, value in event.event_data.items() if name != THINKING})
        if event.seq <= past and THINKING in event.event_data
        else event
        for event in events
    ]


def _speaker(event: Event | None) -> str | None:
    return event.name if event is not None and event.participant else None


def _message(asked: Content | None, material: Material, by: str | None) -> list[Any] | None:
    """Return the blocks of the message, escaped so that nothing in it can open or close an element of Neve's. ``by``:
    the name of who says it, among several."""
    if asked is None:
        return None
    blocks = with_speaker(by, content_blocks(asked, material.images.bodies))
    return [Text(escape(block.text)) if isinstance(block, Text) else block for block in blocks]


def _pack_tokens(material: Material) -> int:
    pack = material.pack
    if pack is None or not pack.text:
        return 0
    return pack.manifest.tokens if pack.manifest else estimate(pack.text)


@dataclass(slots=True)
class Recalls:
    """The recalls of one call; the last one counts."""

    scope: SessionScope
    command: CompileCommand
    made: list[Recording] = field(default_factory=list)
    last: Recording | None = None

    def ask(self, query: str) -> None:
        """Recall, and keep the answer; an error counts as none: the reads say whether there is such a session."""
        if not self.command.recalls:
            return
        recorded = not self.command.dry_run
        asked = RecallCommand(query, session_id=self.scope.session, beside="history", recorded=recorded, fills=True)
        try:
            self.last = recall_and_record(self.scope, asked)
        except NeveError:
            self.last = None
        else:
            self.made.append(self.last)

    @property
    def answer(self) -> RecallAnswer | None:
        """Return the last answer, whose ledger row may still be under way."""
        return self.last.answer if self.last else None

    def recorded(self) -> RecallAnswer | None:
        return self.last.recorded() if self.last else None

    def wait(self) -> None:
        """Wait for the ledger row of each recall, also behind an error: a caller who is answered finds all of them in
        the ledger, and a function that has answered may stand still in the middle of a write."""
        for one in self.made:
            one.recorded()
