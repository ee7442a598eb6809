"""The black-box tests run against a local server that they start, or against the stage of NEVE_STAGE_URL.

``live`` tests need nothing but the API: they run unchanged on both. ``controls`` tests need the local server's test
controls; on a stage they are skipped, and the summary says how many. On a stage, NEVE_KEY is a key of every scope of
the tenant under test and NEVE_OTHER_KEY one of another tenant. With NEVE_STACK_NAME, the name of the service's
CloudFormation stack, the caller's AWS credentials are used to look at its schedules. ``make smoke`` sets them all."""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing
from functools import cache
from pathlib import Path
from typing import cast
from uuid import uuid4

import pytest
from boto3 import Session

from local.api_client import ApiClient
from local.running import EmbedderName
from neve.usecases.work.erase.erase_user import SETTLE_S
from tests.http.driving.controls import Controls
from tests.http.driving.other_server import Stores, controlled_server, running_server
from tests.http.driving.people import ENDED, Json, Person, new_user
from tests.http.driving.schedules import states_deployed, states_ordered
from tests.http.driving.stage import Stage
from tests.http.real_encoder.rubric import RUBRIC, plain
from tests.patience import PATIENCE_S
from tests.servers import need_servers

STAGE_URL = os.environ.get("NEVE_STAGE_URL")
OTHER_KEY = os.environ.get("NEVE_OTHER_KEY") or None
STACK_NAME = os.environ.get("NEVE_STACK_NAME") or None
LOOK_S, JOB_LOOK_S = 0.25, 15.0
MAX_JOB_S = 45 * 60.0
"""Of an erasure on a stage: 16 minutes until it looks again, and the sweep that tells it to comes every ten."""
NO_CONTROLS, NO_OTHER_TENANT = "needs the test controls of a local server", "needs NEVE_OTHER_KEY"
NO_OPERATOR = "needs an operator's credentials: it reindexes, and starts the service with another model"
NO_STACK_NAME = "needs NEVE_STACK_NAME and AWS credentials: it asks Scheduler"

CASES = 2
"""The full stack runs so many values of each parameter, the embedded one all of them: it is six times as fast."""
ON_SEGMENTS = ("recall", "retraction", "erasure")
"""The folders whose tests are run on segments, too."""
NOT_TESTED = pytest.StashKey[Counter[str]]()


# --- which tests run ----------------------------------------------------------------------------


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    here = [item for item in items if item.path.is_relative_to(Path(__file__).parent)]
    for item in here:
        kinds = [kind for kind in ("live", "controls") if item.get_closest_marker(kind)]
        if len(kinds) != 1:
            raise pytest.UsageError(f"{item.nodeid} must be marked either live or controls")
    spared = _spared([item for item in here if _stores_of(item) == "full"])
    spared |= {item for item in here if _stores_of(item) == "segments" and not _is_of_passages(item)}
    if spared:
        config.hook.pytest_deselected(items=list(spared))
        items[:] = [item for item in items if item not in spared]
        here = [item for item in here if item not in spared]
    if STAGE_URL is not None:
        items.sort(key=_place)
    config.stash[NOT_TESTED] = Counter()
    for item, reason in ((item, _missing(item)) for item in here):
        if reason:
            item.add_marker(pytest.mark.skip(reason=reason))
            config.stash[NOT_TESTED][reason] += 1


def _stores_of(item: pytest.Item) -> str | None:
    call = getattr(item, "callspec", None)
    return None if call is None else call.params.get("stack")


def _is_of_passages(item: pytest.Item) -> bool:
    """Say whether a test's answers are made of what the search engine holds, or its words have to leave it."""
    here = item.path.relative_to(Path(__file__).parent)
    return here.parts[0] in ON_SEGMENTS


def _spared(on_full_stack: list[pytest.Item]) -> set[pytest.Item]:
    """Give the tests of the shape of requests and answers; and all but the first cases of a parametrised test, which
    show that what follows from the rule is written and found on real servers too."""
    spared = set[pytest.Item]()
    values: dict[tuple[str, str], list[int]] = {}
    for item in on_full_stack:
        for name, value in item.callspec.params.items() if isinstance(item, pytest.Function) else ():
            seen = values.setdefault((item.nodeid.partition("[")[0], name), [])
            seen += [id(value)] if id(value) not in seen else []
            if seen.index(id(value)) >= CASES:
                spared.add(item)
        if item.path.name == "test_schemathesis.py":
            spared.add(item)
    return spared


