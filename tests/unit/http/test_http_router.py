"""What every call goes through, shown on operations made for these tests."""

from __future__ import annotations

import base64
import gzip
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field

from neve import wiring
from neve.domain.cursors import InvalidCursor
from neve.domain.errors import NeveError
from neve.domain.tenants.policy import Policy
from neve.http.operations import Body, Nothing, Operation, Parameters, Response, View
from neve.http.preconditions import EntityTags, read_entity_tags, read_revs
from neve.http.problems import PROBLEMS, as_refusal, problem_body
from neve.http.request import MAX_BODY_BYTES
from neve.http.router import Answer, Call, Router, once
from neve.http.schemas.fields import Identifier, Limit, Time
from neve.ports.errors import Conflict, StoreUnavailable
from neve.store.keys import tenant_row
from neve.store.tenants.tenant_rows import read_tenant
from neve.usecases.core.tenants.policy_in_force import tenant_scope
from neve.usecases.tell.tenants.write_policy import write_policy
from tests.unit.api_world import Api, Reply, installed, proxy_event
from tests.unit.world import World

THINGS = "/v1/users/{user_id}/things"
THING = "/v1/users/{user_id}/things/{thing_id}"


class Part(Body):
    text: str = Field(min_length=1)


class ThingBody(Body):
    name: str = Field(max_length=10)
    id: Identifier | None = None
    at: Time | None = None
    size: int | None = None
    share: float | None = None
    parts: list[Part] = Field(default_factory=list)
    data: dict[str, object] = Field(default_factory=dict)


class ThingQuery(Parameters):
    limit: Limit = 50
    kind: Literal["a", "b"] | None = None


class ThingView(View):
    user: str
    name: str | None = None
    limit: int | None = None
    revs: list[int] | None = None


PUT_THING = Operation(
    method="PUT",
    path=THING,
    id="putThing",
    tag="t",
    summary="",
    scope="records",
    query=Nothing,
    body=ThingBody,
    responses={200: Response("", ThingView)},
    codes=("conflict",),
    idempotent=True,
    if_match=True,
)
LIST_THINGS = Operation(
    method="GET",
    path=THINGS,
    id="listThings",
    tag="t",
    summary="",
    scope="chat",
    query=ThingQuery,
    body=Nothing,
    responses={200: Response("", ThingView)},
    codes=("conflict", "erasing"),
    if_none_match=True,
    answers_without_stores=True,
)
OPEN = Operation(
    method="GET",
    path="/v1/open",
    id="open",
    tag="t",
    summary="",
    scope=None,
    query=Nothing,
    body=Nothing,
    responses={204: Response("")},
)

failures: list[Exception] = []
made: list[str] = []
router = Router("things", wiring.ports)


@router.on(PUT_THING)
def put_thing(call: Call[Nothing, ThingBody]) -> Answer:
    def work() -> Answer:
        if failures:
            raise failures.pop()
        made.append(call.body.name)
        return Answer(
            200,
            ThingView(
                user=call.user.user, name=call.body.name, revs=None if call.if_match is None else sorted(call.if_match)
            ),
        )

    return once(call, work)


@router.on(LIST_THINGS)
def list_things(call: Call[ThingQuery, Nothing]) -> Answer:
    if failures:
        raise failures.pop()
    view = ThingView(user=call.user.user, limit=call.query.limit)
    return Answer(body=view, degraded=["vector:error", "pack:stale"] if call.query.kind == "b" else ())


@router.on(OPEN)
def open_(call: Call[Nothing, Nothing]) -> Answer:
    return Answer(204)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    made.clear()
    failures.clear()
    yield from installed(World.make(tmp_path))


@pytest.fixture
def api(world: World) -> Api:
    return Api(router)


def put(api: Api, body: object = None, **more: object) -> Reply:
    ids = {"user_id": "ann", "thing_id": "t1"}
    return api.call("PUT", THING, {"name": "n"} if body is None else body, **ids, **more)  # type: ignore[arg-type]


def refused(reply: Reply, status: int, code: str) -> Reply:
    assert (reply.status, reply.json["code"]) == (status, code), reply.text
    assert reply.json == problem_body(code, reply.json["detail"], "req-1") | {
        key: reply.json[key] for key in ("errors",) if key in reply.json
    }
    assert reply.headers["Content-Type"] == "application/problem+json"
    assert reply.headers["X-Request-Id"] == "req-1"
    assert reply.headers["Cache-Control"] == "no-store"
    return reply


