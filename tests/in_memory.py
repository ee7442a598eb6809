"""Where a test run keeps its files: in memory, where the machine has room for them.

They are for the run alone, and every store that is tested waits for the disk with each write. Three kills of
``tests/crash/test_kill_nine.py`` took 21.5 s of processor time and 84 s on a disk, 18.9 s and 40 s in memory; a
transaction of DynamoDB Local 22 ms of processor time and 48 ms, 14 ms and 17 ms (two busy cores)."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

MEMORY, ROOM = Path("/dev/shm"), 4 * 2**30  # noqa: S108
"""Linux's. In a container it is often 64 MB, and nothing that lies there may be run or loaded."""


def folder() -> Path | None:
    """None where that of the system for temporary files has to do."""
    if not os.access(MEMORY, os.W_OK) or os.statvfs(MEMORY).f_flag & os.ST_NOEXEC:
        return None
    return MEMORY if shutil.disk_usage(MEMORY).free > ROOM else None


def keep_temporary_files() -> None:
    """Pytest's own, and those that a test makes for each example, in all processes of the run. A folder in ``TMPDIR``
    or ``PYTEST_DEBUG_TEMPROOT``, or ``--basetemp``, wins."""
    if (memory := folder()) is not None and "TMPDIR" not in os.environ:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(memory))
        tempfile.tempdir = str(memory)
