"""Plan a prompt from what was read: how many tokens each part gets, what is left out, where the history is cut
(docs/rules/compile.md#pruning). Pure: the same material gives the same plan."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from neve.domain.compact.extract import extract_summary
from neve.domain.compact.headings import FourHeadings
from neve.domain.compact.render import render_summary
from neve.domain.compile.conversation import Conversation, Image, Text, shown_tokens
from neve.domain.compile.formats.declared_tools import OfferedTools
from neve.domain.compile.formats.tool_names import called_tools
from neve.domain.compile.history import (
    ShownHistory,
    answered_to,
    floor_of,
    is_hidden,
    message_of,
    plan_cut,
    summary_room,
    units_of,
)
from neve.domain.compile.last_turn import FittedTask, TaskState, fit_task, task_text
from neve.domain.compile.prompt import Prompt, Tool
from neve.domain.compile.shown_images import ANSWER_BYTES, bytes_of, fits
from neve.domain.compile.updates import UPDATES_TOKENS, FittedUpdates, Update, fit_updates
from neve.domain.records.epochs import HistoryCut
from neve.domain.records.sessions import Event, EventType
from neve.domain.tenants.budgets import Budget, Grants, Needs, share_out
from neve.domain.tokens import IMAGE_TOKENS, compact_json, estimate

_BEHIND_THE_HIDDEN = 1_000_000
"""Numbers of the turns behind what is hidden: above those before it."""


MOST_PENDING = 50
"""Calls, the newest, of which it is kept that a prompt has shown them as pending (*chosen*): the result of an older one
changes its place once."""


@dataclass(frozen=True, slots=True)
class PromptInput:
    """The material of a prompt, before anything is left out. ``message`` is None where the log ends with what is to be
    answered. ``retrieved``: the text of the first n hits, by n, and their ids; ``too_long``: ids of those that no
    retrieved text has room for, whatever the budget; ``lost``: of those that were shown when the turn began and are not
    what they were. ``images``: base64 by object key of those that are shown. ``callers``: the caller's system text,
    ``callers_mark`` its own mark. ``front``: in a round of tool calls the seq of the event that the turn goes on from,
    in front of which stands what changes; ``asked``: its words, where it is a message. ``shown_pending``: seqs of the
    calls that were shown as pending. ``timezone``: in which a summary tells the days."""

    static: str = ""
    boundaries: str = ""
    callers: str = ""
    callers_mark: Mapping[str, Any] | None = None
    tools: OfferedTools = field(default_factory=OfferedTools)
    instructions: Sequence[str] = ()
    pack: str = ""
    pack_tokens: int = 0
    events: Sequence[Event] = ()
    hidden: HistoryCut | None = None
    summary: FourHeadings | None = None
    message: Sequence[Text | Image] | None = None
    session: str = ""
    timezone: str = "UTC"
    updates: Sequence[Update] = ()
    retrieved: Callable[[int], str] = lambda _: ""
    hits: Sequence[str] = ()
    too_long: Sequence[str] = ()
    lost: Sequence[str] = ()
    task: TaskState | None = None
    images: Mapping[str, str] = field(default_factory=dict)
    shown_pending: Collection[int] = ()
    front: int | None = None
    asked: Sequence[Text | Image] | None = None


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a plan. ``window``: turns of the history; ``log_bytes``: what the answer has room for of the log;
    ``summary_target``: tokens of a summary."""

    budget: Budget
    window: int | None = None
    summary_target: int = 700
    log_bytes: int = ANSWER_BYTES


@dataclass(frozen=True, slots=True)
class Pruned:
    """Something that gave way. ``items``: what was left out of the section; ``why``: for a person."""

    section: str
    items: tuple[str, ...]
    why: str


@dataclass(frozen=True, slots=True)
class Section:
    name: str
    priority: int
    need: int
    granted: int
    used: int


