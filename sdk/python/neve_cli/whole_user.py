"""``neve stats``, ``neve export``, ``neve erase``: everything of a user."""

from __future__ import annotations

from typing import Any

import click

from neve_cli import output
from neve_cli.api import Answer, Failed
from neve_cli.checks import writable
from neve_cli.context import Context, confirmed, pass_context, yes
from neve_cli.ids import path_of
from neve_cli.job import ended, show_receipt, waits

COUNTS = ["short_term.sessions", "short_term.events", "memories.total", "semantic.active", "episodic.active"]
COUNTS += ["embeddings.pending", "embeddings.failed", "memory_lag.events", "memory_lag.unobserved", "usage.model_calls"]
ERASE_TIMEOUT_S = 3_600


@click.command()
@pass_context
def stats(context: Context, /) -> None:
    """How much is kept of the user, and how far memory is behind. Needs the scope admin."""
    output.fields(context.api.json("GET", "/stats"), COUNTS, as_json=context.as_json)


@click.command()
@click.argument("file", type=click.File("wb", lazy=True), required=False, callback=writable)
@waits()
@pass_context
def export(context: Context, /, file: Any, **waiting: Any) -> None:
    """Write everything of the user to FILE (- for standard output). Needs the scope admin."""
    if (file is None) != waiting["no_wait"]:
        raise click.UsageError(
            "Say either FILE, or --no-wait, which writes none: the job has the addresses of the parts."
        )
    job = ended(context, context.api.json("POST", "/export"), admin=True, **waiting)
    if job is None:
        return
    result = job.object("result")
    for part in result.rows("parts"):
        signed = context.api.admin("GET", path_of("jobs", job.identifier("id")))  # an address is good for 15 minutes
        file.write(context.api.download(_address(signed, part["part"])))
    lines = ", ".join(f"{count} {kind}" for kind, count in result.object("lines").items())
    output.note(f"{lines}. The service keeps its own for a week.")


def _address(signed: Answer, part: int) -> str:
    """Where that part is, for the next minutes."""
    found = [one for one in signed.object("result").rows("parts") if one["part"] == part]
    if not found:
        raise Failed(f"the export has no part {part} any more")
    return found[0].text("url")


@click.command()
@click.option("--close", is_flag=True, help="The id is never used again.")
@yes
@waits(ERASE_TIMEOUT_S)
@pass_context
def erase(context: Context, /, close: bool, yes: bool, **waiting: Any) -> None:
    """Erase the user, and print the receipt. Takes as long as what is under way needs to run out. Needs the scope
    admin."""
    confirmed(f"Erase everything of {context.api.user} for good?", yes=yes)
    begun = context.api.json("DELETE", "", query={"close": "true"} if close else None)
    if not waiting["no_wait"]:
        # whoever breaks off has no other way to the receipt: another erasure would be that of the next life
        output.note("Erasing, which takes 16 minutes or more; the receipt is that of the job.")
    job = ended(context, begun, admin=True, **waiting)
    if job is not None:
        show_receipt(job, as_json=context.as_json)
