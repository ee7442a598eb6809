"""The log as the messages of a prompt, whatever the provider (docs/rules/compile.md#history): roles that alternate,
tool calls with their results directly behind them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from neve.domain.compile.arguments import arguments
from neve.domain.compile.shown_images import LEFT_OUT
from neve.domain.records.sessions import SILENT, Event, EventType
from neve.domain.sessions.rendered_blocks import is_own_result, shown_event
from neve.domain.sessions.transcript import event_text, images_of
from neve.domain.tokens import IMAGE_TOKENS, compact_json, estimate, event_tokens

Role = Literal["user", "assistant"]

PENDING = "[pending: the result of this call has not come yet]"
"""Stands in for a result. The call has not failed, and is not to be made again."""
FAILED = "[the tool failed, and said nothing]"
ASSISTANT_FIRST = "(The assistant speaks first.)"
"""Stands before a log that an assistant's message opens: providers want a user's message first."""
ID_LIMIT, LONGEST_SEQ = 40, 10
"""Characters of a tool call's id at OpenAI; Anthropic takes 64. Behind an id that was used before stands where the call
is."""
_FIT_FOR_AN_ID = re.compile(rf"[A-Za-z0-9_-]{{1,{ID_LIMIT}}}")


@dataclass(frozen=True, slots=True)
class Text:
    text: str


@dataclass(frozen=True, slots=True)
class Image:
    """An image by exactly one of ``url`` and ``data`` (base64)."""

    media_type: str
    url: str | None = None
    data: str | None = None


@dataclass(frozen=True, slots=True)
class ToolUse:
    """A call of a tool. ``name``: as the log has it (``domain/compile/formats/tool_names.py``)."""

    id: str
    name: str
    input: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a call. Where ``is_error``, the content is text, and not empty: Anthropic takes no other."""

    id: str
    content: tuple[Text | Image, ...]
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class Thinking:
    """The thoughts of a model before it spoke or called, opaque: as its provider gave them."""

    block: Mapping[str, Any]


Block = Text | Image | ToolUse | ToolResult | Thinking


@dataclass(frozen=True, slots=True)
class PromptMessage:
    """One message of a prompt. Results stand before everything else in a user's message, and thoughts in an
    assistant's."""

    role: Role
    blocks: tuple[Block, ...]


def shown_tokens(event: Event) -> int:
    """Count the tokens of an event in a prompt: those counted when it was appended, and by the estimate those of what
    stands around it and of what a model thought before it, which an event that is past has no more. A pruned result has
    other content than was counted: its images stay. The answer of one of Neve's own tools is shown whole, and was
    counted without what Neve rendered."""
    frame = sum(estimate(compact_json(dict(thought))) for thought in thinking_of(event))
    if event.event_type in (EventType.TOOL_CALL, EventType.TOOL_RESULT):
        frame += estimate(f"{event.event_data.get('tool_use_id', '')}{event.event_data.get('name', '')}")
    elif event.event_type is EventType.USER_MESSAGE and event.name:
        frame += estimate(f"{event.name}: ")
    elif event.event_type in SILENT:
        return 0
    if is_own_result(event):
        return frame + estimate(event_text(event)) + IMAGE_TOKENS * len(images_of(event))
    if event.pruned:
        return frame + event_tokens(event.content, {})
    return frame + event.original_tokens


THINKING = "thinking"
"""The key of ``event_data`` under which it has what a model thought, as a list of its provider's blocks."""


def thinking_of(event: Event) -> list[Mapping[str, Any]]:
    """Return the blocks that a model thought, in their order."""
    thoughts = event.event_data.get(THINKING)
    return [one for one in thoughts if isinstance(one, dict)] if isinstance(thoughts, list) else []


def content_blocks(content: str | Sequence[Mapping[str, Any]], images: Mapping[str, str]) -> list[Text | Image]:
    """Turn content into blocks. ``images``: base64 by object key of those that are shown; another stored one becomes a
    line of text, and so does one that says why it is left out. Blank texts are left out: no provider takes them."""
    if isinstance(content, str):
        return [Text(content)] if content.strip() else []
    blocks: list[Text | Image] = []
    for block in content:
        if block.get("type") == "text" and block["text"].strip():
            blocks.append(Text(block["text"]))
        elif block.get("type") == "image":
            blocks.append(_image(block, images))
    return blocks


