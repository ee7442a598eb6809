"""``neve job``: what came of work that was left running; and how the commands that begin it wait for it."""

from __future__ import annotations

from collections.abc import Callable

import click

from neve_cli import output
from neve_cli.api import ENDED, Answer, look_at
from neve_cli.context import Context, F, pass_context
from neve_cli.ids import NAME_ID, path_of

ONE = ["id", "kind", "status", "user_id", "session_id", "created_at", "finished_at", "result"]
STAGES = [("STAGE", "stage"), ("STATE", "state")]
BEGUN = ["id", "user_id", "status"]
RECEIPT = [("STORE", "store"), ("DELETED", "deleted"), ("VERIFIED EMPTY AT", "verified_empty_at")]
TIMEOUT_S = 600
"""*Chosen*: a night of one user, a long session and an export take minutes."""


def waits(timeout_s: int = TIMEOUT_S) -> Callable[[F], F]:
    """The options of a command that begins a job."""

    def with_options(command: F) -> F:
        timeout = click.option(
            "--timeout",
            "timeout_s",
            type=click.IntRange(1),
            default=timeout_s,
            show_default=True,
            metavar="SECONDS",
            help="Then it is left running (1).",
        )
        no_wait = click.option("--no-wait", is_flag=True, help="Print the job, and leave it running.")
        return no_wait(timeout(command))

    return with_options


def ended(context: Context, begun: Answer, timeout_s: int, *, no_wait: bool, admin: bool = False) -> Answer | None:
    """The job when it is done; None where it is not to be waited for, which is printed then. Whoever breaks off can
    look at it. Raises Failed."""
    if no_wait:
        output.fields(begun, BEGUN, as_json=context.as_json)
        return None
    if begun["status"] not in ENDED:
        output.note(
            f"The job is {begun['status']}, and goes on without being waited for: {look_at(begun, admin=admin)}"
        )
    return context.api.ended(begun, timeout_s, admin=admin)


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
    if not context.as_json and (stages := found.rows_if_any("stages")):
        output.note("")
        output.show(found, as_json=False, columns=STAGES, rows=stages)
    output.degraded(found)


def is_receipt(found: Answer) -> bool:
    result = found.get("result")
    return isinstance(result, Answer) and "receipt" in result


def show_receipt(found: Answer, *, as_json: bool) -> None:
    """Of an erasure that is done."""
    if as_json:
        output.fields(found, [], as_json=True)
        return
    result = found.object("result")
    stores = result.object("receipt")
    rows = [{"store": name, **stores.object(name)} for name in stores]
    output.show(found, as_json=False, columns=RECEIPT, rows=rows)
    output.fields(result | {"user_id": found["user_id"]}, ["user_id", "backups_expire_at", "closed"], as_json=False)
