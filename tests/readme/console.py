"""Console blocks of a document: what is typed behind ``$``, and what is printed below it. A document leaves out with
``…``, breaks JSON where a line is full, and shows ids, times and measures that differ with every run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

BLOCK = re.compile(r"^```console\n(.*?)^```$", re.DOTALL | re.MULTILINE)
PROMPT = "$ "
LEFT_OUT = "…"
SHOWN = 200
"""Characters of what was printed that a difference repeats."""
DIFFERENT = (
    (r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)", "a time"),
    (r"\d{4}-\d\d-\d\d", "a day"),
    (r"(?:mem|job|rec|evt|key)_[0-9A-Za-z]{16,}", "an id"),
    (r"\d+\.\d+", "a measure"),
)
"""What stands for anything of its kind, in the order in which it is looked for."""
_KINDS = re.compile("|".join(f"({pattern})" for pattern, _ in DIFFERENT))


@dataclass(frozen=True, slots=True)
class Command:
    """``typed``: whole, over several lines; ``printed``: as the document shows it."""

    block: int
    typed: str
    printed: str

    @property
    def name(self) -> str:
        """For the id of a test."""
        return f"{self.block}: {' '.join(self.typed.split())[:70]}"


def commands_of(text: str) -> Iterator[Command]:
    """Of every block of a document, numbered from 1."""
    for block, found in enumerate(BLOCK.findall(text), start=1):
        for part in re.split(rf"^{re.escape(PROMPT)}", found, flags=re.MULTILINE)[1:]:
            lines = part.split("\n")
            end = next(n for n, line in enumerate(lines) if not _goes_on(lines[: n + 1], line))
            yield Command(block, "\n".join(lines[: end + 1]), "\n".join(lines[end + 1 :]).rstrip("\n"))


def _goes_on(so_far: list[str], line: str) -> bool:
    """A line that ends with a backslash, or within quotes."""
    return line.endswith("\\") or "\n".join(so_far).count("'") % 2 == 1


def difference(documented: str, printed: str) -> str | None:
    """The first thing that is documented and was not printed in its place; None when all of it was."""
    documented, printed = (_in_one_form(text) for text in (documented, printed))
    at = 0
    pieces = documented.split(LEFT_OUT)
    for n, piece in enumerate(pieces):
        pattern = re.compile(_pattern(piece) + (r"\Z" if n == len(pieces) - 1 else ""))
        found = pattern.match(printed, at) if n == 0 else pattern.search(printed, at)
        if found is None:
            return f"documented: {piece.strip()!r}\nprinted there: {printed[at : at + SHOWN]!r}"
        at = found.end()
    return None


def _in_one_form(text: str) -> str:
    """JSON on one line; columns of a table one blank apart."""
    text = re.sub(r"\n\s*", "", text) if text.startswith("{") else text
    return re.sub(r" {2,}", " ", "\n".join(line.rstrip() for line in text.strip().split("\n")))


def _pattern(piece: str) -> str:
    parts, at = [], 0
    for found in _KINDS.finditer(piece):
        kind = next(n for n, group in enumerate(found.groups()) if group is not None)
        parts += [re.escape(piece[at : found.start()]), DIFFERENT[kind][0]]
        at = found.end()
    return "".join([*parts, re.escape(piece[at:])])
