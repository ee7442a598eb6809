"""The code of the pages below docs/frameworks, as a reader would copy it."""

from __future__ import annotations

import os
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any

BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)
LINES = 60


def blocks(page: str) -> list[str]:
    return BLOCK.findall((Path(os.environ["NEVE_DOCS"]) / page).read_text(encoding="utf-8"))


def copied(page: str, user: str, **known: Any) -> Any:
    """All of a page's code as one module. ``known``: names that the page takes for granted. Its class has at most
    ``LINES`` lines."""
    found = blocks(page)
    lines = [line for line in found[0].splitlines() if line.strip() and not line.strip().startswith("#")]
    assert len(lines) <= LINES, f"{page}: {len(lines)} lines"
    names: dict[str, Any] = {"__name__": page, **known}
    exec(compile("\n".join(found).replace('"ada"', repr(user)), page, "exec", dont_inherit=True), names)
    return SimpleNamespace(**names)
