"""docs/frameworks/langgraph.md, against the framework's own ``InMemoryStore``."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from conftest import Service
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from pages import copied


def plain(item: Any) -> Any:
    return None if item is None else (item.namespace, item.key, item.value)


def played(store: BaseStore) -> list[Any]:
    """What a program sees. A search has no order of its own."""
    seen: list[Any] = []
    for namespace, key, value in (
        (("notes",), "a", {"text": "roses", "n": 1}),
        (("notes", "garden"), "b", {"text": "tulips", "n": 2, "deep": {"list": [1, None, "ä"]}}),
        (("notes", "garden"), "odd / key.json%", {"n": 1}),
        (("notes", "old garden"), "c", {"n": 2}),
        (("other", "garden"), "b", {}),
    ):
        store.put(namespace, key, value)
    for namespace, key in ((("notes",), "a"), (("notes", "garden"), "odd / key.json%"), (("notes",), "nobody")):
        seen.append(plain(store.get(namespace, key)))
    store.put(("notes",), "a", {"n": 3})
    store.delete(("notes",), "nobody")
    for prefix in ((), ("notes",), ("notes", "garden"), ("note",), ("nobody",)):
        seen.append(sorted(json.dumps(plain(one)) for one in store.search(prefix)))
        seen.append(len(store.search(prefix, limit=1)))
        seen.append(sorted(json.dumps(plain(one)) for one in store.search(prefix, filter={"n": 2})))
    seen.append(sorted(store.list_namespaces()))
    seen.append(sorted(store.list_namespaces(prefix=("notes",))))
    seen.append(sorted(store.list_namespaces(suffix=("garden",))))
    seen.append(sorted(store.list_namespaces(prefix=("*", "garden"))))
    seen.append(sorted(store.list_namespaces(max_depth=1)))
    store.delete(("notes", "garden"), "b")
    seen.append(plain(store.get(("notes", "garden"), "b")))
    seen.append(asyncio.run(asked(store)))
    return seen


async def asked(store: BaseStore) -> Any:
    await store.aput(("async",), "x", {"n": 1})
    found = [plain(await store.aget(("async",), "x")), [plain(one) for one in await store.asearch(("async",))]]
    await store.adelete(("async",), "x")
    return [*found, await store.aget(("async",), "x")]


def page_of(service: Service, user: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("NEVE_URL", service.url)
    monkeypatch.setenv("NEVE_KEY", service.key)
    return copied("langgraph.md", user)


def test_the_same_calls_have_the_same_answers(service: Service, user: str, monkeypatch: pytest.MonkeyPatch) -> None:
    page = page_of(service, "somebody-else", monkeypatch)
    with service.client() as neve:
        assert played(page.NeveStore(neve, user)) == played(InMemoryStore())
        assert neve.user(user).memories() == []


def test_the_page_runs_and_finds_by_meaning_within_its_prefix(
    service: Service, user: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = page_of(service, user, monkeypatch)
    assert capsys.readouterr().out == "Roses want sun.\n"
    page.store.put(("elsewhere",), "roses", {"text": "Roses, too."})
    assert [one.key for one in page.store.search(("notes",), query="roses")] == ["roses"]
    assert page.store.search(("elsewhere",), query="roses")[0].score > 0
    assert page.NeveStore(page.store.raw, f"{user}-2").search((), query="roses") == []


def test_an_operator_that_is_not_supported_says_so(
    service: Service, user: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = page_of(service, user, monkeypatch)
    with pytest.raises(NotImplementedError, match="filter"):
        page.store.search((), filter={"n": {"$gt": 1}})
