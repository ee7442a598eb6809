"""Every hit is read again from the row store, in one read together with the user's head, before anybody sees it
(docs/rules/recall.md#hydration)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from neve.domain.records import UserHead
from neve.ports import Item, Key
from neve.scope import UserScope
from neve.store import rows
from neve.usecases.recall.command import ResolvedRequest
from neve.usecases.recall.dropped import LeftOut
from neve.usecases.recall.recall_rows import Hidden, RecallRow, read_row, row_key

Hydrated = Mapping[str, RecallRow | Hidden]
"""Rows by id."""


class GenerationMoved(Exception):
    """A replacement became visible while the rows were read."""


def hydrate(
    scope: UserScope, request: ResolvedRequest, seen: UserHead | None, ids: Iterable[str], deadline_ms: float
) -> Hydrated:
    """The rows as the generation of ``seen`` sees them; None: as that of now does. Raises StoreUnavailable,
    DeadlineExceeded, GenerationMoved."""
    wanted = list(dict.fromkeys(ids))
    if not wanted:
        return {}
    table, head_key = scope.ports.table, scope.keys.head
    places = {i: key for i in wanted if (key := row_key(scope.keys, i))}
    task = scope.ports.tasks.start(lambda: table.get_many([head_key, *dict.fromkeys(places.values())]))
    found: dict[Key, Item] = task.result(deadline_ms)
    now = rows.read_head(found.get(head_key))
    if seen is not None and (now.gen, now.incarnation, now.state) != (seen.gen, seen.incarnation, seen.state):
        raise GenerationMoved
    items = {i: found.get(places[i]) if i in places else None for i in wanted}
    return {i: read_row(item, now, request.where) for i, item in items.items()}


def shown(rows_by_id: Hydrated, out: LeftOut) -> Hydrated:
    """With what is left out hidden: a row's own fingerprint is known only now."""

    def judged(row: RecallRow | Hidden) -> RecallRow | Hidden:
        reason = out.reason(row.id, row.fingerprint) if isinstance(row, RecallRow) else None
        return Hidden(reason) if reason else row

    return {i: judged(row) for i, row in rows_by_id.items()}
