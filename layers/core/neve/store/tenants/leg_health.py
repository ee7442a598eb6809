"""Notes that a leg of recall, the observer, the search engine or a worker fails, for those that do not use them
themselves (health)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from neve.domain.times import iso, parse
from neve.ports.table import Item, Key, Put
from neve.store.keys import LEGS, leg_health
from neve.troubles import ACTIVE_FOR, Kind, Trouble

OBSERVER = "observer"
WORKERS = "workers"
ROWS = "rows"
"""Some that cannot be read."""
LANGUAGE = "language"
"""Of messages that the observer does not know: a trouble of its own beside that it fails."""
SEARCH = "search"
SEARCH_LARGE = "search_large"
"""Of a user with more passages than are searched well without a search domain: advice, nothing fails."""
REPORTED = (*LEGS, OBSERVER, LANGUAGE, WORKERS, ROWS, SEARCH, SEARCH_LARGE)
_KINDS: dict[str, Kind] = {LANGUAGE: "language", SEARCH_LARGE: "full"}


def kind_of(leg: str) -> Kind:
    """Say what is wrong where there is a trouble with it."""
    return _KINDS.get(leg, "failing")


def put_leg_trouble(leg: str, reason: str, at: datetime, count: int = 0) -> Put:
    """Make the put that notes that a leg fails: when it begins and every five minutes while it goes on, not with every
    recall. ``count``: of messages, for LANGUAGE."""
    key = leg_health(leg)
    return Put({"pk": key.pk, "sk": key.sk, "type": "leg_health", "reason": reason, "at": iso(at), "count": count})


def no_leg_trouble(leg: str, at: datetime) -> Put:
    key = leg_health(leg)
    return Put({"pk": key.pk, "sk": key.sk, "type": "leg_health", "at": iso(at)})


def read_leg_troubles(found: Mapping[Key, Item], now: datetime) -> list[Trouble]:
    """Read the troubles of the last ten minutes: the process that wrote a row may be gone before it could take it
    back."""
    troubles = []
    for leg in REPORTED:
        item = found.get(leg_health(leg))
        if item is not None and "reason" in item and now - parse(item["at"]) < ACTIVE_FOR:
            at, count = parse(item["at"]), int(item.get("count", 0))
            what = OBSERVER if leg == LANGUAGE else leg
            troubles.append(Trouble(what, kind_of(leg), item["reason"], at, now, count))
    return troubles
