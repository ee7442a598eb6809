"""Never observe yourself (docs/rules/sessions.md#rendered-text): take out of an event what Neve itself rendered into
the prompt.

Otherwise memory feeds on its own output: a backend that logs the whole prompt, or a user who quotes it, would have
every remembered line observed again."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import Any

from neve.domain.records.sessions import Event, EventType

RENDERED_TAGS = ("neve-memory", "neve-updates", "neve-retrieved", "neve-task", "neve-session", "neve-summary")
"""The elements that Neve puts into a prompt."""
OWN_TOOLS = frozenset({"read_document", "recall_memory", "search_conversation", "search_knowledge"})
"""The names of Neve's own tools: a model that has called one is given back what it found."""
ANSWER_WITH_MEMORY = OWN_TOOLS | {"forget"}
"""The tools whose answers hold what Neve rendered. A caller may have a tool of its own that is called forget."""

INVISIBLE = (
    "\x00-\x1f\x7f-\x9f\u00ad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5\u180b-\u180f"
    "\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000110bd\U000110cd"
    "\U00013430-\U0001343f\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Control characters, Unicode's default-ignorable ones and its format characters: a tag that is spelt with them is
still read as that tag."""
BEFORE_A_NAME = rf"[\s/\\{INVISIBLE}]*+"
"""The signs between ``<`` and the name of a tag."""


def spelt(name: str, between: str = INVISIBLE) -> str:
    """Make a pattern of the name with any of these characters between its letters."""
    return f"[{between}]*+".join(map(re.escape, name))


OWN_NAMES = "|".join(spelt(name, rf"\s{INVISIBLE}") for name in RENDERED_TAGS)
"""However they are spelt. No other text has them, so white space in them is looked through as well."""

_PIECES = re.compile(r"[<>]|[^<>]+")
_BEGUN = re.compile(rf"<{BEFORE_A_NAME}(?:{OWN_NAMES})", re.IGNORECASE)
_BEGINNINGS = re.compile(rf"<[<\s/\\{INVISIBLE}]*+(?={OWN_NAMES})", re.IGNORECASE)
_UNSEEN = re.compile(rf"(?:(?!\s)[{INVISIBLE}])+")
_BLANKS = re.compile(r"\s+")
_BEFORE = re.compile(r"[ /\\]+")
_NAMES = {name: " ?".join(name) for name in RENDERED_TAGS}
_TAG_START = re.compile(
    rf"(?P<closing>/?)(?:{'|'.join(f'(?P<{name[5:]}>{spaced})' for name, spaced in _NAMES.items())})(?=[ /\\>])",
    re.IGNORECASE,
)
_MAX_TAG_START = 1 + 2 * max(map(len, RENDERED_TAGS)) + 1
_DEEPEST = 32
"""Levels of a tool's arguments that are looked into; what lies deeper becomes an ellipsis."""


def strip_rendered(text: str) -> str:
    """Give ``text`` without the balanced elements that Neve renders, nested ones included, however their names are
    spelt. A tag without its partner loses just its own token. What is taken out cannot leave a new tag behind by
    joining its neighbours: the result holds no tag of Neve's at all. Linear in ``len(text)``."""
    if "<" not in text or not _BEGUN.search(text):  # where nothing is taken out, nothing is joined
        return text
    stripper = _Stripper()
    for piece in _PIECES.finditer(text):
        stripper.feed(piece[0])
    return "".join(stripper.output)


class _Stripper:
    """Reads a text piece by piece (``<``, ``>``, or what is between) and keeps what is not Neve's.

    ``brackets`` are the positions in ``output`` of every ``<`` and ``>``; a tag can only end at the first ``>`` after
    the last ``<``. ``starts`` says behind each piece what of a tag has been read by then. ``open`` are the tags
    awaiting their end, with the position in ``output`` where they stood."""

    def __init__(self) -> None:
        self.output: list[str] = []
        self.starts: list[str] = []
        self.brackets: list[int] = []
        self.open: list[tuple[str, int]] = []
        self.awaited: Counter[str] = Counter()

    def feed(self, piece: str) -> None:
        if piece == ">" and (tag := self._tag_ending_here()):
            start, name, closing, empty = tag
            self._cut(start)
            if closing:
                self._close(name)
            elif not empty:
                self.open.append((name, start))
                self.awaited[name] += 1
            return
        if piece in ("<", ">"):
            self.brackets.append(len(self.output))
            self.starts.append("")
        else:
            self.starts.append(_tag_start(self.starts[-1] if self.starts else "", piece))
        self.output.append(piece)

    def _tag_ending_here(self) -> tuple[int, str, bool, bool] | None:
        if not self.brackets or self.output[self.brackets[-1]] != "<":
            return None
        found = _TAG_START.match(self.starts[-1] + ">")
        if not found:
            return None
        return self.brackets[-1], str(found.lastgroup), bool(found["closing"]), self.output[-1].endswith("/")

    def _close(self, name: str) -> None:
        if not self.awaited[name]:
            return
        while True:
            opened, start = self.open.pop()
            self.awaited[opened] -= 1
            if opened == name:
                self._cut(start)
                return

    def _cut(self, start: int) -> None:
        """Forget everything from ``start`` on, and the tags that were opened inside it."""
        del self.output[start:], self.starts[start:]
        while self.brackets and self.brackets[-1] >= start:
            self.brackets.pop()
        while self.open and self.open[-1][1] > start:
            opened, _ = self.open.pop()
            self.awaited[opened] -= 1


def _tag_start(before: str, piece: str) -> str:
    """Give what stands between ``<`` and the name as a slash or nothing, then the name as it is read: white space as
    single spaces, without what is not seen. No longer than a name can be, so that it is as quickly looked at however
    often."""
    if len(before) >= _MAX_TAG_START:
        return before
    read = _BLANKS.sub(" ", before + _UNSEEN.sub("", piece))
    if leading := _BEFORE.match(read):
        read = ("/" if "/" in leading[0] else "") + read[leading.end() :]
    return read[:_MAX_TAG_START]


def strip_event(event: Event) -> Event | None:
    """Give the event as it may be observed, indexed or counted; ``None`` of a neutral one, and when it held text and
    nothing is left of it. A tool event survives without its text (that the tool ran is context), and so does an event
    with an image."""
    if event.event_type is EventType.NEUTRAL:
        return None
    content = _strip_content(event.content)
    data = {name: _strip_value(value, _DEEPEST) for name, value in event.event_data.items()}
    speaker = _strip_name(event.name)
    if (content, data, speaker) == (event.content, event.event_data, event.name):
        return event
    is_tool = event.event_type in (EventType.TOOL_CALL, EventType.TOOL_RESULT)
    left = content.strip() if isinstance(content, str) else content
    if not left and not is_tool:
        return None
    return replace(event, content=content, event_data=data, name=speaker)


def is_own_result(event: Event) -> bool:
    """Say whether an event is the answer of one of Neve's own tools."""
    return event.event_type is EventType.TOOL_RESULT and event.event_data.get("name") in ANSWER_WITH_MEMORY


def shown_event(event: Event) -> Event | None:
    """Give the event as a prompt shows it: as ``strip_event`` has it, but what one of Neve's own tools answered is
    given back to the model whole. It holds only what Neve rendered, so the model would read a blank result."""
    stripped = strip_event(event)
    return replace(stripped, content=event.content) if stripped and is_own_result(event) else stripped


def _strip_name(name: str | None) -> str | None:
    """Strip a speaker's name, which stands in front of the text: what is left of it begins no tag that the text would
    end."""
    if name is None or "<" not in name:
        return name
    return _BEGINNINGS.sub("", strip_rendered(name)).strip() or None


def _strip_content(content: str | list[dict[str, Any]]) -> str | list[dict[str, Any]]:
    """Strip the content. Text blocks that held only what Neve rendered go; blocks that were blank before stay as they
    were."""
    if isinstance(content, str):
        return strip_rendered(content)
    blocks = []
    for block in content:
        if block.get("type") != "text":
            blocks.append(block)
            continue
        text = strip_rendered(block["text"])
        if text == block["text"]:
            blocks.append(block)
        elif text.strip():
            blocks.append({**block, "text": text})
    return blocks


def _strip_value(value: Any, levels: int) -> Any:
    if isinstance(value, str):
        return strip_rendered(value)
    if not isinstance(value, dict | list):
        return value
    if levels == 0:
        return "…"
    if isinstance(value, list):
        return [_strip_value(item, levels - 1) for item in value]
    return {strip_rendered(name): _strip_value(item, levels - 1) for name, item in value.items()}
