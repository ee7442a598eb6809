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
    idempotency_key: str | None = None
    transport: httpx2.BaseTransport | None = None

    @cached_property
    def api(self) -> Api:
        """Raises UsageError when the key or the user is not given."""
        made = self.tenant_api
        if not self.user:
            raise click.UsageError("Say whose memory it is: --user or NEVE_USER.")
        return made

    @cached_property
    def tenant_api(self) -> Api:
        """For calls that are about no user. Raises UsageError when the key is not given."""
        if not self.key:
            raise click.UsageError("Give an API key: --key or NEVE_KEY.")
        given = {"write_key": self.idempotency_key} if self.idempotency_key else {}
        return Api(self.url, self.key, self.user or "", self.transport, **given)


def matched(rev: int | None) -> dict[str, str] | None:
    """The header of a write that only holds at that rev."""
    return None if rev is None else {"If-Match": f'"{rev}"'}


def confirmed(question: str, *, yes: bool) -> None:
    """Raises Abort for a No."""
    if not yes:
        click.confirm(question, abort=True, err=True)


pass_context = click.make_pass_decorator(Context)
limit = click.option("--limit", type=click.IntRange(1), default=50, show_default=True, help="Rows at most.")
session = click.option("--session", "session_id", type=NAME_ID, metavar="ID", help="The session.")
yes = click.option("--yes", is_flag=True, help="Do not ask.")
if_rev = click.option("--if-rev", type=click.IntRange(1), help="Only when it is still at this rev.")
of_session = click.option("--session", "session_id", type=NAME_ID, metavar="ID", required=True, help="The session.")
