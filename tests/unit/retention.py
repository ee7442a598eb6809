"""Share what tests of retention need: a covered log, images in it, and a worker that is told of its session."""

from __future__ import annotations

from dataclasses import replace

from neve.ports.table import Expect
from neve.scope import SessionScope
from neve.store import rows
from neve.usecases.ask.sessions.list_events import list_events
from neve.usecases.core.jobs.queued_jobs import RETENTION, job_message, new_retention
from neve.workers.job_worker import work


def cover(session: SessionScope, first: int, last: int) -> None:
    """Cover a part of the log as a compaction does."""
    keys, table = session.keys, session.ports.table
    epoch = rows.read_epoch(table.get(keys.epoch) or {})
    covered = replace(epoch, epoch=epoch.epoch + 1, covers_from=first, covers_to=last)
    oldest = rows.read_event(table.get(keys.event(first)) or {})
    noted = [] if table.get(keys.archived) else [new_retention(keys, oldest.created_at, 1)]
    table.write([rows.put_epoch(keys, covered, session.ports.clock.now()), *noted])


def with_images(session: SessionScope, events: int, each: int = 1) -> None:
    """Have the first events show so many images each, of their own."""
    keys, ports = session.keys, session.ports
    for seq in range(1, events + 1):
        names = [keys.image_object(f"{seq}-{n}") for n in range(each)]
        for name in names:
            ports.objects.put(name, b"png", content_type="image/png")
        blocks = [{"type": "image", "media_type": "image/png", "object": name} for name in names]
        event = rows.read_event(ports.table.get(keys.event(seq)) or {})
        content = [{"type": "text", "text": str(event.content)}, *blocks]
        ports.table.write([replace(rows.put_event(keys, replace(event, content=content), 1), expect=Expect.ANY)])


def retain_log(session: SessionScope) -> int:
    """Count the events that one worker removes."""
    before = len(list_events(session, 1, 500).events)
    work(session.ports, job_message(session.keys, RETENTION, session.session).body, lambda: 900.0)
    return before - len(list_events(session, 1, 500).events)
