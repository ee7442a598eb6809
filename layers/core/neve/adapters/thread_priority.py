"""Sets which thread gets a core first."""

from __future__ import annotations

import os
import sys
from threading import get_native_id


def lower_priority(niceness: int) -> None:
    """Lower the priority of this thread and those that it starts: 1 to 19, the last in line. Only Linux knows
    priorities of threads; elsewhere nothing happens."""
    if sys.platform == "linux":
        os.setpriority(os.PRIO_PROCESS, get_native_id(), niceness)