@dataclass(frozen=True, slots=True)
class PromptPlan:
    """A planned prompt. ``cut``: where the history is cut from now on, with the ``summary`` of everything that it
    hides; None when it stays as it was. ``for_message``: one long message forced that cut, which holds for this prompt
    alone. ``shown_pending``: seqs of calls that are shown as pending, here or before. ``events``, ``turns``: of the log
    that are shown. ``stable_tokens``: of everything before the user's last message, and of that, too, where it holds
    the results of a round, which the next prompt begins with; ``newest_tokens`` of the turn at the end of it. ``told``:
    the updates, as ``FittedUpdates`` has them. ``texts``: of the parts of the user's last message, by name, as far as
    there are any."""

    prompt: Prompt
    sections: tuple[Section, ...]
    pruned: tuple[Pruned, ...]
    shown_hits: tuple[str, ...]
    cut: HistoryCut | None
    summary: FourHeadings | None
    events: int
    turns: int
    stable_tokens: int
    newest_tokens: int
    used: int
    for_message: bool = False
    shown_pending: tuple[int, ...] = ()
    told: tuple[tuple[str, str], ...] = ()
    texts: Mapping[str, str] = field(default_factory=dict)

    @property
    def kept_cut(self) -> HistoryCut | None:
        """Return the cut that later prompts have, too."""
        return None if self.for_message else self.cut


def make_plan(prompt_input: PromptInput, limits: Limits) -> PromptPlan:
    """Plan the prompt within the limits. Raises 422 ``budget_infeasible``."""
    history = _History.of(prompt_input)
    updates = fit_updates(prompt_input.updates)
    needs = _needs(prompt_input, history, updates)
    grants = share_out(limits.budget, needs)
    task = fit_task(prompt_input.task, grants.task) if prompt_input.task else FittedTask("")
    spare = grants.task - estimate(task.text)
    fitted = history.fitted(grants.history + spare, limits)
    if fitted.new is not None:
        fitted = replace(fitted, for_message=_is_for_message(history, needs, limits))
    spare = grants.history + spare - fitted.tokens
    updates, hits, retrieved = _memories(prompt_input, updates, grants.memories + spare)
    instructions = _instructions(prompt_input.instructions, grants.instructions)
    return _Fitted(
        prompt_input, needs, grants, task, fitted, history.now, updates, hits, retrieved, instructions
    ).plan()


def _is_for_message(history: _History, needs: Needs, limits: Limits) -> bool:
    """Say whether nothing would have to be cut beside a message of the usual size."""
    usual = min(needs.message, limits.budget.usual_message)
    grants = share_out(limits.budget, replace(needs, message=usual))
    return usual < needs.message and history.fitted(grants.history, limits).new is None


