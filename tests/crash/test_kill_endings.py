"""``kill -9`` in the middle of what ends something: a librarian that files a conversation, a retraction, an erasure.

The server dies behind a write that the seed chose of the function that it is about, or behind the first one from there
on that leaves such a job unfinished: every kill finds one in its middle, however fast the machine is. Afterwards people
see the same as where nothing was killed; what was deleted is in no byte of the data folder."""

from __future__ import annotations

import http.client
import random
import shutil
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from local.api_client import ApiClient
from local.bootstrap import TENANT
from neve.usecases.core.memories.replace_rows import LEASE_S
from neve.usecases.work.erase.erase_user import SETTLE_S
from tests.crash.ended import (
    Picture,
    check_bytes,
    check_jobs,
    check_picture,
    check_words,
    differences,
    picture_of,
    unfinished,
)
from tests.crash.endings import Script, again, people, scripts, settle_in
from tests.forked_servers import ForkedServer, ForkedServers, forked_servers
from tests.http.driving.controls import drain
from tests.patience import PATIENCE_S

KILLS = [
    *((seed, "librarian", "compact") for seed in (1, 2)),
    *((seed, "compact", "retract") for seed in (4, 5, 6)),
    *((seed, "jobs", "erase") for seed in (8, 9, 10)),
]
"""Seed; the function behind one of whose writes the server dies; a kind of job that is unfinished then."""
LATEST = 0.7
"""Of a function's writes where nothing is killed: behind later ones it may make no more that leaves such a job."""
TWICE = 2
"""Every second seed kills the server again, behind one of the first writes of its recovery."""
OTHERS = "others"
NEVER, DIES_S = 10**9, 1.0

pytestmark = pytest.mark.controls


@dataclass(frozen=True)
class Settled:
    """``folder``: the people before anything ends. ``writes``: of each function until everything has ended, where
    nothing is killed; ``picture``: what is there then."""

    folder: Path
    other_key: str
    writes: dict[str, int]
    picture: Picture


@pytest.fixture(scope="module")
def forking() -> ForkedServers:
    return forked_servers()


@pytest.fixture(scope="module")
def settled(forking: ForkedServers, tmp_path_factory: pytest.TempPathFactory) -> Settled:
    folder = tmp_path_factory.mktemp("settled")
    server = forking.start(folder / "data")
    control = ApiClient(server.base_url)
    other_key = control.expect(200, "POST", "/__test/tenants", {"tenant_id": OTHERS})["api_key"]
    them = people(server.base_url, server.key, other_key)
    settle_in(them)
    control.expect(200, "POST", "/__test/run", {"worker": "sweep"})
    drain(control)
    them.close()
    control.close()
    server.kill()
    shutil.copytree(folder / "data", folder / "undisturbed")
    run = Run(forking.start(folder / "undisturbed"), other_key)
    run.die_behind(NEVER)
    run.begin()
    run.end_everything()
    writes = run.control.expect(200, "GET", "/__test/kill")["writes"]
    picture = run.check()
    run.kill()
    check_bytes(folder / "undisturbed")
    return Settled(folder / "data", other_key, writes, picture)


@pytest.mark.parametrize(("seed", "function", "kind"), KILLS)
def test_they_end_as_if_nothing_had_happened(
    seed: int, function: str, kind: str, tmp_path: Path, settled: Settled, forking: ForkedServers
) -> None:
    moment, data = random.Random(seed), tmp_path / "data"
    shutil.copytree(settled.folder, data)
    writes = moment.randint(1, max(1, int(LATEST * settled.writes[function])))
    where = f"seed {seed}, behind write {writes} of {function}"
    run = Run(forking.start(data), settled.other_key)
    assert run.until_it_dies(writes, function, kind), f"{where}: it made fewer"
    left = unfinished(data, (TENANT, OTHERS))
    assert left[kind] > 0, f"{where}: only {left} is left"
    if seed % TWICE == 0:
        run = run.goes_on(forking.start(data))
        run.until_it_dies(moment.randint(1, 40))
    run = run.goes_on(forking.start(data))
    try:
        run.begin()
        run.end_everything()
        picture = run.check()
        assert not (differ := differences(picture, settled.picture)), f"{where}: {differ}"
    except AssertionError as error:
        raise AssertionError(f"{where}: {error}") from error
    finally:
        run.kill()
    check_bytes(tmp_path)


