"""``neve document``: what is kept of a user at paths."""

from __future__ import annotations

from typing import Any

import click

from neve_cli import output
from neve_cli.context import Context, confirmed, if_rev, limit, matched, pass_context, yes

ROWS = [("PATH", "path"), ("REV", "rev"), ("STATUS", "status"), ("UPDATED", "updated_at"), ("NAME", "name")]
REVS = [("REV", "rev"), ("UPDATED", "updated_at"), ("BY", "provenance.by"), ("SUMMARY", "summary")]
ONE = ["path", "id", "rev", "name", "kind", "status", "tags", "group", "always_include", "updated_at", "superseded_by"]
path = click.argument("path")


@click.group()
def document() -> None:
    """What is kept of a user at paths: list, show, put, versions, mv, rm."""


@document.command("list")
@click.argument("prefix", default="/")
@click.option("--status", help="active, resolved, inbox, superseded or archived.")
@limit
@pass_context
def list_(context: Context, /, prefix: str, status: str | None, limit: int) -> None:
    """Documents below PREFIX."""
    query = {"prefix": prefix} | ({"status": status} if status else {})
    rows = list(context.api.pages("/documents/list", "documents", limit, query))
    output.show({"documents": rows}, as_json=context.as_json, columns=ROWS, rows=rows)


@document.command()
@path
@click.option("--rev", type=click.IntRange(1), help="As it was at a rev.")
@pass_context
def show(context: Context, /, path: str, rev: int | None) -> None:
    """The text of the document at PATH."""
    found = context.api.json("GET", "/documents", query={"path": path} | ({"rev": rev} if rev else {}))
    if context.as_json:
        output.fields(found, [], as_json=True)
        return
    text = found.text("text")
    click.echo(text, nl=not text.endswith("\n"))


@document.command()
@path
@click.argument("file", type=click.File(encoding="utf-8-sig"), default="-")
@click.option("--new", is_flag=True, help="Only where there is none.")
@if_rev
@pass_context
def put(context: Context, /, path: str, file: Any, new: bool, if_rev: int | None) -> None:
    """Write FILE, or standard input, to PATH."""
    try:
        body = {"text": file.read()}
    except UnicodeDecodeError:
        raise click.UsageError("The text is not UTF-8.") from None
    headers = {"If-None-Match": "*"} if new else matched(if_rev)
    written = context.api.json("PUT", "/documents", body, query={"path": path}, headers=headers)
    output.fields(written, ONE, as_json=context.as_json)


@document.command()
@path
@limit
@pass_context
def versions(context: Context, /, path: str, limit: int) -> None:
    """The revs that there were, newest first."""
    rows = list(context.api.pages("/documents/versions", "versions", limit, {"path": path}))
    output.show({"versions": rows}, as_json=context.as_json, columns=REVS, rows=rows)


@document.command()
@path
@click.argument("to")
@if_rev
@pass_context
def mv(context: Context, /, path: str, to: str, if_rev: int | None) -> None:
    """Move the document at PATH to TO, with its history."""
    moved = context.api.json("POST", "/documents/move", {"path": path, "to": to}, headers=matched(if_rev))
    output.fields(moved, ONE, as_json=context.as_json)


@document.command()
@path
@if_rev
@yes
@pass_context
def rm(context: Context, /, path: str, if_rev: int | None, yes: bool) -> None:
    """Delete the document at PATH with all its revs."""
    confirmed(f"Delete {path} for good?", yes=yes)
    deleted = context.api.json("DELETE", "/documents", query={"path": path}, headers=matched(if_rev))
    output.fields(deleted, ["deleted"], as_json=context.as_json)
