"""Deletes what calls about something deleted were answered, which is kept for a day (docs/rules/retract.md#erase)."""

from __future__ import annotations

from collections.abc import Iterator

from neve.ports.table import Key
from neve.scope import SessionScope
from neve.store.delete_rows import delete_rows


def forget_answers(scope: SessionScope, answers: Iterator[Key]) -> None:
    """Delete answers behind the deletion of what they are about: a call that has not kept its answer by now cannot keep
    it any more, and none that begins later finds anything. Raises StoreUnavailable."""
    delete_rows(scope.ports.table, list(answers))
