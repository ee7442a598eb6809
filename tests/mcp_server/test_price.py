"""How much of a prompt the tools take, by OpenAI's table of tokens, which is fetched once (41 MB)."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from local.template import ROOT
from neve.adapters.o200k import BPE_DIR_VARIABLE, load_counter
from neve_mcp.tools import TOOLS

FETCH = ROOT / "layers" / "tokens" / "fetch.py"
MOST_TOKENS = 1_300
"""*Given*: of all seven together, with titles and hints."""


def test_the_seven_tools_together_take_at_most_1300_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    fetched = subprocess.run([sys.executable, str(FETCH)], capture_output=True, text=True, check=False)
    assert fetched.returncode == 0, fetched.stderr
    monkeypatch.setenv(BPE_DIR_VARIABLE, str(FETCH.parent / "bpe"))
    listed = json.dumps([tool.model_dump(by_alias=True, exclude_none=True) for tool in TOOLS.values()])
    assert len(TOOLS) == 7
    assert load_counter()(listed) <= MOST_TOKENS
