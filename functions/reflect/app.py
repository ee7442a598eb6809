"""The reflect queue: condense what is old enough of a user, or tell the users of a tenant one by one."""

from __future__ import annotations

from typing import Any

from neve import wiring
from neve.ports.queue import QueueName
from neve.workers.job_worker import process_jobs

wiring.prepare()


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    return process_jobs(wiring.ports(), QueueName.REFLECT, event, context)
