"""E9 ``memories/import``: the lines that it takes, and what became of each."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from pydantic import Field

from neve.domain.errors import NeveError, invalid
from neve.http.json_body import check_model, decode_utf8, parse_json
from neve.http.operations import USER_WRITE, Nothing, Operation, Response, TextBody, View
from neve.http.problems import FieldProblem
from neve.http.schemas.memories.import_line import ImportLine
from neve.http.schemas.memories.memories import MEMORIES
from neve.usecases.memories.import_memories import ImportedRow, ImportReport

MAX_LINES = 5_000
OF_AN_EXPORT = ("export", "document", "proposal", "session", "summary", "event")
"""Lines of an export that are no memories: they are left out, and counted."""
REASONS_BYTES = 40_000
"""Of the reasons in an answer, as JSON: the record of an Idempotency-Key, a row of 400 KB, holds them beside the ids of
``MAX_LINES`` lines (*limit*, DynamoDB)."""
_REFUSED = ("malformed_json", "validation_failed")


@dataclass(frozen=True, slots=True)
class RejectedLine:
    """``errors``: the fields at fault; none where the line is no JSON."""

    line: int
    refusal: NeveError


@dataclass(frozen=True, slots=True)
class ReadLines:
    """``others``: the types of the lines of an export that are no memories, by their numbers."""

    rows: list[ImportedRow]
    rejected: list[RejectedLine]
    others: dict[int, str] = field(default_factory=dict)

    @property
    def skipped(self) -> Counter[str]:
        """How many of the others there are of each type."""
        return Counter(self.others.values())

    def before(self, end: int | None) -> ReadLines:
        """What is before a line; None: all."""
        if end is None:
            return self
        rows = [row for row in self.rows if _number_of(row) < end]
        rejected = [one for one in self.rejected if one.line < end]
        return ReadLines(rows, rejected, {line: kind for line, kind in self.others.items() if line < end})

    def through(self, gate: Callable[[ImportedRow], ImportedRow]) -> ReadLines:
        """What the gate lets in; a line that it refuses is one of the rejected. Raises its refusal when there is
        nothing at all to import."""
        passed = ReadLines([], list(self.rejected), self.others)
        for row in self.rows:
            try:
                passed.rows.append(gate(row))
            except NeveError as refusal:
                passed.rejected.append(RejectedLine(_number_of(row), refusal))
        if self.rows and not passed.rows and not self.others:
            raise passed.rejected[0].refusal
        passed.rejected.sort(key=lambda rejected: rejected.line)
        return passed


class ImportText(TextBody):
    """One JSON object a line, each an ``ImportLine``, or of an export; at most 1 MiB."""

    media_type: ClassVar[str] = "application/jsonl"

    def read(self) -> ReadLines:
        """Line by line: what is wrong with one stops no other. Raises 422 for a body without lines or with too many,
        and the first line's refusal when there is nothing at all to import."""
        lines = [(n, line) for n, line in enumerate(self.root.split("\n"), start=1) if line.strip()]
        if not lines:
            raise invalid("body", "has no lines")
        if len(lines) > MAX_LINES:
            raise invalid("body", f"holds {len(lines)} lines; {MAX_LINES} are accepted")
        read = ReadLines([], [])
        for number, line in lines:
            _read_line(read, number, line)
        if read.rejected and not read.rows and not read.others:
            raise read.rejected[0].refusal
        return read


def _read_line(read: ReadLines, number: int, line: str) -> None:
    at = f"lines[{number}]"
    try:
        given = parse_json(decode_utf8(line.encode(errors="surrogateescape"), at), at)
        if isinstance(given, dict) and given.get("type") in OF_AN_EXPORT:
            read.others[number] = given["type"]
            return
        read.rows.append(check_model(ImportLine, given, at).row(at, _id_of(given)))
    except NeveError as refusal:
        if refusal.code not in _REFUSED:
            raise
        read.rejected.append(RejectedLine(number, refusal))


def _number_of(row: ImportedRow) -> int:
    """Of its line."""
    return int(row.at.removeprefix("lines[").removesuffix("]"))


def _id_of(given: dict[str, Any]) -> str:
    return f"imp_{hashlib.sha256(json.dumps(given, sort_keys=True).encode()).hexdigest()[:32]}"


# --- answers ------------------------------------------------------------------------------------


class RejectedView(View):
    line: int
    detail: str = Field(description="Why, for a person.")
    errors: list[FieldProblem] | None = Field(default=None, description="The fields at fault, where there are any.")

    @classmethod
    def of(cls, rejected: RejectedLine) -> Self:
        errors = [FieldProblem(field=error.field, message=error.message) for error in rejected.refusal.errors]
        return cls(line=rejected.line, detail=rejected.refusal.detail, errors=errors or None)

    @property
    def size(self) -> int:
        """In bytes."""
        return len(json.dumps(self.model_dump(mode="json", exclude_none=True), ensure_ascii=False).encode())


def _with_room(rejected: Sequence[RejectedLine]) -> list[RejectedView]:
    """The first of them, as many as ``REASONS_BYTES`` have room for."""
    shown: list[RejectedView] = []
    left = REASONS_BYTES
    for view in map(RejectedView.of, rejected):
        left -= view.size
        if left < 0:
            break
        shown.append(view)
    return shown


class ImportView(View):
    imported: list[str]
    unchanged: list[str] = Field(description="Ids that were here already with the same text.")
    conflicting: list[str] = Field(description="Ids that were here already with another text, which stays.")
    repeated: list[str] = Field(description="Ids of facts that another memory here states word for word.")
    rejected: list[RejectedView] = Field(description="Lines that were not accepted; the others were.")
    also_rejected: list[int] | None = Field(
        default=None, description="Further lines that were not accepted, whose reasons have no room in the answer."
    )
    skipped: dict[str, int] = Field(description="Lines of an export that are no memories, by type.")
    next_line: int | None = Field(
        default=None,
        description="Where to go on: there was no time for this line and those behind it, of which nothing is said"
        " here. Send them in another call.",
    )

    @classmethod
    def of(cls, report: ImportReport, read: ReadLines) -> Self:
        next_line = _number_of(report.left[0]) if report.left else None
        read = read.before(next_line)
        shown = _with_room(read.rejected)
        return cls(
            imported=report.imported,
            unchanged=report.unchanged,
            conflicting=report.conflicting,
            repeated=report.repeated,
            rejected=shown,
            also_rejected=[one.line for one in read.rejected[len(shown) :]] or None,
            skipped=dict(read.skipped),
            next_line=next_line,
        )


IMPORT_MEMORIES = Operation(
    method="POST",
    path=MEMORIES + "/import",
    id="importMemories",
    tag="memories",
    summary="Bring memories in with their ids and times.",
    description="A line that is not accepted is named in the answer, and the others go in; a repeat adds nothing."
    " `next_line` says where to go on when there was no time for all.",
    scope="records",
    query=Nothing,
    body=ImportText,
    responses={200: Response("What was imported.", ImportView)},
    codes=("pii_blocked", *USER_WRITE),
    idempotent=True,
)
