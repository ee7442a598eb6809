"""``neve job``: what came of work that was left running."""

from __future__ import annotations

from typing import Any

import click

from neve_cli import output
from neve_cli.context import Context, pass_context
from neve_cli.ids import NAME_ID, path_of

ONE = ["id", "kind", "status", "user_id", "session_id", "created_at", "finished_at", "result"]
STAGES = [("STAGE", "stage"), ("STATE", "state")]
RECEIPT = [("STORE", "store"), ("DELETED", "deleted"), ("VERIFIED EMPTY AT", "verified_empty_at")]


@click.command()
@click.argument("job_id", type=NAME_ID)
@click.option("--admin", is_flag=True, help="Any job of the tenant. Needs the scope admin.")
@pass_context
def job(context: Context, /, job_id: str, admin: bool) -> None:
    """How far JOB_ID is, and what came of it."""
    path = path_of("jobs", job_id)
    found = context.api.admin("GET", path) if admin else context.api.json("GET", path)
    if is_receipt(found):
        show_receipt(found, as_json=context.as_json)
        return
    output.fields(found, ONE, as_json=context.as_json)
    if not context.as_json and found.get("stages"):
        output.note("")
        output.show(found, as_json=False, columns=STAGES, rows=found["stages"])
    output.degraded(found)


def is_receipt(found: dict[str, Any]) -> bool:
    return "receipt" in (found.get("result") or {})


def show_receipt(found: dict[str, Any], *, as_json: bool) -> None:
    """Of an erasure that is done."""
    if as_json:
        output.fields(found, [], as_json=True)
        return
    receipt = found["result"] | {"user_id": found["user_id"]}
    rows = [{"store": name, **store} for name, store in receipt["receipt"].items()]
    output.show(found, as_json=False, columns=RECEIPT, rows=rows)
    output.fields(receipt, ["user_id", "backups_expire_at", "closed"], as_json=False)
