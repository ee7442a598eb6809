"""Reads the feed of outgoing events as a caller does: to its end, and each event once."""

from __future__ import annotations

from typing import Any

from tests.http.driving.people import Json, Person


def feed_behind(user: Person, after: str | None = None, **query: Any) -> tuple[list[Json], str]:
    """The user's events behind a cursor, and the cursor behind them. A page may be empty and go on, since the tenant's
    other users have events; what was told again is dropped."""
    events: dict[str, Json] = {}
    while True:
        asked = {"user_id": user.id, "limit": 3, **query, **({"after": after} if after else {})}
        page = user.api.expect(200, "GET", "/v1/events", query=asked)
        assert page["missed"] is False
        events, after = events | {one["id"]: one for one in page["events"]}, page["cursor"]
        if not page["more"]:
            return list(events.values()), page["cursor"]


def feed_of(user: Person, **query: Any) -> list[Json]:
    """All events of a user."""
    return feed_behind(user, **query)[0]
