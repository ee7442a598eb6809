"""The outbox's part in a pass when somebody could need it: a session that is opened, by whatever call, asks for what
waits in the user's others (docs/rules/observe.md#when)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from neve.ports.engines import Ports
from neve.ports.queue import Message, QueueName
from neve.store import rows
from neve.store.keys import SessionKeys, UserKeys
from neve.store.stream_records import Change
from neve.usecases.core.jobs.messages.observation import observation_message
from neve.usecases.core.lag.memory_lag import progress_of, some_behind
from neve.usecases.core.lag.tails import passed_over
from neve.usecases.tell.sessions.note_open import sessions_opened


def ask_elsewhere(ports: Ports, changes: Sequence[Change]) -> None:
    """Queue the passes that wait in other sessions of the users who opened one, through the queue without a delay. The
    call that opens a session may have asked for the same. Raises StoreUnavailable; may be repeated."""
    opened = defaultdict[UserKeys, set[SessionKeys]](set)
    for keys in sessions_opened(changes):
        opened[UserKeys(keys.tenant, keys.user)].add(keys)
    messages = [message for user, sessions in opened.items() for message in _waiting(ports, user, sessions)]
    if messages:
        ports.queue.send(QueueName.COMPACT, messages)


def _waiting(ports: Ports, user: UserKeys, opened: set[SessionKeys]) -> list[Message]:
    others = [keys for keys in some_behind(ports.table, user)[0] if keys not in opened]
    waiting = [one for one in progress_of(ports.table, others, passed_over) if one[1].unobserved]
    if not waiting:
        return []
    head = rows.read_head(ports.table.get(user.head))
    return [observation_message(keys, head.incarnation, progress.head.last_seq) for keys, progress in waiting]
