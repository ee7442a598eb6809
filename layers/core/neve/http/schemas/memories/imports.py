"""E9 ``memories/import``: the lines that it takes, and what became of each."""

from __future__ import annotations

import hashlib
import json
from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from pydantic import BaseModel, Field

from neve.domain.errors import NeveError, invalid
from neve.http.json_body import check_model, decode_utf8, parse_json
from neve.http.operations import USER_WRITE, Operation, Response, TextBody, View, route
from neve.http.problems import FieldProblem
from neve.http.schemas.memories.import_line import ImportLine
from neve.http.schemas.memories.memories import MEMORIES
from neve.usecases.tell.memories.import_memories import ImportedRow, ImportReport

MAX_LINES = 5_000
OF_AN_EXPORT = ("export", "document", "proposal", "session", "summary", "event")
"""Lines of an export that are no memories: they are left out, and counted."""
REASONS_BYTES = 40_000
"""The bytes of the reasons in an answer, as JSON: the record of an Idempotency-Key, a row of 400 KB, holds them beside
the ids of ``MAX_LINES`` lines (*limit*, DynamoDB)."""
_REFUSED = ("malformed_json", "validation_failed")


@dataclass(frozen=True, slots=True)
class RejectedLine:
    """A line of an import that is not taken. ``errors``: the fields at fault; none where the line is no JSON."""

    line: int
    refusal: NeveError


@dataclass(slots=True)
class ReadLines:
    """Line by line, as they are asked for: what is wrong with one stops no other. ``left``: numbers and texts of those
    that were not asked for yet. ``found``: how many were memories. ``others``: the types of the lines of an export that
    are none, by their numbers."""

    left: deque[tuple[int, str]]
    found: int = 0
    rejected: list[RejectedLine] = field(default_factory=list)
    others: dict[int, str] = field(default_factory=dict)
    _first: ImportedRow | None = None

    @property
    def skipped(self) -> Counter[str]:
        """Count the other lines of each type."""
        return Counter(self.others.values())

    def rows(self) -> Iterator[ImportedRow]:
        """Read the memories, line by line."""
        if self._first is not None:
            first, self._first = self._first, None
            yield first
        while self.left:
            row = self._read(*self.left.popleft())
            if row is not None:
                self.found += 1
                yield row

    def look_for_one(self) -> None:
        """Reads on to the first memory. Raises as ``reject``."""
        self._first = next(self.rows(), None)
        self.reject([])

    def reject(self, refused: Sequence[tuple[str, NeveError]]) -> None:
        """Reject memories that the gate refuses, by their ``at``, as well. Raises the first line's refusal when all
        were read and there was nothing at all to import."""
        self.rejected += [RejectedLine(_number_in(at), refusal) for at, refusal in refused]
        self.rejected.sort(key=lambda rejected: rejected.line)
        if not self.left and not self.others and len(refused) == self.found:
            raise self.rejected[0].refusal

    def _read(self, number: int, line: str) -> ImportedRow | None:
        at = f"lines[{number}]"
        try:
            given = parse_json(decode_utf8(line.encode(errors="surrogateescape"), at), at)
            if isinstance(given, dict) and given.get("type") in OF_AN_EXPORT:
                self.others[number] = given["type"]
                return None
            return check_model(ImportLine, given, at).row(at, _id_of(given))
        except NeveError as refusal:
            if refusal.code not in _REFUSED:
                raise
            self.rejected.append(RejectedLine(number, refusal))
            return None


class ImportText(TextBody):
    """One JSON object a line, in UTF-8: an `ImportLine`, or a line of an export; at most 5,000 of them and
    1 MiB together."""

    media_type: ClassVar[str] = "application/jsonl"
    line: ClassVar[type[BaseModel]] = ImportLine

    def read(self) -> ReadLines:
        """Read the lines. Raises 422 for a body without lines or with too many, and what ``look_for_one`` does."""
        lines = deque((n, line) for n, line in enumerate(self.root.split("\n"), start=1) if line.strip())
        if not lines:
            raise invalid("body", "has no lines")
        if len(lines) > MAX_LINES:
            raise invalid("body", f"holds {len(lines)} lines; {MAX_LINES} are accepted")
        read = ReadLines(lines)
        read.look_for_one()
        return read


def _number_in(at: str) -> int:
    """Read the number of a line from where it stands (``lines[3]``)."""
    return int(at.removeprefix("lines[").removesuffix("]"))


def _id_of(given: dict[str, Any]) -> str:
    return f"imp_{hashlib.sha256(json.dumps(given, sort_keys=True).encode()).hexdigest()[:32]}"


# --- answers ------------------------------------------------------------------------------------


class RejectedLineView(View):
    line: int
    detail: str = Field(description="Why, for a person.")
    errors: list[FieldProblem] | None = Field(default=None, description="The fields at fault, where there are any.")

    @classmethod
    def of(cls, rejected: RejectedLine) -> Self:
        errors = [FieldProblem(field=error.field, message=error.message) for error in rejected.refusal.errors]
        return cls(line=rejected.line, detail=rejected.refusal.detail, errors=errors or None)

    @property
    def size(self) -> int:
        """Count the bytes of the line in an answer."""
        return len(json.dumps(self.model_dump(mode="json", exclude_none=True), ensure_ascii=False).encode())


def _fit_reasons(rejected: Sequence[RejectedLine]) -> list[RejectedLineView]:
    """Give the first of the rejected lines, as many as ``REASONS_BYTES`` have room for."""
    shown: list[RejectedLineView] = []
    left = REASONS_BYTES
    for view in map(RejectedLineView.of, rejected):
        left -= view.size
        if left < 0:
            break
        shown.append(view)
    return shown


class ImportView(View):
    imported: list[str]
    unchanged: list[str] = Field(description="Ids that were here already with the same text.")
    conflicting: list[str] = Field(description="Ids that were here already with another text, which stays.")
    repeated: list[str] = Field(description="Ids of facts that another memory here states, in these words or others.")
    rejected: list[RejectedLineView] = Field(description="Lines that were not accepted; the others were.")
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
        shown = _fit_reasons(read.rejected)
        return super().of(
            report,
            rejected=shown,
            also_rejected=[one.line for one in read.rejected[len(shown) :]] or None,
            skipped=dict(read.skipped),
            next_line=read.left[0][0] if read.left else None,
        )


IMPORT_MEMORIES = Operation(
    **route("POST", MEMORIES + "/import", "importMemories", "memories", "records"),
    summary="Bring memories in with their ids and times.",
    description="A line that is not accepted is named in the answer, and the others go in; a repeat adds nothing."
    " `next_line` says where to go on when there was no time for all.",
    body=ImportText,
    responses={200: Response("What was imported.", ImportView)},
    codes=("pii_blocked", *USER_WRITE),
    idempotent=True,
)
