"""``python -m tests.contract.capacity_table`` measures what every request consumes and writes the table of
docs/access-patterns.md, which ``test_consumed_capacity.py`` and ``test_consumed_capacity_of_knowledge.py`` hold to
equality."""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from local.template import ROOT

if TYPE_CHECKING:
    from tests.contract.test_consumed_capacity import Request

DOCUMENT = ROOT / "docs" / "access-patterns.md"
BEGIN, END = "<!-- capacity:begin -->", "<!-- capacity:end -->"
HEAD = "| request | charged: write + read | reported: write + read | rows |\n| --- | --- | --- | --- |"


@dataclass(frozen=True, slots=True)
class Consumed:
    """Units by the published prices, and as DynamoDB Local reports them, each (written, read)."""

    charged: tuple[float, float]
    reported: tuple[float, float]


def table(measured: Mapping[str, Consumed], rows: Mapping[str, str]) -> str:
    """``rows``: which rows a request pays for, by request."""
    return "\n".join([HEAD, *(_line(request, found, rows[request]) for request, found in measured.items())])


def committed() -> str:
    """The table that the document holds. Raises ValueError for a document without the markers."""
    found = re.search(f"{BEGIN}\n(.*)\n{END}", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
    if found is None:
        raise ValueError(f"{DOCUMENT} has no markers {BEGIN} {END}")
    return found[1]


def write(text: str) -> None:
    """Raises ValueError for a document without the markers."""
    document = DOCUMENT.read_text(encoding="utf-8")
    DOCUMENT.write_text(document.replace(f"{BEGIN}\n{committed()}\n{END}", f"{BEGIN}\n{text}\n{END}"), encoding="utf-8")


def _line(request: str, found: Consumed, rows: str) -> str:
    charged, reported = (f"{written:g} + {read:g}" for written, read in (found.charged, found.reported))
    return f"| {request} | {charged} | {reported} | {rows} |"


def every_request() -> Sequence[Request]:
    """In the order of the table."""
    from tests.contract.test_consumed_capacity import REQUESTS
    from tests.contract.test_consumed_capacity_of_knowledge import KNOWLEDGE

    return (*REQUESTS, *KNOWLEDGE)


def main() -> int:
    from tests.contract.test_consumed_capacity import measure

    requests = every_request()
    with tempfile.TemporaryDirectory(prefix="neve-capacity-") as folder:
        measured = {
            request.name: measure(request, Path(folder) / str(number)) for number, request in enumerate(requests)
        }
    write(table(measured, {request.name: request.rows for request in requests}))
    print(f"{DOCUMENT}: {len(measured)} requests")
    return 0


if __name__ == "__main__":
    sys.exit(main())
