"""The kinds of work that the engine carries on (docs/rules/jobs.md#work)."""

from __future__ import annotations

from functools import partial

from neve.scope import UserScope
from neve.usecases.core.images.shown_images import ShownImages
from neve.usecases.core.jobs.carry_on import Step
from neve.usecases.core.jobs.hand_in import withdraw_next
from neve.usecases.core.jobs.queued_jobs import ERASURE, EXPORT, FORGET, HANDED_IN, NIGHT, REINDEX, RETENTION
from neve.usecases.work.compact.retain_logs import retain
from neve.usecases.work.erase.run_erasure import erase_next
from neve.usecases.work.export.export_user import export_part
from neve.usecases.work.forget.forget_listed import forget_next
from neve.usecases.work.indexing.reindex_tenant import reindex_next
from neve.usecases.work.reflect.reflect_user import NightReport
from neve.usecases.work.reflect.run import reflect_next


def steps(scope: UserScope, report: NightReport) -> dict[str, Step]:
    """Name the step of each kind, for one worker. ``report`` is told of what it condenses."""
    return {
        ERASURE: erase_next,
        EXPORT: export_part,
        FORGET: forget_next,
        HANDED_IN: withdraw_next,
        NIGHT: partial(reflect_next, report),
        REINDEX: reindex_next,
        RETENTION: partial(retain, ShownImages(scope)),
    }
