"""``neve erase``: everything of a user, for good."""

from __future__ import annotations

import click

from neve_cli import output
from neve_cli.context import Context, pass_context

RECEIPT = [("STORE", "store"), ("DELETED", "deleted"), ("VERIFIED EMPTY AT", "verified_empty_at")]


@click.command()
@click.option("--close", is_flag=True, help="The id is never used again.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--no-wait", is_flag=True, help="Print the job, and leave it running.")
@pass_context
def erase(context: Context, /, close: bool, yes: bool, no_wait: bool) -> None:
    """Erase the user, and print the receipt. Takes as long as what is under way needs to run out. Needs the scope
    admin."""
    if not yes:
        click.confirm(f"Erase everything of {context.api.user} for good?", abort=True, err=True)
    job = context.api.json("DELETE", "", query={"close": "true"} if close else None)
    if not no_wait:
        job = context.api.ended(job, admin=True)
    if context.as_json or no_wait:
        output.fields(job, ["id", "user_id", "status"], as_json=context.as_json)
        return
    receipt = job["result"] | {"user_id": job["user_id"]}
    rows = [{"store": name, **store} for name, store in receipt["receipt"].items()]
    output.show(job, as_json=False, columns=RECEIPT, rows=rows)
    output.fields(receipt, ["user_id", "backups_expire_at", "closed"], as_json=False)
