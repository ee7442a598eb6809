"""The receivers of webhooks: servers of others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from neve.domain.outgoing.webhook import Attempt


class Receivers(Protocol):
    """Sends to servers of others. Nothing reaches an address that is not public, whatever the name of a host leads
    to."""

    def refusal(self, url: str) -> str | None:
        """Say why nothing is ever sent to a URL; None where the name of its host may lead to a receiver. Asks
        nobody."""

    def post(self, url: str, headers: Mapping[str, str], body: bytes) -> Attempt:
        """Send a body, and wait for the answer, for ``ATTEMPT_S`` at most. The name is looked up once, and what it says
        is checked and connected to; redirects are answers like others. Never raises."""