# --- answers ------------------------------------------------------------------------------------


def test_answer_has_the_request_id_and_no_absent_fields(api: Api) -> None:
    reply = api.call("GET", THINGS, user_id="ann")
    assert reply.status == 200
    assert reply.json == {"user": "ann", "limit": 50}
    assert reply.headers == {"X-Request-Id": "req-1", "Cache-Control": "no-store", "Content-Type": "application/json"}


def test_what_an_answer_lacks_is_in_its_log_line(api: Api, caplog: pytest.LogCaptureFixture) -> None:
    """An alarm counts such answers, and an operator has to see what they lack: nothing has failed in them."""
    caplog.set_level("INFO")
    for kind in ("a", "b"):
        api.call("GET", THINGS, user_id="ann", query=f"kind={kind}")
    lines = [vars(record) for record in caplog.records if record.message == "request completed"]
    assert [line.get("degraded") for line in lines] == [None, "vector:error, pack:stale"]


def test_empty_answer_has_no_content_type(api: Api) -> None:
    reply = api.call("GET", "/v1/open")
    assert (reply.status, reply.text) == (204, "")
    assert "Content-Type" not in reply.headers


# --- who is calling -----------------------------------------------------------------------------


def test_call_without_authorizer_context(api: Api) -> None:
    event = proxy_event(api, "GET", THINGS, None, "", {}, user_id="ann")
    del event["requestContext"]["authorizer"]
    refused(api.send(event), 401, "unauthorized")


def test_tenant_that_no_longer_exists(world: World) -> None:
    refused(Api(router, tenant="gone").call("GET", THINGS, user_id="ann"), 401, "unauthorized")


def test_scope_is_checked_before_the_rest_of_the_request(world: World) -> None:
    refused(Api(router, scopes="chat").call("PUT", THING, raw="{", user_id="#", thing_id="t1"), 403, "forbidden")


# --- path, query, headers -----------------------------------------------------------------------


def test_percent_encoded_id_is_decoded(api: Api) -> None:
    assert api.call("GET", THINGS, user_id="ann%40x.org").json["user"] == "ann@x.org"


def test_single_value_query_parameters_alone_are_enough(api: Api) -> None:
    event = proxy_event(api, "GET", THINGS, None, "limit=7", {}, user_id="ann")
    del event["multiValueQueryStringParameters"], event["multiValueHeaders"]
    assert api.send(event).json["limit"] == 7


@pytest.mark.parametrize("sent", ["3", '"3', '"1" "2"', '"1", 2', '*, "1"'])
def test_bad_if_match(api: Api, sent: str) -> None:
    reply = put(api, headers={"if-match": sent})
    assert refused(reply, 422, "validation_failed").fields == ["header.If-Match"]


@pytest.mark.parametrize(
    ("sent", "revs"),
    [
        ('"3"', [3]),
        ('"1", "2"', [1, 2]),
        (', "1",,"2" ,', [1, 2]),
        ('"1,2", "x", ""', []),
        ('W/"3"', []),
        ('"03", "00", "0"', [0]),
    ],
)
def test_if_match_names_revs_and_compares_strongly(api: Api, sent: str, revs: list[int] | None) -> None:
    assert put(api, headers={"If-MATCH": sent}).json.get("revs") == revs


def test_an_if_match_of_any_rev_is_a_condition() -> None:
    revs = read_revs(["*"])
    assert revs is not None and all(rev in revs for rev in (0, 1, 7, 10**9))
    assert read_revs([]) is None


@given(
    st.lists(st.from_regex(r"[!#-~\x80-\xff]{0,8}", fullmatch=True), max_size=8), st.lists(st.booleans(), min_size=8)
)
def test_an_entity_tag_list_is_read_back_whatever_its_tags_hold(tags: list[str], weak: list[bool]) -> None:
    sent = ", ".join(f'{"W/" if w else ""}"{tag}"' for tag, w in zip(tags, weak, strict=False))
    assert read_entity_tags([sent]) == EntityTags(tuple(tags))


