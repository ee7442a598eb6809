"""Keep of a prompt one plain row (docs/rules/compile.md#rounds), by which the next prompts of its turn show what it
showed, and a report of its usage finds it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from neve.domain.compile.plan import PromptPlan
from neve.domain.records.prompts import PromptRecord, ShownHit, TurnStart, line_sha
from neve.domain.times import iso
from neve.ports.runtime import Task
from neve.scope import SessionScope
from neve.store.sessions.prompts import put_prompt
from neve.usecases.ask.compile.reads import Material
from neve.usecases.ask.recall.answer import Hit, hit_line


def shown_hits(plan: PromptPlan, hits: Sequence[Hit], timezone: str) -> tuple[ShownHit, ...]:
    shown = set(plan.shown_hits)
    return tuple(
        ShownHit(
            hit.id,
            hit.rev,
            hit.n,
            line_sha(hit_line(hit, timezone)),
            hit.said_again,
            hit.reply_to.id if hit.reply_to else None,
        )
        for hit in hits
        if hit.id in shown
    )


def told_updates(plan: PromptPlan) -> tuple[tuple[str, str], ...]:
    return tuple((identifier, line_sha(line)) for identifier, line in plan.told)


def start_recording(
    scope: SessionScope, material: Material, start: TurnStart, prefix: Mapping[str, str]
) -> tuple[str, Task[None]] | None:
    """Start to write the prompt's row; return its id and the write. None where there can be no row: the session's rows
    could not be read, or the user is being erased."""
    session_state, pack = material.session_state, material.pack
    if session_state is None or session_state.head.state != "active":
        return None
    now = scope.ports.clock.now()
    prompt = PromptRecord(
        id=scope.keys.prompt_id(session_state.session.last_seq, scope.ports.ids.ulid(now)),
        at=iso(now),
        session_id=scope.session,
        pack_version=pack.manifest.pack_version if pack and pack.manifest else 0,
        start=start,
        prefix=dict(prefix),
    )
    put = put_prompt(scope.keys, prompt, session_state.head.incarnation)
    return prompt.id, scope.ports.tasks.start_write(lambda: scope.ports.table.write([put]))
