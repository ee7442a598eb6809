"""The command that a prompt is compiled from."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from neve.domain.compile.breakpoints import MOST_MARKS
from neve.domain.compile.last_turn import TaskState
from neve.domain.compile.prompt import Tool
from neve.domain.sessions.transcript import content_text
from neve.domain.tenants.policy import Profile

Retrieval = Literal["auto", "tools", "both", "none"]
Format = Literal["anthropic", "openai", "openai_responses", "ai_sdk", "gemini"]
ImagesShown = Literal["all", "recent", "none"]
"""``recent``: of what waits for an answer."""
Content = str | list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class CompileCommand:
    """The request for a prompt. ``message``: text or blocks; None where the log ends with what the model has to answer.
    ``profile`` None: the policy's. ``history_window``: turns. ``dry_run``: the plan only, and nothing is written;
    ``with_request``: the request with it, and where its parts are.
    ``images_refused``: seqs of events whose images a provider has refused. ``tools``: the caller's, as the provider
    takes them. ``system``: the caller's text, ``system_mark`` its own mark for the cache. ``max_breakpoints``: marks
    that the caller wants."""

    message: Content | None = None
    task: TaskState | None = None
    instructions: tuple[str, ...] = ()
    retrieval: Retrieval = "auto"
    format: Format = "anthropic"
    profile: Profile | None = None
    history_window: int | None = None
    dry_run: bool = False
    with_request: bool = False
    images: ImagesShown = "all"
    images_refused: frozenset[int] = frozenset()
    tools: tuple[Tool, ...] = ()
    system: str = ""
    system_mark: Mapping[str, Any] | None = None
    max_breakpoints: int = MOST_MARKS

    @property
    def recalls(self) -> bool:
        return self.retrieval in ("auto", "both")

    @property
    def offers_tools(self) -> bool:
        return self.retrieval in ("tools", "both")

    @property
    def text(self) -> str:
        """Return the text of the message, empty without one."""
        return content_text(self.message or "")

    @property
    def bytes(self) -> int:
        """Return the bytes, at most, that the command's own content takes in the answer, as JSON."""
        tools = [tool.declared for tool in self.tools]
        given = json.dumps(
            [self.message, self.instructions, str(self.task or ""), self.system, tools], ensure_ascii=False
        )
        return 2 * given.count('"') + 2 * given.count("\\") + len(given.encode("utf-8", "surrogatepass"))
