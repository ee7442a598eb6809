"""What becomes of messages that a queue has given up: they are told of, given back once, and removed when their time is
over. On AWS an alarm, an operator and the queue itself do so (docs/runbooks/one-machine.md#dead-letters)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from sqlite3 import Connection

from neve.troubles import Troubles

GaveUp = Callable[[str, int, int], object]
"""Told each time that messages become dead letters: by which queue, how many, and after how many deliveries."""
COUNT = "SELECT count(*) FROM messages WHERE queue = ?"
EXPIRE = "DELETE FROM messages WHERE queue = ? AND visible_ms <= ? RETURNING id"
GIVE_BACK = """
UPDATE messages SET queue = source, visible_ms = :now, receives = 0, first_received_ms = NULL, receipt = NULL
WHERE queue = :dlq AND source = :queue
"""
"""A message that keeps its source in its own queue has been given back; when it dies again it has none."""
MOVE = """
UPDATE messages SET queue = :dlq, source = iif(source = queue, NULL, queue), visible_ms = :now, receives = 0,
    first_received_ms = NULL, receipt = NULL
WHERE seq = :seq
"""


def move(connection: Connection, seq: int, dlq: str | None, now_ms: int) -> None:
    """A message becomes a dead letter."""
    connection.execute(MOVE, {"dlq": dlq, "now": now_ms, "seq": seq})


def give_back(connection: Connection, dead: Mapping[str, str], now_ms: int) -> Iterator[tuple[str, int]]:
    """To the queues that they were given up by, each message once: one that ends the process would end it at every
    start. ``dead``: the name of its dead-letter queue, by queue. How many, by queue."""
    for queue, dlq in dead.items():
        given = connection.execute(GIVE_BACK, {"dlq": dlq, "queue": queue, "now": now_ms}).rowcount
        if given:
            yield queue, given


def expire(connection: Connection, kept_ms: Mapping[str, int], now_ms: int) -> int:
    """Remove those that have been dead for longer than their queue keeps messages; how many. ``kept_ms``: how long, by
    dead-letter queue."""
    gone = [one for dlq, ms in kept_ms.items() for one in connection.execute(EXPIRE, (dlq, now_ms - ms)).fetchall()]
    connection.executemany("DELETE FROM traces WHERE id = ?", gone)
    return len(gone)


def look(connection: Connection, troubles: Troubles | None, dead: Mapping[str, tuple[str, int]]) -> None:
    """As long as dead letters are there, health says so. ``dead``: the dead-letter queue and the number of deliveries,
    by queue."""
    for dlq, deliveries in dead.values():
        if connection.execute(COUNT, (dlq,)).fetchone()[0]:
            note(troubles, dlq, deliveries)
        elif troubles is not None:
            troubles.worked(dlq)


def note(troubles: Troubles | None, dlq: str, deliveries: int) -> None:
    if troubles is not None:
        troubles.note(dlq, "failing", f"messages were given up after {deliveries} deliveries")
