"""The embed queue: bring the vectors of rows and events into the search index."""

from __future__ import annotations

from functools import partial
from typing import Any

from neve import wiring
from neve.batch import process_in_time
from neve.ports.queue import QueueName
from neve.usecases.work.indexing.embed_rows import embed_rows
from neve.workers.cut_off import telling_if_cut_off

wiring.prepare()


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    ports = wiring.ports()
    with telling_if_cut_off(ports, QueueName.EMBED, context):
        return process_in_time(event, context, QueueName.EMBED, partial(embed_rows, ports))
