"""Access tokens: what signs them, and what the authorizer makes of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jwt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from functions.authorizer import app
from neve import wiring
from neve.domain.tenants.access_token import AccessToken, SigningSecret, kid_of, read, sign
from neve.http.callers import Caller
from neve.ports.errors import StoreUnavailable
from neve.usecases.tell.tenants.create_tenant import create_tenant
from neve.usecases.tell.tenants.keys import CreatedKey, create_key, revoke_key
from neve.usecases.tell.tenants.make_token import end_all_tokens, make_token, signing_secret
from tests.unit.world import World

ARN = "arn:aws:execute-api:eu-west-1:123456789012:abc123/prod/GET/v1/users/ann/pack"


@pytest.fixture
def world(new_world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setattr(wiring, "_installed", [new_world])
    monkeypatch.setenv("NEVE_STAGE", "prod")
    return new_world


@pytest.fixture
def key(world: World) -> CreatedKey:
    return create_tenant(world, "acme", "first")


def token_of(
    world: World, key: CreatedKey, user: str | None = "ann", *, scopes: Sequence[str] = ("chat",), ttl_s: int = 900
) -> str:
    return make_token(world.scope, key.key_id, user, scopes, ttl_s, None).token


def context_of(token: str) -> Any:
    """None: it is denied."""
    event = {"type": "REQUEST", "methodArn": ARN, "headers": {"authorization": f"Bearer {token}"}}
    return app.handler(event, None).get("context")


def test_a_token_becomes_its_key_its_user_and_its_end(world: World, key: CreatedKey) -> None:
    ends = int(world.clock.now().timestamp()) + 900
    own = {"tenant_id": "acme", "key_id": key.key_id, "scopes": "chat records", "expires_at": ends}
    assert context_of(token_of(world, key, scopes=("chat", "records"))) == own | {"user_id": "ann"}
    assert context_of(token_of(world, key, None, scopes=("chat", "records"))) == own


@given(st.text(min_size=1), st.integers(60, 3600))
def test_what_an_authorizer_says_of_a_caller_is_what_a_function_reads(user: str, ends_s: int) -> None:
    told = Caller("acme", "k1", ("chat", "self"), user.encode(errors="replace").decode()).context
    assert all(str(value).isascii() for value in told.values())
    as_handed_on = {name: str(value) for name, value in (told | {"expires_at": ends_s}).items()}
    found = Caller.of(as_handed_on)
    assert found is not None and found.expires_at is not None
    assert found.context == told | {"expires_at": ends_s}


def test_one_read_a_call_once_the_secret_is_known(world: World, key: CreatedKey) -> None:
    token = token_of(world, key)
    context_of(token)
    world.table.calls.clear()
    context_of(token)
    assert world.table.calls == {"get": 1}


def test_an_expired_token_has_no_scope_left(world: World, key: CreatedKey) -> None:
    token = token_of(world, key, ttl_s=60)
    world.clock.move(seconds=59)
    assert context_of(token)["scopes"] == "chat"
    world.clock.move(seconds=1)
    assert context_of(token)["scopes"] == ""


def test_a_token_may_be_of_a_clock_that_is_a_minute_ahead_and_no_more(world: World, key: CreatedKey) -> None:
    world.clock.move(seconds=90)
    token = token_of(world, key)
    world.clock.move(seconds=-30)
    assert context_of(token)["user_id"] == "ann"
    world.clock.move(seconds=-31)
    assert context_of(token) is None


def test_a_token_ends_with_its_key(world: World, key: CreatedKey) -> None:
    second = create_key(world.scope, ["tokens"])
    token = token_of(world, second)
    assert context_of(token) is not None
    revoke_key(world.scope, second.key_id)
    assert context_of(token) is None


def test_a_secret_signs_for_thirty_days_and_checks_for_thirty_more(world: World, key: CreatedKey) -> None:
    first = token_of(world, key, ttl_s=3600)
    world.clock.move(days=30)
    second = token_of(world, key, ttl_s=3600)
    assert kid_of(first) != kid_of(second)
    assert context_of(first)["scopes"] == "", "it was signed, and has expired"
    world.clock.move(days=30)
    token_of(world, key)
    assert context_of(second)["scopes"] == ""
    world.clock.move(seconds=61)
    assert context_of(first) is None


def test_an_operator_ends_all_tokens_within_a_minute(world: World, key: CreatedKey) -> None:
    token = token_of(world, key, ttl_s=3600)
    assert context_of(token) is not None
    end_all_tokens(world)
    world.clock.move(seconds=60)
    assert context_of(token) is None
    assert context_of(token_of(world, key)) is not None


def test_two_processes_make_one_secret(world: World, key: CreatedKey) -> None:
    made: list[SigningSecret] = []
    world.table.before_write = lambda: made.append(signing_secret(world))
    assert signing_secret(world) == made[0]


def test_a_holder_goes_on_for_a_minute_while_the_table_is_down(
    world: World, key: CreatedKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    def down(_: object) -> None:
        raise StoreUnavailable("table", "down")

    known, unknown = token_of(world, key), token_of(world, key)
    before = context_of(known)
    monkeypatch.setattr(world.table, "get", down)
    assert context_of(known) == before
    with pytest.raises(StoreUnavailable):
        context_of(unknown)
    world.clock.move(seconds=61)
    with pytest.raises(StoreUnavailable):
        context_of(known)


@pytest.mark.filterwarnings("ignore::jwt.warnings.InsecureKeyLengthWarning")
def test_what_nobody_here_signed_is_denied(world: World, key: CreatedKey) -> None:
    good = token_of(world, key)
    own = signing_secret(world)
    foreign = SigningSecret(own.kid, "ab" * 32, own.made_at)
    token = read(good, own)
    assert token is not None
    claims = jwt.decode(good, options={"verify_signature": False})
    secret = bytes.fromhex(own.secret)
    for forged in (
        sign(token, foreign),
        jwt.encode(claims, secret, "HS512", {"kid": own.kid}),
        jwt.encode(claims, "", "none", {"kid": own.kid}),
        jwt.encode(claims, secret, "HS256"),
        jwt.encode(claims, secret, "HS256", {"kid": "other"}),
        *(
            jwt.encode({k: v for k, v in claims.items() if k != gone}, secret, "HS256", {"kid": own.kid})
            for gone in ("jti", "tenant", "key", "scopes", "nbf", "exp")
        ),
        jwt.encode(claims | {"exp": 10**30}, secret, "HS256", {"kid": own.kid}),
        jwt.encode(claims | {"tenant": "other"}, secret, "HS256", {"kid": own.kid}),
        jwt.encode(claims | {"key": "nobody"}, secret, "HS256", {"kid": own.kid}),
        good[:-1],
        good + "A",
        "",
        "a.b.c",
        "..",
    ):
        assert context_of(forged) is None, forged
    assert context_of(good) is not None


@given(st.text(alphabet="eyJ.-_A9=", max_size=60))
def test_any_text_is_read_as_a_token_or_as_none(text: str) -> None:
    assert kid_of(text) is None


def test_a_token_is_read_as_it_was_made(world: World) -> None:
    secret = signing_secret(world)
    now = world.clock.now().replace(microsecond=0)
    for user, label in (("Zoë 日本", "page"), (None, None)):
        token = AccessToken("jti", "acme", "k1", user, ("chat",), now, now, label)
        assert read(sign(token, secret), secret) == token
