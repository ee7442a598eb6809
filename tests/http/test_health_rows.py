"""What health says of a service whose parts fail again and again."""

from __future__ import annotations

import pytest

from local.api_client import ApiClient
from tests.http.driving.controls import Controls
from tests.http.driving.people import Json, Person


@pytest.mark.controls
def test_a30_a_leg_that_fails_again_and_again_is_said_by_health(
    user: Person, api: ApiClient, controls: Controls
) -> None:
    """Until it works again. A single failure is said by its own answer only."""
    user.remember("User likes the kayak.")
    user.settle()
    controls.fault("lexical", "error")
    user.recall("kayak")
    assert troubles_of(api) == []
    for _ in range(4):
        user.recall("kayak")
    health = api.expect(200, "GET", "/v1/health")
    assert health["status"] == "degraded"
    assert [(trouble["what"], trouble["kind"]) for trouble in health["troubles"]] == [("lexical", "failing")]
    controls.faults()
    user.recall("kayak")
    assert troubles_of(api) == []


def troubles_of(api: ApiClient) -> list[Json]:
    return list(api.expect(200, "GET", "/v1/health")["troubles"])
