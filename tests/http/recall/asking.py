"""What the tests of recall ask with, and what they compare."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from tests.http.driving.people import Json, Person

DAY = timedelta(days=1)
NOW = datetime(2026, 6, 1, 12, tzinfo=UTC)
FIRST, SECOND = 0.016393442623, 0.016129032258
"""RRF with k = 60: 1/61 and 1/62, rounded to 12 digits (docs/rules/recall.md#fusion)."""
LEGS = ("lexical", "vector")


def components(answer: Json) -> dict[str, Json]:
    return {hit["id"]: hit["components"] for hit in answer["hits"]}


def call_tool(user: Person, session: str | None = None, **arguments: object) -> Json:
    body = {"arguments": arguments} | ({"session_id": session} if session else {})
    return dict(user.expect(200, "POST", "/tools/recall_memory", body))
