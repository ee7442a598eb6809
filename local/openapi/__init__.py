"""The description of the API as it is committed (``docs/openapi.json``), from the operations of the functions."""

from __future__ import annotations

import json
from importlib import import_module
from pathlib import Path
from typing import Any

from neve.http.openapi import describe
from neve.http.operations import Operation

FUNCTIONS = ("admin", "compact", "observe", "pack", "recall", "records")
DOCS = Path(__file__).resolve().parents[2] / "docs"
TARGET = DOCS / "openapi.json"
RELEASED = DOCS / "openapi.released.json"
"""As it was at the last release: callers rely on it (docs/rules/http.md#released)."""


def operations() -> list[Operation[Any, Any]]:
    """Of every API function, in no particular order."""
    return [operation for name in FUNCTIONS for operation in operations_of(name)]


def operations_of(function: str) -> list[Operation[Any, Any]]:
    found: list[Operation[Any, Any]] = import_module(f"functions.{function}.app").router.operations
    return found


def text() -> str:
    """The description as it is committed."""
    return json.dumps(describe(operations()), indent=2, ensure_ascii=False) + "\n"
