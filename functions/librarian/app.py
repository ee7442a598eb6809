"""The librarian queue: file what was said in a session that has ended or was compacted."""

from __future__ import annotations

from typing import Any

from neve import wiring
from neve.workers.filings import process_filings

wiring.prepare()


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    return process_filings(wiring.ports(), event, context)
