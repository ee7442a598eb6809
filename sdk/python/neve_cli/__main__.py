"""``neve``: the commands, and what a failure is to the shell."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click
import httpx2

from neve_cli import output
from neve_cli.api import Failed
from neve_cli.checks import api_key, idempotency_key, in_utf8, service_url
from neve_cli.context import Context
from neve_cli.document import document
from neve_cli.ids import NAME_ID
from neve_cli.importing.command import import_
from neve_cli.inbox import inbox
from neve_cli.job import job
from neve_cli.ledger import ledger
from neve_cli.memory import memory
from neve_cli.pack import pack
from neve_cli.session import session
from neve_cli.tenant import console, key, policy, token, usage
from neve_cli.whole_user import erase, export, stats
from neve_mcp.command import mcp

DONE, FAILED, WRONG_COMMAND = 0, 1, 64
"""Exit codes; the last is EX_USAGE of sysexits.h, which ``os`` has on Unix alone."""
BROKEN_OFF = "Broken off. What the service was asked for by then is done, or goes on."
"""Of an interrupt anywhere but at a question, which click turns into the same Abort as a No."""


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--url",
    envvar="NEVE_URL",
    callback=service_url,
    default="http://127.0.0.1:8787",
    show_default=True,
    help="Or NEVE_URL.",
)
@click.option("--key", envvar="NEVE_KEY", callback=api_key, help="The API key, or NEVE_KEY.")
@click.option("--user", type=NAME_ID, envvar="NEVE_USER", help="Whose memory, or NEVE_USER.")
@click.option(
    "--idempotency-key",
    callback=idempotency_key,
    help="Of a command that was given up: what it wrote is not written again.",
)
@click.option("--json", "as_json", is_flag=True, help="What the service answered, for programs.")
@click.pass_context
def cli(click_context: click.Context, /, **given: object) -> None:
    """What Neve remembers of a user, and how to take it back."""
    transport = click_context.obj if isinstance(click_context.obj, httpx2.BaseTransport) else None
    click_context.obj = Context(**given, transport=transport)  # type: ignore[arg-type]


for command in (memory, document, inbox, pack, session, ledger, job, stats, import_, export, erase, policy):
    cli.add_command(command)
for command in (key, token, console, usage, mcp):
    cli.add_command(command)


def run(arguments: Sequence[str], transport: httpx2.BaseTransport | None = None) -> int:
    """The exit code. ``transport``: what stands for the network, None for the network itself."""
    try:
        in_utf8(arguments)
        code = cli.main(args=list(arguments), prog_name="neve", standalone_mode=False, obj=transport)
    except click.UsageError as error:
        error.show()
        return WRONG_COMMAND
    except click.ClickException as error:
        error.show()
        return FAILED
    except click.Abort as error:
        interrupt = error.__cause__
        _say(BROKEN_OFF if isinstance(interrupt, KeyboardInterrupt) else "Nothing was done.", interrupt)
        return FAILED
    except Failed as error:
        _say(f"neve: {error}", error)
        return FAILED
    except OSError as error:  # a full disk, or a file of certificates that is not there
        _say(f"neve: {error.strerror or error}" + (f": {error.filename}" if error.filename else ""), error)
        return FAILED
    return code if isinstance(code, int) else DONE


def _say(reason: str, error: BaseException | None) -> None:
    """And what was noted of it on its way, a line each."""
    for line in (reason, *getattr(error, "__notes__", ())):
        output.note(line)


def main() -> None:
    sys.exit(run(sys.argv[1:]))


if __name__ == "__main__":
    main()
