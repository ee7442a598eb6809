"""The jobs queue: erase or export all that is kept of a user, remove what is past its time."""

from __future__ import annotations

from typing import Any

from neve import wiring
from neve.ports.queue import QueueName
from neve.workers.job_worker import process_jobs

wiring.prepare()


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    return process_jobs(wiring.ports(), QueueName.JOBS, event, context)
