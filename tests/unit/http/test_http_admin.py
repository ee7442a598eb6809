"""E14, E16, E17 through the admin function."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest

import neve
from functions.admin.app import router
from neve.adapters.embedders.no_embedder import NoEmbedder
from neve.domain.languages import LANGUAGES
from neve.domain.records.jobs import Job
from neve.domain.records.memories import Kind, Status
from neve.domain.tenants.policy import Policy
from neve.http.schemas.jobs.jobs import DRAIN_EMBEDDINGS, READ_ADMIN_JOB
from neve.http.schemas.tenants.admin import (
    CREATE_KEY,
    HEALTH,
    PATCH_POLICY,
    READ_POLICY,
    STATS,
    USAGE,
    WRITE_POLICY,
)
from neve.ports.errors import StoreUnavailable
from neve.ports.models import Embedder
from neve.ports.search import IndexModel, SearchIndex
from neve.ports.table import Expect, Put
from neve.store import rows
from neve.store.tenants.embedder_health import put_embedder_health
from neve.usecases.core.tenants.policy_in_force import tenant_scope
from neve.usecases.core.tenants.usage import usage_put
from neve.usecases.tell.memories.create_memory import NewMemory, create_memory
from neve.usecases.tell.memories.update_memory import MemoryChange, update_memory
from tests.unit.api_world import Api, Reply, installed
from tests.unit.world import World

BGE = IndexModel("bge-small", 384)


class Model:
    """The part of an embedder or an index that health asks for."""

    model_now: IndexModel | Exception = BGE
    languages = ("en",)

    @property
    def model(self) -> IndexModel:
        assert isinstance(self.model_now, IndexModel)
        return self.model_now


class IndexOf:
    held: IndexModel | None = BGE

    def model(self) -> IndexModel:
        if self.held is None:
            raise StoreUnavailable("search", "down")
        return self.held


class AdminWorld(World):
    model = Model()
    index = IndexOf()

    @property
    def embedder(self) -> Embedder:
        return cast(Embedder, self.model)

    @property
    def search(self) -> SearchIndex:
        return cast(SearchIndex, self.index)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[AdminWorld]:
    world = AdminWorld.make(tmp_path)
    assert isinstance(world, AdminWorld)
    world.model, world.index = Model(), IndexOf()
    for _ in installed(world):
        yield world


@pytest.fixture
def api(world: AdminWorld) -> Api:
    return Api(router)


def health(world: World) -> Any:
    reply = Api(router, tenant="", scopes="").call("GET", HEALTH.path)
    assert reply.status == 200
    return reply.json


# --- E16 ----------------------------------------------------------------------------------------


def test_health(world: AdminWorld) -> None:
    assert health(world) == {
        "status": "ok",
        "version": neve.__version__,
        "table": "ready",
        "embedder": {"model": "bge-small", "dimensions": 384, "state": "ready"},
        "index": {"state": "ready", "model": "bge-small", "dimensions": 384, "match": True},
        "observer": "scripted",
        "languages": {"words": [*LANGUAGES], "meaning": ["en"], "observer": ["*"]},
        "troubles": [],
    }


def test_health_says_why_vectors_are_not_made(world: AdminWorld) -> None:
    world.table.write([put_embedder_health(BGE, "unavailable", "403 from the provider", world.clock.now())])
    found = health(world)
    assert found["status"] == "degraded"
    assert found["embedder"]["state"] == "unavailable"
    assert found["embedder"]["reason"] == "403 from the provider"
    world.table.write([put_embedder_health(BGE, "ready", None, world.clock.now())])
    assert health(world)["status"] == "ok"


def test_what_was_found_out_about_another_model_does_not_count(world: AdminWorld) -> None:
    world.table.write([put_embedder_health(IndexModel("old", 8), "unavailable", "gone", world.clock.now())])
    assert health(world)["embedder"]["state"] == "ready"


def test_health_without_an_embedder(world: AdminWorld) -> None:
    none = NoEmbedder().model
    world.model.model_now = world.index.held = none
    assert health(world)["embedder"] == {"model": "none", "dimensions": 0, "state": "off"}
    assert health(world)["status"] == "ok"


def test_health_of_an_index_of_another_model(world: AdminWorld) -> None:
    world.index.held = IndexModel("other", 384)
    assert (health(world)["status"], health(world)["index"]["match"]) == ("degraded", False)


def test_health_while_stores_are_down(world: AdminWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    def down(_: object) -> None:
        raise StoreUnavailable("table", "down")

    monkeypatch.setattr(world.table, "get_many", down)
    world.index.held = None
    found = health(world)
    assert (found["status"], found["table"], found["index"]) == ("degraded", "unavailable", {"state": "unavailable"})


def test_stats_of_nobody(api: Api) -> None:
    assert api.call("GET", STATS.path, user_id="nobody").json == {
        "working": "per_request",
        "short_term": {"sessions": 0, "events": 0},
        "semantic": {"memories": 0, "active": 0},
        "episodic": {"memories": 0, "active": 0},
        "memories": {"total": 0, "kind": {}, "tier": {"semantic": 0, "episodic": 0}, "status": {}},
        "embeddings": {"pending": 0, "ready": 0, "failed": 0, "skipped": 0, "vectors": 0},
        "usage": dict.fromkeys(
            (
                *("embedded_texts", "reused_vectors", "model_calls", "model_input_tokens"),
                *("model_cache_read_tokens", "model_cache_write_tokens", "model_output_tokens"),
                *("model_batch_input_tokens", "model_batch_output_tokens"),
            ),
            0,
        ),
        "prompt_cache": {
            "reports": 0,
            "tokens": {"input": 0, "cache_read": 0, "cache_write": 0, "output": 0},
            "unpriced_reports": 0,
            "pack_changes": {"count": 0, "cache_writes": 0},
            "collapses": dict.fromkeys(("pack_changed", "compacted", "ttl_expired", "prefix_changed", "unknown"), 0),
        },
        "prompt_cache_days": [],
        "memory_lag": dict.fromkeys(("events", "unindexed", "unembedded", "unobserved", "seconds"), 0),
        "complete": True,
    }


def test_stats_count_rows(world: AdminWorld, api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("neve.usecases.ask.tenants.user_stats.PAGE", 2)
    world.open("ann", "s1")
    world.open("ann", "s2")
    world.say("a", "b", "c")
    world.say("d", session="s2")
    for n in range(5):
        create_memory(world.user("ann"), NewMemory(f"note {n}", Kind.NOTE))
    done = create_memory(world.user("ann"), NewMemory("done", Kind.MANUAL))
    update_memory(world.user("ann"), done.id, MemoryChange({"status": Status.RESOLVED}), None)
    create_memory(world.user("bob"), NewMemory("other", Kind.NOTE))
    keys = world.tenant.keys
    key = keys.of_user("ann").vector("f" * 64, "bge-small")
    world.table.write(
        [usage_put(keys.of_user("ann"), None, {"embedded_texts": 3, "reused_vectors": 1, "model_calls": 2})]
    )
    vector = {"pk": key.pk, "sk": key.sk, "type": "vector", "vector": b"1234"}
    world.table.write([Put(vector, Expect.ABSENT)])
    found = api.call("GET", STATS.path, user_id="ann").json
    assert found["short_term"] == {"sessions": 2, "events": 4}
    assert found["memories"]["total"] == 6
    assert found["memories"]["kind"] == {"note": 5, "manual": 1}
    assert found["memories"]["status"] == {"active": 5, "resolved": 1}
    assert sum(found["memories"]["tier"].values()) == 6
    assert found["embeddings"] == {"pending": 6, "ready": 0, "failed": 0, "skipped": 0, "vectors": 1}
    assert (found["usage"]["embedded_texts"], found["usage"]["reused_vectors"]) == (3, 1)


def test_stats_that_one_call_cannot_count_say_so(world: AdminWorld, api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("neve.usecases.ask.tenants.user_stats.PAGE", 2)
    world.open("ann", "s1")
    for n in range(7):
        key = world.user("ann").keys.vector(f"print{n}", "m")
        world.table.write([Put({"pk": key.pk, "sk": key.sk, "type": "vector"}, Expect.ABSENT)])
    found = api.call("GET", STATS.path, user_id="ann")
    assert (found.json["complete"], found.json["embeddings"]["vectors"]) == (True, 7)
    real, partition = world.table.query, world.user("ann").keys.vectors

    def slow(wanted: str, **more: Any) -> Any:
        world.clock.move(seconds=6 if wanted == partition else 0)
        return real(wanted, **more)

    monkeypatch.setattr(world.table, "query", slow)
    found = api.call("GET", STATS.path, user_id="ann")
    assert (found.json["complete"], found.json["embeddings"]["vectors"]) == (False, 4)
    assert found.json["short_term"]["sessions"] == 1
    assert found.headers["X-Neve-Degraded"] == "stats:timeout"


def test_usage_is_the_sum_over_users_of_this_tenant(
    world: AdminWorld, api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("neve.usecases.ask.tenants.tenant_usage.PAGE", 2)
    for n in range(5):
        counted = {"model_calls": n, "model_input_tokens": 10 * n}
        world.table.write([usage_put(world.tenant.keys.of_user(f"u{n}"), None, counted)])
    found = api.call("GET", USAGE.path).json
    assert found["users"] == 5
    assert (found["usage"]["model_calls"], found["usage"]["model_input_tokens"]) == (10, 100)


def test_usage_that_one_call_cannot_add_up_says_so(
    world: AdminWorld, api: Api, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of each user the row is read: of very many, not all within the time of a call."""
    monkeypatch.setattr("neve.usecases.ask.tenants.tenant_usage.PAGE", 2)
    for n in range(7):
        world.table.write([usage_put(world.tenant.keys.of_user(f"u{n}"), None, {"model_calls": 1})])
    assert api.call("GET", USAGE.path).json["complete"] is True
    real = world.table.get_many

    def slow(keys: Any, **how: Any) -> Any:
        world.clock.move(seconds=6)
        return real(keys, **how)

    monkeypatch.setattr(world.table, "get_many", slow)
    found = api.call("GET", USAGE.path)
    assert (found.json["complete"], found.json["users"], found.json["usage"]["model_calls"]) == (False, 4, 4)
    assert found.headers["X-Neve-Degraded"] == "usage:timeout"
    assert '"UsageIncomplete":[1.0]' in capsys.readouterr().out


