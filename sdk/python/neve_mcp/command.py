"""``neve mcp``: the memory of one user as an MCP server on standard input and output, for a program that starts it."""

from __future__ import annotations

import importlib.util

import click

from neve_cli.context import Context, pass_context
from neve_cli.context import session as of_session
from neve_mcp.tokens import NO_USER, user_of

HINT = "neve mcp needs the package mcp: pip install 'neve[mcp]'"


@click.command()
@click.option("--token", envvar="NEVE_TOKEN", help="A token of one user, or NEVE_TOKEN; else a key and --user.")
@of_session
@pass_context
def mcp(context: Context, /, token: str | None, session_id: str | None) -> None:
    """Serve the user's memory to a program that speaks the Model Context Protocol, on standard input and output."""
    user = user_of(token) if token else context.user
    secret = token or context.key
    if token and user is None:
        raise click.UsageError(f"NEVE_TOKEN is no token of a user. {NO_USER}")
    if not secret:
        raise click.UsageError(
            "Give a token of the user (--token, NEVE_TOKEN), or an API key and a user (--key, --user)."
        )
    if not user:
        raise click.UsageError("Say whose memory it is: --user or NEVE_USER.")
    if importlib.util.find_spec("mcp") is None:
        raise click.ClickException(HINT)
    from neve_mcp.stdio import Served, serve

    serve(Served(context.url, secret, user, session_id))
