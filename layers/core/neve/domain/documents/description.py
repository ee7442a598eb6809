"""The name of a document, and what is said of it in a line, where no caller said it (docs/rules/documents.md#name)."""

from __future__ import annotations

import re

MAX_NAME = 120
MAX_SUMMARY = 200
"""Characters (docs/rules/documents.md#name)."""
MAX_TITLE = 60
"""The characters of a name that is made of the first words of a text (*chosen*)."""
UNTITLED = "Untitled"
HEADING_LINES = 20
"""A heading further down names a part, not the document."""

_HEADING = re.compile(r"#{1,6}\s+(?P<text>\S.*)?")
_POINT = re.compile(r"[#>*+-]+\s+|\d+[.)]\s+")
_CODE = re.compile(r"(`+)(?P<text>[^`]+)\1")
_EMPHASIS = re.compile(r"(?<![\w*])(\*{1,3}|_{1,3})(?=[^\s*_])(?P<text>.+?)(?<=[^\s*_])\1(?![\w*])")
"""Around words: a name keeps what is in it, as in ``MAX_TOKENS``."""
_NO_TEXT = re.compile(r"`{3,}\w*|~{3,}\w*|\*{3,}|_{3,}|-{3,}")
"""Around code, and between parts."""
MAX_LINE = 1_000
"""Characters of a line that a summary is made from: a search for pairs takes the square of their number."""


def name_of(path: str, text: str) -> str:
    """Name a document by the first heading of a Markdown text, else the last segment of the path."""
    return _heading_of(text) or cut_at_word(" ".join(path.rpartition("/")[2].split()), MAX_NAME)


def title_of(text: str) -> str:
    """Give the first heading, else the first words: of a document whose path is not to name it."""
    words = summary_of(text).rstrip(".!?,;: ")
    return _heading_of(text) or cut_at_word(words, MAX_TITLE) or UNTITLED


def _heading_of(text: str) -> str | None:
    for line in text.splitlines()[:HEADING_LINES]:
        heading = _HEADING.fullmatch(line.strip())
        if heading and (named := (heading["text"] or "").rstrip("#").rstrip()):
            return cut_at_word(named, MAX_NAME)
    return None


def summary_of(text: str) -> str:
    """Give the first lines that are no headings, without markup, as one line."""
    words: list[str] = []
    length = 0
    for line in text.splitlines():
        if _HEADING.fullmatch(line.strip()) or _NO_TEXT.fullmatch(line.strip()):
            continue
        plain = " ".join(_without_markup(line.strip()[:MAX_LINE]).split())
        if plain:
            words.append(plain)
            length += len(plain) + 1
        if length > MAX_SUMMARY:
            break
    return cut_at_word(" ".join(words) or " ".join(text.split()), MAX_SUMMARY)


def _without_markup(line: str) -> str:
    """Take out markup: code first, whose own signs are none, then emphasis and what is emphasised within it."""
    point = _POINT.match(line)
    parts = _CODE.split(line[point.end() :] if point else line)
    for n in range(0, len(parts), 3):
        parts[n] = _EMPHASIS.sub(r"\g<text>", _EMPHASIS.sub(r"\g<text>", parts[n]))
    return "".join(part for n, part in enumerate(parts) if n % 3 != 1)


def cut_at_word(text: str, longest: int) -> str:
    """Cut a text at a word where one ends not too early, with an ellipsis inside the length, in characters."""
    if len(text) <= longest:
        return text
    beginning = text[: longest - 1]
    space = beginning.rfind(" ")
    return (beginning[:space] if space > longest // 2 else beginning).rstrip() + "…"
