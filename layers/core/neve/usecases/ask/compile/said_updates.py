"""Tell what other conversations of the user say behind a frozen pack before a pass has observed it, and which
utterances in the pack were taken back (docs/rules/compile.md#updates)."""

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
from neve.ports.table import Item, Key
from neve.scope import SessionScope
from neve.store import rows
from neve.store.keys import SessionKeys, UserKeys
from neve.usecases.ask.compile.new_statements import NewStatements
from neve.usecases.core.lag.tails import Tail, tails_of, told_in
from neve.usecases.core.pack.served_pack import Uttered

MOST_TOKENS = 400
"""Tokens of what other conversations said (docs/rules/compile.md#updates)."""
SOMETHING_SAID = "what was said in another conversation"


class SaidSince:
    """The reads under way of other conversations' logs behind what was observed of them. How far that is has been read
    when this is there, so that what a pass commits later is found among the memories that are read from here on, if not
    among the utterances. Nothing is read where no other session is behind; else one batch, and a query of each log.
    Raises StoreUnavailable."""

    def __init__(self, scope: SessionScope, head: UserHead, sessions: Sequence[SessionKeys], since: datetime) -> None:
        table, tasks = scope.ports.table, scope.ports.tasks
        tails = [tail for tail in tails_of(table, sessions) if _first_since(tail, since) <= tail.head.last_seq]
        self._since = since
        self._logs = [(tail, tasks.start_read(partial(told_in, table, head, tail))) for tail in tails]

    def result(self) -> list[Told]:
        """Return the user's utterances that were appended, or said, since then: the newest conversation first, and its
        newest utterance. Raises StoreUnavailable."""
        told = [(tail, one) for tail, log in self._logs for one in reversed(log.result())]
        return [one for tail, one in told if one.of_user and _is_new(one, tail, self._since)]


def _first_since(tail: Tail, since: datetime) -> int:
    """Return the seq of the first event that was appended then or later."""
    before = [last for last, at in tail.head.behind if at < int(since.timestamp())]
    return max(before, default=0) + 1


def _is_new(told: Told, tail: Tail, since: datetime) -> bool:
    return told.event.seq >= _first_since(tail, since) or told.event.created_at >= iso(since)


def told_elsewhere(said: Sequence[Told], shown: Uttered, stated: NewStatements) -> list[Update]:
    """Return updates for what was said, without what the pack shows, and for what was made of it: a line does not leave
    the prompt because it was observed, as long as ``MOST_TOKENS`` have room for both."""
    utterances = [
        Update(one.id, f"{JUST_SAID} {one.line}")
        for one in said
        if not shown.shows(one.session, one.event.seq, one.event.seq)
    ]
    fitting = list[Update]()
    room = MOST_TOKENS
    for update in (*utterances, *stated.others):
        if (cost := cost_of(f"- {update.text}")) <= room:
            fitting.append(update)
            room -= cost
    told = {id(update) for update in fitting}
    first = [update for update in utterances if id(update) in told]
    return [*first, *stated.important, *(update for update in stated.others if id(update) in told)]


def heads_of(keys: UserKeys, shown: Uttered) -> list[Key]:
    """Return the keys of the rows that say which utterances of the pack were taken back."""
    return [keys.of_session(session).session_head for session in shown.seqs]


def taken_back(keys: UserKeys, shown: Uttered, found: Mapping[Key, Item], lines: Mapping[str, str]) -> Iterator[Update]:
    """Yield an update for each utterance of the pack that was taken back. ``found``: the rows of ``heads_of``.
    ``lines``: of the pack, by fingerprint."""
    for session, seqs in shown.seqs.items():
        row = found.get(keys.of_session(session).session_head)
        retracted = rows.read_session(row).retracted if row else ()
        for seq, entry in seqs.items():
            if row is None or holds(retracted, seq):
                text = gone(lines.get(entry.fingerprint, SOMETHING_SAID))
                yield Update(entry.id, text, text)
