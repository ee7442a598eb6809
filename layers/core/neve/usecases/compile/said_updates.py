"""What other conversations of the user say behind a frozen pack, as long as nobody has observed it, and what of the
utterances in the pack was taken back (docs/rules/compile.md#updates)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial

from neve.domain.compile.updates import Update, gone
from neve.domain.pack.render import JUST_SAID
from neve.domain.records.users import UserHead
from neve.domain.sessions.spans import holds
from neve.domain.tails.fit import cost_of
from neve.domain.tails.told import Told
from neve.domain.times import iso
from neve.ports.runtime import Task
from neve.ports.table import Item, Key
from neve.scope import SessionScope
from neve.store import rows
from neve.store.keys import SessionKeys, UserKeys
from neve.usecases.lag.tails import Tail, tails_of, told_in
from neve.usecases.pack.served_pack import Uttered

MOST_TOKENS = 400
"""Of what others said (docs/rules/compile.md#updates)."""
SOMETHING_SAID = "what was said in another conversation"


def said_since(scope: SessionScope, head: UserHead, behind: Task[list[SessionKeys]], since: datetime) -> list[Told]:
    """The user's utterances that were appended, or said, at ``since`` or later, the newest conversation first and its
    newest utterance. Nothing more is read where no other session is behind; else one batch and a query of each log.
    Raises StoreUnavailable."""
    table, tasks = scope.ports.table, scope.ports.tasks
    tails = [tail for tail in tails_of(table, behind.result()) if _first_since(tail, since) <= tail.head.last_seq]
    logs = [(tail, tasks.start_read(partial(told_in, table, head, tail))) for tail in tails]
    return [one for tail, log in logs for one in reversed(log.result()) if one.of_user and _is_new(one, tail, since)]


def _first_since(tail: Tail, since: datetime) -> int:
    """Seq of the first event that was appended then or later."""
    before = [last for last, at in tail.head.behind if at < int(since.timestamp())]
    return max(before, default=0) + 1


def _is_new(told: Told, tail: Tail, since: datetime) -> bool:
    return told.event.seq >= _first_since(tail, since) or told.event.created_at >= iso(since)


def updates_of(said: Sequence[Told], shown: Uttered) -> Iterator[Update]:
    """As many as ``MOST_TOKENS`` have room for, without those that the pack shows."""
    room = MOST_TOKENS
    for one in said:
        text = f"{JUST_SAID} {one.line}"
        if not shown.shows(one.session, one.event.seq, one.event.seq) and cost_of(f"- {text}") <= room:
            room -= cost_of(f"- {text}")
            yield Update(one.id, text)


def heads_of(keys: UserKeys, shown: Uttered) -> list[Key]:
    """The rows that say whether what the pack shows was taken back."""
    return [keys.of_session(session).session_head for session in shown.seqs]


def taken_back(keys: UserKeys, shown: Uttered, found: Mapping[Key, Item], lines: Mapping[str, str]) -> Iterator[Update]:
    """``found``: the ``heads_of``. ``lines``: of the pack, by fingerprint."""
    for session, seqs in shown.seqs.items():
        row = found.get(keys.of_session(session).session_head)
        retracted = rows.read_session(row).retracted if row else ()
        for seq, entry in seqs.items():
            if row is None or holds(retracted, seq):
                text = gone(lines.get(entry.fingerprint, SOMETHING_SAID))
                yield Update(entry.id, text, text)
