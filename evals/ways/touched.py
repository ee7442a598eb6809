"""Notes which functions of the product run, and in which files they are."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType

from local.template import ROOT

PRODUCT = str(ROOT / "layers" / "core" / "neve")
_MADE_BY_PYTHON = ("<module>", "<lambda>", "<genexpr>", "<listcomp>", "<dictcomp>", "<setcomp>")


@dataclass
class Touched:
    """``codes``: of every function of ``layers/core/neve`` that was entered, comprehensions and lambdas left out."""

    codes: set[CodeType] = field(default_factory=set)

    @property
    def functions(self) -> int:
        return len(self.codes)

    @property
    def files(self) -> list[str]:
        """Paths below ``layers/core/neve``."""
        return sorted({Path(code.co_filename).relative_to(PRODUCT).as_posix() for code in self.codes})


@contextmanager
def touching() -> Iterator[Touched]:
    """Watch this thread and those that begin meanwhile."""
    touched = Touched()

    def look(frame: FrameType, event: str, argument: object) -> None:  # noqa: ARG001
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(PRODUCT) and code.co_name not in _MADE_BY_PYTHON:
            touched.codes.add(code)

    threading.setprofile(look)
    sys.setprofile(look)
    try:
        yield touched
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
