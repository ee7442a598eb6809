"""Sends a webhook what one user's events are to it, in their order (docs/rules/events.md#delivery).

The rows are the truth: an event that waits has one until it was delivered, and a worker takes them in the order of
their keys. A worker that dies between an answer and its row sends the event once more. The first one that is not
delivered keeps those behind it waiting; it is in the index ``due``, where the sweep finds it."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from neve.domain.outgoing.event import OutgoingEvent
from neve.domain.outgoing.webhook import (
    ATTEMPT_S,
    CLAIM,
    DISABLES,
    QUICK_PAUSES_S,
    TRIED_FOR,
    Attempt,
    Outcome,
    Rest,
    Webhook,
    next_pause,
    next_rest,
)
from neve.domain.times import iso
from neve.observing import SecondsLeft
from neve.ports.engines import Ports
from neve.ports.errors import Conflict
from neve.ports.queue import QueueName
from neve.ports.table import Delete, Put, Version, WriteOp
from neve.scope import UserData
from neve.store.delete_rows import delete_rows
from neve.store.keys import UserKeys
from neve.store.outgoing import (
    Waiting,
    put_rest,
    put_waiting,
    put_webhooks,
    read_rest,
    read_waiting,
    read_webhooks,
)
from neve.store.partitions import all_rows
from neve.store.transact import transact
from neve.usecases.core.outgoing.attempt import attempt, log_put
from neve.usecases.work.outgoing.wake import dead_message, wake_message

PAGE = 25
SPARE_S = (1 + len(QUICK_PAUSES_S)) * ATTEMPT_S + sum(QUICK_PAUSES_S)
"""Seconds that one event may take: another worker goes on where less is left."""
NOT_TRIED = Attempt(None, "resting", 0)


@dataclass
class Delivered:
    """Counts of what became of the events of one message."""

    attempts: int = 0
    delivered: int = 0
    given_up: int = 0
    disabled: int = 0


def deliver_message(ports: Ports, body: Mapping[str, Any], seconds_left: SecondsLeft, counts: Delivered) -> None:
    """Do the work of one message. Raises as ``deliver_line`` does."""
    data = UserData(ports, UserKeys(body["tenant"], body["user"]))
    deliver_line(data, body["webhook"], seconds_left, counts, body.get("event"))


def deliver_line(
    data: UserData[Ports],
    webhook_id: str,
    seconds_left: SecondsLeft,
    counts: Delivered,
    again: Mapping[str, Any] | None = None,
) -> None:
    """Send what waits, one event after the other, until one is not delivered. ``again``: an event that had been given
    up, which an operator has sent once more; it goes first. Raises StoreUnavailable; a repeat goes on where the rows
    are."""
    table, queue = data.ports.table, data.ports.queue
    if again is not None:
        _wait_again(data, webhook_id, OutgoingEvent.read(again))
    line, prefix = _Line(data, webhook_id, counts), data.keys.waiting_events(webhook_id)
    for item in all_rows(table, data.keys.partition, prefix=prefix, page=PAGE):
        waiting = read_waiting(item)
        if waiting.not_before is not None and waiting.not_before > data.ports.clock.now():
            return
        try:
            in_time = seconds_left() >= SPARE_S
            if in_time and not line.send(waiting):
                return
        except Conflict:  # another worker was faster, or the user was erased: the rows say what is left
            in_time = False
        if not in_time:
            queue.send(QueueName.DELIVER, [wake_message(data.keys, webhook_id)])
            return


def _wait_again(data: UserData[Ports], webhook_id: str, event: OutgoingEvent) -> None:
    key = data.keys.waiting_event(webhook_id, 0, 0, event.id)
    with suppress(Conflict):  # it waits already
        waiting = Waiting(key, webhook_id, event, data.ports.clock.now())
        data.ports.table.write([put_waiting(data.keys, waiting)])


@dataclass(frozen=True)
class _Line:
    """Hold what one webhook is to be sent of one user's events."""

    data: UserData[Ports]
    webhook_id: str
    counts: Delivered

    def send(self, waiting: Waiting) -> bool:
        """Send one event, and write what became of it. Return whether the next one may follow. Raises Conflict,
        StoreUnavailable."""
        keys, table = self.data.keys, self.data.ports.table
        found = table.get_many([keys.webhooks, keys.webhook_rest(self.webhook_id)])
        webhook = read_webhooks(found.get(keys.webhooks)).named(self.webhook_id)
        if webhook is None or webhook.disabled_at is not None:
            self._drop()
            return False
        rest = read_rest(found.get(keys.webhook_rest(self.webhook_id)))
        if rest is not None:
            claimed = self._claimed(rest)
            if claimed is None:
                return self._put_off(waiting, rest)
            rest = claimed
        logged: list[Put] = []
        last = self._tries(webhook, waiting, logged, quick=rest is None)
        if last.status == DISABLES:
            self._disable(logged)
            return False
        ops: list[WriteOp] = list(logged)
        if rest is not None and last.status is not None:  # the receiver is back
            ops.append(Delete(keys.webhook_rest(self.webhook_id), Version(rest.version)))
        if last.delivered:
            table.write([Delete(waiting.key, Version(waiting.version)), *ops])
            self.counts.delivered += 1
            return True
        if last.status is None:
            self._rest(rest)
        return self._failed(replace(waiting, attempts=waiting.attempts + len(logged)), last, ops)

    def _tries(self, webhook: Webhook, waiting: Waiting, logged: list[Put], *, quick: bool) -> Attempt:
        """Try, and where the receiver refused, twice more in a moment. A receiver that gave no answer is not asked
        again: the worker has waited long enough."""
        made = attempt(self.data, webhook, waiting.event)
        for pause in QUICK_PAUSES_S if quick else ():
            if made.failure != "status" or made.status == DISABLES:
                break
            self._log(waiting, made, "failed", logged)
            self.data.ports.clock.sleep(pause)
            made = attempt(self.data, webhook, waiting.event)
        outcome: Outcome = "delivered" if made.delivered else "disabled" if made.status == DISABLES else "failed"
        self._log(waiting, made, outcome, logged)
        self.counts.attempts += len(logged)
        return made

    def _log(self, waiting: Waiting, made: Attempt, outcome: Outcome, logged: list[Put]) -> None:
        number = waiting.attempts + len(logged) + 1
        logged.append(log_put(self.data, self.webhook_id, waiting.event, made, outcome, number))

    # --- what did not go ------------------------------------------------------------------------

    def _failed(self, waiting: Waiting, last: Attempt, ops: list[WriteOp]) -> bool:
        now = self.data.ports.clock.now()
        if now - waiting.since >= TRIED_FOR:
            return self._give_up(waiting, last, ops)
        rounds = waiting.rounds + 1
        last_time = waiting.since + TRIED_FOR
        later = replace(waiting, rounds=rounds, not_before=min(now + next_pause(rounds), last_time))
        self.data.ports.table.write([put_waiting(self.data.keys, later), *ops])
        return False

    def _put_off(self, waiting: Waiting, rest: Rest) -> bool:
        """Let the event wait until the webhook has rested; one whose time is over meanwhile is given up."""
        now = self.data.ports.clock.now()
        if now - waiting.since >= TRIED_FOR:
            return self._give_up(waiting, NOT_TRIED, [])
        later = replace(waiting, not_before=max(rest.until, now + CLAIM))
        self.data.ports.table.write([put_waiting(self.data.keys, later)])
        return False

    def _give_up(self, waiting: Waiting, last: Attempt, ops: list[WriteOp]) -> bool:
        """Make the event a dead letter, of which the log and an alarm tell; the next one may follow."""
        ports, keys = self.data.ports, self.data.keys
        ports.queue.send(QueueName.DELIVER_DEAD, [dead_message(keys, self.webhook_id, waiting.event)])
        logged = log_put(self.data, self.webhook_id, waiting.event, last, "given_up", max(waiting.attempts, 1))
        ports.table.write([Delete(waiting.key, Version(waiting.version)), *ops, logged])
        self.counts.given_up += 1
        return True

    def _drop(self) -> None:
        """Remove what waits for a webhook that is gone, or wants nothing more."""
        keys, table = self.data.keys, self.data.ports.table
        rows = all_rows(table, keys.partition, prefix=keys.waiting_events(self.webhook_id))
        delete_rows(table, [read_waiting(item).key for item in rows])

    def _disable(self, logged: list[Put]) -> None:
        keys, table, now = self.data.keys, self.data.ports.table, iso(self.data.ports.clock.now())

        def disable() -> None:
            webhooks = read_webhooks(table.get(keys.webhooks))
            webhook = webhooks.named(self.webhook_id)
            if webhook is not None and webhook.disabled_at is None:
                table.write([put_webhooks(keys, webhooks.having(replace(webhook, disabled_at=now))), *logged])
                self.counts.disabled += 1

        transact(self.data.ports, disable)
        self._drop()

    # --- a receiver that gives no answer --------------------------------------------------------

    def _claimed(self, rest: Rest) -> Rest | None:
        """Take the one attempt that a webhook is given behind its rest; None while it rests, and where another worker
        has taken it. Raises StoreUnavailable."""
        now: datetime = self.data.ports.clock.now()
        if rest.until > now:
            return None
        claim = Rest(now + CLAIM, rest.failures, rest.version)
        try:
            self.data.ports.table.write([put_rest(self.data.keys, self.webhook_id, claim)])
        except Conflict:
            return None
        return replace(claim, version=rest.version + 1)

    def _rest(self, rest: Rest | None) -> None:
        failures = rest.failures + 1 if rest else 1
        until = self.data.ports.clock.now() + next_rest(failures)
        with suppress(Conflict):  # another worker has met the same silence
            resting = Rest(until, failures, rest.version if rest else 0)
            self.data.ports.table.write([put_rest(self.data.keys, self.webhook_id, resting)])
