"""``neve inbox``: what waits for a person's decision."""

from __future__ import annotations

from typing import Any

import click

from neve_cli import output
from neve_cli.api import Answer
from neve_cli.context import Context, limit, pass_context
from neve_cli.ids import MEMORY_ID, path_of

ONE = ["id", "status", "reason", "memory.text", "document.action", "document.path", "document.text"]
ROWS = [("ID", "id"), ("PATH", "document.path"), ("WHY", "reason"), ("TEXT", "text")]
item = click.argument("item_id", type=MEMORY_ID)


@click.group()
def inbox() -> None:
    """What waits for a decision: list, approve, reject, edit."""


@inbox.command("list")
@limit
@pass_context
def list_(context: Context, /, limit: int) -> None:
    """Facts and changes of documents that wait, oldest first."""
    items = list(context.api.pages("/inbox", "items", limit))
    rows = [one | {"text": _waiting(one)["text"]} for one in items]
    output.show({"items": items}, as_json=context.as_json, columns=ROWS, rows=rows)


def _waiting(one: Answer) -> Answer:
    return one.object("document" if one.get("memory") is None else "memory")


@inbox.command()
@item
@pass_context
def approve(context: Context, /, item_id: str) -> None:
    """Keep ITEM_ID."""
    _decide(context, item_id, "approve", {})


@inbox.command()
@item
@pass_context
def reject(context: Context, /, item_id: str) -> None:
    """Keep nothing of ITEM_ID."""
    _decide(context, item_id, "reject", {})


@inbox.command()
@item
@click.option("--text")
@click.option("--path", help="Where a document is to be.")
@pass_context
def edit(context: Context, /, item_id: str, **given: str | None) -> None:
    """Keep ITEM_ID in other words, or at another path."""
    body = {name: value for name, value in given.items() if value is not None}
    if not body:
        raise click.UsageError("Say what to change: --text or --path.")
    _decide(context, item_id, "edit", body)


def _decide(context: Context, item_id: str, choice: str, body: dict[str, Any]) -> None:
    decided = context.api.json("POST", path_of("inbox", item_id, choice), body)
    output.fields(decided, ONE, as_json=context.as_json)
