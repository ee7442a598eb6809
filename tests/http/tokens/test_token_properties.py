"""The row about access tokens as properties: each call is under its scopes, and whatever a user's token asks for, the
answer holds nothing of anybody else."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack, closing
from dataclasses import replace

import pytest

from local.api_client import ApiClient, Reply
from tests.http.driving.people import Person, new_memory_id
from tests.http.driving.stage import Stage
from tests.http.test_isolation_properties import (
    OPERATIONS,
    Choice,
    Neighbourhood,
    Neighbours,
    Request,
    Step,
    Who,
    generated,
    request_of,
)
from tests.http.tokens.making import EVERY_SCOPE, refused, token_of, with_key
from tests.http.tokens.table import BY_KEY, SCOPES, WITHOUT_USER

pytestmark = pytest.mark.live


def is_of_tenant(operation: str) -> bool:
    return "{user_id}" not in OPERATIONS[operation][1] and operation not in WITHOUT_USER


def test_e13_every_call_has_its_line_and_is_under_the_scopes_that_it_names(
    user: Person, api: ApiClient, stage: Stage
) -> None:
    assert list(SCOPES) == list(OPERATIONS)
    ids = {"user_id": user.id, "session_id": "s1", "memory_id": new_memory_id(), "item_id": new_memory_id()}
    ids |= {"recall_id": "r1", "job_id": "j1", "key_id": "k1", "webhook_id": "w1"}

    def outcome(client: ApiClient, operation: str) -> tuple[int, str]:
        method, path = OPERATIONS[operation]
        asks = client.call(method, path.format(**ids), {"": 0} if method in ("POST", "PUT", "PATCH") else None)
        return asks.status, asks.json().get("code", "") if asks.status >= 400 else ""

    def opened(client: ApiClient) -> set[str]:
        """Every call but those whose scope is missing. A body that nobody takes keeps them from doing anything."""
        found = {operation: outcome(client, operation) for operation in OPERATIONS if operation != "eraseUser"}
        assert all(status in (403, 404, 200, 202, 422, 400) for status, _ in found.values()), found
        return {operation for operation, (_, code) in found.items() if code not in ("forbidden", "user_not_found")}

    def named(scope: str) -> set[str]:
        return {one for one, scopes in SCOPES.items() if scope in scopes.split() or not scopes} - {"eraseUser"}

    for scope in EVERY_SCOPE:
        with closing(ApiClient(stage.base_url, token_of(user, scope))) as client:
            assert opened(client) == {one for one in named(scope) if not is_of_tenant(one)} - {*BY_KEY}, scope
    for scope in ("chat", "records", "admin", "documents"):
        with (
            with_key(stage, api, "admin", scope) if scope != "admin" else with_key(stage, api, "admin") as (_, key),
            closing(
                ApiClient(stage.base_url, key.expect(201, "POST", "/v1/tokens", {"scopes": [scope]})["token"])
            ) as of,
        ):
            assert opened(of) == named(scope) - {*BY_KEY}, scope
    with with_key(stage, api, "tokens") as (_, key):
        assert opened(key) == {"health", "createToken", "createUserToken"}


class Holders(Neighbours):
    """Everybody asks with a token of their own, of every scope, and about anybody."""

    tokens: dict[Who, ApiClient]

    def make(self, step: Step) -> None:
        people = list(self.everybody())
        holder, _ = people[step.user % len(people)]
        about, _ = people[step.picks[0] % len(people)]
        whose = Who(holder.tenant, about.user)
        own = whose == holder
        request = request_of(step.operation, whose, Choice(self.known, holder if own else whose, step.picks))
        if step.operation == "eraseUser":  # request_of has made somebody up
            request = replace(request, path=OPERATIONS["eraseUser"][1].replace("{user_id}", "nobody-at-all"))
            own = False
        self._asked(step.operation, holder, own, request)

    def _asked(self, operation: str, holder: Who, own: bool, request: Request) -> None:
        client = self.tokens[holder]
        if is_of_tenant(operation) or (own and operation in ("userStats", "createUserToken")):
            self._heard(operation, holder, request, client, 403, "forbidden")
        elif "{user_id}" in OPERATIONS[operation][1] and not own:
            self._heard(operation, holder, request, client, 404, "user_not_found")
        else:
            reply = self.ask(operation, holder, request, client)
            assert reply.status != 401 and '"forbidden"' not in reply.text, reply.text

    def _heard(self, operation: str, holder: Who, request: Request, client: ApiClient, status: int, code: str) -> Reply:
        reply = self.ask(operation, holder, request, client)
        refused(reply, status, code)
        return reply


def test_e13_a_token_of_one_user_sees_nothing_of_another_on_any_route(
    stage: Stage, api: ApiClient, api_c: ApiClient, person: Callable[[ApiClient], Person]
) -> None:
    neighbourhood = Neighbourhood(stage, (api, api_c), person, neighbours=Holders)
    tally = neighbourhood.tally

    @generated(rounds=2, examples=1)
    def whoever_asks(users: tuple[int, int], asked: list[Step]) -> None:
        with neighbourhood.with_users(*users) as holders, ExitStack() as opened:
            assert isinstance(holders, Holders)
            holders.settle_in()
            for client in (api, api_c):
                client.expect(200, "PATCH", "/v1/policy", {"write_tools": "on"})
            holders.tokens = {
                who: opened.enter_context(closing(ApiClient(stage.base_url, token_of(someone))))
                for who, someone in holders.everybody()
            }
            for step in asked:
                holders.make(step)
            holders.wait_for_workers()
            holders.look_around()

    whoever_asks()
    assert {operation for operation, _ in tally} == set(OPERATIONS)
    assert {hundreds for operation, hundreds in tally if is_of_tenant(operation)} == {4}
    answered_well = {operation for operation, hundreds in tally if hundreds == 2}
    assert {"recall", "listMemories", "listDocuments", "listSessions", "readPack"} <= answered_well