def test_a_json_problem_is_said_in_our_words(api: Api) -> None:
    for raw in ('{"name": }', '{"name": "\\u12"}', '{"size": ' + "9" * 5000 + "}", "{} {}"):
        detail = put(api, raw=raw).json["detail"]
        assert re.fullmatch(
            r"This is not JSON from line 1, column \d+ on\.|A number has more than 4300 digits\.", detail
        )


def test_idempotency_key_given_twice(api: Api) -> None:
    event = proxy_event(api, "PUT", THING, '{"name":"n"}', "", {}, user_id="ann", thing_id="t1")
    event["multiValueHeaders"] = {"Idempotency-Key": ["a"], "idempotency-key": ["b"]}
    assert refused(api.send(event), 422, "validation_failed").fields == ["header.Idempotency-Key"]


# --- bodies -------------------------------------------------------------------------------------


def test_a_byte_order_mark_is_named(api: Api) -> None:
    detail = refused(put(api, raw='\ufeff{"name": "n"}'), 400, "malformed_json").json["detail"]
    assert detail == "This begins with a byte order mark (U+FEFF), which is no part of JSON."


@pytest.mark.parametrize("given", ["gzip", "br", "GZIP", "identity, gzip", "gzip, identity", "x"])
def test_a_body_in_a_content_encoding_is_refused(api: Api, given: str) -> None:
    sent = gzip.compress(b'{"name": "n"}')
    event = proxy_event(api, "PUT", THING, "", "", {"content-encoding": given}, user_id="ann", thing_id="t1")
    for raw in (sent, b'{"name": "n"}'):
        encoded = event | {"body": base64.b64encode(raw).decode(), "isBase64Encoded": True}
        answer = refused(api.send(encoded), 422, "validation_failed")
        assert (answer.fields, made) == (["header.Content-Encoding"], [])


@pytest.mark.parametrize("given", ["identity", "Identity", " identity ", "identity, identity", ""])
def test_a_body_that_says_that_it_is_in_none_is_taken(api: Api, given: str) -> None:
    assert put(api, headers={"Content-Encoding": given}).status == 200


def test_a_call_without_a_body_has_no_encoding_of_it(api: Api) -> None:
    assert api.call("GET", THINGS, headers={"Content-Encoding": "gzip"}, user_id="ann").status == 200


def test_body_that_is_not_utf8(api: Api) -> None:
    event = proxy_event(api, "PUT", THING, "", "", {}, user_id="ann", thing_id="t1")
    event |= {"body": base64.b64encode(b'{"name": "\xff"}').decode(), "isBase64Encoded": True}
    assert "byte 10" in refused(api.send(event), 400, "malformed_json").json["detail"]
    refused(api.send(event | {"body": "%%%"}), 400, "malformed_json")


@pytest.mark.parametrize(
    ("raw", "field"),
    [
        ('{"name": "n", "share": 1e999}', "share"),
        ('{"name": "n", "data": {"a": ' + "[" * 64 + "]" * 64 + "}}", "data.a" + "[0]" * 62),
    ],
)
def test_numbers_out_of_range_and_deep_nesting(api: Api, raw: str, field: str) -> None:
    assert refused(put(api, raw=raw), 422, "validation_failed").fields == [field]


def test_long_field_names_are_cut(api: Api) -> None:
    [field] = refused(put(api, {"name": "n", "x" * 5000: 1}), 422, "validation_failed").fields
    assert len(field) == 64


def test_a_refusal_does_not_repeat_values(api: Api) -> None:
    reply = put(api, {"name": "a secret that is too long", "id": "my/secret", "at": "secret", "size": "secret"})
    assert len(refused(reply, 422, "validation_failed").fields) == 4
    assert "secret" not in reply.text


def test_at_most_twenty_errors(api: Api) -> None:
    reply = put(api, {"name": "n", **{f"x{n}": 1 for n in range(50)}})
    assert len(refused(reply, 422, "validation_failed").fields) == 20


def test_times_are_normalised() -> None:
    assert ThingBody(name="n", at="2026-03-10T10:30:00.123456+01:00").at == "2026-03-10T09:30:00.123Z"


def test_tabs_and_line_breaks_are_text(api: Api) -> None:
    assert put(api, {"name": "a\tb\r\nc"}).json["name"] == "a\tb\r\nc"


