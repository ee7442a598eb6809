"""How big a process is: what a leak makes grow."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple


class ProcessSize(NamedTuple):
    """``rss_mib``: resident memory. ``files``: open file descriptors, sockets included."""

    at_s: float
    rss_mib: float
    threads: int
    files: int


def process_size(pid: int, at_s: float) -> ProcessSize:
    """Reads ``/proc``. Raises OSError for a process that is gone."""
    folder = Path("/proc") / str(pid)
    status = dict(line.split(":", 1) for line in (folder / "status").read_text().splitlines() if ":" in line)
    files = sum(1 for _ in (folder / "fd").iterdir())
    return ProcessSize(round(at_s, 1), round(int(status["VmRSS"].split()[0]) / 1024, 1), int(status["Threads"]), files)
