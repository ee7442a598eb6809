"""What calls about something that was deleted were answered, which is kept for a day (docs/rules/retract.md#erase)."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

from neve.ports.table import Key, key_of
from neve.scope import SessionScope
from neve.store.delete_rows import delete_rows
from neve.store.partitions import all_rows

_ABOUT = (("PATCH", "memories/"), ("POST", "memories/"), ("POST", "inbox/"))
_END_OF_ID = re.compile("[/#]")


def answers_about(scope: SessionScope, ids: Collection[str]) -> Iterator[Key]:
    """Of memories and proposals. Those of all that the user has are read, once: there may be many ids. Raises
    StoreUnavailable."""
    keys = scope.keys
    for method, path in _ABOUT if ids else ():
        prefix = keys.answers_below(method, path)
        for item in all_rows(scope.ports.table, keys.answers, prefix=prefix):
            if _END_OF_ID.split(item["sk"].removeprefix(prefix), 1)[0] in ids:
                yield key_of(item)


def answers_of_compactions(scope: SessionScope) -> Iterator[Key]:
    """Of the session: they show its summary. Raises StoreUnavailable."""
    prefix = scope.keys.answers_below("POST", f"sessions/{scope.session}/compact")
    return map(key_of, all_rows(scope.ports.table, scope.keys.answers, prefix=prefix))


def forget_answers(scope: SessionScope, answers: Iterator[Key]) -> None:
    """Behind the deletion of what they are about: a call that has not kept its answer by now cannot keep it any more,
    and none that begins later finds anything. Raises StoreUnavailable."""
    delete_rows(scope.ports.table, list(answers))
