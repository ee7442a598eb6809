"""E3 with ``dry_run``: say what the passes over a session's unobserved events would write, and write none of it
(docs/rules/observe.md#dry-run)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

from neve.caching import Caches
from neve.domain.errors import NeveError, not_found
from neve.domain.records.memories import Kind, Memory, Status
from neve.domain.records.sessions import Event, SessionHead
from neve.ports.engines import Ports
from neve.ports.errors import ModelRefused, ModelUnavailable
from neve.ports.queue import Message, QueueName
from neve.ports.table import Item
from neve.scope import SessionScope
from neve.store import rows
from neve.store.incarnation import UserErased
from neve.store.unwritten_table import UnwrittenTable
from neve.usecases.core.tenants.usage import MODEL_METRICS, PRICED
from neve.usecases.tell.tenants.paid_in_vain import count_in_vain
from neve.usecases.work.observe.lease import LeaseHeld
from neve.usecases.work.observe.observe_session import OutOfTime, Passes, observe_session
from neve.usecases.work.observe.report import ObservationReport

TIME_S = 24.0
"""The time of a dry run (*follows*: API Gateway waits 29 s)."""
ANSWER_S = 10.0
"""With less left no further answer is asked for (*chosen*: a model's answer about a few messages)."""
NO_MODEL = "the language model gave no answer"
NO_TIME = "there was no time for the rest"


@dataclass(frozen=True, slots=True)
class DryRun:
    """The outcome of a dry run. ``observations`` and ``facts`` are new rows, ``report.facts`` what was decided of each
    statement; ``superseded`` and ``reinforced``: ids of rows that there are. ``tokens``: of the new rows. ``cost``: of
    the model, by counter. ``complete``: nothing would be left unread; ``reason``: why nothing is written, or not all is
    told."""

    report: ObservationReport
    observations: Sequence[Memory] = ()
    facts: Mapping[str, Memory] = field(default_factory=dict)
    superseded: Sequence[str] = ()
    reinforced: Sequence[str] = ()
    cost: Mapping[str, int] = field(default_factory=dict)
    complete: bool = True
    reason: str | None = None

    @property
    def tokens(self) -> int:
        return sum(one.tokens for one in (*self.observations, *self.facts.values()))


def dry_run(scope: SessionScope) -> DryRun:
    """Observe on a table that keeps nothing. What a model was asked is counted in truth. Raises session_not_found,
    erasing, user_closed, StoreUnavailable, and 409 ``conflict`` while a pass is under way."""
    keys, ports = scope.keys, scope.ports
    found = ports.table.get_many([keys.head, keys.session_head])
    head = rows.read_head(found.get(keys.head))
    rows.writable(head)
    if not rows.is_there(found, keys.session_head):
        raise not_found("session", scope.session)
    ends_ms = ports.clock.monotonic_ms() + TIME_S * 1000
    table = UnwrittenTable(ports.table)
    dry = replace(scope, ports=cast(Ports, _DryPorts(ports, table, Caches(ports.clock.now))))
    report, failure = ObservationReport(), None
    try:
        observe_session(
            dry,
            head.incarnation,
            report,
            seconds_left=lambda: (ends_ms - ports.clock.monotonic_ms()) / 1000,
            passes=_DryPasses,
        )
    except LeaseHeld:
        raise NeveError("conflict", "A pass over this session is under way.", retry_after_s=5) from None
    except UserErased:
        raise not_found("session", scope.session) from None
    except (ModelUnavailable, ModelRefused):
        failure = NO_MODEL
    finally:
        cost = _cost(scope, table)
        count_in_vain(scope, head.incarnation, cost)
    return _told(scope, table, report, cost, failure)


class _DryPasses(Passes):
    """Passes within the time of a call, of which nobody else hears."""

    def _need_time(self) -> None:
        if self.seconds_left() < ANSWER_S:
            raise OutOfTime

    def _hand_on(self, head: SessionHead, events: Sequence[Event]) -> None:
        pass


class _NoQueue:
    def send(self, queue: QueueName, messages: Sequence[Message]) -> None:
        pass


@dataclass(frozen=True)
class _DryPorts:
    """The engines, with a table and caches of their own and a queue that sends nothing."""

    engines: Ports
    table: UnwrittenTable
    caches: Caches
    queue: _NoQueue = field(default_factory=_NoQueue)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.engines, name)


def _cost(scope: SessionScope, table: UnwrittenTable) -> dict[str, int]:
    """Give what the model's counters would have grown by."""
    after = table.written.get(scope.keys.usage)
    if after is None:
        return {}
    before = scope.ports.table.get(scope.keys.usage) or {}
    names = ("model_calls", *MODEL_METRICS, *PRICED)
    return {name: grown for name in names if (grown := int(after.get(name, 0)) - int(before.get(name, 0))) > 0}


def _told(
    scope: SessionScope, table: UnwrittenTable, report: ObservationReport, cost: Mapping[str, int], failure: str | None
) -> DryRun:
    written = {key: item for key, item in table.written.items() if item is not None and item["type"] == "memory"}
    stored = scope.ports.table.get_many(list(written)) if written else {}
    new = [rows.read_memory(item) for key, item in written.items() if key not in stored]
    changed = [(stored[key], item) for key, item in written.items() if key in stored]
    superseded = _ids(changed, lambda before, after: after["status"] != before["status"] == Status.ACTIVE)
    return DryRun(
        report,
        [one for one in new if one.kind is not Kind.FACT],
        {one.id: one for one in new if one.kind is Kind.FACT},
        superseded,
        [one for one in _ids(changed, lambda *_: True) if one not in superseded],
        cost,
        complete=failure is None and report.left_off_at is None,
        reason=failure or (NO_TIME if report.left_off_at else report.reason),
    )


def _ids(changed: Sequence[tuple[Item, Item]], which: Callable[[Item, Item], bool]) -> list[str]:
    return [str(after["id"]) for before, after in changed if which(before, after)]
