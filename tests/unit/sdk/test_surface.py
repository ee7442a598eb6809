"""The package's surface: what an import brings, and that nothing of the contract is missing."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from local.template import ROOT
from sdk.python.neve import AsyncNeve, AsyncSession, AsyncUser, Neve, Session, User
from sdk.python.neve._async.raw import AsyncRaw
from sdk.python.neve._shared.settings import settings_of
from sdk.python.neve._sync.raw import Raw

NOT_LOADED = ("httpx2", "asyncio", "neve.types", "pydantic", "opentelemetry")
CLOSES = {"aclose": "close", "__aenter__": "__enter__", "__aexit__": "__exit__"}
IMPORTED = f"""
import sys, neve
print([name for name in {NOT_LOADED} if name in sys.modules], neve.AsyncNeve.__name__, "asyncio" in sys.modules)
try:
    neve.nothing
except AttributeError as error:
    print(error)
"""


def test_an_import_brings_no_transport_no_loop_and_no_types() -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "sdk" / "python")}
    command = [sys.executable, "-c", IMPORTED]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    assert done.stdout.splitlines() == ["[] AsyncNeve True", "module 'neve' has no attribute 'nothing'"]


@pytest.mark.parametrize(
    ("asynchronous", "synchronous"), [(AsyncNeve, Neve), (AsyncUser, User), (AsyncSession, Session), (AsyncRaw, Raw)]
)
def test_both_faces_have_the_same_calls(asynchronous: type, synchronous: type) -> None:
    assert {CLOSES.get(name, name) for name in vars(asynchronous)} == set(vars(synchronous))


def test_every_operation_of_the_description_has_its_method() -> None:
    document = json.loads((ROOT / "docs" / "openapi.json").read_text(encoding="utf-8"))
    operations = [one for path in document["paths"].values() for one in path.values() if "operationId" in one]
    names = ["".join(f"_{c.lower()}" if c.isupper() else c for c in one["operationId"]) for one in operations]
    assert [name for name in names if not hasattr(Raw, name)] == []


def test_a_client_without_arguments_is_made_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NEVE_KEY", " nv_a\n")
    monkeypatch.setenv("NEVE_URL", "https://memory.example.com/prod/v1/")
    settings = Neve().settings
    assert (settings.key, settings.base_url, settings.wrong) == ("nv_a", "https://memory.example.com/prod", None)
    assert "nv_a" not in repr(settings)


def test_a_timeout_of_an_unknown_call_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(ValueError, match="there is no recal; known are append, context"):
        settings_of("k", None, strict=False, bound=1, linger=0, timeouts={"recal": 1})