# --- E17: policy --------------------------------------------------------------------------------


def put_policy(api: Api, body: Any, rev: str | None = None, **more: Any) -> Reply:
    headers = {"If-Match": rev} if rev else {}
    return api.call("PUT", WRITE_POLICY.path, body, headers=headers | more.pop("headers", {}), **more)


def test_default_policy(api: Api) -> None:
    found = api.call("GET", READ_POLICY.path).json
    assert (found["policy"], found["rev"]) == ({}, 1)
    in_force = found["in_force"]
    assert in_force["window"] == 200_000
    assert in_force["session_reflection_trigger"] == 65_000
    assert in_force["session_reflection_target"] == 32_500
    assert in_force["compaction_trigger"] == 100_000
    assert in_force["global_budget"] == 15_000
    assert None not in in_force.values()


def test_policy_is_replaced(api: Api, world: AdminWorld) -> None:
    written = put_policy(api, {"window": 2_000, "recall_limit": 3})
    assert written.status == 200
    assert written.json["policy"] == {"window": 2_000, "recall_limit": 3}
    assert written.json["in_force"]["session_reflection_trigger"] == 650
    assert written.json["rev"] == 2
    assert tenant_scope(world, "acme").policy == Policy(window=2_000, recall_limit=3)
    assert put_policy(api, {"window": 2_000, "recall_limit": 3}).json["rev"] == 2
    assert put_policy(api, {}).json == api.call("GET", READ_POLICY.path).json
    assert api.call("GET", READ_POLICY.path).json["policy"] == {}


