"""The index queue: bring the words of rows and events into the search index, as soon as they are there."""

from __future__ import annotations

from functools import partial
from typing import Any

from neve import wiring
from neve.batch import process_in_time
from neve.ports.queue import QueueName
from neve.usecases.work.indexing.index_rows import index_rows
from neve.workers.cut_off import telling_if_cut_off

wiring.prepare()


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    ports = wiring.ports()
    with telling_if_cut_off(ports, QueueName.INDEX, context):
        return process_in_time(event, context, QueueName.INDEX, partial(index_rows, ports))
