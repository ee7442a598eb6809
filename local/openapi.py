"""Writes ``docs/openapi.json`` and ``docs/api.md`` from the operations that the functions answer:
``python -m local.openapi``."""

from __future__ import annotations

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from local import api_document
from neve.http.openapi import describe
from neve.http.operations import Operation

FUNCTIONS = ("admin", "observe", "pack", "recall", "records")
TARGET = Path(__file__).resolve().parent.parent / "docs" / "openapi.json"


def operations() -> list[Operation[Any, Any]]:
    """Of every API function, in no particular order."""
    return [operation for name in FUNCTIONS for operation in operations_of(name)]


def operations_of(function: str) -> list[Operation[Any, Any]]:
    found: list[Operation[Any, Any]] = import_module(f"functions.{function}.app").router.operations
    return found


def text() -> str:
    """The description as it is committed."""
    return json.dumps(describe(operations()), indent=2, ensure_ascii=False) + "\n"


def main() -> int:
    TARGET.write_text(text(), encoding="utf-8")
    api_document.TARGET.write_text(api_document.text(operations()), encoding="utf-8")
    print(f"wrote {TARGET.name} and {api_document.TARGET.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
