"""The worker's part of an export (docs/rules/export.md#job)."""

from __future__ import annotations

import json
from collections import Counter
from io import BytesIO
from typing import Any

from neve.scope import UserScope
from neve.usecases.core.jobs.carry_on import Done, More, Outcome, Run
from neve.usecases.work.export.export_lines import Line, Place, export_lines
from neve.usecases.work.export.withdraw_exports import REASON, is_overtaken, remove_parts

CONTENT_TYPE = "application/jsonl"
PART_BYTES = 32 * 1024 * 1024
"""A part ends behind the line that reaches this: a worker holds no more of an export than one."""


def export_part(run: Run) -> Outcome:
    """Do one step of an export: write the next part, as far as the worker's time goes, and note behind which line it
    ends. The first one notes how the user stood before anything is read; an export that a deletion overtakes fails,
    without its parts, which may hold what is deleted. Parts of a user who is erased meanwhile go with the second look
    of the erasure. Raises StoreUnavailable."""
    cursor = run.cursor
    if not cursor:
        return More({"deletions": run.head.deletions, "gen": run.head.gen})
    kept = {"deletions": cursor["deletions"]}
    if is_overtaken(run.work, run.head):
        remove_parts(run.scope, run.work.id)
        return Done({"reason": REASON}, status="failed", cursor=kept)
    part = _Part(cursor)
    for line, place in export_lines(run.scope, part.behind, cursor["gen"]):
        part.add(line)
        if place is not None and (part.body.tell() >= PART_BYTES or run.out_of_time()):
            return More(cursor | {"behind": place} | part.put(run.scope, run.work.id))
    return Done(part.put(run.scope, run.work.id), cursor=kept)


class _Part:
    """Collect the part that follows those of the cursor."""

    def __init__(self, cursor: dict[str, Any]) -> None:
        self.behind = Place(*cursor["behind"]) if "behind" in cursor else None
        self.body = BytesIO()
        self._before: list[dict[str, int]] = cursor.get("parts", [])
        self._counts = Counter[str](cursor.get("lines", {}))
        self._lines = 0

    def add(self, line: Line) -> None:
        self.body.write(json.dumps(line, ensure_ascii=False, separators=(",", ":")).encode() + b"\n")
        self._counts[line["type"]] += 1
        self._lines += 1

    def put(self, scope: UserScope, job_id: str) -> dict[str, Any]:
        """Store the part, unless it is empty; return what is written of all parts then."""
        number, size = len(self._before), self.body.tell()
        written = {"lines": dict(self._counts), "parts": self._before}
        if not size:
            return written
        name = scope.keys.export_object(job_id, number)
        scope.ports.objects.put(name, self.body.getvalue(), content_type=CONTENT_TYPE)
        return written | {"parts": [*self._before, {"part": number, "bytes": size, "lines": self._lines}]}
