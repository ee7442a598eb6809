"""What health says of a service whose parts fail again and again."""

from __future__ import annotations

import pytest

from local.api_client import ApiClient
from tests.http.driving.controls import Controls
from tests.http.driving.people import Person, troubles_of


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
    assert api.expect(200, "GET", "/v1/health")["status"] == "degraded"
    assert troubles_of(api) == [("lexical", "failing")]
    controls.faults()
    user.recall("kayak")
    assert troubles_of(api) == []
