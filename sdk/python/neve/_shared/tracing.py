"""Memory spans of OpenTelemetry, where its API package is installed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any

CLIENT = "neve"


@contextmanager
def spanned(operation: str | None, attributes: Mapping[str, Any]) -> Iterator[None]:
    """Tell the block as one operation: ``search_memory``, ``upsert_memory``, ``delete_memory``; None is not told."""
    tracer = None if operation is None else _tracer()
    if tracer is None:
        yield
        return
    told = {"gen_ai.operation.name": operation, "gen_ai.provider.name": CLIENT, **attributes}
    with tracer.start_as_current_span(f"{operation} {CLIENT}", attributes=told) as span:
        try:
            yield
        except Exception as error:
            span.set_attribute("error.type", str(getattr(error, "code", type(error).__name__)))
            raise


@cache
def _tracer() -> Any:
    try:
        from opentelemetry import trace
    except ImportError:
        return None
    return trace.get_tracer(CLIENT)
