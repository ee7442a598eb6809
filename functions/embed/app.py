"""The embed queue: bring the search index to what the rows say."""

from __future__ import annotations

import json
import time
from typing import Any

from neve import observability, wiring
from neve.usecases.embed_rows import embed_rows

pause = time.sleep
"""Between attempts of the embedder. A process whose time is not real puts its own here."""


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:  # noqa: ARG001
    """A batch of SQS messages; those that failed are named, to be delivered again."""
    records = event["Records"]
    failures = embed_rows(wiring.ports(), [json.loads(record["body"]) for record in records], lambda s: pause(s))
    for position, error in failures.items():
        observability.failed("embed", records[position]["messageId"], error)
    return {"batchItemFailures": [{"itemIdentifier": records[position]["messageId"]} for position in sorted(failures)]}
