"""What every queue-triggered function does with its batch: each message to one use case, failures reported one by
one."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from aws_lambda_powertools.utilities.batch import SqsFifoPartialProcessor, process_partial_response
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord

from neve import observability, wiring
from neve.http.tenancy import policies
from neve.wiring import Ports, Tenant

Work = Callable[[Ports, Tenant, dict[str, Any]], None]


def process_fifo(event: Mapping[str, Any], context: Any, name: str, work: Work) -> dict[str, Any]:
    """The partial batch answer. A failed message holds back the later ones of its group only. ``work`` raises to have
    its message delivered again."""

    def handle(record: SQSRecord) -> None:
        body, ports = json.loads(record.body), wiring.ports()
        try:
            work(ports, policies.tenant(ports, body["tenant"], without_store=False), body)
        except Exception as error:
            observability.failed(name, record.message_id, error)
            raise

    # one processor a call: it holds the state of its batch
    processor = SqsFifoPartialProcessor(skip_group_on_error=True)
    processor.raise_on_entire_batch_failure = False
    return dict(
        process_partial_response(event=dict(event), record_handler=handle, processor=processor, context=context)
    )
