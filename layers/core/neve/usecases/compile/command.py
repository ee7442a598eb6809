"""What a prompt is to be compiled from."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal

from neve.domain.compile.last_turn import TaskState
from neve.domain.sessions.transcript import content_text
from neve.domain.tenants.policy import Profile

Retrieval = Literal["auto", "tools", "both", "none"]
Format = Literal["anthropic", "openai"]
ImagesShown = Literal["all", "recent", "none"]
"""``recent``: of what waits for an answer."""
Content = str | list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class CompileCommand:
    """``message``: text or blocks; None where the log ends with what the model has to answer. ``profile`` None: the
    policy's. ``history_window``: turns. ``dry_run``: the plan only, and nothing is written. ``images_refused``: seqs of
    events whose images a provider has refused."""

    message: Content | None = None
    task: TaskState | None = None
    instructions: tuple[str, ...] = ()
    retrieval: Retrieval = "auto"
    format: Format = "anthropic"
    profile: Profile | None = None
    history_window: int | None = None
    dry_run: bool = False
    images: ImagesShown = "all"
    images_refused: frozenset[int] = frozenset()

    @property
    def recalls(self) -> bool:
        return self.retrieval in ("auto", "both")

    @property
    def offers_tools(self) -> bool:
        return self.retrieval in ("tools", "both")

    @property
    def text(self) -> str:
        """Of the message."""
        return content_text(self.message or "")

    @property
    def bytes(self) -> int:
        """Of what comes back in the answer, as JSON, at most."""
        given = json.dumps([self.message, self.instructions, str(self.task or "")], ensure_ascii=False)
        return 2 * given.count('"') + 2 * given.count("\\") + len(given.encode("utf-8", "surrogatepass"))
