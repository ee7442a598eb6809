"""The table's change stream: queue what the changes ask for."""

from __future__ import annotations

from typing import Any

from neve import observability, wiring
from neve.store.stream_records import Change, read_change
from neve.usecases.core.tenants.usage import model_metrics
from neve.usecases.work.background.dispatch_changes import dispatch_changes

wiring.prepare()


def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:  # noqa: ARG001
    """A batch of a stream. A stream is repeated from the first record that is named as failed, so should the batch fail
    as one, each record is tried by itself, in order, and the first that fails is named."""
    changes = [read_change(record) for record in event["Records"]]
    failed = None if _dispatched(changes) else _first_failed(changes)
    done = changes if failed is None else changes[:failed]
    observability.emit_metrics("outbox", model_metrics(done))
    return {"batchItemFailures": [{"itemIdentifier": change.sequence_number} for change in changes[len(done) :][:1]]}


def _first_failed(changes: list[Change]) -> int | None:
    """Its place; None where each succeeds by itself."""
    return next((n for n, change in enumerate(changes) if not _dispatched([change])), None)


def _dispatched(changes: list[Change]) -> bool:
    try:
        dispatch_changes(wiring.ports(), changes)
    except Exception as error:
        observability.failed("outbox", changes[0].sequence_number, error)
        return False
    return True
