"""Jobs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Job:
    """A piece of asynchronous work that a caller may poll. ``result`` is what the API shows. ``due_at``: of a job whose
    row is its message, when the sweep sends it again unless it has ended; ``incarnation``: of its user, as that message
    names it."""

    id: str
    kind: str
    status: Literal["queued", "running", "done", "failed"]
    created_at: str
    user_id: str | None = None
    session_id: str | None = None
    finished_at: str | None = None
    result: dict[str, Any] = field(default_factory=dict)
    state: dict[str, Any] = field(default_factory=dict)
    due_at: str | None = None
    incarnation: int | None = None
    version: int = 0

    @property
    def ended(self) -> bool:
        return self.status in ("done", "failed")
