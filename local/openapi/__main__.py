"""Writes ``docs/openapi.json`` and ``docs/api.md``: ``python -m local.openapi``."""

from __future__ import annotations

import sys

from local.openapi import TARGET, api_document, operations, text


def main() -> int:
    TARGET.write_text(text(), encoding="utf-8")
    api_document.TARGET.write_text(api_document.text(operations()), encoding="utf-8")
    print(f"wrote {TARGET.name} and {api_document.TARGET.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