# --- history --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _History:
    """The log, parted. ``past``: the events that are history; ``now``: those behind them, with the message that they go
    on from."""

    prompt_input: PromptInput
    past: tuple[Event, ...]
    now: tuple[Event, ...]
    shown: ShownHistory

    @classmethod
    def of(cls, prompt_input: PromptInput) -> _History:
        at = answered_to(prompt_input.events, prompt_input.hidden)
        past, now = tuple(prompt_input.events[:at]), tuple(prompt_input.events[at:])
        goes_on = any(event.event_type is EventType.TOOL_RESULT for event in now)
        still_on = goes_on and now[0].event_type is not EventType.USER_MESSAGE
        asked = message_of(past) if still_on else None
        cut = prompt_input.hidden
        opens = asked.seq if asked is not None else None
        before = cut is not None and opens is not None and opens < cut.seq_from
        head = [event for event in past if cut is not None and event.seq < cut.seq_from]
        tail = [event for event in past if cut is None or event.seq > cut.seq_to]
        opening = [event for event in past if cut is not None and event.seq == cut.keeps and event.seq != opens]
        first = 0 if cut is None else _BEHIND_THE_HIDDEN
        shown = ShownHistory(
            units_of(head, goes_on=before),
            units_of(tail, goes_on=still_on, first_turn=first),
            estimate(render_summary(prompt_input.summary)) if prompt_input.summary else 0,
            next(iter(units_of(opening, first_turn=first)), None),
            cut,
            opens,
        )
        return cls(prompt_input, past, now, shown)

    @property
    def always(self) -> tuple[Event, ...]:
        return (*(event for event in self.past if event.seq == self.shown.opens), *self.now)

    def fitted(self, grant: int, limits: Limits) -> _FittedHistory:
        """Fit the history within ``grant`` tokens, and within the bytes that the answer has room for beside what is
        answered now: while there are more, fewer tokens are granted."""
        fitted = self._within(grant, limits)
        if fits((*fitted.events, *self.now), limits.log_bytes):
            return fitted
        room, always = max(0, limits.log_bytes - bytes_of(self.always)), self.shown.opens
        while fitted.tokens and (size := bytes_of(one for one in fitted.events if one.seq != always)) > room:
            fitted = replace(self._within(fitted.tokens * room // size, limits), over_bytes=True)
        return fitted

    def _within(self, grant: int, limits: Limits) -> _FittedHistory:
        cut = plan_cut(self.shown, grant, target=limits.summary_target, window=limits.window)
        if cut is None:
            return _FittedHistory(
                self.past, self.prompt_input.hidden, self.prompt_input.summary, self.shown.tokens, self.shown.turns
            )
        gone = [event for event in self.past if is_hidden(event.seq, cut)]
        left = tuple(event for event in self.past if not is_hidden(event.seq, cut))
        tokens = sum(shown_tokens(event) for event in left if event.seq != self.shown.opens)
        summary = None
        room = summary_room(grant, limits.summary_target, tokens)
        if room:
            given = self.prompt_input
            summary = extract_summary(gone, room, before=given.summary, timezone=given.timezone)
        tokens += estimate(render_summary(summary)) if summary else 0
        turns = len([event for event in left if event.event_type is EventType.USER_MESSAGE])
        return _FittedHistory(left, cut, summary, tokens, turns, cut)


@dataclass(frozen=True, slots=True)
class _FittedHistory:
    """The history as the prompt shows it. ``new``: the cut, when it was made now; ``over_bytes``: because the answer
    had no room for more; ``for_message``: because of one long message."""

    events: tuple[Event, ...]
    hidden: HistoryCut | None
    summary: FourHeadings | None
    tokens: int
    turns: int
    new: HistoryCut | None = None
    over_bytes: bool = False
    for_message: bool = False

    @property
    def newest_tokens(self) -> int:
        """Count the tokens of the last turn in it."""
        asked = message_of(self.events)
        return sum(shown_tokens(event) for event in self.events if asked is not None and event.seq >= asked.seq)

    def added_to(self, messages: Conversation) -> Conversation:
        cut = self.hidden
        for event in self.events:
            if cut is None or event.seq < cut.seq_from:
                messages.add(event)
        if cut is None:
            return messages  # what is answered now may be of the round that is open
        messages.close_round()
        if self.summary is not None:
            messages.say("user", Text(render_summary(self.summary)))
        for event in self.events:
            if event.seq >= cut.seq_from:
                messages.add(event)
        return messages


# --- the other sections -----------------------------------------------------------------------------


def _needs(prompt_input: PromptInput, history: _History, updates: FittedUpdates) -> Needs:
    """Count the tokens that each section needs; of the updates, only those that fit their limit: more is not shown,
    however much there is to grant."""
    shown = history.shown
    calls = {str(one.event_data.get("name")) for one in prompt_input.events if one.event_type is EventType.TOOL_CALL}
    return Needs(
        system=_tools_tokens(prompt_input.tools.beside(calls))
        + estimate(prompt_input.static)
        + estimate(prompt_input.callers),
        instructions=estimate(_joined(prompt_input.instructions)),
        pack=prompt_input.pack_tokens,
        memories=estimate(updates.text) + estimate(prompt_input.retrieved(len(prompt_input.hits))),
        history=shown.tokens,
        history_floor=floor_of(shown),
        message=_message_tokens(prompt_input) + sum(map(shown_tokens, history.always)),
        task=estimate(task_text(prompt_input.task)) if prompt_input.task else 0,
    )


def _tools_tokens(tools: Sequence[Tool]) -> int:
    return estimate(compact_json([tool.declared for tool in tools])) if tools else 0


def _message_tokens(prompt_input: PromptInput) -> int:
    """Count the tokens of the message, with the lines about the session that stand around it."""
    blocks = prompt_input.message or ()
    tokens = sum(estimate(block.text) if isinstance(block, Text) else IMAGE_TOKENS for block in blocks)
    return tokens + estimate(prompt_input.session)


def _memories(prompt_input: PromptInput, updates: FittedUpdates, grant: int) -> tuple[FittedUpdates, int, str]:
    """Choose the updates, how many hits, and their text. The least relevant hits go first, then the updates."""
    if estimate(updates.text) > grant:
        updates = fit_updates(prompt_input.updates, grant)
    room = grant - estimate(updates.text)
    shown = next((n for n in range(len(prompt_input.hits), 0, -1) if estimate(prompt_input.retrieved(n)) <= room), 0)
    return updates, shown, prompt_input.retrieved(shown) if shown else ""


def _instructions(given: Sequence[str], grant: int) -> tuple[str, ...]:
    """Choose the first instructions that fit; they only give way when nothing else is left to."""
    fitting = len(given)
    while fitting and estimate(_joined(given[:fitting])) > grant:
        fitting -= 1
    return tuple(given[:fitting])


def _joined(texts: Sequence[str]) -> str:
    return "\n\n".join(texts)


# --- the whole --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Fitted:
    prompt_input: PromptInput
    needs: Needs
    grants: Grants
    task: FittedTask
    history: _FittedHistory
    now: tuple[Event, ...]
    updates: FittedUpdates
    hits: int
    retrieved: str
    instructions: tuple[str, ...]

    def plan(self) -> PromptPlan:
        prompt, prompt_input = self.prompt, self.prompt_input
        sections = self.sections()
        used = sum(section.used for section in sections)
        stable = (
            _tools_tokens(prompt.tools)
            + estimate(prompt_input.static)
            + estimate(prompt_input.callers)
            + prompt_input.pack_tokens
            + self.history.tokens
        )
        if prompt.goes_on:
            stable = used - estimate(_joined(self.instructions))
        return PromptPlan(
            prompt=prompt,
            sections=sections,
            pruned=self.pruned(),
            shown_hits=tuple(prompt_input.hits[: self.hits]),
            cut=self.history.new,
            summary=self.history.summary,
            events=len(self.history.events) + len(self.now),
            turns=self.history.turns,
            newest_tokens=self.history.newest_tokens,
            stable_tokens=stable + estimate(_joined(self.instructions)),
            used=used,
            for_message=self.history.for_message,
            shown_pending=self.shown_pending(),
            told=self.updates.told,
            texts=self.texts(),
        )

    def texts(self) -> dict[str, str]:
        """Give the texts of the parts of the user's last message; of the message, its first text."""
        said = [block.text for block in self.prompt_input.message or () if isinstance(block, Text)]
        parts = {
            "updates": self.updates.text,
            "retrieved": self.retrieved.rstrip("\n"),
            "task_state": self.task.text,
            "session": self.prompt_input.session,
            "message": said[0] if said else "",
        }
        return {name: text for name, text in parts.items() if text}

    @cached_property
    def conversation(self) -> Conversation:
        """Build the conversation. A result that came when its round was over stands with its call, unless a prompt has
        shown the call as pending."""
        made = self._conversation({})
        late = {seq: result for seq, result in made.came_late.items() if seq not in self.prompt_input.shown_pending}
        return self._conversation(late) if late else made

    def shown_pending(self) -> tuple[int, ...]:
        known = {*self.prompt_input.shown_pending, *self.conversation.shown_pending}
        return tuple(sorted(known)[-MOST_PENDING:])

    def _conversation(self, late: Mapping[int, Event]) -> Conversation:
        given = self.prompt_input
        front = None if given.front is None else (given.front, self.around)
        made = self.history.added_to(Conversation(given.images, late, front, given.asked))
        for event in self.now:
            made.add(event)
        made.close_round()
        return made

    @property
    def around(self) -> str:
        """Return what changes from turn to turn."""
        elements = (self.updates.text, self.retrieved.rstrip("\n"), self.task.text, self.prompt_input.session)
        return "\n".join(element for element in elements if element)

    @cached_property
    def prompt(self) -> Prompt:
        prompt_input = self.prompt_input
        history, last = self.conversation.parts()
        in_round = prompt_input.front is not None
        around = [] if in_round or not self.around else [Text(self.around)]
        return Prompt(
            tools=prompt_input.tools.beside(called_tools(history)),
            static=prompt_input.static,
            callers=prompt_input.callers,
            callers_mark=prompt_input.callers_mark,
            instructions=_joined(self.instructions),
            pack=prompt_input.pack,
            history=history,
            last=(*last, *around, *(prompt_input.message or ())),
            goes_on=in_round,
        )

    def sections(self) -> tuple[Section, ...]:
        prompt_input, needs, grants = self.prompt_input, self.needs, self.grants
        tools, boundaries = _tools_tokens(self.prompt.tools), estimate(prompt_input.boundaries)
        callers = estimate(prompt_input.callers)
        static = estimate(prompt_input.static) - boundaries
        instructions, updates = estimate(_joined(self.instructions)), estimate(self.updates.text)
        retrieved, task = estimate(self.retrieved), estimate(self.task.text)
        all_updates, all_hits = self.updates.need, estimate(prompt_input.retrieved(len(prompt_input.hits)))
        for_updates = min(all_updates, UPDATES_TOKENS, grants.memories)
        return (
            Section("tools", 1, tools, tools, tools),
            Section("static", 1, static, static, static),
            *([Section("system", 1, callers, callers, callers)] if callers else []),
            Section("boundaries", 2, boundaries, boundaries, boundaries),
            Section("instructions", 3, needs.instructions, grants.instructions, instructions),
            Section("pack", 4, needs.pack, needs.pack, needs.pack),
            Section("updates", 4, all_updates, for_updates, updates),
            Section("retrieved", 4, all_hits, max(0, grants.memories - updates), retrieved),
            Section("history", 5, needs.history, grants.history, self.history.tokens),
            Section("message", 5, needs.message, needs.message, needs.message),
            Section("task_state", 6, needs.task, grants.task, task),
        )

    def pruned(self) -> tuple[Pruned, ...]:
        """Return what was left out, in the order in which sections give way."""
        prompt_input, found = self.prompt_input, []
        if self.task.pruned:
            found.append(
                Pruned("task_state", self.task.pruned, f"{self.needs.task} tokens, granted {self.grants.task}")
            )
        if self.history.new is not None:
            cut = self.history.new
            where, granted = (f"events {cut.seq_from}-{cut.seq_to}",), self.grants.history
            found.append(Pruned("history", where, self._why_history(granted)))
        if self.hits < len(prompt_input.hits):
            dropped = tuple(prompt_input.hits[self.hits :])
            found.append(Pruned("retrieved", dropped, f"granted {self.grants.memories} tokens; the least relevant"))
        if prompt_input.too_long:
            found.append(Pruned("retrieved", tuple(prompt_input.too_long), "more than one retrieved text holds"))
        if prompt_input.lost:
            found.append(Pruned("retrieved", tuple(prompt_input.lost), "deleted or changed since the turn began"))
        if self.updates.left_out:
            found.append(Pruned("updates", self.updates.left_out, self._why_updates()))
        if len(self.instructions) < len(prompt_input.instructions):
            left_out = range(len(self.instructions), len(prompt_input.instructions))
            items = tuple(f"instructions[{n}]" for n in left_out)
            found.append(Pruned("instructions", items, f"granted {self.grants.instructions} tokens"))
        return tuple(found)

    def _why_history(self, granted: int) -> str:
        if self.history.for_message:
            return f"{self.needs.history} tokens, granted {granted} beside a message of {self.needs.message}"
        if self.history.over_bytes:
            return "more bytes than an answer may have"
        if self.needs.history > granted:
            return f"{self.needs.history} tokens, granted {granted}"
        return "more turns than history_window allows"

    def _why_updates(self) -> str:
        unread = [one.id for one in self.prompt_input.updates if one.text is None]
        too_many = "more than are looked at" if unread else ""
        no_room = f"{self.updates.need} tokens, at most {self.updates.limit}"
        if len(self.updates.left_out) == len(unread):
            return too_many
        return f"{no_room}; {too_many}" if too_many else no_room
