"""The TypeScript adapters, each held against its framework: their own tests, which Node runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.sdk.adapters.frameworks import need_adapters, need_node, pass_in


@pytest.fixture(autouse=True)
def adapters() -> Path:
    return need_adapters()


@pytest.mark.parametrize(("version", "oldest"), [("6", 20), ("7", 22)], ids=["ai-6", "ai-7"])
def test_a_model_of_the_ai_sdk_answers_as_without_memory(version: str, oldest: int, places: dict[str, str]) -> None:
    print(pass_in(need_node(oldest), "ai-sdk", places | {"NEVE_AI": version}))


def test_a_session_of_openai_agents_answers_as_the_frameworks_own(places: dict[str, str]) -> None:
    print(pass_in("node", "openai-agents", places))


@pytest.mark.parametrize(("version", "oldest"), [("6", 20), ("7", 22)], ids=["ai-6", "ai-7"])
def test_the_programs_of_the_pages_run_as_they_stand(version: str, oldest: int, places: dict[str, str]) -> None:
    pass_in(need_node(oldest), "pages", places | {"NEVE_AI": version})


def test_the_lock_names_sums_and_no_registry(adapters: Path) -> None:
    lock = (adapters / "package-lock.json").read_text(encoding="utf-8")
    assert '"resolved"' not in lock
    assert lock.count('"integrity"') > 20