PRICE = {"input": 1, "cache_read": 1, "cache_write": 1, "output": 1}


@pytest.mark.parametrize(
    "name",
    ["", "x" * 201, "x" * 500_000, " ", "gpt ", "\u00a0gpt"],
    ids=["empty", "long", "longer than a row", "blank", "padded", "padded with another blank"],
)
@pytest.mark.parametrize("field", ["cacheable_tokens", "prices", "chat_model"])
def test_a_model_in_the_policy_has_a_name(api: Api, field: str, name: str) -> None:
    """A report of a prompt names it without white space around it, and finds no other."""
    value = {"cacheable_tokens": {name: 5}, "prices": {name: PRICE}, "chat_model": name}[field]
    reply = put_policy(api, {field: value})
    assert (reply.status, reply.json["code"]) == (422, "validation_failed")
    assert reply.fields[0].startswith(field)


def test_a_counter_that_is_not_installed_is_refused_at_once(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NEVE_BPE_DIR", raising=False)
    reply = put_policy(api, {"token_counter": "o200k_base"})
    assert (reply.status, reply.json["code"], reply.fields) == (422, "invalid_policy", ["token_counter"])
    assert api.call("GET", READ_POLICY.path).json["rev"] == 1


@pytest.mark.parametrize(("stored", "read"), [(True, "linear"), (False, "off")])
def test_a_policy_from_before_there_were_names_for_the_ways_to_rank_is_read(stored: Any, read: str) -> None:
    assert Policy.stored({"rerank": stored, "recall_limit": 3}).rerank == read
    assert Policy.stored({"recall_limit": 3}).rerank == "deep"


def test_policy_with_if_match(api: Api) -> None:
    assert put_policy(api, {"recall_limit": 3}, '"1"').status == 200
    reply = put_policy(api, {"recall_limit": 4}, '"1"')
    assert (reply.status, reply.json["code"]) == (412, "precondition_failed")
    assert put_policy(api, {"recall_limit": 4}, "*").json["rev"] == 3


def test_the_policy_says_its_rev_as_if_match_takes_it(api: Api) -> None:
    read = api.call("GET", READ_POLICY.path)
    written = put_policy(api, {"recall_limit": 3}, read.headers["ETag"])
    assert (read.headers["ETag"], written.headers["ETag"]) == ('"1"', '"2"')
    assert put_policy(api, {"recall_limit": 4}, written.headers["ETag"]).json["rev"] == 3


def test_concurrent_policy(api: Api, world: AdminWorld) -> None:
    def other() -> None:
        put_policy(Api(router), {"recall_limit": 9})

    world.table.before_write = other
    reply = put_policy(api, {"recall_limit": 3})
    assert (reply.status, reply.json["rev"], reply.json["policy"]) == (200, 3, {"recall_limit": 3}), "it was second"
    world.table.before_write = other
    reply = put_policy(api, {"recall_limit": 4}, '"3"')
    assert (reply.status, reply.json["code"]) == (412, "precondition_failed")


# --- E17: keys ----------------------------------------------------------------------------------


def new_key(api: Api, *scopes: str, **more: Any) -> Reply:
    return api.call("POST", CREATE_KEY.path, {"scopes": list(scopes)}, **more)


def test_key_is_shown_once(api: Api, world: AdminWorld) -> None:
    headers = {"Idempotency-Key": "k"}
    first, again = (new_key(api, "chat", "admin", headers=headers) for _ in range(2))
    assert first.status == again.status == 201
    assert first.json["scopes"] == ["chat", "admin"]
    assert first.json["key"].startswith(f"nv_{first.json['key_id']}_")
    assert again.json == {name: value for name, value in first.json.items() if name != "key"}
    assert first.json["key"].rpartition("_")[2] not in world.everything_stored()
    assert new_key(api, "chat", headers=headers).json["code"] == "idempotency_mismatch"


def test_some_of_a_policy_is_changed(api: Api) -> None:
    first = api.call(
        "PUT", WRITE_POLICY.path, {"recall_limit": 7, "pii": {"ssn": "redact"}, "prices": {"m": PRICE}}
    ).json
    reply = api.call(
        "PATCH", PATCH_POLICY.path, {"window": 100_000, "pii": {"password": "allow"}, "prices": {"n": PRICE}}
    )
    assert (reply.status, reply.json["rev"], reply.headers["ETag"]) == (200, first["rev"] + 1, f'"{first["rev"] + 1}"')
    assert reply.json["policy"]["pii"] == {"ssn": "redact", "password": "allow"}
    assert (reply.json["policy"]["recall_limit"], sorted(reply.json["policy"]["prices"])) == (7, ["m", "n"])
    again = api.call("PATCH", PATCH_POLICY.path, {"window": 100_000})
    assert again.json["rev"] == reply.json["rev"], "what changes nothing is no revision"
    stale = api.call("PATCH", PATCH_POLICY.path, {"window": 90_000}, headers={"If-Match": f'"{first["rev"]}"'})
    assert (stale.status, stale.json["code"]) == (412, "precondition_failed")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"colour": "red"}, "colour"),
        ({"recall_limit": None}, "recall_limit"),
        ({"prices": {"m": None}}, "prices.m"),
        ({"pii": {"colour": "red"}}, "pii.colour"),
        ({"pii": {"ssn": "eat"}}, "pii.ssn"),
        ({"recall_limit": "7"}, "recall_limit"),
        ({"compaction_trigger": 300_000}, "compaction_trigger"),
        ({"pii": 5}, "pii"),
        ({}, "body"),
    ],
)
def test_a_change_of_a_policy_is_checked_as_a_policy_is(api: Api, change: Any, field: str) -> None:
    reply = api.call("PATCH", PATCH_POLICY.path, change)
    assert (reply.status, reply.fields[0]) == (422, field)


