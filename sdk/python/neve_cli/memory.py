"""``neve memory``: what is remembered of a user."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from neve_cli import output
from neve_cli.api import Answer
from neve_cli.context import Context, confirmed, if_rev, limit, matched, pass_context, session, yes
from neve_cli.ids import MEMORY_ID, NAME_ID, path_of
from neve_cli.job import ended, waits

ROWS = [
    ("ID", "id"),
    ("KIND", "kind"),
    ("STATUS", "status"),
    ("PRIORITY", "priority"),
    ("OBSERVED", "observed_date"),
    ("TEXT", "text"),
]
HITS = [("RANK", "rank"), ("ID", "id"), ("SOURCE", "source"), ("KIND", "kind"), ("SCORE", "score"), ("TEXT", "text")]
ONE = ["id", "rev", "kind", "status", "scope", "session_id", "priority", "importance", "category", "label", "group"]
ONE += [
    "tags",
    "observed_at",
    "valid_from",
    "valid_until",
    "holds",
    "provenance.by",
    "provenance.trust",
    "superseded_by",
    "text",
]
BATCHES = [("TOKENS", "tokens"), ("CONDENSED TOGETHER", "ids")]
PRIORITIES = click.Choice(["high", "medium", "low"])


@click.group()
def memory() -> None:
    """What is remembered of a user: list, add, recall, edit, rm, forget, reflect, trace."""


@memory.command("list")
@click.option("--kind", help="observation, reflection, note, manual, …")
@click.option("--status", help="active, resolved, inbox, superseded or archived.")
@click.option("--scope", type=click.Choice(["session", "global"]))
@click.option("--group")
@click.option("--tag")
@click.option("--as-of", metavar="TIME", help="What was in force then.")
@session
@limit
@pass_context
def list_(context: Context, /, limit: int, **filters: str | None) -> None:
    """Memories, oldest first."""
    given = {name: value for name, value in filters.items() if value is not None}
    rows = list(context.api.pages("/memories", "memories", limit, given))
    output.show({"memories": rows}, as_json=context.as_json, columns=ROWS, rows=rows)


@memory.command()
@click.argument("text")
@click.option("--kind", default="manual", show_default=True)
@click.option("--priority", type=PRIORITIES)
@click.option("--importance", type=click.IntRange(1, 5))
@click.option("--category", help="Of a fact.")
@click.option("--label")
@click.option("--group")
@click.option("--tag", "tags", multiple=True)
@click.option("--valid-from", metavar="TIME", help="From when on it holds.")
@click.option("--valid-until", metavar="TIME", help="Until when it holds.")
@session
@click.option("--wait", is_flag=True, help="Until its meaning can be searched for.")
@pass_context
def add(context: Context, /, wait: bool, tags: tuple[str, ...], **given: Any) -> None:
    """Keep TEXT."""
    body = {name: value for name, value in given.items() if value is not None} | ({"tags": list(tags)} if tags else {})
    stored = context.api.json("POST", "/memories", body, query={"wait": "embedded"} if wait else None)
    output.fields(stored, [*ONE, "decision", "criteria"], as_json=context.as_json)


@memory.command()
@click.argument("query")
@click.option("--limit", type=click.IntRange(1, 50), default=8, show_default=True, help="Hits at most.")
@click.option("--mode", type=click.Choice(["tool", "prompt"]), default="tool", show_default=True)
@click.option("--source", "sources", multiple=True, type=click.Choice(["memory", "document", "event"]))
@click.option("--as-of", metavar="TIME", help="What was in force then, such as 2026-03-01T00:00:00Z.")
@session
@click.option("--debug", is_flag=True, help="With --json: what each leg found and why candidates were dropped.")
@pass_context
def recall(context: Context, /, sources: tuple[str, ...], **given: Any) -> None:
    """Search for QUERY."""
    body = {name: value for name, value in (given | {"sources": list(sources) or None}).items() if value is not None}
    found = context.api.json("POST", "/recall", body)
    rows = [row for hit in found.rows("hits") for row in (hit, *_further(hit))]
    output.show(found, as_json=context.as_json, columns=HITS, rows=rows)
    if found["result_state"] != "found":
        output.note(f"result: {found['result_state']}")
    output.degraded(found)


def _further(hit: Answer) -> list[dict[str, str]]:
    """What else the memory says of the query, a line each below it."""
    return [{"text": f"also: {one['text']}"} for one in hit.rows_if_any("also")]


@memory.command()
@click.argument("memory_id", type=MEMORY_ID)
@click.option("--text")
@click.option("--priority", type=PRIORITIES)
@click.option("--importance", type=click.IntRange(1, 5))
@click.option("--status", type=click.Choice(["active", "resolved", "archived"]))
@click.option("--label")
@click.option("--group")
@click.option("--tag", "tags", multiple=True, help="All of its tags from now on.")
@click.option("--valid-from", metavar="TIME", help="From when on it holds; empty: always.")
@click.option("--valid-until", metavar="TIME", help="Until when it holds; empty: always.")
@if_rev
@pass_context
def edit(context: Context, /, memory_id: str, tags: tuple[str, ...], if_rev: int | None, **given: Any) -> None:
    """Change MEMORY_ID in place."""
    body = {name: value for name, value in given.items() if value is not None} | ({"tags": list(tags)} if tags else {})
    if not body:
        raise click.UsageError("Say what to change, such as --text.")
    changed = context.api.json("PATCH", path_of("memories", memory_id), body, headers=matched(if_rev))
    output.fields(changed, ONE, as_json=context.as_json)
    if others := changed.rows_if_any("also_in"):
        more = "" if changed.get("also_in_complete") else " at least"
        output.note(f"What it said before may still stand in{more} {len(others)} other places; --json names them.")


@memory.command()
@click.argument("memory_ids", type=MEMORY_ID, nargs=-1, required=True)
@click.option("--purge-packs", is_flag=True, help="The pack versions that hold them, too.")
@click.option("--cascade", is_flag=True, help="The reflections that were made of them, too.")
@yes
@pass_context
def rm(context: Context, /, memory_ids: tuple[str, ...], yes: bool, **options: bool) -> None:
    """Delete MEMORY_IDS for good, one after the other, up to the first that cannot be."""
    confirmed(f"Delete {len(memory_ids)} for good?", yes=yes)
    query = {name: "true" for name, chosen in options.items() if chosen}
    deleted: list[dict[str, Any]] = []
    try:
        deleted.extend(context.api.json("DELETE", path_of("memories", one), query=query) for one in memory_ids)
    finally:  # nobody can ask once more where what is gone may still stand
        if deleted:
            columns = [("DELETED", "id"), ("STILL IN PACKS", "in_packs"), ("STILL IN MEMORIES", "derived")]
            output.show({"deleted": deleted}, as_json=context.as_json, columns=columns, rows=deleted)


def _filters(given: Sequence[str]) -> dict[str, Any]:
    """The filters of a call, from NAME=VALUE. Raises UsageError."""
    filters: dict[str, Any] = {}
    for one in given:
        name, equals, value = one.partition("=")
        if not equals:
            raise click.UsageError(f"--filter takes NAME=VALUE, such as kind=fact, and not {one!r}.")
        if name == "tag":
            filters.setdefault("tags", []).append(value)
        elif name.startswith("metadata."):
            filters.setdefault("metadata", {})[name.removeprefix("metadata.")] = value
        elif name == "never_recall":
            filters[name] = value == "true"
        else:
            filters[name] = value
    return filters


@memory.command()
@click.option(
    "--filter",
    "filters",
    multiple=True,
    metavar="NAME=VALUE",
    help="kind, tag, group, category, status, session_id, after, before, written_by, metadata.<key> …",
)
@click.option("--query", help="What a search finds for it.")
@click.option("--of-session", "sessions", multiple=True, type=NAME_ID, metavar="ID", help="What was made of it.")
@click.option("--events", is_flag=True, help="With --of-session: what was said there, too.")
@click.option("--confirm", metavar="TEXT", help="That of a list: forget exactly what it showed.")
@click.option("--purge-packs", is_flag=True, help="With --confirm: the pack versions that hold any of it, too.")
@waits()
@pass_context
def forget(context: Context, /, confirm: str | None, purge_packs: bool, **given: Any) -> None:
    """List what would be forgotten; with --confirm, forget it."""
    named = {"filters": _filters(given.pop("filters")), "sessions": list(given.pop("sessions"))}
    named |= {name: given.pop(name) for name in ("query", "events")}
    body = {name: value for name, value in named.items() if value}
    if confirm is not None:
        if body:
            raise click.UsageError("--confirm stands alone: it names the whole list.")
        begun = context.api.json("POST", "/memories/forget", {"confirm": confirm, "purge_packs": purge_packs})
        if (done := ended(context, begun, **given)) is not None:
            output.fields(done, ["id", "status", "result"], as_json=context.as_json)
        return
    if not body or purge_packs:
        raise click.UsageError("Say what to forget: --filter, --query or --of-session; or --confirm a list.")
    found = context.api.json("POST", "/memories/forget", body)
    columns = [("ID", "id"), ("KIND", "kind"), ("STATUS", "status"), ("TEXT", "text")]
    output.show(found, as_json=context.as_json, columns=columns, rows=found.rows("memories"))
    talks = len(found.rows_if_any("conversations"))
    output.note(f"{found['count']} memories and {talks} conversations would be forgotten; nothing is.")
    if "confirm" in found:
        output.note(f"Within an hour: neve memory forget --confirm {found['confirm']}")
    output.degraded(found)


@memory.command()
@click.option("--dry-run", is_flag=True, help="Say what would be condensed.")
@click.option("--min-age-days", type=click.FloatRange(0), help="Rows younger than that stay as they are.")
@waits()
@pass_context
def reflect(context: Context, /, dry_run: bool, min_age_days: float | None, **waiting: Any) -> None:
    """Condense what is old now, instead of tonight. Needs the scope admin."""
    body = {"user_id": context.api.user, "dry_run": dry_run} | (
        {} if min_age_days is None else {"min_age_days": min_age_days}
    )
    answer = context.api.admin("POST", "/reflect", body)
    if dry_run:
        output.show(answer, as_json=context.as_json, columns=BATCHES, rows=answer.rows("batches"))
    elif (done := ended(context, answer, admin=True, **waiting)) is not None:
        output.fields(done, ["id", "status", "result"], as_json=context.as_json)


@memory.command()
@click.argument("memory_id", type=MEMORY_ID)
@pass_context
def trace(context: Context, /, memory_id: str) -> None:
    """Where MEMORY_ID comes from, what became of it, and the words it was made of."""
    found = context.api.json("GET", path_of("memories", memory_id, "trace"))
    if context.as_json:
        output.fields(found, [], as_json=True)
        return
    output.fields(found, [name for name, value in found.items() if not _is_list_of_objects(value)], as_json=False)
    for rows in found.values():
        if _is_list_of_objects(rows):
            output.note("")
            output.show(found, as_json=False, columns=_columns(rows), rows=rows)


def _columns(rows: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    """Every member that a row has, since what has no value is absent; the text last, where the line has room."""
    members = dict.fromkeys(member for row in rows for member in row)
    return [(member.upper(), member) for member in sorted(members, key=lambda member: member == "text")]


def _is_list_of_objects(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value)
