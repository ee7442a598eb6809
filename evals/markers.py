"""What a run writes into a page, between two markers that stand there."""

from __future__ import annotations

import re
from pathlib import Path


def write_between(begin: str, end: str, part: str, document: Path) -> None:
    """Replace what stands between two markers. Raises ValueError for a document without them."""
    text = document.read_text(encoding="utf-8")
    if begin not in text or end not in text:
        raise ValueError(f"{document} has no markers {begin} {end}")
    generated = f"{begin}\n{part}\n{end}"
    document.write_text(re.sub(f"{begin}.*{end}", lambda _: generated, text, flags=re.DOTALL), encoding="utf-8")
