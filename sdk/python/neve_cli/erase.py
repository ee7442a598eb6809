"""``neve erase``: everything of a user, for good."""

from __future__ import annotations

import click

from neve_cli import output
from neve_cli.context import Context, pass_context
from neve_cli.job import show_receipt


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
    if no_wait:
        output.fields(job, ["id", "user_id", "status"], as_json=context.as_json)
        return
    # whoever does not wait for it has no other way to the receipt: another erasure would be that of the next life
    output.note(f"Erasing, which takes 16 minutes or more. The receipt is that of: neve job {job['id']}")
    show_receipt(context.api.ended(job, admin=True), as_json=context.as_json)
