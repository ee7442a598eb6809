"""The one thing that the server needs of Neve: a call of its API with the token of whoever asks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol


class Answered(NamedTuple):
    """``headers``: their names in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Unreachable(Exception):
    """Nobody answered; what was asked for may have been done all the same."""


class Call(Protocol):
    """``path`` is percent-encoded and may have a query; ``body`` goes as JSON. Raises Unreachable."""

    async def __call__(self, method: str, path: str, body: Mapping[str, Any] | None, token: str) -> Answered: ...
