"""Make again, from what was kept of it, what the first prompt of the open turn showed in front of its message: in a
round of tool calls every prompt shows the same (docs/rules/compile.md#rounds)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import cache

from neve.domain.compile.updates import Update, forms_of
from neve.domain.ids import event_place, is_document_id, is_event_id, is_memory_id
from neve.domain.memories.unheld import with_successors
from neve.domain.pack.render import JUST_SAID
from neve.domain.records.prompts import ShownHit, TurnStart, line_sha
from neve.domain.records.sessions import EventType, SessionHead
from neve.domain.records.users import UserHead
from neve.domain.sessions.spans import holds
from neve.domain.tails.told import told_of
from neve.scope import SessionScope
from neve.store import rows
from neve.store.sessions.prompts import read_prompt
from neve.usecases.ask.compile.updates import forms_of_memory
from neve.usecases.ask.recall.answer import Hit, hit_line, shown_again
from neve.usecases.ask.recall.command import RecallCommand, resolve
from neve.usecases.ask.recall.recall_rows import RecallRow
from neve.usecases.ask.recall.search import ANY_REV
from neve.usecases.ask.recall.stages.hydrate import Hydrated, Hydration
from neve.usecases.ask.recall.stages.what_holds import WhatHolds
from neve.usecases.core.pack.what_holds import UnheldFacts


@dataclass(frozen=True, slots=True)
class BegunTurn:
    """The turn as its first prompt showed it. ``hits``: those that are what they were; one that was deleted or changed
    since is not. ``lines``: the forms in which the utterances and memories that were told may have been, whatever was
    observed or replaced since."""

    start: TurnStart
    hits: Sequence[Hit] = ()
    lines: Collection[str] = ()

    @property
    def lost(self) -> tuple[str, ...]:
        shown = {hit.id for hit in self.hits}
        return tuple(hit.id for hit in self.start.hits if hit.id not in shown)

    def updates(self, found: Sequence[Update]) -> list[Update]:
        """Return the lines that were told, in their order. ``found``: the updates of now."""
        lines = {line_sha(line): line for line in (*forms_of(found), *self.lines)}
        return [Update(i, lines[sha]) for i, sha in self.start.updates if sha in lines]


def begun_turn(scope: SessionScope, head: UserHead, session: SessionHead, ends_ms: float) -> BegunTurn | None:
    """Read how the open turn began; None for a log that ends with a message, and where no prompt is known. One query,
    then one batch, two where the memories come from other logs. Raises StoreUnavailable, DeadlineExceeded."""
    last_is_there = not holds(session.retracted, session.last_seq)
    if head.state != "active" or (session.last_event_type is EventType.USER_MESSAGE and last_is_there):
        return None
    page = scope.ports.table.query(scope.keys.ledger, prefix=scope.keys.prompts_of_session, reverse=True, limit=1)
    item = rows.live(page.items[0], scope.ports.clock.now()) if page.items else None
    if item is None or item["incarnation"] != head.incarnation:
        return None
    start = read_prompt(item).start
    said = scope.ports.tasks.start_read(lambda: _said(scope, head, start))
    hydration = Hydration(scope, resolve(scope.policy, _AGAIN), head, ends_ms)
    told = {i: ANY_REV for i, _ in start.updates if is_memory_id(i) and not is_document_id(i)}
    before = {hit.reply_to: ANY_REV for hit in start.hits if hit.reply_to}
    found, _ = hydration.read(told | before | {hit.id: hit.rev for hit in start.hits})
    what_holds = cache(lambda: _what_holds(scope, head, session.timezone, start.at))
    hits = [made for hit in start.hits if (made := _as_shown(hit, found, session.timezone, what_holds))]
    memories = [row.memory for i in told if isinstance(row := found[i], RecallRow) and row.memory]
    return BegunTurn(start, hits, [*said.result(ends_ms), *(line for one in memories for line in forms_of_memory(one))])


_AGAIN = RecallCommand("", include_superseded=True)


def _as_shown(shown: ShownHit, found: Hydrated, timezone: str, what_holds: Callable[[], WhatHolds]) -> Hit | None:
    """Make a shown hit again. None where its line is another one now, also with what no longer holds marked in it."""
    row, before = found[shown.id], found[shown.reply_to] if shown.reply_to else None
    if not isinstance(row, RecallRow) or shown.n >= len(row.passages):
        return None
    replied = before if isinstance(before, RecallRow) else None
    made = shown_again(row, shown.n, shown.said_again, replied)
    if line_sha(hit_line(made, timezone)) != shown.sha:
        made = shown_again(row, shown.n, shown.said_again, replied, told=what_holds().told(row, shown.n))
    return made if line_sha(hit_line(made, timezone)) == shown.sha else None


def _what_holds(scope: SessionScope, head: UserHead, timezone: str, at: str) -> WhatHolds:
    """Read which facts did not hold at a time, in two reads; none for a user all of whose facts hold. Raises
    StoreUnavailable."""
    unheld = UnheldFacts.start(scope, head, at)
    successors = unheld.successors()
    found = scope.ports.table.get_many(successors) if successors else {}
    read = {memory.id: memory for memory in map(rows.read_memory, found.values())}
    known = with_successors(unheld.facts(), read, head.gen, at)
    return WhatHolds(resolve(scope.policy, RecallCommand("")), known, timezone)


def _said(scope: SessionScope, head: UserHead, start: TurnStart) -> list[str]:
    """Return the lines told of other conversations, as far as they were not taken back. No read where none was told."""
    places = {i: place for i, _ in start.updates if is_event_id(i) and (place := event_place(i))}
    if not places:
        return []
    logs = {session: scope.keys.of_session(session) for session, _ in places.values()}
    events = {i: logs[session].event(seq) for i, (session, seq) in places.items()}
    found = scope.ports.table.get_many([*events.values(), *(keys.session_head for keys in logs.values())])
    lines = list[str]()
    for i, (session, seq) in places.items():
        item, log = found.get(events[i]), found.get(logs[session].session_head)
        if item is None or log is None or item["incarnation"] != head.incarnation:
            continue
        there = rows.read_session(log)
        if not holds(there.retracted, seq):
            told = told_of(session, [rows.read_event(item)], None, there.timezone)
            lines += [f"{JUST_SAID} {one.line}" for one in told]
    return lines
