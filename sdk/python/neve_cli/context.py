"""What every command knows: the service, the user, and how to print."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import click
import httpx2

from neve_cli.api import Api
from neve_cli.ids import NAME_ID

F = TypeVar("F", bound=Callable[..., Any])


@dataclass
class Context:
    """``transport``: None for a connection over the network."""

    url: str
    key: str | None
    user: str | None
    as_json: bool
    transport: httpx2.BaseTransport | None = None

    @cached_property
    def api(self) -> Api:
        """Raises UsageError when the key or the user is not given."""
        if not self.key:
            raise click.UsageError("Give an API key: --key or NEVE_KEY.")
        if not self.user:
            raise click.UsageError("Say whose memory it is: --user or NEVE_USER.")
        return Api(self.url, self.key, self.user, self.transport)


pass_context = click.make_pass_decorator(Context)
limit = click.option("--limit", type=click.IntRange(1), default=50, show_default=True, help="Rows at most.")
session = click.option("--session", "session_id", type=NAME_ID, metavar="ID", help="The session.")
of_session = click.option("--session", "session_id", type=NAME_ID, metavar="ID", required=True, help="The session.")
