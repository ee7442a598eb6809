"""The embed queue: bring the search index to what the rows say."""

from __future__ import annotations

import json
from typing import Any

from neve import observability, wiring
from neve.correlation import FIELD
from neve.usecases.indexing.embed_rows import embed_rows

wiring.prepare()


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:  # noqa: ARG001
    """A batch of SQS messages; those that failed are named, to be delivered again."""
    records = event["Records"]
    bodies = [json.loads(record["body"]) for record in records]
    failures = embed_rows(wiring.ports(), bodies)
    for position, (record, body) in enumerate(zip(records, bodies, strict=True)):
        caused_by = body.get(FIELD, record["messageId"])
        if position in failures:
            observability.failed("embed", caused_by, failures[position])
        else:
            observability.worked("embed", caused_by)
    return {"batchItemFailures": [{"itemIdentifier": records[position]["messageId"]} for position in sorted(failures)]}
