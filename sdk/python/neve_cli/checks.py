"""What of a command line can be sent at all; else a UsageError, before anything is."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import click

_KEY = re.compile(r"[!-~]+")
_IDEMPOTENCY_KEY = re.compile(r"[!-~]{1,255}")


def in_utf8(arguments: Sequence[str]) -> None:
    """A byte that is not UTF-8 comes as a lone surrogate, which JSON in UTF-8 cannot hold."""
    for place, argument in enumerate(arguments, start=1):
        try:
            argument.encode()
        except UnicodeEncodeError:
            raise click.UsageError(f"Argument {place} is not UTF-8.") from None


def service_url(context: click.Context, param: click.Parameter, value: str) -> str:
    if not _is_service(value):
        message = "must be http:// or https:// with a host, without a name or password, and nothing behind the path."
        raise click.BadParameter(message, context, param)
    return value


def _is_service(value: str) -> bool:
    try:
        parts = urlsplit(value)
        named = bool(parts.hostname) and parts.port != 0 and "@" not in parts.netloc  # which would stand for the key
    except ValueError:  # of the port, or of brackets
        return False
    plain = value.isprintable() and value.isascii() and not set(value) & set(" ?#")
    return named and plain and parts.scheme in ("http", "https")


def api_key(context: click.Context, param: click.Parameter, value: str | None) -> str | None:
    if value and not _KEY.fullmatch(value):
        raise click.BadParameter("holds what no key holds: white space, or letters that are not ASCII.", context, param)
    return value


def idempotency_key(context: click.Context, param: click.Parameter, value: str | None) -> str | None:
    if value is not None and not _IDEMPOTENCY_KEY.fullmatch(value):
        raise click.BadParameter("must be 1 to 255 visible ASCII characters.", context, param)
    return value


def writable(context: click.Context, param: click.Parameter, value: Any) -> Any:
    """A file that is opened when there is something to write, and keeps what it holds until then."""
    if value is None or value.name == "-":
        return value
    file = Path(value.name)
    if file.exists():
        good = not file.is_dir() and os.access(file, os.W_OK)
    else:
        good = file.parent.is_dir() and os.access(file.parent, os.W_OK)
    if not good:
        raise click.BadParameter(f"'{value.name}' cannot be written.", context, param)
    return value
