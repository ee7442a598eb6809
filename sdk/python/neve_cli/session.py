"""``neve session``: the conversations."""

from __future__ import annotations

from typing import Any

import click

from neve_cli import output
from neve_cli.context import Context, limit, pass_context
from neve_cli.ids import NAME_ID, path_of
from neve_cli.job import ended, waits

SESSIONS = [
    ("ID", "id"),
    ("STATUS", "status"),
    ("EVENTS", "last_seq"),
    ("LAST EVENT", "last_event_at"),
    ("TITLE", "title"),
]
ONE = ["id", "status", "title", "started_at", "last_event_at", "last_seq", "observed_seq", "epoch", "total_tokens"]
EVENTS = [("SEQ", "seq"), ("TYPE", "event_type"), ("NAME", "name"), ("AT", "created_at"), ("CONTENT", "content")]
JOB = ["id", "status", "result"]


@click.group()
def session() -> None:
    """The conversations: list, open, show, events, say, observe, compact, end."""


@session.command("list")
@limit
@pass_context
def list_(context: Context, /, limit: int) -> None:
    """Sessions of the user."""
    rows = list(context.api.pages("/sessions", "sessions", limit))
    output.show({"sessions": rows}, as_json=context.as_json, columns=SESSIONS, rows=rows)


@session.command("open")
@click.argument("session_id", type=NAME_ID, required=False)
@click.option("--title")
@pass_context
def open_(context: Context, /, **given: str | None) -> None:
    """Open SESSION_ID, or a new one."""
    opened = context.api.json("POST", "/sessions", {name: value for name, value in given.items() if value is not None})
    output.fields(opened if context.as_json else opened.object("session"), ONE, as_json=context.as_json)
    output.degraded(opened)


@session.command()
@click.argument("session_id", type=NAME_ID)
@pass_context
def show(context: Context, /, session_id: str) -> None:
    """One session: how far it is observed and summarised."""
    output.fields(context.api.json("GET", path_of("sessions", session_id)), ONE, as_json=context.as_json)


@session.command()
@click.argument("session_id", type=NAME_ID)
@click.option("--from", "from_seq", type=click.IntRange(1), default=1, show_default=True)
@limit
@pass_context
def events(context: Context, /, session_id: str, from_seq: int, limit: int) -> None:
    """What was said."""
    rows = list(context.api.pages(path_of("sessions", session_id, "events"), "events", limit, {"from_seq": from_seq}))
    output.show({"events": rows}, as_json=context.as_json, columns=EVENTS, rows=rows)


@session.command()
@click.argument("session_id", type=NAME_ID)
@click.argument("text")
@click.option("--as", "speaker", type=click.Choice(["user", "assistant"]), default="user", show_default=True)
@pass_context
def say(context: Context, /, session_id: str, text: str, speaker: str) -> None:
    """Append TEXT to SESSION_ID."""
    kind = "user_message" if speaker == "user" else "assistant_response"
    body = {"events": [{"event_type": kind, "content": text}]}
    appended = context.api.json("POST", path_of("sessions", session_id, "events"), body)
    output.fields(appended, ["seqs", "observation", "compaction", "redacted"], as_json=context.as_json)


@session.command()
@click.argument("session_id", type=NAME_ID)
@waits()
@pass_context
def observe(context: Context, /, session_id: str, **waiting: Any) -> None:
    """Make memory of what was said, now."""
    _job(context, path_of("sessions", session_id, "observe"), _wait(**waiting), **waiting)


@session.command()
@click.argument("session_id", type=NAME_ID)
@waits()
@pass_context
def compact(context: Context, /, session_id: str, **waiting: Any) -> None:
    """Summarise its middle, now."""
    _job(context, path_of("sessions", session_id, "compact"), {"reason": "manual"} | _wait(**waiting), **waiting)


@session.command()
@click.argument("session_id", type=NAME_ID)
@click.option("--outcome", help="How it ended.")
@waits()
@pass_context
def end(context: Context, /, session_id: str, outcome: str | None, **waiting: Any) -> None:
    """Close it: it is observed to its end and compacted."""
    _job(context, path_of("sessions", session_id, "end"), {"outcome": outcome} if outcome else {}, **waiting)


def _wait(*, no_wait: bool, **_: int) -> dict[str, bool]:
    """The service looks for 20 s by itself, which saves a job that is soon done a second."""
    return {} if no_wait else {"wait": True}


def _job(context: Context, path: str, body: dict[str, Any], **waiting: Any) -> None:
    begun = context.api.json("POST", path, body)
    output.degraded(begun)  # why it may take long: there is no language model, say
    if (done := ended(context, begun, **waiting)) is not None:
        output.fields(done, JOB, as_json=context.as_json)
