"""Tables for people, JSON for programs."""

from __future__ import annotations

import json
import shutil
import unicodedata
from collections.abc import Mapping, Sequence
from typing import Any

import click

MIN_TEXT = 24
"""Columns that the last column always has, however narrow the terminal."""
GAP = "  "

Column = tuple[str, str]
"""Heading, and the member of a row: ``provenance.by`` is one within another."""


def show(
    answer: Any, *, as_json: bool, columns: Sequence[Column], rows: Sequence[Mapping[str, Any]] | None = None
) -> None:
    """``answer`` as JSON, or its rows as a table; the last column takes what is left of the line."""
    if as_json:
        click.echo(json.dumps(answer, ensure_ascii=False, indent=2))
    else:
        click.echo(table(columns, [answer] if rows is None else rows))


def fields(answer: Mapping[str, Any], names: Sequence[str], *, as_json: bool) -> None:
    """One object: a name and a value a line."""
    if as_json:
        click.echo(json.dumps(answer, ensure_ascii=False, indent=2))
        return
    shown = [(name, cell(answer, name)) for name in names if cell(answer, name)]
    width = max((len(name) for name, _ in shown), default=0)
    for name, value in shown:
        click.echo(f"{name:<{width}}{GAP}{value}")


def table(columns: Sequence[Column], rows: Sequence[Mapping[str, Any]]) -> str:
    """Nothing but the headings when there are no rows."""
    cells = [[one_line(cell(row, member)) for _, member in columns] for row in rows]
    widths = [max(map(wide, [name, *(row[n] for row in cells)])) for n, (name, _) in enumerate(columns[:-1])]
    room = shutil.get_terminal_size((100, 24)).columns - sum(widths) - len(GAP) * len(widths)
    lines = [[name for name, _ in columns], *cells]
    return "\n".join(
        GAP.join([*map(filled, line[:-1], widths), cut(line[-1], max(room, MIN_TEXT))]).rstrip() for line in lines
    )


def cell(row: Mapping[str, Any], member: str) -> str:
    value: Any = row
    for name in member.split("."):
        value = value.get(name) if isinstance(value, Mapping) else None
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else str(value)


def one_line(text: str) -> str:
    return " ".join(text.split())


def wide(text: str) -> int:
    """Columns of a terminal: an emoji and an ideograph take two, an accent none."""
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def filled(text: str, width: int) -> str:
    return text + " " * (width - wide(text))


def cut(text: str, width: int) -> str:
    """In one look at each character: a message may have 256 KiB of them."""
    columns = kept = 0
    for end, character in enumerate(text, start=1):
        columns += wide(character)
        if columns > width:
            return text[:kept] + "…"
        if columns < width:
            kept = end
    return text


def note(text: str) -> None:
    """For the person at the terminal, not for the program that reads the output."""
    click.echo(text, err=True)


def degraded(answer: Mapping[str, Any]) -> None:
    if said := cell(answer, "degraded"):
        note(f"degraded: {said}")
