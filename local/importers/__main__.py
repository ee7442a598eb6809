"""``python -m local.importers mem0 dump.json > lines.jsonl``, then ``… send lines.jsonl --user ada``: what
``neve import`` does in one step (docs/integrating.md#from-other-stores), for scripts that keep the lines.

Exit code 0; 2 when something was left out, which is counted on standard error; 1 when something was not taken, which is
named there with the number of its line, or nothing could be read or sent; 64 for a wrong command line."""

from __future__ import annotations

import argparse
import os
import re
import sys
from contextlib import closing
from http.client import HTTPException
from pathlib import Path
from typing import NoReturn

from local.api_client import ApiClient
from neve.domain.ids import NAME_RULE, as_name
from neve_cli.importing.formats import HELP, Unreadable, converted, texts_of
from neve_cli.importing.sending import send_lines
from neve_cli.importing.sent import FAILED, exit_code
from neve_cli.importing.service import NotTaken

WRONG_COMMAND = 64


def main(arguments: list[str] | None = None) -> int:
    given = _parser().parse_args(arguments)
    try:
        if given.command == "send":
            return send("\n".join(texts_of(given.file)), given)
        made = converted(given.command, given.file, given.user, "--user")
    except (Unreadable, OSError) as error:
        print(error if isinstance(error, Unreadable) else f"{given.file}: {error.strerror or error}", file=sys.stderr)
        return FAILED
    for line in made.lines:
        print(line)
    malformed = [f"{place}: {reason}" for place, reason in made.malformed]
    return exit_code(malformed, made.left_out, _say, failed=bool(malformed))


def send(text: str, given: argparse.Namespace) -> int:
    key = os.environ.get("NEVE_KEY")
    if not key:
        print("NEVE_KEY is not set: a key with the scopes records and, for conversations, chat", file=sys.stderr)
        return FAILED
    if not re.fullmatch("[!-~]+", key):
        print("NEVE_KEY holds what no key holds: white space, or letters that are not ASCII", file=sys.stderr)
        return FAILED
    with closing(ApiClient(given.url, key)) as api:
        try:
            sent = send_lines(api, given.user, text)
        except (NotTaken, OSError, HTTPException) as error:
            said = error if isinstance(error, NotTaken) else f"{type(error).__name__}: {error}"
            print(f"{said}. A repeat adds nothing twice.", file=sys.stderr)
            return FAILED
    print(sent.summary())
    return exit_code(sent.complaints(), sent.skipped, _say, failed=bool(sent.rejected or sent.conflicting))


def _say(line: str) -> None:
    print(line, file=sys.stderr)


class _Parser(argparse.ArgumentParser):
    """Ends with ``WRONG_COMMAND``: 2 is what left something out."""

    def error(self, message: str) -> NoReturn:
        self.print_usage(sys.stderr)
        self.exit(WRONG_COMMAND, f"{self.prog}: error: {message}\n")


def _parser() -> argparse.ArgumentParser:
    made = _Parser(prog="python -m local.importers", description="Bring in what another product has of a person.")
    commands = made.add_subparsers(required=True, dest="command", metavar="command")
    for name, what in HELP.items():
        command = commands.add_parser(name, help=what)
        command.add_argument("file", type=Path)
        command.set_defaults(user=None)
        if name == "mem0":
            command.add_argument("--user", help="only those of this mem0 user; has to be said where there are several")
    sending = commands.add_parser("send", help="send lines, or an export, to a service (NEVE_KEY)")
    sending.add_argument("--url", type=_url, default=os.environ.get("NEVE_URL", "http://127.0.0.1:8787"))
    sending.add_argument("--user", type=_user_id, required=True, help="whose they become")
    sending.add_argument("file", type=Path)
    return made


def _url(text: str) -> str:
    if not re.fullmatch(r"https?://[^\s?#/]+(/[^\s?#]*)?", text):
        raise argparse.ArgumentTypeError("must be http:// or https:// with a host, and nothing behind the path")
    return text


def _user_id(text: str) -> str:
    if as_name(text) is None:
        raise argparse.ArgumentTypeError(NAME_RULE)
    return text


if __name__ == "__main__":
    sys.exit(main())
