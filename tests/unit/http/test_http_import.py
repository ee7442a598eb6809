"""Bytes of an import that are not text: the line is named, the others go in."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from pathlib import Path

import pytest

from functions.records.app import router
from tests.unit.api_world import Api, Reply, installed, proxy_event
from tests.unit.world import World

IMPORT = "/v1/users/{user_id}/memories/import"


@pytest.fixture
def api(tmp_path: Path) -> Iterator[Api]:
    for _ in installed(World.make(tmp_path)):
        yield Api(router)


def sent(api: Api, raw: bytes, key: str | None = None) -> Reply:
    headers = {"Idempotency-Key": key} if key else {}
    event = proxy_event(api, "POST", IMPORT, "", "", headers, user_id="ann")
    return api.send(event | {"body": base64.b64encode(raw).decode(), "isBase64Encoded": True})


def test_a_line_that_is_not_utf8_is_named_and_the_others_go_in(api: Api) -> None:
    raw = b'{"id": "a", "text": "Keeps bees."}\n{"id": "b", "text": "Caf\xe9"}\n{"id": "c", "text": "Caf\xc3\xa9"}'
    first = sent(api, raw, "k1")
    assert first.status == 200
    assert first.json["imported"] == ["a", "c"]
    assert first.json["rejected"] == [{"line": 2, "detail": "lines[2]: This is not UTF-8 at byte 24."}]
    assert sent(api, raw, "k1").json == first.json, "the same call is known by its bytes"
    assert sent(api, raw).json["unchanged"] == ["a", "c"]


def test_when_no_line_is_utf8_the_first_is_the_answer(api: Api) -> None:
    refused = sent(api, b'\n"\xff"\n{"text": "\xfe"}')
    assert (refused.status, refused.json["code"]) == (400, "malformed_json")
    assert refused.json["detail"] == "lines[2]: This is not UTF-8 at byte 1."
