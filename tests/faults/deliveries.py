"""Messages as Lambda hands them to the functions behind the standard queues, and the way of a row through both."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from functions.embed import app as embed_app
from functions.index import app as index_app
from neve.ports.queue import Message, QueueName
from tests.unit.recall_world import RecallWorld

Handler = Callable[[dict[str, Any], Any], dict[str, Any]]
FUNCTIONS: dict[QueueName, Handler] = {QueueName.INDEX: index_app.handler, QueueName.EMBED: embed_app.handler}


def deliver(queue: QueueName, messages: Sequence[Message]) -> list[Message]:
    """One batch; the messages that the function names as failed."""
    attributes = {"ApproximateReceiveCount": "1"}
    records = [
        {"messageId": str(at), "body": json.dumps(one.body), "attributes": attributes}
        for at, one in enumerate(messages)
    ]
    failures = FUNCTIONS[queue]({"Records": records}, None)["batchItemFailures"]
    return [messages[int(failed["itemIdentifier"])] for failed in failures]


def deliver_all(world: RecallWorld, words: Sequence[Message]) -> list[Message]:
    """Words, then the vectors that they lead to. The messages that failed, of either queue."""
    failed = deliver(QueueName.INDEX, words)
    vectors = world.taken(QueueName.EMBED)
    return failed + (deliver(QueueName.EMBED, vectors) if vectors else [])
