"""Lets the workers of a server under load ignore their delays, so that a kill finds them at work."""

from __future__ import annotations

import http.client
import threading

from local.api_client import ApiClient

SPELL_S = 0.3


class Hurry:
    """Runs in a thread of its own until the server is gone."""

    def __init__(self, client: ApiClient) -> None:
        self.thread = threading.Thread(target=self._run, name="hurry", daemon=True)
        self._client = client

    def _run(self) -> None:
        try:
            while True:
                self._client.expect(200, "POST", "/__test/drain", {"timeout_s": SPELL_S})
        except (OSError, http.client.HTTPException):
            return
        finally:
            self._client.close()
