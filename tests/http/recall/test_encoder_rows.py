"""Row E17, the encoder: recall by meaning in many languages, and a policy that changes them. The first test has servers
of its own, with the real encoders; the others work with the tests' own."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from local.api_client import ApiClient
from tests.http.conftest import StartedWith
from tests.http.driving.controls import Controls
from tests.http.driving.people import Json, Person, new_user
from tests.patience import PATIENCE_S

SETTLED_S = 121
"""Behind the first round of a reindex its second one is due after two minutes."""
OTHER_MODEL, EMBED_ERROR = "vector:dimension_mismatch", "vector:embed_error"
SAID_AND_ASKED = {
    "de": ("Meine Schwester heißt Maria und wohnt in Bergen.", "Wie lautet der Name meiner Geschwister?"),
    "zh": ("我对花生过敏，随身带着急救针。", "我不能吃什么食物？"),
    "ar": ("أعمل ممرضة في مستشفى الأطفال.", "ما هي مهنتي؟"),
}
SMALL_TALK = (
    *("danke!", "gracias", "merci beaucoup", "obrigado", "谢谢"),
    *("ありがとう", "감사합니다", "شكرا", "धन्यवाद", "спасибо"),
)


def speak(api: ApiClient, languages: str) -> Json:
    return dict(api.expect(200, "PATCH", "/v1/policy", {"languages": languages}))


def until_reindexed(api: ApiClient) -> Json:
    """The policy when no job makes its vectors any more."""
    ends = time.monotonic() + PATIENCE_S
    while "reindex_job" in (policy := dict(api.expect(200, "GET", "/v1/policy"))):
        assert time.monotonic() < ends, policy
        time.sleep(0.25)
    return policy


def found_by_meaning(api: ApiClient, path: str, asked: str) -> tuple[str, list[str]]:
    """The first hit of the vector leg alone, and what was degraded."""
    answer = api.expect(200, "POST", f"{path}/recall", {"query": asked, "legs": ["vector"], "budget_ms": 10_000})
    return answer["hits"][0]["text"] if answer["hits"] else "", answer["degraded"]


@pytest.mark.live
@pytest.mark.usefixtures("encoder_files", "multi_files")
def test_e17_what_was_said_in_other_words_is_found_in_many_languages(started_with: StartedWith) -> None:
    path = f"/v1/users/{new_user()}"
    with started_with("bge-small") as (api, controls):
        health = api.expect(200, "GET", "/v1/health")
        assert health["multi"]["model"] != health["embedder"]["model"]
        for said, _ in SAID_AND_ASKED.values():
            api.expect(201, "POST", f"{path}/memories", {"text": said})
        controls.drain()
        job = speak(api, "multi")["reindex_job"]
        assert until_reindexed(api)["in_force"]["languages"] == "multi"
        assert api.expect(200, "GET", f"/v1/admin/jobs/{job}")["result"]["memories"] == len(SAID_AND_ASKED)
        for said, asked in SAID_AND_ASKED.values():
            assert found_by_meaning(api, path, asked) == (said, [])
        later = "Seit gestern spiele ich Cello im Orchester."
        api.expect(201, "POST", f"{path}/memories", {"text": later})
        controls.drain()
        assert found_by_meaning(api, path, "Welches Instrument spiele ich?") == (later, [])
        for nothing in SMALL_TALK:
            message = {"query": nothing, "mode": "prompt", "budget_ms": 10_000}
            assert api.expect(200, "POST", f"{path}/recall", message)["hits"] == [], nothing
        assert api.expect(200, "GET", "/v1/health")["multi"]["state"] == "ready"


@pytest.mark.controls
def test_e17_while_the_vectors_are_made_anew_words_are_found_and_it_is_said(
    tenant_with: Callable[..., ApiClient], person: Callable[[ApiClient], Person], controls: Controls
) -> None:
    api = tenant_with()
    user = person(api)
    memory, asked = user.remember("The sister drives a car.")["id"], "which sibling has an automobile?"
    user.settle()
    assert [hit["id"] for hit in user.recall(asked)["hits"]] == [memory]
    with controls.paused("jobs"):
        job = speak(api, "multi")["reindex_job"]
        before, by_words = user.recall(asked), user.recall("sister car")
        assert (before["hits"], before["degraded"]) == ([], [OTHER_MODEL])
        assert [hit["id"] for hit in by_words["hits"]] == [memory] and by_words["degraded"] == [OTHER_MODEL]
    controls.drain()
    until_reindexed(api)
    after = user.recall(asked)
    assert ([hit["id"] for hit in after["hits"]], after["degraded"]) == ([memory], [])
    assert user.memory(memory)["embedding_model"] == api.expect(200, "GET", "/v1/health")["multi"]["model"]
    controls.advance(SETTLED_S)
    controls.run("sweep")
    controls.drain()
    assert api.expect(200, "GET", f"/v1/admin/jobs/{job}")["status"] == "done"
    assert "reindex_job" not in speak(api, "multi"), "the same policy again changes nothing"
    assert "reindex_job" in speak(api, "en")
    controls.drain()
    until_reindexed(api)
    assert [hit["id"] for hit in user.recall(asked)["hits"]] == [memory]


@pytest.mark.controls
def test_e17_an_encoder_whose_files_cannot_be_had_is_said_and_waited_for(
    tenant_with: Callable[..., ApiClient], person: Callable[[ApiClient], Person], controls: Controls
) -> None:
    api = tenant_with()
    user = person(api)
    memory = user.remember("The sister drives a car.")["id"]
    user.settle()
    controls.fault("embed", "status:400")
    job = speak(api, "multi")["reindex_job"]
    controls.drain()
    waiting = api.expect(200, "GET", f"/v1/admin/jobs/{job}")
    assert waiting["status"] == "running" and waiting["result"]["waits_for"]
    answer = user.recall("sister car")
    assert [hit["id"] for hit in answer["hits"]] == [memory]
    assert answer["degraded"] and set(answer["degraded"]) <= {OTHER_MODEL, EMBED_ERROR}
    controls.faults()
    controls.advance(SETTLED_S)
    controls.run("sweep")
    controls.drain()
    until_reindexed(api)
    assert user.recall("which sibling has an automobile?")["degraded"] == []


@pytest.mark.live
def test_e17_a_policy_of_other_languages_is_refused(api: ApiClient) -> None:
    problem = api.expect(422, "PATCH", "/v1/policy", {"languages": "de"})
    assert problem["errors"][0]["field"] == "languages" and "multi" in problem["errors"][0]["message"]
