"""Lays out the rows of outgoing events and of webhooks. A row of the feed holds all events of one tenant that one batch
of the table's stream has told of; what a webhook is still to be sent has a row for each event, below its user."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta

from pydantic import TypeAdapter

from neve.domain.outgoing.event import OutgoingEvent
from neve.domain.outgoing.webhook import Delivery, Rest, Webhook
from neve.domain.times import iso, parse
from neve.ports.table import Expect, Item, Key, Put, Version
from neve.store.keys import Keys, UserKeys
from neve.store.rows import SENT_WITHIN, due_keys, expectation, json_bytes, loaded_json

KEPT = timedelta(days=7)
"""The time for which an event can be read."""


def put_feed(keys: Keys, number: int, events: Sequence[OutgoingEvent], now: datetime) -> Put:
    """Make the put of the feed's row of a number that no other row has."""
    key = keys.feed_row(number)
    item: Item = {"pk": key.pk, "sk": key.sk, "type": "feed", "expires_at": int((now + KEPT).timestamp())}
    return Put(with_feed_events(item, events), Expect.ABSENT)


def with_feed_events(item: Item, events: Sequence[OutgoingEvent]) -> Item:
    """Return the row with these events in it."""
    return item | {"events": json_bytes([event.stored() for event in events]).decode()}


def read_feed_row(item: Item) -> list[OutgoingEvent]:
    return [OutgoingEvent.read(stored) for stored in loaded_json(item["events"])]


# --- webhooks -----------------------------------------------------------------------------------

_webhook = TypeAdapter(Webhook)
_delivery = TypeAdapter(Delivery)
DELIVER = "deliver"
"""Kind of due work: an event that a webhook is to be sent again."""


@dataclass(frozen=True, slots=True)
class Webhooks:
    """All webhooks of a tenant."""

    all: tuple[Webhook, ...] = ()
    version: int = 0

    def named(self, webhook_id: str) -> Webhook | None:
        return next((one for one in self.all if one.id == webhook_id), None)

    def having(self, webhook: Webhook) -> Webhooks:
        """Return them with this one, in the place of the one of its id."""
        return replace(self, all=(*(one for one in self.all if one.id != webhook.id), webhook))

    def lacking(self, webhook_id: str) -> Webhooks:
        return replace(self, all=tuple(one for one in self.all if one.id != webhook_id))


def read_webhooks(item: Item | None) -> Webhooks:
    if item is None:
        return Webhooks()
    return Webhooks(tuple(map(_webhook.validate_python, json.loads(item["webhooks"]))), item["version"])


def put_webhooks(keys: Keys, webhooks: Webhooks) -> Put:
    key = keys.webhooks
    stored = [_webhook.dump_python(one, mode="json", exclude_none=True) for one in webhooks.all]
    item: Item = {"pk": key.pk, "sk": key.sk, "type": "webhooks", "webhooks": json_bytes(stored).decode()}
    return Put(item, expectation(webhooks.version))


def read_rest(item: Item | None) -> Rest | None:
    return Rest(parse(item["until"]), item["failures"], item["version"]) if item else None


def put_rest(keys: Keys, webhook_id: str, rest: Rest) -> Put:
    key = keys.webhook_rest(webhook_id)
    item: Item = {"pk": key.pk, "sk": key.sk, "type": "webhook_rest", "failures": rest.failures}
    return Put(item | {"until": iso(rest.until)}, expectation(rest.version))


def put_delivery(keys: Keys, webhook_id: str, delivery: Delivery) -> Put:
    """Make the put of a line of the delivery log. It names no user: an erasure need not look for it."""
    key = keys.delivery(webhook_id, delivery.id)
    item: Item = {"pk": key.pk, "sk": key.sk, "type": "webhook_delivery"}
    item |= {name: value for name, value in asdict(delivery).items() if value is not None}
    return Put(item | {"expires_at": int((parse(delivery.at) + KEPT).timestamp())})


def read_delivery(item: Item) -> Delivery:
    return _delivery.validate_python(item)


# --- what waits ---------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Waiting:
    """An event that a webhook is still to be sent. ``since``: when it began to wait. ``attempts``: how many there were,
    in so many ``rounds``. ``not_before``: when the next one is due; None: at once."""

    key: Key
    webhook: str
    event: OutgoingEvent
    since: datetime
    attempts: int = 0
    rounds: int = 0
    not_before: datetime | None = None
    version: int = 0

    @property
    def due(self) -> datetime:
        """Give the time from which on the sweep wakes the line: whoever was to send it at once may have died."""
        return self.not_before or self.since + SENT_WITHIN


def read_waiting(item: Item) -> Waiting:
    return Waiting(
        Key(item["pk"], item["sk"]),
        item["id"],
        OutgoingEvent.read(loaded_json(item["event"])),
        parse(item["since"]),
        item["attempts"],
        item["rounds"],
        parse(item["not_before"]) if "not_before" in item else None,
        item["version"],
    )


def put_waiting(keys: UserKeys, waiting: Waiting) -> Put:
    """Make the put of an event that waits, in the index ``due`` until it was delivered."""
    item: Item = {
        "pk": waiting.key.pk,
        "sk": waiting.key.sk,
        "type": "waiting_event",
        "id": waiting.webhook,
        "tenant_id": keys.tenant,
        "user_id": keys.user,
        "event": json_bytes(waiting.event.stored()).decode(),
        "since": iso(waiting.since),
        "attempts": waiting.attempts,
        "rounds": waiting.rounds,
    }
    if waiting.not_before is not None:
        item |= {"not_before": iso(waiting.not_before)}
    item |= due_keys(DELIVER, keys, waiting.key.sk, waiting.due)
    return Put(item, Version(waiting.version) if waiting.version else Expect.ABSENT)


def new_waiting(
    keys: UserKeys, webhooks: Iterable[Webhook], number: int, at: int, event: OutgoingEvent, now: datetime
) -> list[Put]:
    """Make the puts of an event for those of the webhooks that want it. ``number``, ``at``: its place in the feed."""
    return [
        put_waiting(keys, Waiting(keys.waiting_event(one.id, number, at, event.id), one.id, event, now))
        for one in webhooks
        if one.wants(event.type)
    ]
