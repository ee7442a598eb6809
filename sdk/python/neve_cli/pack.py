"""``neve pack``: what stands in front of a conversation."""

from __future__ import annotations

import click

from neve_cli import output
from neve_cli.context import Context, limit, of_session, pass_context, session

VERSIONS = [("VERSION", "pack_version"), ("TRIGGER", "trigger"), ("BUILT", "built_at"), ("TOKENS", "tokens")]


@click.group()
def pack() -> None:
    """What stands in front of a conversation: show, versions, diff."""


@pack.command()
@session
@click.option("--version", type=click.IntRange(1), help="An earlier one.")
@pass_context
def show(context: Context, /, session_id: str | None, version: int | None) -> None:
    """The exact text; without a session, a preview of what is remembered."""
    query = {"session_id": session_id, "version": version}
    given = {name: value for name, value in query.items() if value is not None}
    if context.as_json:
        found = context.api.json("GET", "/pack", query=given)
        output.fields(found, [], as_json=True)
        output.degraded(found)
        return
    text, degraded = context.api.text("/pack", query={**given, "format": "text"})
    click.echo(text, nl=not text.endswith("\n"))
    if degraded:
        output.note(f"degraded: {degraded}")


@pack.command()
@of_session
@limit
@pass_context
def versions(context: Context, /, session_id: str, limit: int) -> None:
    """The versions that there were, newest first."""
    rows = list(context.api.pages("/pack/versions", "versions", limit, {"session_id": session_id}))
    output.show({"versions": rows}, as_json=context.as_json, columns=VERSIONS, rows=rows)


@pack.command()
@click.argument("first", type=click.IntRange(1))
@click.argument("second", type=click.IntRange(1))
@of_session
@pass_context
def diff(context: Context, /, first: int, second: int, session_id: str) -> None:
    """What changed from version FIRST to SECOND."""
    query = {"session_id": session_id, "from": first, "to": second}
    found = context.api.json("GET", "/pack/diff", query=query)
    if context.as_json:
        output.fields(found, [], as_json=True)
    else:
        text = found.text("unified")
        click.echo(text or "The two texts are the same.", nl=not text.endswith("\n"))