def test_what_takes_the_place_of_something_needs_a_body(api: Api) -> None:
    assert refused(put(api, raw=""), 422, "validation_failed").fields == ["body"]
    assert refused(put(api, raw="{}"), 422, "validation_failed").fields == ["name"]


def test_size_is_checked_after_base64(api: Api) -> None:
    event = proxy_event(api, "PUT", THING, "", "", {}, user_id="ann", thing_id="t1")
    big = base64.b64encode(b"x" * (MAX_BODY_BYTES + 1)).decode()
    refused(api.send(event | {"body": big, "isBase64Encoded": True}), 413, "payload_too_large")


@given(
    st.recursive(
        st.none() | st.booleans() | st.floats() | st.text(), lambda x: st.lists(x) | st.dictionaries(st.text(), x)
    )
)
def test_no_json_value_is_a_server_error(value: object) -> None:
    """Bodies are checked before any engine is asked for."""
    api = Api(router)
    reply = put(api, {"name": "far too long a name", "data": value})
    assert reply.status in (400, 422)
    reply.text.encode()


# --- failures -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "code", "retry"),
    [
        (StoreUnavailable("table", "secret path"), "store_unavailable", "2"),
        (Conflict([1]), "conflict", "1"),
        (InvalidCursor("x"), "validation_failed", None),
        (ValueError("secret value"), "internal", None),
        (NeveError("erasing", "Later.", retry_after_s=30), "erasing", "30"),
        (NeveError("not in the table", "secret"), "internal", None),
    ],
)
def test_failures_become_problems_without_their_reasons(
    api: Api, caplog: pytest.LogCaptureFixture, error: Exception, code: str, retry: str | None
) -> None:
    failures.append(error)
    reply = refused(api.call("GET", THINGS, user_id="ann"), PROBLEMS[code].status, code)
    assert reply.headers.get("Retry-After") == retry
    assert "secret" not in reply.text
    logged = str([vars(record) for record in caplog.records])
    assert ("secret" in logged) is isinstance(error, StoreUnavailable), "which store and how, in words of our own"
    assert ("failed" in caplog.messages) is (PROBLEMS[code].status >= 500)


def test_every_refusal_of_an_operation_is_declared() -> None:
    assert "idempotency_mismatch" in PUT_THING.all_codes
    assert "precondition_failed" in PUT_THING.all_codes
    assert "unauthorized" not in OPEN.all_codes
    with pytest.raises(ValueError, match="no_such_code"):
        Operation(
            method="GET",
            path="/v1/x",
            id="x",
            tag="t",
            summary="",
            scope=None,
            query=Nothing,
            body=Nothing,
            responses={},
            codes=("no_such_code",),
        )


def test_unknown_codes_are_internal() -> None:
    assert as_refusal(KeyError("x")).code == "internal"


# --- the tenant's policy ------------------------------------------------------------------------


def test_policy_is_held_for_a_minute(world: World, api: Api) -> None:
    api.call("GET", THINGS, user_id="ann")
    write_policy(world.scope, Policy(recall_limit=7))
    held = tenant_scope(world, "acme")
    world.clock.move(seconds=59)
    assert tenant_scope(world, "acme").policy.recall_limit == held.policy.recall_limit == 5
    world.clock.move(seconds=1)
    assert tenant_scope(world, "acme").policy.recall_limit == 7


def test_policy_of_another_set_of_engines_is_not_used(world: World, tmp_path: Path) -> None:
    write_policy(world.scope, Policy(recall_limit=9))
    assert tenant_scope(world, "acme").policy.recall_limit == 9
    other = World.make(tmp_path / "other")
    row = read_tenant(world.table.get(tenant_row("acme")) or {})
    assert row.policy.recall_limit == 9
    for _ in installed(other):
        assert tenant_scope(other, "acme").policy.recall_limit == 5


def test_chat_reads_are_answered_without_a_policy(world: World, api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    def down(_: object) -> None:
        raise StoreUnavailable("table", "down")

    monkeypatch.setattr(world.table, "get", down)
    assert api.call("GET", THINGS, user_id="ann").status == 200
    refused(put(api), 503, "store_unavailable")
