"""``neve import``: what another product remembers of a person, or what was said there."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from neve_cli import output
from neve_cli.api import Failed
from neve_cli.context import Context, pass_context
from neve_cli.importing.formats import FORMATS, Unreadable, converted, texts_of
from neve_cli.importing.reading import Converted
from neve_cli.importing.sending import send_lines
from neve_cli.importing.sent import exit_code
from neve_cli.importing.service import HttpService, NotTaken, OtherServer

LINES = "lines"


@click.command("import")
@click.argument("format_", metavar="FORMAT", type=click.Choice([*FORMATS, LINES]))
@click.argument("file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--of", help="Whose memories of a mem0 dump; has to be said where there are several.")
@click.option("--to", type=click.Path(dir_okay=False, path_type=Path), help="Write the lines there; nothing is sent.")
@pass_context
def import_(context: Context, /, format_: str, file: Path, of: str | None, to: Path | None) -> int:
    """Bring FILE in: conversations (chatgpt, claude, messages), memories (mem0, observations), or lines, which are what
    --to writes, and an export of Neve. A repeat adds nothing."""
    try:
        read = Converted(_lines(file)) if format_ == LINES else converted(format_, file, of)
    except Unreadable as reason:
        raise Failed(str(reason)) from None
    for place, why in read.malformed:
        output.note(f"{place}: {why}")
    if to is not None:
        to.write_text("".join(f"{line}\n" for line in read.lines), encoding="utf-8", errors="surrogateescape")
        output.fields({"lines": len(read.lines)}, ["lines"], as_json=context.as_json)
        return exit_code((), read.left_out, output.note, failed=bool(read.malformed))
    api = context.api
    try:
        sent = send_lines(HttpService(api.client), api.user, "\n".join(read.lines))
    except OtherServer as reason:
        raise api.not_neve(str(reason)) from None
    except NotTaken as reason:
        raise Failed(f"{reason}. A repeat adds nothing twice.") from None
    if context.as_json:
        output.fields(asdict(sent), [], as_json=True)
    else:
        click.echo(sent.summary())
    failed = bool(read.malformed or sent.rejected or sent.conflicting)
    return exit_code(sent.complaints(), read.left_out + sent.skipped, output.note, failed=failed)


def _lines(file: Path) -> list[str]:
    return [line for text in texts_of(file) for line in text.split("\n")]
