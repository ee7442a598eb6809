"""Commands as somebody types them."""

from __future__ import annotations

import json

import httpx2
import pytest

from neve_cli.__main__ import run
from tests.unit.cli.in_process import BASE_URL


class Shell:
    """``out`` and ``err`` of the last command."""

    def __init__(self, capsys: pytest.CaptureFixture[str], transport: httpx2.BaseTransport) -> None:
        self._capsys, self._transport = capsys, transport
        self.out = self.err = ""

    def run(self, *arguments: str) -> int:
        code = run(["--url", BASE_URL, "--key", "nv_x", "--user", "ann", *arguments], self._transport)
        self.out, self.err = self._capsys.readouterr()
        return code

    def json(self, *arguments: str) -> dict[str, object]:
        assert self.run("--json", *arguments) == 0, self.err
        return dict(json.loads(self.out))
