"""Row A38 of docs/features.md: what the prompts of a conversation cost, as its backend reports it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from local.api_client import ApiClient
from tests.http.driving.at_once import at_once
from tests.http.driving.controls import Controls
from tests.http.driving.people import Json, Person, answered, filler, used, user_message


def sums(of: Json) -> tuple[int, float, Json]:
    found = of.get("prompt_cache", of)
    return found["reports"], found["hit_rate"], found.get("money", {})


@pytest.mark.live
def test_a38_hit_rate_and_money_of_session_user_tenant_and_day(user: Person, api: ApiClient) -> None:
    """Opus 5.5: 4 USD a million tokens, 0.2 read from the cache, 5 written to it, 20 of the answer."""
    user.open("s1")
    user.open("s2")
    before = api.expect(200, "GET", "/v1/usage")["prompt_cache"]
    first = user.report("s1", pack_version=1, input=1_000, read=0, write=9_000, output=100)
    assert first["hit_rate"] == 0
    assert first["money"] == {
        "cost_usd": 0.051,
        "saved_usd_no_cache": -0.009,
        "saved_usd_rebuilt_pack": -0.009,
    }, "the first prompt writes a cache that nobody has read"
    second = user.report("s1", pack_version=1, input=1_000, read=9_000, write=0, output=100)
    assert second["hit_rate"] == 0.9
    assert second["money"] == {"cost_usd": 0.0078, "saved_usd_no_cache": 0.0342, "saved_usd_rebuilt_pack": 0.0342}
    user.report("s2", pack_version=0, input=1_000)
    of_session = user.session("s1")["usage"]
    assert sums(of_session) == (
        2,
        0.45,
        {"cost_usd": 0.0588, "saved_usd_no_cache": 0.0252, "saved_usd_rebuilt_pack": 0.0252},
    )
    assert of_session["tokens"] == {"input": 2_000, "cache_read": 9_000, "cache_write": 9_000, "output": 200}
    stats = user.expect(200, "GET", "/stats")
    assert sums(stats)[:2] == (3, round(9_000 / 21_000, 6))
    of_user = {"cost_usd": 0.0628, "saved_usd_no_cache": 0.0252, "saved_usd_rebuilt_pack": 0.0252}
    assert stats["prompt_cache"]["money"] == of_user
    days = stats["prompt_cache_days"]
    assert 1 <= len(days) <= 2, "midnight may have passed"
    assert sum(day["prompt_cache"]["reports"] for day in days) == 3
    user.settle()
    after = api.expect(200, "GET", "/v1/usage", query={"days": 2})
    assert after["prompt_cache"]["reports"] - before["reports"] >= 3
    assert after["prompt_cache_days"][-1]["prompt_cache"]["tokens"]["cache_read"] >= 9_000


@pytest.mark.controls
def test_a38_the_hit_rate_and_the_money_of_a_tenant_are_those_of_its_users(
    tenant_with: Callable[..., ApiClient], person: Callable[[ApiClient], Person]
) -> None:
    client = tenant_with()
    first, second = person(client), person(client)
    for one in (first, second):
        one.open("s1")
    first.report("s1", pack_version=1, input=1_000, read=0, write=9_000, output=100)
    second.report("s1", pack_version=1, input=1_000, read=9_000, write=0, output=100)
    first.settle()
    of_tenant = client.expect(200, "GET", "/v1/usage")["prompt_cache"]
    assert sums(of_tenant)[:2] == (2, 0.45)
    assert (of_tenant["money"]["cost_usd"], of_tenant["money"]["saved_usd_no_cache"]) == (0.0588, 0.0252)
    of_users = [one.expect(200, "GET", "/stats")["prompt_cache"] for one in (first, second)]
    assert [one["hit_rate"] for one in of_users] == [0, 0.9]
    for name, usd in of_tenant["money"].items():
        assert round(sum(one["money"][name] for one in of_users), 6) == usd


@pytest.mark.live
def test_a38_a_report_counts_once_for_its_key(user: Person) -> None:
    user.open("s1")
    first = user.report("s1", key="answer-1", input=10, read=30)
    assert user.report("s1", key="answer-1", input=10, read=30) == first
    assert user.session("s1")["usage"]["reports"] == 1
    other = user.call("POST", "/usage", used("s1", input=11), headers={"Idempotency-Key": "answer-1"})
    assert (other.status, other.json()["code"]) == (422, "idempotency_mismatch")
    headers = {"Idempotency-Key": "answer-2"}
    replies = at_once(user.api, lambda _: user.call("POST", "/usage", used("s1", input=10), headers=headers), 4)
    assert {reply.status for reply in replies} == {200}
    assert {reply.text for reply in replies} == {replies[0].text}
    assert user.session("s1")["usage"]["reports"] == 2


@pytest.mark.live
def test_a38_a_model_without_a_price_is_counted_and_its_money_is_not(user: Person) -> None:
    user.open("s1")
    unknown = user.report("s1", model="somebodys-model-7b", input=10, read=30)
    assert "money" not in unknown and "somebodys-model-7b" in unknown["unpriced"]
    assert (unknown["hit_rate"], unknown["session"]["unpriced_reports"]) == (0.75, 1)
    known = user.report("s1", input=10, read=30)
    assert "unpriced" not in known
    assert known["session"]["money"]["cost_usd"] == known["money"]["cost_usd"]
    assert (known["session"]["reports"], known["session"]["unpriced_reports"]) == (2, 1)


@pytest.mark.live
def test_a38_what_cannot_be_counted_is_refused(user: Person) -> None:
    user.open("s1")
    refused: tuple[tuple[dict[str, Any], str], ...] = (
        ({"input": -1}, "usage.input"),
        ({"read": -1}, "usage.cache_read"),
        ({"write": -1}, "usage.cache_write"),
        ({"output": -1}, "usage.output"),
        ({"pack_version": -1}, "pack_version"),
        ({"model": " "}, "model"),
    )
    for tokens, field in refused:
        body = used("s1", **{"input": 1, **tokens})
        assert user.expect(422, "POST", "/usage", body)["errors"][0]["field"] == field
    assert user.expect(404, "POST", "/usage", used("s2", input=1))["code"] == "session_not_found"
    unknown = used("s1", input=1, pack_version=9)
    assert user.expect(404, "POST", "/usage", unknown)["code"] == "pack_version_not_found"
    assert "usage" not in user.session("s1")


@pytest.mark.live
def test_a38_a_pack_change_is_charged_with_what_it_made_the_cache_write(user: Person) -> None:
    """The prefix before the pack, 2,000 tokens, is still read; the pack and what stands behind it are written again."""
    user.open("s1")
    user.bring_in({"text": "Said in this session.", "kind": "observation", "session_id": "s1"})
    user.report("s1", pack_version=1, input=500, read=2_000, write=8_000)
    version = version_behind_a_horizon(user)
    reported = user.report("s1", pack_version=version, input=500, read=2_000, write=8_300)
    assert reported["pack_change"]["trigger"] == "horizon"
    assert (reported["pack_change"]["pack_version"], reported["pack_change"]["cache_writes"]) == (version, 8_000)
    assert reported["pack_change"]["cost_usd"] == 0.0384
    assert reported["collapse"]["reason"] == "compacted"
    assert (reported["collapse"]["pack_version"], reported["collapse"]["trigger"]) == (version, "horizon")
    session = user.session("s1")["usage"]
    assert session["pack_changes"] == {"count": 1, "cache_writes": 8_000, "cost_usd": 0.0384}
    assert session["last_pack_changes"] == [reported["pack_change"]]
    assert session["last_collapses"] == [reported["collapse"]]
    assert session["collapses"]["compacted"] == 1
    back = user.report("s1", pack_version=1, input=500, read=2_000, write=8_300)
    assert (back["collapse"]["reason"], back["pack_change"]["trigger"]) == ("pack_changed", "initial")


@pytest.mark.controls
def test_a38_why_the_hit_rate_collapsed(user: Person, controls: Controls) -> None:
    user.open("s1")
    start = "2026-03-10T09:30:00Z"

    def report(at: str, **more: Any) -> Json:
        body = used("s1", **{"input": 10, "write": 1_000, "pack_version": 1, **more})
        return dict(user.expect(200, "POST", "/usage", body, headers={"X-Test-Now": at}))

    assert "collapse" not in report(start)
    assert "collapse" not in report("2026-03-10T09:34:00Z", read=1_000, write=10)
    assert report("2026-03-10T09:35:00Z")["collapse"]["reason"] == "unknown"
    assert report("2026-03-10T09:41:00Z")["collapse"]["reason"] == "ttl_expired"
    assert report("2026-03-10T09:42:00Z", prefix_sha256={"static": "a"})["collapse"]["reason"] == "unknown"
    assert (
        report("2026-03-10T09:43:00Z", prefix_sha256={"static": "b", "tools": "c"})["collapse"]["reason"]
        == "prefix_changed"
    )
    assert report("2026-03-10T09:44:00Z", model="claude-sonnet-5-5")["collapse"]["reason"] == "prefix_changed"
    counted = user.session("s1")["usage"]["collapses"]
    assert counted == {"pack_changed": 0, "compacted": 0, "ttl_expired": 1, "prefix_changed": 2, "unknown": 2}


@pytest.mark.controls
def test_a38_the_policys_prices_are_those_in_force(tenant_with: Callable[..., ApiClient], person: Any) -> None:
    own = {"input": 100_000, "cache_read": 0, "cache_write": 0, "output": 0}
    client = tenant_with(prices={"somebodys-model-7b": own})
    policy = client.expect(200, "GET", "/v1/policy")
    assert policy["policy"]["prices"] == {"somebodys-model-7b": own}
    table = policy["in_force"]["price_table"]
    assert table["somebodys-model-7b"]["input"] == 100_000
    assert (table["claude-opus-5-5"]["cache_read"], table["claude-opus-5-5"]["as_of"]) == (0.2, "2026-10-24")
    someone = person(client)
    someone.open("s1")
    assert someone.report("s1", model="somebodys-model-7b", input=3)["money"]["cost_usd"] == 0.3


def version_behind_a_horizon(user: Person) -> int:
    """Eight turns of 12,000 tokens, some of which are covered then: the pack's version afterwards."""
    for _ in range(8):
        user.append("s1", user_message(filler(6_000)), answered(filler(6_000)))
    assert user.compact("s1")["result"]["outcome"] == "covered"
    return int(user.pack("s1")["pack_version"])


