"""Lambda's detection of recursive loops: a message carries how often each function was invoked on the way to it.

What a function sends while it handles a message carries the counts on. A function that was invoked
``MAX_INVOCATIONS`` times in one such chain is not invoked again, unless it says ``RecursiveLoop: Allow``: the message
then fails, and its queue's redrive policy decides. A chain ends at an HTTP request and at the table's stream, which the
detection does not follow.

The counts travel where AWS has them too, in the message's trace header, in a form of our own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any

HEADER = "AWSTraceHeader"
"""The name of the message's system attribute."""
MAX_INVOCATIONS = 16
"""``Lambda recursive loop detection`` in the Developer Guide: about 16 invocations of a function in one chain."""
_PREFIX = "Lineage="
_NONE: Mapping[str, int] = MappingProxyType({})

_current: ContextVar[Mapping[str, int]] = ContextVar("lineage", default=_NONE)


class RecursionStopped(Exception):
    """Lambda does not invoke the function again in this chain."""


@contextmanager
def invoked(function: str, event: Any, *, may_recurse: bool) -> Iterator[None]:
    """Within, the function works on ``event``. Raises RecursionStopped instead of letting it."""
    counts = _counts_of(event)
    counts[function] = counts.get(function, 0) + 1
    if counts[function] > MAX_INVOCATIONS and not may_recurse:
        raise RecursionStopped(f"{function} was invoked {MAX_INVOCATIONS} times in one chain")
    token = _current.set(counts if _from_a_queue(event) else {})
    try:
        yield
    finally:
        _current.reset(token)


def trace_header() -> str | None:
    """What a message carries that is sent now; None outside a chain."""
    counts = _current.get()
    return _PREFIX + ",".join(f"{name}:{count}" for name, count in counts.items()) if counts else None


def _counts_of(event: Any) -> dict[str, int]:
    """Of a batch the longest chain counts for all."""
    counts: dict[str, int] = {}
    for record in event["Records"] if _from_a_queue(event) else ():
        header = record["attributes"].get(HEADER, "")
        for part in header.removeprefix(_PREFIX).split(",") if header.startswith(_PREFIX) else ():
            name, _, count = part.partition(":")
            counts[name] = max(counts.get(name, 0), int(count))
    return counts


def _from_a_queue(event: Any) -> bool:
    records: list[Mapping[str, Any]] = (event.get("Records") if isinstance(event, Mapping) else None) or []
    return bool(records) and records[0].get("eventSource") == "aws:sqs"
