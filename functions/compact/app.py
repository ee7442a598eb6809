"""The compact queue: observe a session to its end, then move its horizon."""

from __future__ import annotations

import time
from typing import Any

from neve.usecases.compact.compact_session import compact_session
from neve.worker import process_fifo

pause = time.sleep
"""Before a message whose session is busy is sent again. A process whose time is not real puts its own here."""


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    return process_fifo(event, context, "compact", compact_session, lambda s: pause(s))
