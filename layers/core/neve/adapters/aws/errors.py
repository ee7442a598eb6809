"""Translates what the AWS SDK raises into the words of ``ports.errors``."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from botocore.exceptions import BotoCoreError, ClientError, ParamValidationError
from botocore.parsers import ResponseParserError

from neve.ports.errors import StoreUnavailable

SDK_ERRORS = (ClientError, BotoCoreError, ResponseParserError)
"""A service's refusal; a call that got no answer (connection, timeout, credentials); an answer that is none."""


@contextmanager
def translated(store: str) -> Iterator[None]:
    """Turn any error that the SDK raises inside into StoreUnavailable (the SDK has tried again by then), or ValueError
    for a call that it finds malformed."""
    try:
        yield
    except ParamValidationError as error:
        raise ValueError(type(error).__name__) from error
    except SDK_ERRORS as error:
        raise StoreUnavailable(store, reason(error)) from error


def reason(error: Exception) -> str:
    """Give the reason of a failure: ``PutObject: SlowDown (503)`` of a refusal, else the kind of failure. Without the
    SDK's sentence, which may quote an address with a user's id in it."""
    if isinstance(error, ClientError):
        return f"{error.operation_name}: {error_code(error)} ({http_status(error)})"
    return type(error).__name__


def error_code(error: ClientError) -> str:
    """Give the code of a refusal, such as ``NoSuchKey``."""
    return str(error.response.get("Error", {}).get("Code", "no code"))


def http_status(error: ClientError) -> int:
    """Give the HTTP status of an answer; 0 when the answer had none."""
    return int(error.response.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