def says_nothing(event: Event) -> bool:
    """Say whether no prompt shows anything of the event: a boundary, a blank text, or one that holds only what Neve
    rendered."""
    if event.event_type in (EventType.TOOL_CALL, EventType.TOOL_RESULT):
        return False
    shown = shown_event(event)
    return shown is None or event.event_type is EventType.TASK_BOUNDARY or not content_blocks(shown.content, {})


def _image(block: Mapping[str, Any], images: Mapping[str, str]) -> Text | Image:
    if LEFT_OUT in block:
        return not_shown(block["media_type"])
    if "url" in block:
        return Image(block["media_type"], url=block["url"])
    data = block.get("data") or images.get(block.get("object", ""))
    if data is None:
        return not_shown(block["media_type"])
    return Image(block["media_type"], data=data)


def not_shown(media_type: str) -> Text:
    """Return the text that stands where an image would."""
    return Text(f"[an image ({media_type}) that is not shown]")


# --- messages -------------------------------------------------------------------------------------


@dataclass
class Conversation:
    """The messages of a prompt, built piece by piece in its order. ``images``: as ``content_blocks`` takes them.
    ``late``: by the seq of its call, each result that stands with it though its round was over when it came;
    ``came_late``: likewise, those that do not. ``front``: the seq of the event that the turn goes on from, with what
    stands before it, and ``asked``, what it says, where it is a message: as the turn's first prompt had both.

    The same pieces give the same messages, and further pieces only add blocks behind those that are there: what was
    sent stays a prefix of what is sent next."""

    images: Mapping[str, str] = field(default_factory=dict)
    late: Mapping[int, Event] = field(default_factory=dict)
    front: tuple[int, str] | None = None
    asked: Sequence[Text | Image] | None = None
    came_late: dict[int, Event] = field(default_factory=dict)
    messages: list[tuple[Role, list[Block]]] = field(default_factory=list)
    _open: dict[str, tuple[str, int]] = field(default_factory=dict)
    _pending: dict[str, tuple[str, int]] = field(default_factory=dict)
    _stand_ins: dict[str, int] = field(default_factory=dict)
    _late: list[Block] = field(default_factory=list)
    _answered: bool = False
    _used: set[str] = field(default_factory=set)

    def say(self, role: Role, *blocks: Block) -> None:
        """Add the blocks, to the last message when that is of the same role."""
        if not blocks:
            return
        if not self.messages and role == "assistant":
            self.messages.append(("user", [Text(ASSISTANT_FIRST)]))
        if not self.messages or self.messages[-1][0] != role:
            self.messages.append((role, []))
        self.messages[-1][1].extend(blocks)

    def add(self, event: Event) -> None:
        """Add an event as a prompt shows it. A boundary says nothing."""
        if self.front is not None and event.seq == self.front[0]:
            self.close_round()
            self.say("user", *([Text(self.front[1])] if self.front[1] else []))
            if self.asked is not None:
                self.say("user", *self.asked)
                return
        shown = shown_event(event)
        if shown is None or shown.event_type in SILENT:
            return
        if shown.event_type is EventType.TOOL_CALL:
            self._call(shown, thinking_of(event))
        elif shown.event_type is EventType.TOOL_RESULT:
            self._result(shown)
        else:
            blocks = content_blocks(shown.content, self.images)
            if not blocks:
                return
            self.close_round()
            if shown.event_type is EventType.ASSISTANT_RESPONSE:
                self.say("assistant", *_images_as_text(blocks))
                self._put_thoughts(thinking_of(event))  # the stripped one may differ from what was signed
            else:
                self.say("user", *with_speaker(shown.name, blocks))

    def close_round(self) -> None:
        """Give each open call its result that came late, or one that says that it is pending. Results whose call is not
        here are shown as text behind the others."""
        for given_id, (identifier, seq) in self._open.items():
            if seq in self.late:
                self.say("user", self._as_result(identifier, self.late[seq]))
                continue
            self._pending[given_id], self._stand_ins[identifier] = (identifier, seq), seq
            self.say("user", ToolResult(identifier, (Text(PENDING),)))
        self._open, self._answered = {}, False
        late, self._late = self._late, []
        self.say("user", *late)

    def _call(self, event: Event, thoughts: Sequence[Mapping[str, Any]]) -> None:
        given_id = str(event.event_data["tool_use_id"])
        if self._answered or not self._open or given_id in self._open:
            self.close_round()
        before, behind = _around_the_call(event)
        self.say("assistant", *_images_as_text(content_blocks(before, self.images)))
        identifier = self._identifier(given_id, event.seq)
        self.say(
            "assistant", ToolUse(identifier, str(event.event_data["name"]), arguments(event.event_data.get("args")))
        )
        self.say("assistant", *_images_as_text(content_blocks(behind, self.images)))
        self._put_thoughts(thoughts)
        self._open[given_id] = (identifier, event.seq)
        self._pending.pop(given_id, None)

    def _put_thoughts(self, thoughts: Sequence[Mapping[str, Any]]) -> None:
        """Put thoughts in front of everything else in the assistant's message: else its provider refuses the round."""
        blocks = self.messages[-1][1]
        at = sum(isinstance(block, Thinking) for block in blocks)
        blocks[at:at] = [Thinking(block) for block in thoughts]

    def _result(self, event: Event) -> None:
        given_id = str(event.event_data["tool_use_id"])
        if given_id in self._open:
            self._answered = True
            self.say("user", self._as_result(self._open.pop(given_id)[0], event))
        elif all(event.seq != shown.seq for shown in self.late.values()):
            self._late += [self._line_before_result(given_id, event), *content_blocks(event.content, self.images)]
        if not self._open:
            self.close_round()

    def _line_before_result(self, given_id: str, event: Event) -> Text:
        """Return the line in front of a result that is not with its call."""
        name = event.event_data["name"]
        if given_id not in self._pending:
            return Text(f"[result of {name}, whose call is not here]")
        identifier, seq = self._pending.pop(given_id)
        self.came_late[seq] = event
        return Text(f"[result of {name}, which has come for the pending call {identifier}]")

    def _as_result(self, identifier: str, event: Event) -> ToolResult:
        content = tuple(content_blocks(event.content, self.images))
        is_error = bool(event.event_data.get("is_error"))
        if is_error:
            content = tuple(_images_as_text(content)) or (Text(FAILED),)
        return ToolResult(identifier, content, is_error)

    def _identifier(self, given_id: str, seq: int) -> str:
        """Return the id of a call as the log has it, where a provider takes it and it is not used yet; else one made of
        it, the same every time."""
        fit = (
            given_id
            if _FIT_FOR_AN_ID.fullmatch(given_id)
            else f"toolu_{hashlib.sha256(given_id.encode()).hexdigest()[:24]}"
        )
        if fit in self._used:
            fit = f"{fit[: ID_LIMIT - LONGEST_SEQ - 1]}_{seq}"
        self._used.add(fit)
        return fit

    @property
    def shown_pending(self) -> set[int]:
        """Return the seqs of the calls that are shown as pending in the history."""
        ends = max((n for n, (role, _) in enumerate(self.messages) if role == "assistant"), default=0)
        shown = (block for _, blocks in self.messages[:ends] for block in blocks if isinstance(block, ToolResult))
        return {self._stand_ins[block.id] for block in shown if block.id in self._stand_ins}

    def parts(self) -> tuple[list[PromptMessage], tuple[Block, ...]]:
        """Return the history, which ends with a message of the assistant, and what stands behind it: the blocks that
        the last message of the user begins with."""
        self.close_round()
        last: tuple[Block, ...] = ()
        messages = self.messages
        if messages and messages[-1][0] == "user":
            messages, last = messages[:-1], tuple(messages[-1][1])
        return [PromptMessage(role, tuple(blocks)) for role, blocks in messages], last


def with_speaker(name: str | None, blocks: Sequence[Text | Image]) -> list[Text | Image]:
    """Put the speaker's name before the blocks, where the log has one."""
    if not name or not blocks:
        return list(blocks)
    first, *rest = blocks
    named = [Text(f"{name}: {first.text}")] if isinstance(first, Text) else [Text(f"{name}:"), first]
    return [*named, *rest]


def _around_the_call(event: Event) -> tuple[str | Sequence[Mapping[str, Any]], Sequence[Mapping[str, Any]]]:
    """Split what an assistant said into before and behind its call: all of it before, unless ``blocks_before`` says how
    much."""
    count = event.event_data.get("blocks_before")
    if isinstance(event.content, str) or not isinstance(count, int):
        return event.content, []
    return event.content[:count], event.content[count:]


def _images_as_text(blocks: Sequence[Text | Image]) -> list[Text]:
    """Replace images by words: no provider takes an image that an assistant is to have said, nor Anthropic one of a
    tool that failed."""
    return [block if isinstance(block, Text) else Text(f"[an image ({block.media_type})]") for block in blocks]