# --- E14 ----------------------------------------------------------------------------------------


def test_drain_is_a_job_of_the_tenant(api: Api, world: AdminWorld) -> None:
    reply = api.call("POST", DRAIN_EMBEDDINGS.path, {"user_id": "ann"})
    assert (reply.status, reply.json["status"]) == (200, "done")
    assert reply.json["result"]["pending"] == 0
    read = api.call("GET", READ_ADMIN_JOB.path, job_id=reply.json["id"])
    assert read.json == reply.json
    assert Api(router, scopes="chat records").call("POST", DRAIN_EMBEDDINGS.path, {}).status == 403


def test_any_job_of_the_tenant_and_no_other(api: Api, world: AdminWorld) -> None:
    job = Job("job_01", "observe", "done", "2026-03-10T09:30:00.000Z", user_id="ann")
    world.table.write([rows.put_job(world.tenant.keys, job)])
    assert api.call("GET", READ_ADMIN_JOB.path, job_id="job_01").json["user_id"] == "ann"
    assert api.call("GET", READ_ADMIN_JOB.path, job_id="job_02").json["code"] == "job_not_found"
    world.tenant = type(world.tenant)("other", Policy())
    for _ in installed(world):
        assert Api(router, tenant="other").call("GET", READ_ADMIN_JOB.path, job_id="job_01").status == 404
