"""The kinds of work that the engine carries on (docs/rules/jobs.md#work)."""

from __future__ import annotations

from functools import partial

from neve.scope import UserScope
from neve.usecases.export.export_user import export_part
from neve.usecases.images.shown_images import ShownImages
from neve.usecases.jobs.carry_on import Step
from neve.usecases.jobs.queued_jobs import EXPORT, RETENTION
from neve.usecases.sessions.retain_logs import retain


def steps(scope: UserScope) -> dict[str, Step]:
    """Name the step of each kind, for one worker."""
    return {EXPORT: export_part, RETENTION: partial(retain, ShownImages(scope))}
