"""The memory of a chat, in two lines: ``s = Neve().user("ada").session("s1")``, then ``s.turn("hi")`` is the next
prompt.

``Neve`` is for threads, ``AsyncNeve`` for asyncio; both have the same calls. ``neve.types`` has the service's types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._shared.prompts import Format
from ._shared.results import Appended, Pack, Prompt, Recalled, Usage
from ._sync.client import Neve
from ._sync.session import Session
from ._sync.user import User
from .errors import (
    FieldError,
    NeveAuth,
    NeveBadRequest,
    NeveBufferFull,
    NeveConflict,
    NeveConnection,
    NeveError,
    NeveNotFound,
    NeveProtocol,
    NeveQuota,
    NeveTooLarge,
    NeveUnavailable,
)

if TYPE_CHECKING:
    from ._async.client import AsyncNeve
    from ._async.session import AsyncSession
    from ._async.user import AsyncUser

__all__ = [
    "Appended",
    "AsyncNeve",
    "AsyncSession",
    "AsyncUser",
    "FieldError",
    "Format",
    "Neve",
    "NeveAuth",
    "NeveBadRequest",
    "NeveBufferFull",
    "NeveConflict",
    "NeveConnection",
    "NeveError",
    "NeveNotFound",
    "NeveProtocol",
    "NeveQuota",
    "NeveTooLarge",
    "NeveUnavailable",
    "Pack",
    "Prompt",
    "Recalled",
    "Session",
    "Usage",
    "User",
]
__version__ = "0.1.0"
_ASYNC = {"AsyncNeve": "client", "AsyncSession": "session", "AsyncUser": "user"}


def __getattr__(name: str) -> Any:
    """The face for asyncio is imported when it is asked for: asyncio takes a third of the time of all the rest."""
    if name not in _ASYNC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}._async.{_ASYNC[name]}"), name)
