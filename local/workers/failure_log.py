"""Says on stderr that something failed here, and where, without quoting anybody."""

from __future__ import annotations

import os
import sys
import traceback
from contextlib import suppress

OF_CODE = (ImportError, SyntaxError, NameError, AttributeError, TypeError, OSError)
"""Errors whose message speaks of the program or the machine."""


def report(what: str, error: BaseException) -> None:
    """The type of the error and its traceback. A message that may hold what a person wrote is printed only with
    ``POWERTOOLS_LOG_LEVEL=DEBUG``."""
    if isinstance(error, OF_CODE) or os.environ.get("POWERTOOLS_LOG_LEVEL") == "DEBUG":
        shown = "".join(traceback.format_exception(error))
    else:
        cause = error.__cause__
        because = f" (from {type(cause).__qualname__})" if cause is not None else ""
        shown = "".join(traceback.format_tb(error.__traceback__)) + type(error).__qualname__ + because + "\n"
    _say(f"{what}:\n{shown}")


def report_given_up(function: str, changes: int, attempts: int) -> None:
    """Once for each part of a stream that is not tried any more; each attempt has said why."""
    _say(f"{function}: {changes} changes were given up after {attempts} attempts\n")


def report_dead_letters(queue: str, messages: int, deliveries: int) -> None:
    """Once for each message that is not delivered any more; each delivery has said why."""
    _say(f"{queue}: {messages} messages were given up after {deliveries} deliveries, and are dead letters\n")


def report_given_back(queue: str, messages: int) -> None:
    _say(f"{queue}: {messages} dead letters were given back\n")


def _say(text: str) -> None:
    """Where it cannot be written, as into a file on a full disk or a pipe that nobody reads, whoever failed goes on all
    the same: it may be a worker's only thread."""
    with suppress(OSError):
        print(text, end="", file=sys.stderr, flush=True)