class Run:
    """One server, and what its clients ask of it. ``ahead_s``: what its clock was moved by, of the servers before it
    too."""

    def __init__(
        self, server: ForkedServer, other_key: str, before: Sequence[Script] = (), ahead_s: float = 0.0
    ) -> None:
        self.server, self.other_key, self.ahead_s = server, other_key, ahead_s
        self.control = ApiClient(server.base_url)
        self.them = people(server.base_url, server.key, other_key)
        self.scripts = [again(one, self.them) for one in before] or scripts(self.them)
        if ahead_s:
            self._advance(ahead_s)

    def goes_on(self, server: ForkedServer) -> Run:
        """Once a dead worker's replacement may be ended by others: what meets it before is put off, which takes time
        and no more (``test_postponed_messages.py``)."""
        return Run(server, self.other_key, self.scripts, self.ahead_s + LEASE_S + 1)

    def kill(self) -> None:
        self.them.close()
        self.control.close()
        self.server.kill()

    def die_behind(self, writes: int, function: str | None = None, kind: str | None = None) -> None:
        self.control.expect(200, "POST", "/__test/kill", {"function": function, "writes": writes, "job": kind})

    def until_it_dies(self, writes: int, function: str | None = None, kind: str | None = None) -> bool:
        """Everything is begun, and ended as far as it goes; False for a server that outlives that."""
        with suppress(OSError, http.client.HTTPException):
            self.die_behind(writes, function, kind)
            self.begin()
            self.end_everything()
        died = self.server.ends_within(DIES_S)
        self.kill()
        assert [wrong for one in self.scripts for wrong in one.wrong] == []
        return died

    def begin(self) -> None:
        """Each script in a thread of its own, and the workers beside them."""
        threads = [threading.Thread(target=one.run_until_killed, daemon=True) for one in self.scripts]
        for thread in threads:
            thread.start()
        try:
            while any(thread.is_alive() for thread in threads):
                drain(self.control)
        finally:
            for thread in threads:
                thread.join(PATIENCE_S)

    def end_everything(self) -> None:
        """What an erasure waits for passes at once. The last traces of what was deleted go with the sweep."""
        while not self._erased():
            self._advance(SETTLE_S)
            self.ahead_s += SETTLE_S
        for _ in range(2):
            self.control.expect(200, "POST", "/__test/run", {"worker": "sweep"})
            self._drain()

    def check(self) -> Picture:
        """What people see, when it is right in itself; a repeat of all that was asked changes nothing of it."""
        answers = {name: answer for one in self.scripts for name, answer in one.answers.items()}
        check_jobs(self.them, answers)
        check_words(self.them)
        self.scripts = [again(one, self.them) for one in self.scripts]
        self.begin()
        self.end_everything()
        assert [wrong for one in self.scripts for wrong in one.wrong] == []
        picture = picture_of(self.them)
        check_picture(picture)
        return picture

    def _erased(self) -> bool:
        self._drain()
        self.control.expect(200, "POST", "/__test/run", {"worker": "sweep"})
        self._drain()
        asked = [one.answers["erase"] for one in self.scripts if "erase" in one.answers]
        jobs = (self.them.cid.api.expect(200, "GET", f"/v1/admin/jobs/{job}") for job in asked)
        return all(job["status"] == "done" for job in jobs)

    def _drain(self) -> None:
        left = drain(self.control)
        assert left["done"] and all(sum(counts.values()) == 0 for counts in left["queues"].values()), left

    def _advance(self, seconds: float) -> None:
        self.control.expect(200, "POST", "/__test/clock", {"advance_s": seconds})
