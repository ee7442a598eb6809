"""The text that a model is asked to read is material, from any writer: no line of it may pass for one that stands
around it (docs/rules/observe.md#reads), such as the speaker of an event that no speaker said, or a person's
correction."""

from __future__ import annotations

import re

NAME_CHARACTERS = 64
"""The characters that are shown of a speaker's or a tool's name."""
_APART = "> "
_BREAK = "\n\r\x0b\x0c\x85\u2028\u2029"
_BLANK = rf"[^\S{_BREAK}]*+"
"""Never given back: a line of blanks would be read as often as it is long."""
_END = rf"(?=[{_BREAK}]|\Z)"
_HEADINGS = (
    rf"\#{{1,6}}{_BLANK}(?:memories already kept|new events|put right|account so far|summary so far"
    r"|end of the (?:new )?(?:events|notes|memories)"
    rf"|(?:documents|events|notes|memories){_BLANK}(?::{_BLANK})?{_END})"
    rf"|(?:decisions|action[_ ]items|insights|preferences){_BLANK}:{_BLANK}{_END}"
)
_MARKS = (
    rf"---[^{_BREAK}]{{0,9}}\d{{4}}[^{_BREAK}]{{0,40}}---|\[\d{{4}}-\d\d-\d\d\]{_BLANK}{_END}"
    rf"|(?:[^{_BREAK}]{{1,{NAME_CHARACTERS}}} \()?(?:user|assistant|tool|task)\)?{_BLANK}#{_BLANK}\d+{_BLANK}:"
    r"|\[(?:memory|group) id:|\[document:|\[(?:tool_call|tool_result|task_boundary)\b"
)
_SENTENCES = (
    r"call (?:record_|file_)\w+|there is room for \d+ observations|at most \d+ tokens are allowed"
    r"|the user's time zone is|your previous answer to this|while you read, a person changed|you had not been shown"
    r"|\(\d+ (?:events in between|older ones) are not shown"
)
"""The sentences that the prompts say around the material, whichever of them it is."""
_LIKE_OURS = rf"(?={_BLANK}(?:{_HEADINGS}|{_MARKS}|{_SENTENCES}))"
_LINE = re.compile(rf"(?<![^{_BREAK}]){_LIKE_OURS}", re.IGNORECASE)
_SET_APART = re.compile(rf"(?<![^{_BREAK}]){_APART}{_LIKE_OURS}", re.IGNORECASE)
_NUMBERED = re.compile(r"#(?=\s*\d+\s*:)")


def set_apart(text: str) -> str:
    """Put ``> `` before each line that looks like one of a prompt."""
    return _LINE.sub(_APART, text)


def as_written(text: str) -> str:
    """Undo ``set_apart`` in a text that a model hands back."""
    return _SET_APART.sub("", text)


def one_line(name: str) -> str:
    """Write white space as single spaces: a name with a line break could stand for an event that no speaker said."""
    return " ".join(name.split())


def shown_name(name: str) -> str:
    """Give the name of a speaker or a tool as it is shown: it begins a line, and may hold no other speaker with an
    event's number."""
    return set_apart(_NUMBERED.sub("", one_line(name)[:NAME_CHARACTERS]))
