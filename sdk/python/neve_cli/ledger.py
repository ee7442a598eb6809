"""``neve ledger``: what recalls considered, and why candidates were dropped."""

from __future__ import annotations

import click

from neve_cli import output
from neve_cli.context import Context, limit, pass_context
from neve_cli.ids import NAME_ID, path_of

ROWS = [
    ("ID", "id"),
    ("AT", "at"),
    ("MODE", "mode"),
    ("RESULT", "result_state"),
    ("MS", "elapsed_ms"),
    ("DEGRADED", "degraded"),
]
CANDIDATES = [("RANK", "rank"), ("SCORE", "score"), ("ID", "id"), ("OUTCOME", "outcome")]


@click.group()
def ledger() -> None:
    """The recalls of the last 90 days, without what was asked: list, show."""


@ledger.command("list")
@limit
@pass_context
def list_(context: Context, /, limit: int) -> None:
    """Recalls, newest first."""
    rows = list(context.api.pages("/recalls", "recalls", limit))
    output.show({"recalls": rows}, as_json=context.as_json, columns=ROWS, rows=rows)


@ledger.command()
@click.argument("recall_id", type=NAME_ID)
@pass_context
def show(context: Context, /, recall_id: str) -> None:
    """The candidates of RECALL_ID: what was answered with, and why the others were not."""
    found = context.api.json("GET", path_of("recalls", recall_id))
    output.show(found, as_json=context.as_json, columns=CANDIDATES, rows=found.rows("hits"))
