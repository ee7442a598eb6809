"""The row of docs/features.md about access tokens: what stands for an API key for an hour at most, and for one user."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from typing import Any

import pytest

from local.api_client import ApiClient
from tests.http.driving.controls import Controls
from tests.http.driving.people import Json, Person, answered, new_word, user_message
from tests.http.driving.stage import Stage
from tests.http.tokens.making import claims_of, head_of, holding, refused, rewritten, token_of, with_key

JobEnded = Callable[[ApiClient, Json], Json]
GATEWAY_KEEPS_S = 60
TENANT_CALLS: tuple[tuple[str, str, Any], ...] = (
    ("GET", "/v1/policy", None),
    ("PATCH", "/v1/policy", {"recall_limit": 6}),
    ("GET", "/v1/keys", None),
    ("POST", "/v1/keys", {"scopes": ["chat"]}),
    ("GET", "/v1/users", None),
    ("GET", "/v1/events", None),
    ("GET", "/v1/webhooks", None),
    ("PUT", "/v1/webhooks/w1", {"url": "https://example.com/", "types": ["memory.written"]}),
    ("GET", "/v1/usage", None),
    ("POST", "/v1/tokens", {"scopes": ["chat"]}),
    ("POST", "/v1/admin/reflect", {}),
    ("GET", "/v1/admin/jobs/job_01J0000000000000000000000J", None),
)


# --- one user -------------------------------------------------------------------------------------


@pytest.mark.live
def test_e13_a_token_makes_the_calls_of_its_user(user: Person, stage: Stage) -> None:
    with holding(stage, user) as holder:
        holder.open("s1")
        holder.append("s1", user_message("I keep bees on the roof."), answered())
        memory = holder.remember("User's sister lives in Reykjavik.")["id"]
        holder.expect(201, "PUT", "/documents", {"text": "Tea."}, query={"path": "/notes/tea"})
        user.settle()
        assert memory in holder.recalled("sister Reykjavik")
        compiled = holder.expect(200, "POST", "/context", {"session_id": "s1", "message": "Where does she live?"})
        assert "Reykjavik" in str(compiled)
        assert holder.observe("s1")["status"] == "done"
    assert user.events("s1")[0]["content"] == "I keep bees on the roof.", "it is the user's own memory"


@pytest.mark.live
def test_e13_another_user_is_not_there(
    user: Person, person: Callable[[ApiClient], Person], api: ApiClient, stage: Stage
) -> None:
    other = person(api)
    other.open("s1")
    memory = other.remember("User's sister lives in Reykjavik.")["id"]
    other.expect(201, "PUT", "/documents", {"text": "Tea."}, query={"path": "/notes/tea"})
    upload = other.expect(201, "POST", "/uploads", {"media_type": "image/png"})["upload_id"]
    job = other.observe("s1")["id"]
    other.settle()
    other.remember("User keeps bees.")
    cursor = other.expect(200, "GET", "/memories", query={"limit": 1})["next_cursor"]
    with holding(stage, user) as holder:
        stranger = replace(holder, id=other.id)
        for method, path, body, query in (
            ("GET", "/sessions/s1", None, {}),
            ("GET", "/sessions", None, {}),
            ("POST", "/sessions", {"session_id": "s1"}, {}),
            ("GET", "/memories", None, {"cursor": cursor}),
            ("GET", f"/memories/{memory}", None, {}),
            ("GET", f"/jobs/{job}", None, {}),
            ("GET", "/documents", None, {"path": "/notes/tea"}),
            ("PUT", "/documents", {"text": "Mine."}, {"path": "/notes/tea"}),
            ("POST", "/recall", {"query": "sister"}, {}),
            ("POST", "/export", None, {}),
            ("DELETE", "", None, {}),
            ("GET", "/stats", None, {}),
            ("POST", "/tokens", {"scopes": ["chat"]}, {}),
        ):
            problem = refused(stranger.call(method, path, body, query=query), 404, "user_not_found")
            assert "Reykjavik" not in str(problem)
        # the same ids under one's own name
        refused(holder.call("GET", f"/memories/{memory}"), 404, "memory_not_found")
        refused(holder.call("GET", f"/jobs/{job}"), 404, "job_not_found")
        refused(holder.call("GET", "/documents", query={"path": "/notes/tea"}), 404, "document_not_found")
        refused(holder.call("GET", "/memories", query={"cursor": cursor}), 422, "validation_failed")
        holder.open("s1")
        image = {"type": "image", "media_type": "image/png", "upload_id": upload}
        appended = holder.call("POST", "/sessions/s1/events", {"events": [user_message([image])]})
        refused(appended, 404, "upload_not_found")
    assert other.expect(200, "GET", "/documents", query={"path": "/notes/tea"})["text"] == "Tea."


@pytest.mark.live
def test_e13_a_users_token_makes_no_call_of_the_tenant(user: Person, stage: Stage) -> None:
    with holding(stage, user) as holder:
        for method, path, body in TENANT_CALLS:
            refused(holder.api.call(method, path, body), 403, "forbidden")
        for method, path, body in (("GET", "/stats", None), ("POST", "/tokens", {"scopes": ["chat"]})):
            refused(holder.call(method, path, body), 403, "forbidden")
        assert holder.api.call("GET", "/v1/health").status == 200


@pytest.mark.live
def test_e13_a_users_name_is_one_however_it_is_written(user: Person, stage: Stage) -> None:
    composed, apart = f"Zo\N{LATIN SMALL LETTER E WITH DIAERESIS} {user.id}", f"Zoe\N{COMBINING DIAERESIS} {user.id}"
    zoe = replace(user, id=apart)
    with holding(stage, zoe) as holder:
        holder.open("s1")
        assert replace(holder, id=composed).session("s1")["id"] == "s1"
        refused(replace(holder, id=f"Zoe {user.id}").call("GET", "/sessions/s1"), 404, "user_not_found")


@pytest.mark.live
def test_e13_each_scope_opens_its_own_calls_alone(user: Person, stage: Stage) -> None:
    calls: dict[str, tuple[str, str, Any]] = {
        "chat": ("POST", "/recall", {"query": "tea"}),
        "records": ("GET", "/memories", None),
        "documents": ("GET", "/documents/list", None),
        "self": ("POST", "/export", None),
    }
    also = {("records", "documents")}
    for scope in calls:
        with holding(stage, user, scope) as holder:
            for needed, (method, path, body) in calls.items():
                reply = holder.call(method, path, body)
                if needed == scope or (scope, needed) in also:
                    assert reply.status in (200, 202), (scope, needed, reply.text)
                else:
                    assert f"'{needed}'" in refused(reply, 403, "forbidden")["detail"]


@pytest.mark.live
def test_e13_the_scope_documents_is_for_a_models_tools(user: Person, stage: Stage) -> None:
    with holding(stage, user, "documents") as holder:
        holder.expect(201, "PUT", "/documents", {"text": "Green tea."}, query={"path": "/memories/tea"})
        user.settle()
        read = holder.expect(200, "POST", "/tools/read_document", {"arguments": {"path": "/memories/tea"}})
        assert "Green tea." in str(read)
        found = holder.expect(200, "POST", "/tools/search_knowledge", {"arguments": {"query": "green tea"}})
        assert "/memories/tea" in str(found)
        for tool in ("recall_memory", "search_conversation"):
            refused(holder.call("POST", f"/tools/{tool}", {"arguments": {"query": "tea"}}), 403, "forbidden")


@pytest.mark.live
def test_e13_the_scope_self_is_for_ones_own_export_and_erasure(
    user: Person, api: ApiClient, stage: Stage, job_ended: JobEnded
) -> None:
    user.open("s1")
    word = new_word()
    user.append("s1", user_message(f"I keep {word}s."))
    observed = user.observe("s1")["id"]
    with holding(stage, user, "self", ttl_s=3600) as holder:
        refused(holder.call("GET", f"/jobs/{observed}"), 404, "job_not_found")
        job = holder.expect(202, "POST", "/export")
        job_ended(api, job)
        [part] = holder.expect(200, "GET", f"/jobs/{job['id']}")["result"]["parts"]
        assert part["url"].startswith("http")
        result = user.expect(200, "GET", f"/jobs/{job['id']}")["result"]
        assert all("url" not in one for one in result["parts"]), "a key of the chat exports nobody"
        erasure = holder.expect(202, "DELETE", "")
    ended = job_ended(api, erasure)
    with holding(stage, user, "self") as holder:
        assert holder.expect(200, "GET", f"/jobs/{erasure['id']}")["result"] == ended["result"]


# --- the whole tenant -----------------------------------------------------------------------------


@pytest.mark.live
def test_e13_a_console_has_some_of_its_keys_scopes(user: Person, api: ApiClient, stage: Stage) -> None:
    user.open("s1")
    with with_key(stage, api, "admin", "records") as (_, key):
        problem = refused(key.call("POST", "/v1/tokens", {"scopes": ["admin", "chat"]}), 403, "forbidden")
        assert [one["field"] for one in problem["errors"]] == ["scopes[1]"]
        token = key.expect(201, "POST", "/v1/tokens", {"scopes": ["admin", "records"]})["token"]
        with closing(ApiClient(stage.base_url, token)) as console:
            assert console.call("GET", "/v1/policy").status == 200
            seen = replace(user, api=console)
            assert seen.memories() == []
            refused(seen.call("GET", "/sessions/s1"), 403, "forbidden")
            for path, scopes in (("/v1/keys", ["admin"]), ("/v1/tokens", ["records"])):
                assert "API key" in refused(console.call("POST", path, {"scopes": scopes}), 403, "forbidden")["detail"]
            refused(seen.call("POST", "/tokens", {"scopes": ["chat"]}), 403, "forbidden")


@pytest.mark.live
def test_e13_a_key_that_makes_tokens_may_do_nothing_else(user: Person, api: ApiClient, stage: Stage) -> None:
    with with_key(stage, api, "tokens") as (_, client):
        maker = replace(user, api=client)
        with holding(stage, maker, "chat") as holder:
            holder.open("s1")
        refused(maker.call("GET", "/sessions/s1"), 403, "forbidden")
        refused(client.call("POST", "/v1/tokens", {"scopes": ["chat"]}), 403, "forbidden")
    with with_key(stage, api, "chat") as (_, client):
        for path in ("/v1/tokens", f"{user.path}/tokens"):
            refused(client.call("POST", path, {"scopes": ["chat"]}), 403, "forbidden")


# --- bad ones -------------------------------------------------------------------------------------


@pytest.mark.live
def test_e13_what_cannot_be_asked_for_is_named(user: Person, api: ApiClient) -> None:
    for body, field in (
        ({}, "scopes"),
        ({"scopes": []}, "scopes"),
        ({"scopes": ["admin"]}, "scopes[0]"),
        ({"scopes": ["tokens"]}, "scopes[0]"),
        ({"scopes": ["chat", "chat"]}, "scopes"),
        ({"scopes": ["chat"], "ttl_s": 59}, "ttl_s"),
        ({"scopes": ["chat"], "ttl_s": 3601}, "ttl_s"),
        ({"scopes": ["chat"], "ttl_s": "900"}, "ttl_s"),
        ({"scopes": ["chat"], "label": ""}, "label"),
        ({"scopes": ["chat"], "user_id": "ann"}, "user_id"),
    ):
        problem = refused(user.call("POST", "/tokens", body), 422, "validation_failed")
        assert [one["field"] for one in problem["errors"]] == [field], body
    for scope in ("self", "tokens"):
        refused(api.call("POST", "/v1/tokens", {"scopes": [scope]}), 422, "validation_failed")


@pytest.mark.live
def test_e13_a_token_says_what_it_is(user: Person, stage: Stage) -> None:
    token = token_of(user, "chat", "records", ttl_s=60, label="the page of orders")
    head, claims = head_of(token), claims_of(token)
    assert (head["alg"], head["typ"]) == ("HS256", "JWT") and head["kid"]
    assert (claims["sub"], claims["scopes"], claims["key"]) == (user.id, "chat records", stage.key.split("_")[1])
    assert claims["exp"] - claims["nbf"] == 60 and claims["label"] == "the page of orders"
    assert claims["jti"] != claims_of(token_of(user))["jti"]


@pytest.mark.live
def test_e13_a_forged_token_opens_nothing(user: Person, api_c: ApiClient, stage: Stage) -> None:
    token = token_of(user, "chat")
    other_tenants = api_c.expect(201, "POST", "/v1/tokens", {"scopes": ["chat"]})["token"]
    head, claims, signature = token.split(".")
    for forged in (
        rewritten(token, sub="somebody-else"),
        rewritten(token, scopes="chat records admin"),
        rewritten(token, exp=claims_of(token)["exp"] + 3600),
        rewritten(token, tenant=claims_of(other_tenants)["tenant"]),
        rewritten(token, {"kid": "0123456789abcdef"}),
        rewritten(token, {"kid": None}),
        rewritten(token, {"alg": "none"}).rpartition(".")[0] + ".",
        f"{head}.{claims}.",
        f"{head}.{claims}",
        f"{head}.{claims}.{signature[:-2]}",
        f"{head}.{claims_of(token)}.{signature}",
        f"{head}.{other_tenants.split('.')[1]}.{signature}",
        signature,
    ):
        with closing(ApiClient(stage.base_url, forged.replace(" ", ""))) as client:
            problem = refused(replace(user, api=client).call("GET", "/sessions"), 401, "unauthorized")
            assert signature not in str(problem)
    with closing(ApiClient(stage.base_url, other_tenants)) as client:
        assert replace(user, api=client).expect(200, "GET", "/sessions") == {"sessions": []}, "their user of that name"


# --- the end of a token ---------------------------------------------------------------------------


@pytest.mark.controls
def test_e13_a_token_ends_at_its_time_whatever_the_gateway_keeps(
    user: Person, controls: Controls, stage: Stage
) -> None:
    with holding(stage, user, "chat", ttl_s=60) as holder:
        controls.advance(30)
        assert holder.call("GET", "/sessions").status == 200, "from here on the gateway keeps its answer for a minute"
        controls.advance(31)
        problem = refused(holder.call("GET", "/sessions"), 401, "token_expired")
        assert "was good until" in problem["detail"]
        refused(holder.api.call("GET", "/v1/policy"), 401, "token_expired")
        controls.advance(GATEWAY_KEEPS_S + 1)
        refused(holder.call("GET", "/sessions"), 401, "token_expired")
        refused(holder.call("POST", "/recall", {"query": "x"}), 401, "token_expired")


@pytest.mark.controls
def test_e13_a_token_ends_with_the_key_that_made_it(
    user: Person, api: ApiClient, controls: Controls, stage: Stage
) -> None:
    with (
        with_key(stage, api, "tokens") as (key_id, client),
        holding(stage, replace(user, api=client), "chat", ttl_s=3600) as holder,
    ):
        assert holder.call("GET", "/sessions").status == 200
        api.expect(204, "DELETE", f"/v1/keys/{key_id}")
        controls.advance(GATEWAY_KEEPS_S + 1)
        refused(holder.call("GET", "/sessions"), 401, "unauthorized")


@pytest.mark.controls
def test_e13_the_use_of_a_token_is_its_keys(user: Person, api: ApiClient, controls: Controls, stage: Stage) -> None:
    def last_used(key_id: str) -> str:
        keys = api.expect(200, "GET", "/v1/keys", query={"limit": 200})["keys"]
        [day] = [one["last_used_day"] for one in keys if one["key_id"] == key_id]
        return str(day)

    with with_key(stage, api, "tokens") as (key_id, client):
        controls.freeze("2026-03-10T23:30:00+00:00")
        with holding(stage, replace(user, api=client), "chat", ttl_s=3600) as holder:
            assert last_used(key_id) == "2026-03-10"
            controls.advance(1860)
            assert holder.call("GET", "/sessions").status == 200
            assert last_used(key_id) == "2026-03-11"


@pytest.mark.controls
def test_e13_tokens_made_before_a_secret_was_replaced_go_on(user: Person, controls: Controls, stage: Stage) -> None:
    first = token_of(user, "chat")
    controls.advance(31 * 24 * 3600)
    before = token_of(user, "chat")
    assert head_of(before)["kid"] != head_of(first)["kid"], "a secret signs for thirty days"
    controls.advance(29 * 24 * 3600 + 23 * 3600)
    last = token_of(user, "chat", ttl_s=3600)
    controls.advance(3500)
    assert head_of(last)["kid"] == head_of(before)["kid"]
    controls.advance(99)
    with closing(ApiClient(stage.base_url, last)) as client:
        assert replace(user, api=client).call("GET", "/sessions").status == 200


@pytest.mark.controls
def test_e13_a_token_is_in_no_row_and_in_no_log(user: Person, api: ApiClient, controls: Controls, stage: Stage) -> None:
    label = new_word()
    answer = {"scopes": ["chat", "records"], "label": label}
    token = user.expect(201, "POST", "/tokens", answer, headers={"Idempotency-Key": "once"})["token"]
    console = api.expect(201, "POST", "/v1/tokens", {"scopes": ["admin"], "label": label})["token"]
    with closing(ApiClient(stage.base_url, token)) as client:
        holder = replace(user, api=client)
        holder.open("s1")
        holder.append("s1", user_message("I keep bees."))
        holder.call("GET", "/stats")
        holder.call("POST", "/recall", {"query": 1})
    with closing(ApiClient(stage.base_url, console)) as client:
        client.call("GET", "/v1/policy")
    controls.drain()
    for text in (token, console):
        for part in (text, *text.split(".")[1:], claims_of(text)["jti"], label):
            assert controls.stored(part) == []
            assert controls.files_with(part) == [], "in the log"
