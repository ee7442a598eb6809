"""The face for threads of that for asyncio: the same text without waiting, token by token."""

from __future__ import annotations

import io
import re
import tokenize

NAMES = {
    "__aenter__": "__enter__",
    "__aexit__": "__exit__",
    "__aiter__": "__iter__",
    "__anext__": "__next__",
    "aclose": "close",
    "aiter_bytes": "iter_bytes",
    "AsyncClient": "Client",
    "AsyncIterator": "Iterator",
    "Awaitable": "Any",
}
LEFT_OUT = ("async", "await")
HEAD = "# Made of {source} by `make sdk-generate`.\n"
PREFIX = re.compile(r"\bAsync(?=[A-Z])")


def without_waiting(text: str, source: str) -> str:
    """The text of a module, before it is formatted."""
    lines = text.splitlines(keepends=True)
    for token in reversed(list(tokenize.generate_tokens(io.StringIO(text).readline))):
        (row, begin), (last, end) = token.start, token.end
        if token.type == tokenize.NAME:
            found = NAMES.get(token.string, PREFIX.sub("", token.string))
            if token.string in LEFT_OUT:
                found, end = "", end + 1  # with the blank behind it
        elif token.type == tokenize.STRING:
            found = PREFIX.sub("", token.string)
        else:
            continue
        if found != token.string:
            if last != row:
                lines[row - 1 : last] = [lines[row - 1][:begin] + found + lines[last - 1][end:]]
            else:
                lines[row - 1] = lines[row - 1][:begin] + found + lines[row - 1][end:]
    return HEAD.format(source=source) + "".join(lines)
