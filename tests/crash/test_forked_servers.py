"""What the tests' own servers say when they do not do what they are asked."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytest import MonkeyPatch

from tests import forked_servers

NOTHING = 0
"""A signal that no process hears."""


def test_a_server_that_does_not_stop_says_what_it_is_at(tmp_path: Path, monkeypatch: MonkeyPatch) -> None:
    server = forked_servers.forked_servers().start(tmp_path / "data")
    monkeypatch.setattr(forked_servers, "ASK", NOTHING)
    monkeypatch.setattr(forked_servers, "STOP_S", 0.1)
    threads = r"(?s)Fatal Python error: Aborted.*local/__main__\.py.* in main"
    with pytest.raises(forked_servers.DidNotStop, match=threads):
        server.stop()
    assert not forked_servers.is_alive(server.pid)
