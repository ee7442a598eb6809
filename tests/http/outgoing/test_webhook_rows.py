"""The row of docs/features.md about outgoing events: webhooks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from local.api_client import ApiClient
from neve.domain.outgoing.signature import signed_headers
from tests.http.driving.controls import Controls
from tests.http.driving.people import Json, Person, answered, new_word, reflect_job, user_message
from tests.http.outgoing.feeds import feed_of
from tests.receiver import Receiver, receiver

JobEnded = Callable[[ApiClient, Json], Json]
TYPES = [
    *("memory.written", "memory.superseded", "memory.forgotten", "pack.version", "reflection.done"),
    *("session.extracted", "erasure.done", "export.done", "job.failed", "inbox.waiting"),
]


@contextmanager
def hooked(api: ApiClient, receives: Receiver, **more: Any) -> Iterator[tuple[str, Json]]:
    """The path of a webhook that sends to a receiver, and the answer that made it."""
    path = f"/v1/webhooks/{new_word()}"
    made = api.expect(201, "PUT", path, {"url": receives.url, "types": TYPES, **more})
    try:
        yield path, dict(made)
    finally:
        api.expect(204, "DELETE", path)


def told(user: Person, receives: Receiver) -> list[tuple[str, str]]:
    """Types and subjects of what was taken about a user, each event once."""
    taken = {event["id"]: event for event in receives.taken if event.get("user_id") == user.id}
    return [(event["type"], event["subject"]) for event in taken.values()]


def outcomes(api: ApiClient, path: str) -> set[str]:
    """Those of the last attempts, whomever they tell of: other users of the tenant are at work, too."""
    return {line["outcome"] for line in api.expect(200, "GET", f"{path}/deliveries")["deliveries"]}


def sweep(controls: Controls, minutes: float) -> None:
    controls.advance(minutes * 60)
    controls.run("sweep")
    controls.drain()


# --- what arrives -----------------------------------------------------------------------------------


@pytest.mark.controls
def test_e14_a_webhook_is_sent_what_happens_in_order_and_signed(
    user: Person, api: ApiClient, controls: Controls, job_ended: JobEnded
) -> None:
    with receiver() as receives, hooked(api, receives) as (_, made):
        user.open("s1")
        user.append("s1", user_message("I moved to Lisbon, and I am a vegetarian now."), answered())
        user.observe("s1")
        user.expect(202, "POST", "/sessions/s1/end", {})
        memory = user.remember("User keeps bees.")["id"]
        user.expect(200, "DELETE", f"/memories/{memory}")
        job_ended(api, dict(user.call("POST", "/export").json()))
        controls.drain()
        types = {kind for kind, _ in told(user, receives)}
        assert types >= {"memory.written", "memory.forgotten", "pack.version", "session.extracted", "export.done"}
        assert receives.first_times(user.id) == [event["id"] for event in feed_of(user)]
        headers, body = receives.asked[0]
        sent_at = int(headers["webhook-timestamp"])
        ours = signed_headers([made["secret"]], headers["webhook-id"], sent_at, body)
        assert headers["webhook-signature"] == ours["webhook-signature"]
        assert not any(word in body for _, body in receives.asked for word in (b"Lisbon", b"bees"))


@pytest.mark.controls
def test_e14_a_night_an_erasure_and_a_job_that_failed_are_told(
    person: Callable[[ApiClient], Person], api: ApiClient, controls: Controls, job_ended: JobEnded
) -> None:
    user = person(api)
    with receiver() as receives, hooked(api, receives):
        old = {"kind": "observation", "created_at": "2026-01-01T00:00:00Z", "observed_at": "2026-01-01T00:00:00Z"}
        user.bring_in(*({"text": f"User drank tea with Tom on day {n}.", **old} for n in range(12)))
        user.settle()
        job_ended(api, reflect_job(api, user.id, min_age_days=0))
        user.open("s1")
        user.append("s1", user_message("I sail."), answered())
        controls.fault("llm", "status:400")
        failed = user.observe("s1")
        controls.faults()
        controls.drain()
        erased = job_ended(api, dict(user.call("DELETE", "").json()))
        controls.drain()
        seen = dict.fromkeys(told(user, receives))
        assert ("erasure.done", erased["id"]) in seen
        if failed["status"] == "failed":
            assert ("job.failed", failed["id"]) in seen
        assert {kind for kind, _ in seen} >= {"memory.written", "reflection.done", "erasure.done"}


@pytest.mark.controls
def test_e14_a_webhook_may_ask_for_the_text(user: Person, api: ApiClient, controls: Controls) -> None:
    with receiver() as receives, hooked(api, receives, include="text"):
        user.remember("User keeps bees.")
        controls.drain()
        [event] = {event["id"]: event for event in receives.taken if event.get("user_id") == user.id}.values()
        assert event["data"]["text"] == "User keeps bees."


@pytest.mark.controls
def test_e14_a_test_says_what_became_of_it(api: ApiClient) -> None:
    with receiver() as receives, hooked(api, receives) as (path, _):
        tried = api.expect(200, "POST", f"{path}/test")
        assert (tried["delivered"], tried["status"]) == (True, 204)
        receives.answers = lambda _: 302
        tried = api.expect(200, "POST", f"{path}/test")
        assert (tried["delivered"], tried["status"], tried["failure"]) == (False, 302, "status")
        lines = api.expect(200, "GET", f"{path}/deliveries")["deliveries"]
        tests = [line["outcome"] for line in lines if line["event_type"] == "webhook.test"]
        assert tests == ["failed", "delivered"]


# --- what does not ----------------------------------------------------------------------------------


@pytest.mark.controls
def test_e14_a_receiver_that_was_down_for_an_hour_is_sent_all_later(
    user: Person, api: ApiClient, controls: Controls
) -> None:
    with receiver(lambda _: 503) as receives, hooked(api, receives) as (path, _):
        made = []
        for n in range(6):
            made.append(("memory.written", user.remember(f"User keeps {n} bees.")["id"]))
            controls.drain()
            sweep(controls, 10)
        assert told(user, receives) == []
        assert outcomes(api, path) == {"failed"}
        receives.answers = lambda _: 204
        for _ in range(4):
            sweep(controls, 30)
        assert told(user, receives) == made
        assert "delivered" in outcomes(api, path)


@pytest.mark.controls
@pytest.mark.usefixtures("workers_awake")
def test_e14_one_receiver_that_hangs_delays_no_other(user: Person, api: ApiClient) -> None:
    """No drain: it would wait for the attempt."""
    with receiver(lambda _: None) as hangs, receiver() as receives, hooked(api, hangs), hooked(api, receives):
        made = [("memory.written", user.remember(f"User keeps {n} bees.")["id"]) for n in range(5)]
        receives.wait_for(lambda: told(user, receives) == made)
        hangs.wait_for(lambda: len(hangs.asked) > 0)
        assert hangs.taken == []
        hangs.stopped.set()


@pytest.mark.controls
def test_e14_who_answers_410_is_sent_nothing_more_until_it_is_put_again(
    user: Person, api: ApiClient, controls: Controls
) -> None:
    with receiver(lambda _: 410) as receives, hooked(api, receives) as (path, _):
        user.remember("User keeps bees.")
        controls.drain()
        assert "disabled_at" in api.expect(200, "GET", path)
        receives.answers, asked = lambda _: 204, len(receives.asked)
        user.remember("User keeps a cat.")
        controls.drain()
        assert len(receives.asked) == asked
        api.expect(200, "PUT", path, {"url": receives.url, "types": TYPES})
        later = user.remember("User keeps a dog.")["id"]
        controls.drain()
        assert told(user, receives) == [("memory.written", later)]


@pytest.mark.controls
def test_e14_both_secrets_sign_while_one_takes_the_place_of_the_other(
    user: Person, api: ApiClient, controls: Controls
) -> None:
    with receiver() as receives, hooked(api, receives) as (path, made):
        other = "whsec_" + "QUJD" * 10
        changed = api.expect(200, "PUT", path, {"url": receives.url, "types": TYPES, "secret": other})
        assert "secret" not in changed and "rotating_until" in changed
        user.remember("User keeps bees.")
        controls.drain()
        headers, body = receives.asked[0]
        sent_at = int(headers["webhook-timestamp"])
        for secret in (other, made["secret"]):
            ours = signed_headers([secret], headers["webhook-id"], sent_at, body)["webhook-signature"]
            assert ours in headers["webhook-signature"].split(" ")


# --- what is asked for ------------------------------------------------------------------------------


@pytest.mark.live
@pytest.mark.parametrize(
    "url",
    [
        *("http://example.com/", "https://10.0.0.1/", "https://169.254.169.254/latest/", "https://[fd00:ec2::254]/"),
        *("https://100.64.0.1/", "https://[::ffff:10.0.0.1]/", "https://[64:ff9b::7f00:1]/", "https://224.0.0.1/"),
        *("https://2852039166/", "https://ada:pass@example.com/", "ftp://example.com/", "https://", "example.com"),
    ],
)
def test_e14_a_url_to_which_nothing_is_sent_is_refused_with_its_field(api: ApiClient, url: str) -> None:
    reply = api.call("PUT", f"/v1/webhooks/{new_word()}", {"url": url, "types": ["memory.written"]})
    if url.startswith("http://example"):  # one machine may be told to take http, and then refuses it at the attempt
        assert reply.status in (201, 422)
        return
    assert (reply.status, reply.json()["errors"][0]["field"]) == (422, "url"), reply.text


@pytest.mark.live
@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"types": ["memory.written"]}, "url"),
        ({"url": "https://example.com/"}, "types"),
        ({"url": "https://example.com/", "types": []}, "types"),
        ({"url": "https://example.com/", "types": ["memory.read"]}, "types"),
        ({"url": "https://example.com/", "types": ["memory.written"], "secret": "hunter2"}, "secret"),
        ({"url": "https://example.com/", "types": ["memory.written"], "include": "all"}, "include"),
        ({"url": "https://example.com/", "types": ["memory.written"], "headers": {}}, "headers"),
    ],
)
def test_e14_what_is_wrong_with_a_webhook_is_named(api: ApiClient, body: Json, field: str) -> None:
    reply = api.call("PUT", f"/v1/webhooks/{new_word()}", body)
    assert reply.status == 422, reply.text
    assert reply.json()["errors"][0]["field"].startswith(field)


@pytest.mark.live
def test_e14_a_webhook_is_the_tenants_own_and_shows_its_secret_once(api: ApiClient, api_c: ApiClient) -> None:
    path = f"/v1/webhooks/{new_word()}"
    body = {"url": "https://example.invalid/neve", "types": ["memory.written"]}
    made = api.expect(201, "PUT", path, body)
    try:
        assert made["secret"].startswith("whsec_")
        shown = api.expect(200, "GET", path)
        assert "secret" not in shown and shown["url"] == body["url"]
        assert api.expect(200, "PUT", path, body) == shown, "a repeat changes nothing"
        assert shown in api.expect(200, "GET", "/v1/webhooks")["webhooks"]
        for method, below in (("GET", ""), ("DELETE", ""), ("POST", "/test"), ("GET", "/deliveries")):
            assert api_c.call(method, path + below).status == 404
        assert shown not in api_c.expect(200, "GET", "/v1/webhooks")["webhooks"]
    finally:
        api.expect(204, "DELETE", path)
    assert api.call("GET", path).json()["code"] == "webhook_not_found"
