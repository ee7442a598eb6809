"""Names the formats that can be read, and reads a file of one, also one within the archive that a product gives out."""

from __future__ import annotations

import io
import re
import zipfile
from functools import partial
from pathlib import Path

from neve_cli.importing.chatgpt import chatgpt_lines
from neve_cli.importing.claude import claude_lines
from neve_cli.importing.mem0 import mem0_lines, users_of
from neve_cli.importing.observations import observation_lines
from neve_cli.importing.reading import Convert, Converted, convert
from neve_cli.importing.said import message_lines

FORMATS: dict[str, Convert] = {
    "chatgpt": chatgpt_lines,
    "claude": claude_lines,
    "mem0": mem0_lines,
    "messages": message_lines,
    "observations": observation_lines,
}
HELP = {
    "chatgpt": "conversations as ChatGPT exports them, as lines of messages",
    "claude": "conversations as Claude exports them, as lines of messages",
    "mem0": "memories as mem0 exports them, as import lines",
    "messages": "JSON lines of messages: conversation, role, content, and id, created_at, name, title",
    "observations": "rows of an observational-memory store, as import lines",
}
_WITHIN = re.compile(r"(.*/)?conversations[^/]*\.json")
"""Of an archive; an export of many chats has several."""
MAX_BYTES = 2 * 1024**3
"""*Chosen*: conversations of an archive that are larger when they are unpacked are not read into memory."""


class Unreadable(ValueError):
    """Says why a file cannot be converted at all."""


def texts_of(file: Path) -> list[str]:
    """The text of a file, or of each file of conversations within an archive. A byte that is not UTF-8 is kept as a
    lone surrogate, so that its own line is refused and not the whole dump. Raises Unreadable, OSError."""
    with file.open("rb") as opened:
        if not zipfile.is_zipfile(opened):
            opened.seek(0)
            return [_text(opened.read())]
        with zipfile.ZipFile(opened) as archive:
            names = sorted(name for name in archive.namelist() if _WITHIN.fullmatch(name))
            if not names:
                raise Unreadable(f"{file}: the archive has no conversations.json")
            if sum(archive.getinfo(name).file_size for name in names) > MAX_BYTES:
                raise Unreadable(f"{file}: its conversations are more than {MAX_BYTES} bytes")
            try:
                return [_text(archive.read(name)) for name in names]
            except (zipfile.BadZipFile, RuntimeError, NotImplementedError) as error:
                raise Unreadable(f"{file}: the archive cannot be unpacked: {error}") from None


def converted(name: str, file: Path, of: str | None = None, option: str = "--of") -> Converted:
    """Makes the lines of a dump in the format ``name``; ``of``: the user of mem0 whose memories are meant, which
    ``option`` says. Raises Unreadable, OSError."""
    made = Converted()
    for text in texts_of(file):
        to_lines = FORMATS[name]
        if name == "mem0":
            to_lines = partial(mem0_lines, user=_one_user(text, of, option))
        part = convert(text, to_lines)
        made.lines += part.lines
        made.left_out.update(part.left_out)
        made.malformed += part.malformed
    return made


def _one_user(text: str, of: str | None, option: str) -> str | None:
    users = users_of(text)
    if of is None and len(users) > 1:
        raise Unreadable(f"these are memories of {len(users)} users: say whose they are to be with {option}")
    if of is not None and users and of not in users:
        raise Unreadable(f"none of these memories is of the user {of!r}")
    return of


def _text(content: bytes) -> str:
    return io.TextIOWrapper(io.BytesIO(content), encoding="utf-8-sig", errors="surrogateescape").read()
