"""Lines of a message that a program or a person wrote into a file, also where no fence says so: diffs, comments,
commands behind a prompt, queries, markup, rows of a table. A comment speaks in the first person as a speaker does
(docs/rules/observe.md#extractive)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

_DIFF_BEGINS = re.compile(r"^(?:diff --(?:git|cc|combined) |@@ -\d|--- \S+[/.]|\+\+\+ \S+[/.]|Index: )")
_DIFF_GOES_ON = re.compile(r"^(?:[+\- \\@]|index [0-9a-f]|(?:new|deleted|old) (?:file )?mode |rename |similarity )")
_OF_A_FILE = re.compile(
    r"^\s*(?:"
    r"//|/\*|\*/|<!--|#+\s|</?[a-z]\w*(?:\s[^<>]*)?>"
    r"|(?:\$|[\w.-]+@[\w.-]+[:~][^$#]*[$#])\s+[a-z./]"
    r"|(?:SELECT|INSERT INTO|UPDATE \S+ SET|DELETE FROM|CREATE TABLE|ALTER TABLE)\s"
    r"|\|.*\|\s*$"
    r")"
)
"""Beginnings of a comment (or a heading), a tag, a prompt, a query, and a whole row. A figure behind a dollar is a
price."""


def outside_source_code(lines: Sequence[str]) -> Iterator[str]:
    """Return the lines that are no source code, in their order."""
    in_diff = False
    for line in lines:
        in_diff = _DIFF_BEGINS.match(line) is not None or (in_diff and _DIFF_GOES_ON.match(line) is not None)
        if not in_diff and not _OF_A_FILE.match(line):
            yield line
