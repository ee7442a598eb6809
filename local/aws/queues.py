"""The template's queues on a server that speaks SQS."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from local.template import QueueSpec, Template

if TYPE_CHECKING:
    from types_boto3_sqs import SQSClient
    from types_boto3_sqs.literals import QueueAttributeNameType

STACK = "neve"
"""Stands for the stack's name in front of every queue's name, as in the template."""
RETENTION_S = 14 * 24 * 3600
"""How long a message stays that nobody takes: the longest that SQS allows."""


def create_queues(client: SQSClient, template: Template, *, delays: bool, prefix: str = STACK) -> dict[str, str]:
    """The URL of every queue of the template by its name, dead-letter queues included. A queue that is there already
    keeps its messages and takes the template's settings. ``prefix``: in front of every name.

    ``delays`` False makes every queue without its delay, for tests: a drain cannot look ahead of a server's clock. Its
    workers then need ``without_delays(template)``."""
    given = template if delays else without_delays(template)
    return create(client, given.queues.values(), prefix)


def without_delays(template: Template) -> Template:
    queues = {name: replace(spec, delay_s=0) for name, spec in template.queues.items()}
    return replace(template, queues=queues)


def create(client: SQSClient, specs: Iterable[QueueSpec], prefix: str) -> dict[str, str]:
    """The URLs by name. Dead-letter queues come first: the others name them."""
    urls: dict[str, str] = {}
    for spec in sorted(specs, key=lambda spec: spec.dead_letters is not None):
        kind: dict[QueueAttributeNameType, str] = {"FifoQueue": "true"} if spec.fifo else {}
        name = f"{prefix}-{spec.name}{'.fifo' if spec.fifo else ''}"
        # creating a queue again fails when its settings differ: they are set afterwards
        url = client.create_queue(QueueName=name, Attributes=kind)["QueueUrl"]
        client.set_queue_attributes(QueueUrl=url, Attributes=_settings(client, spec, urls))
        urls[spec.name] = url
    return urls


def _settings(client: SQSClient, spec: QueueSpec, urls: Mapping[str, str]) -> dict[QueueAttributeNameType, str]:
    settings: dict[QueueAttributeNameType, str] = {
        "VisibilityTimeout": str(spec.visibility_s),
        "DelaySeconds": str(spec.delay_s),
        "MessageRetentionPeriod": str(RETENTION_S),
    }
    if spec.dead_letters is not None:
        found = client.get_queue_attributes(QueueUrl=urls[spec.dead_letters], AttributeNames=["QueueArn"])
        redrive = {"deadLetterTargetArn": found["Attributes"]["QueueArn"], "maxReceiveCount": spec.max_receives}
        settings["RedrivePolicy"] = json.dumps(redrive)
    return settings
