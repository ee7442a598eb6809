"""Structured logs: one JSON object a line, never a body, a text, a query or a key."""

from __future__ import annotations

import traceback

from aws_lambda_powertools.logging import Logger

logger = Logger(service="neve", utc=True, log_record_order=["level", "message", "timestamp"])
"""``POWERTOOLS_LOG_LEVEL`` sets the level. Fields are passed with each line, because one process may serve many
calls."""


def answered(operation: str, request_id: str, status: int, code: str | None, elapsed_ms: float) -> None:
    """One line a call."""
    fields = {"operation": operation, "correlation_id": request_id, "status": status, "elapsed_ms": elapsed_ms}
    logger.info("answered", extra=fields | ({"code": code} if code else {}))


def failed(where: str, correlation_id: str, error: BaseException) -> None:
    """The type of an error and the way to it. Its message is left out: it may quote what a person wrote."""
    frames = traceback.extract_tb(error.__traceback__)
    path = [f"{frame.filename.rpartition('/neve/')[2]}:{frame.lineno} {frame.name}" for frame in frames]
    kind = f"{type(error).__module__}.{type(error).__qualname__}"
    logger.error("failed", extra={"where": where, "correlation_id": correlation_id, "error": kind, "path": path})
