"""``python -m local.importers observations dump.json > lines.jsonl``, then ``… send lines.jsonl --user ada``: see
docs/integrating.md#from-other-stores.

Exit code 0; 1 when something was not taken, which is said on standard error with the number of its line, or nothing
could be read or sent."""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections.abc import Callable
from contextlib import closing
from http.client import HTTPException
from pathlib import Path
from typing import Any

from local.api_client import ApiClient
from local.importers.mem0 import mem0_line, users_of
from local.importers.observations import observation_line
from local.importers.reading import Malformed, read_records
from local.importers.sending import NotTaken, send_lines
from neve.domain.ids import IDENTIFIER, IDENTIFIER_RULE

Convert = Callable[[dict[str, Any]], dict[str, Any] | None]


def main(arguments: list[str] | None = None) -> int:
    given = _parser().parse_args(arguments)
    try:
        # what is not UTF-8 is refused with its own line, not with the whole dump
        text = given.file.read_text(encoding="utf-8-sig", errors="surrogateescape")
    except OSError as error:
        print(f"{given.file}: {error.strerror or error}", file=sys.stderr)
        return 1
    if given.command == "observations":
        return convert(text, observation_line)
    if given.command == "mem0":
        users = users_of(text)
        if given.user is None and len(users) > 1:
            print(f"these are memories of {len(users)} users: say whose they are to be with --user", file=sys.stderr)
            return 1
        if given.user is not None and users and given.user not in users:
            print(f"none of these memories is of the user {given.user!r}", file=sys.stderr)
            return 1
        return convert(text, lambda record: mem0_line(record, given.user))
    return send(text, given)


def convert(text: str, to_line: Convert) -> int:
    """Lines on standard output. Whatever is malformed is named, and the others are converted."""
    malformed = 0
    for place, record in read_records(text):
        try:
            line = _text(to_line(_taken(record)))
        except Malformed as reason:
            malformed += 1
            print(f"{place}: {reason}", file=sys.stderr)
            continue
        if line is not None:
            print(line)
    return 1 if malformed else 0


def _taken(record: dict[str, Any] | Malformed) -> dict[str, Any]:
    if isinstance(record, Malformed):
        raise record
    return record


def _text(line: dict[str, Any] | None) -> str | None:
    """Its JSON. Raises Malformed for a lone surrogate, which is also what a byte outside UTF-8 was read as."""
    if line is None:
        return None
    text = json.dumps(line, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise Malformed("holds what is not UTF-8") from None
    return text


def send(text: str, given: argparse.Namespace) -> int:
    key = os.environ.get("NEVE_KEY")
    if not key:
        print("NEVE_KEY is not set: a key with the scope records", file=sys.stderr)
        return 1
    if not re.fullmatch("[!-~]+", key):
        print("NEVE_KEY holds what no key holds: white space, or letters that are not ASCII", file=sys.stderr)
        return 1
    with closing(ApiClient(given.url, key)) as api:
        try:
            sent = send_lines(api, given.user, text)
        except (NotTaken, OSError, HTTPException) as error:
            print(f"{type(error).__name__}: {error}. A repeat adds nothing twice.", file=sys.stderr)
            return 1
    print(
        f"{sent.imported} memories imported, {sent.unchanged} were there, {sent.repeated} are stated there by another;"
        f" {sent.documents} documents written, {sent.documents_there} were there"
    )
    print(f"{len(sent.conflicting)} are there with another text; left out: {dict(sent.skipped) or 0}")
    for number, reason in sorted(sent.rejected.items()):
        print(f"{number}: {reason}", file=sys.stderr)
    for name in sent.conflicting:
        print(f"{name}: is there with another text, which stays", file=sys.stderr)
    return 1 if sent.rejected or sent.conflicting else 0


def _parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(prog="python -m local.importers", description="Bring memories in from elsewhere.")
    commands = made.add_subparsers(required=True, dest="command", metavar="command")
    observations = commands.add_parser("observations", help="rows of an observational-memory store, as import lines")
    mem0 = commands.add_parser("mem0", help="memories as mem0 exports them, as import lines")
    mem0.add_argument("--user", help="only those of this mem0 user; has to be said where there are several")
    sending = commands.add_parser("send", help="send lines, or an export, to a service (NEVE_KEY)")
    sending.add_argument("--url", type=_url, default=os.environ.get("NEVE_URL", "http://127.0.0.1:8787"))
    sending.add_argument("--user", type=_user_id, required=True, help="whose memories they become")
    for command in (observations, mem0, sending):
        command.add_argument("file", type=Path)
    return made


def _url(text: str) -> str:
    if not re.fullmatch(r"https?://[^\s?#/]+(/[^\s?#]*)?", text):
        raise argparse.ArgumentTypeError("must be http:// or https:// with a host, and nothing behind the path")
    return text


def _user_id(text: str) -> str:
    if not re.fullmatch(IDENTIFIER, text):
        raise argparse.ArgumentTypeError(IDENTIFIER_RULE)
    return text


if __name__ == "__main__":
    sys.exit(main())