PROVIDERS: dict[str, Json] = {
    "anthropic": {
        "input_tokens": 1_000,
        "cache_read_input_tokens": 9_000,
        "cache_creation_input_tokens": 0,
        "output_tokens": 100,
    },
    "openai": {"prompt_tokens": 10_000, "completion_tokens": 100, "prompt_tokens_details": {"cached_tokens": 9_000}},
    "openai_responses": {
        "input_tokens": 10_000,
        "input_tokens_details": {"cached_tokens": 9_000},
        "output_tokens": 100,
        "total_tokens": 10_100,
    },
    "ai_sdk": {"inputTokens": 10_000, "inputTokenDetails": {"cacheReadTokens": 9_000}, "outputTokens": 100},
    "gemini": {"promptTokenCount": 10_000, "cachedContentTokenCount": 9_000, "candidatesTokenCount": 100},
    "neve": {"input": 1_000, "cache_read": 9_000, "output": 100},
}


@pytest.mark.live
@pytest.mark.parametrize("shape", PROVIDERS)
def test_a38_a_compiled_prompt_is_reported_once_with_its_providers_counts(user: Person, shape: str) -> None:
    user.open("s1")
    made = user.context("s1", "Hello.", retrieval="none")
    body = {"prompt_id": made["prompt_id"], "usage": PROVIDERS[shape], "model": "claude-opus-5-5"}
    first = user.expect(200, "POST", "/usage", body)
    assert first["hit_rate"] == 0.9 and first["money"]["cost_usd"] == 0.0078
    assert user.expect(200, "POST", "/usage", {**body, "usage": PROVIDERS["neve"] | {"output": 7}}) == first
    assert sums(user.session("s1")["usage"])[:2] == (1, 0.9)
    unnamed = user.context("s1", "Hello again.", retrieval="none")["prompt_id"]
    told = user.expect(200, "POST", "/usage", {"prompt_id": unnamed, "usage": PROVIDERS[shape]})
    assert "unpriced" in told and told["session"]["reports"] == 2


@pytest.mark.live
def test_a38_a_report_that_cannot_be_is_refused_by_field(
    user: Person, person: Callable[[ApiClient], Person], api: ApiClient
) -> None:
    user.open("s1")
    prompt = user.context("s1", "Hello.", retrieval="none")["prompt_id"]
    own = PROVIDERS["neve"]
    for body, field in (
        ({"prompt_id": prompt, "usage": {"tokens": 5}}, "usage"),
        ({"prompt_id": prompt, "usage": {"prompt_tokens": -1}}, "usage.prompt_tokens"),
        ({"prompt_id": prompt, "usage": own, "session_id": "s1"}, "session_id"),
        ({"prompt_id": prompt, "usage": own, "pack_version": 1}, "pack_version"),
        ({"usage": own}, "session_id"),
        ({"usage": own, "session_id": "s1", "pack_version": 0}, "model"),
    ):
        assert user.expect(422, "POST", "/usage", body)["errors"][0]["field"] == field
    for someone in (user, person(api)):
        asked = {"prompt_id": "prm_0000" if someone is user else prompt, "usage": own}
        assert someone.expect(404, "POST", "/usage", asked)["code"] == "prompt_not_found"
    assert "prompt_id" not in user.context("s1", "Hello.", dry_run=True)
