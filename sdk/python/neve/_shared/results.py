"""What the calls of a session return."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .texts import recalled_of, system_of

if TYPE_CHECKING:
    from ..types import HitView


@dataclass(frozen=True, slots=True)
class Appended:
    """What became of messages. ``appended``, ``known`` (they were there), ``dropped`` (the service has no place for
    them, or parts of them: ``parts`` says which and why), ``refused``: numbers of messages that this call has decided.
    ``kept``: all that wait in memory, the last answer among them; they go by themselves, and with ``flush()``."""

    appended: int = 0
    known: int = 0
    dropped: int = 0
    refused: int = 0
    kept: int = 0
    parts: list[dict[str, Any]] = field(default_factory=list)
    degraded: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Pack:
    """``text``: to put in front of a conversation, the same bytes as long as ``etag`` is. ``stale``: Neve is not to be
    had, and this is the last one; empty where there was none."""

    text: str
    etag: str | None = None
    stale: bool = False
    degraded: list[str] = field(default_factory=list)


class Recalled(list["HitView"]):
    """The hits. ``text``: ready to inject, empty without hits; ``raw``: the service's whole answer."""

    def __init__(self, hits: Iterable[HitView], text: str, raw: Mapping[str, Any], degraded: list[str]) -> None:
        super().__init__(hits)
        self.text = text
        self.raw = raw
        self.degraded = degraded


class Prompt(dict[str, Any]):
    """Arguments for the provider's client: ``client.messages.create(model=…, max_tokens=…, **prompt)``.

    ``prompt_id``: what ``usage`` knows it by, None where the service did not make it. ``stale``: Neve is not to be had;
    these are its last bytes, with what was said since. ``tool_names``: names of tools that were cut, and what they
    stand for. ``raw``: the service's whole answer, empty where there is none. ``system`` and ``recalled``, for a caller
    that keeps the messages: the text that stands in front of them, and the one in front of the user's last words."""

    def __init__(
        self,
        request: Mapping[str, Any],
        *,
        raw: Mapping[str, Any] | None = None,
        stale: bool = False,
        degraded: Iterable[str] = (),
        appended: Appended | None = None,
    ) -> None:
        super().__init__(request)
        self.raw: Mapping[str, Any] = raw or {}
        self.stale = stale
        self.degraded = list(degraded)
        self.appended = appended
        self.prompt_id: str | None = self.raw.get("prompt_id")
        self.system = system_of(self)
        self.recalled = recalled_of(self)
        self.tool_names: dict[str, str] = self.raw.get("tool_names") or {}


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one answer: of the prompt neither read from the cache nor written to it, read, written, and of the
    answer."""

    input: int
    cache_read: int
    cache_write: int
    output: int
    degraded: list[str] = field(default_factory=list)
    raw: Mapping[str, Any] = field(default_factory=dict)