def _place(item: pytest.Item) -> int:
    """On a stage T0 comes first, then every route once: whatever has just been deployed is warm after it."""
    return next((place for place, row in enumerate(("test_t0_", "test_c38_")) if item.name.startswith(row)), 2)


def _missing(item: pytest.Item) -> str | None:
    """What a stage lacks for a test."""
    if STAGE_URL is None:
        return None
    if item.get_closest_marker("controls"):
        return NO_CONTROLS
    lacking = {"started_with": NO_OPERATOR}
    if OTHER_KEY is None:
        lacking["api_c"] = NO_OTHER_TENANT
    if STACK_NAME is None:
        lacking["schedules"] = NO_STACK_NAME
    fixtures = getattr(item, "fixturenames", ())
    return next((reason for fixture, reason in lacking.items() if fixture in fixtures), None)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if missing := config.stash.get(NOT_TESTED, Counter()):
        terminalreporter.section("feature rows that were NOT tested", yellow=True)
        for reason, count in missing.items():
            terminalreporter.line(f"{count} tests: {reason}")


# --- the server ---------------------------------------------------------------------------------


@pytest.fixture(scope="session", params=["stage"] if STAGE_URL else ["embedded", "segments", "full"])
def stack(request: pytest.FixtureRequest) -> Stores:
    """Name what the server under test keeps its data in; every test runs on each, on segments those whose passages
    matter alone (``ON_SEGMENTS``). Of a stage nobody asks."""
    if request.param == "full":
        need_servers()
    return cast("Stores", request.param)


@pytest.fixture(scope="session")
def stage_on(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[Stores], Stage]]:
    """A local server for each stack: started when its first test asks for it, kept for those that come later. After
    the last one its alarms are looked at: what would have taken a deployment back fails the run."""
    with ExitStack() as started:

        @cache
        def stage_of(stack: Stores) -> Stage:
            data = tmp_path_factory.mktemp("server") / "data"
            server = started.enter_context(running_server(data, stack))
            controls = Controls(started.enter_context(closing(ApiClient(server.base_url))), data / "server.log")
            started.callback(_no_alarm_went_off, controls)
            controls.back_to_normal()
            return Stage(server.base_url, server.key, controls.new_tenant(f"other-{uuid4().hex}"), controls)

        yield stage_of


def _no_alarm_went_off(controls: Controls) -> None:
    verdicts = controls.alarms()
    assert verdicts, "no alarm was evaluated"
    assert [name for name, verdict in verdicts.items() if verdict["went_off"]] == [], verdicts


@pytest.fixture(scope="session")
def stage(stack: Stores, stage_on: Callable[[Stores], Stage]) -> Stage:
    return Stage(STAGE_URL, os.environ["NEVE_KEY"], OTHER_KEY, None) if STAGE_URL else stage_on(stack)


@pytest.fixture(autouse=True)
def clean(stage: Stage) -> Iterator[None]:
    """No test sees another one's faults, scripts, time or unfinished work."""
    yield
    if stage.controls:
        stage.controls.back_to_normal()


@pytest.fixture
def workers_awake(stage: Stage) -> None:
    """Let the workers of a local server take whatever comes until the test ends: it waits for work inside a call."""
    if stage.controls:
        stage.controls.work_by_themselves()


@pytest.fixture
def controls(stage: Stage) -> Controls:
    assert stage.controls is not None, "marked live, but asks for the test controls"
    return stage.controls


@pytest.fixture(scope="session")
def api(stage: Stage) -> Iterator[ApiClient]:
    """A client of the tenant T1."""
    with closing(ApiClient(stage.base_url, stage.key)) as client:
        yield client


