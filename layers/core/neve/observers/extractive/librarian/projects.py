"""Finds the name of the project that the user speaks of: ``project Otter``, ``the Blue Heron project``, ``our project,
called Otter``. A project that is only said to be for a person, or to be new, has no name."""

from __future__ import annotations

import re

from neve.observers.extractive.english.vocabulary import any_of

_QUOTED = r"[\"“'‘](?P<{}>[^\"“”'‘’]{{1,60}})[\"”'’]"
_NO_NAME = any_of(
    "a an the this that these those my our your his her its their any each every some no what which whose all for in",
    "on at of to from with by about and or but so as is was are has needs will would we i it one other new old first",
    "last next side pet main own manager management plan planning team lead called named where when because who also",
)
_WORD = rf"(?!(?i:{_NO_NAME})\b)[^\W\d_a-z][\w-]*"
_NAME = rf"(?:{_WORD}(?: (?:{_WORD}|\d+))*)"
_LOWER = rf"(?!{_NO_NAME}\b)[^\W\d_][\w-]*"
_CALLED = r"(?:,? (?:is |was |that is |which is |that's )?(?:called|named|code-?named)|'s name is| name is| name:)"
_PATTERNS = tuple(
    re.compile(pattern)
    for pattern in (
        rf"\b[Pp]rojects?{_CALLED} (?:{_QUOTED.format('quoted')}|(?P<name>{_NAME}|{_LOWER}))",
        rf"\b[Pp]roject:? {_QUOTED.format('quoted')}",
        rf"{_QUOTED.format('quoted')} project\b",
        rf"\b(?i:project) (?P<name>{_NAME})",
        rf"\b(?i:project), (?P<name>{_NAME}),",
        rf"^(?i:project): (?P<name>{_NAME}|{_LOWER})",
        rf"(?<![\w-])(?P<name>{_NAME}) project\b",
        rf"(?i:\b(?:for|in|on|at|with|to|of|from|about|called)) project (?P<name>{_LOWER})(?=[\s,:;.!]|$)",
        rf"(?i:\b(?:the|our|my)) (?P<name>{_LOWER}) project\b",
    )
)


def project_in(text: str) -> str | None:
    """Find the name of a project, as it is written there, by the surest sign of a name."""
    for pattern in _PATTERNS:
        if found := pattern.search(text):
            given = found.groupdict()
            return given.get("quoted") or given.get("name")
    return None
