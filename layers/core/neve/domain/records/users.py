"""Users."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class UserHead:
    """The root row of a user. ``gen`` makes replacements atomic for readers; ``incarnation`` is raised by an erasure.
    ``replaced_by``: the job of the last replacement, whose new rows a pack build reads by id until ``replaced_until``.
    ``foreign_ids``: some memories have ids that they came with. ``erasure_job``: of the erasure under way. ``pinned``:
    documents of the user may stand in packs. ``takes_back``: something was taken back of a session of theirs, so that
    a reader of events of several asks each session which. ``purges``: how often packs were taken away for good, which
    moves this row so that no build under way points to one that has read what was in them. ``deletions``: how often
    messages were deleted for good, which does the same to exports. ``unheld``: there may be facts that do not hold, and
    a pack build asks which. ``erased``: nothing was written since an erasure let the id go."""

    gen: int = 1
    incarnation: int = 1
    state: Literal["active", "erasing", "closed"] = "active"
    created_at: str = ""
    replacement_job: str | None = None
    replaced_by: str | None = None
    replaced_until: str | None = None
    foreign_ids: bool = False
    erasure_job: str | None = None
    pinned: bool = False
    takes_back: bool = False
    purges: int = 0
    deletions: int = 0
    unheld: bool = False
    erased: bool = False
    version: int = 0


@dataclass(frozen=True, slots=True)
class ReflectDue:
    """A row that says that a night may condense rows of a user: not before those that were created by ``since`` are old
    enough. ``job``: the work that is at them; ``again``: the oldest row that came while it was."""

    since: str
    job: str | None = None
    again: str | None = None
    version: int = 0