@pytest.fixture(scope="session")
def api_c(stage: Stage) -> Iterator[ApiClient]:
    """A client of another tenant, T2."""
    assert stage.other_key is not None
    with closing(ApiClient(stage.base_url, stage.other_key)) as client:
        yield client


StartedWith = Callable[[EmbedderName], AbstractContextManager[tuple[ApiClient, Controls]]]


@pytest.fixture
def started_with(tmp_path: Path, stack: Stores) -> StartedWith:
    """Starts a server with an embedder on one data folder, stopped before the next start."""
    return lambda embedder: controlled_server(tmp_path / "data", stack, embedder=embedder)


@pytest.fixture
def schedules() -> dict[str, str]:
    """The service's schedules by logical id, each with its state: as Scheduler has them, or locally as the template
    orders them."""
    return states_ordered() if STACK_NAME is None else states_deployed(Session(), STACK_NAME)


# --- people -------------------------------------------------------------------------------------


@pytest.fixture
def person(stage: Stage) -> Callable[[ApiClient], Person]:
    """A new person of the client's tenant, whom nobody has heard of."""

    def settle(someone: Person) -> None:
        if stage.controls:
            stage.controls.drain()
        else:
            _poll_until_settled(someone)

    def finish(someone: Person, path: str, body: Json) -> Json:
        if not stage.controls:
            return dict(someone.expect(200, "POST", path, {**body, "wait": True}))
        reply = someone.call("POST", path, body)
        assert reply.status in (200, 202), reply.text
        stage.controls.drain()
        job = dict(someone.expect(200, "GET", f"/jobs/{reply.json()['id']}"))
        assert job["status"] in ENDED, job
        return job

    return lambda client: Person(client, new_user(), settle, finish)


@pytest.fixture
def user(person: Callable[[ApiClient], Person], api: ApiClient) -> Person:
    """A new user of T1."""
    return person(api)


@pytest.fixture
def job_ended(stage: Stage) -> Callable[[ApiClient, Json], Json]:
    """An erasure or an export, when it has ended. Locally the time that it waits passes at once."""

    def ended(client: ApiClient, job: Json) -> Json:
        path, end = f"/v1/admin/jobs/{job['id']}", time.monotonic() + MAX_JOB_S
        while job["status"] not in ENDED:
            assert time.monotonic() < end, job
            if stage.controls:
                stage.controls.drain()
                stage.controls.advance(SETTLE_S)
                stage.controls.run("sweep")
                stage.controls.drain()
            else:
                time.sleep(JOB_LOOK_S)
            job = dict(client.expect(200, "GET", path))
        return job

    return ended


@pytest.fixture
def tenant_with(stage: Stage, controls: Controls) -> Iterator[Callable[..., ApiClient]]:
    """A client of a new tenant with this policy."""
    with ExitStack() as opened:

        def create(**policy: object) -> ApiClient:
            key = controls.new_tenant(f"tenant-{uuid4().hex}")
            client = opened.enter_context(closing(ApiClient(stage.base_url, key)))
            if policy:
                client.expect(200, "PUT", "/v1/policy", policy)
            return client

        yield create


def _poll_until_settled(someone: Person) -> None:
    """Every memory is embedded or never will be, and every event is in the index. What gets nearer is waited for."""
    end, before = time.monotonic() + PATIENCE_S, None
    while left := _unsettled(someone):
        if before is None or left < before:
            end, before = time.monotonic() + PATIENCE_S, left
        assert time.monotonic() < end, f"{someone.id}: {left} rows did not settle in {PATIENCE_S:.0f} s"
        time.sleep(LOOK_S)


def _unsettled(someone: Person) -> int:
    sessions = someone.expect(200, "GET", "/sessions", query={"limit": 200})["sessions"]
    events = sum(max(0, session["last_seq"] - session["indexed_seq"]) for session in sessions)
    memories = sum(memory["embedding_state"] == "pending" for memory in someone.memories())
    return int(events + memories)


@pytest.fixture
def rubric(user: Person) -> tuple[Person, list[str]]:
    """Somebody with the twenty entries, and their ids in that order."""
    ids = user.bring_in(*[plain(entry.text) for entry in RUBRIC])
    user.settle()
    return user, ids
