"""When a server is to die: behind a write that leaves a job unfinished, and one that is left."""

from __future__ import annotations

import pytest

from local.controls import last_write
from local.controls.last_write import LastWrite, Moment
from neve.ports.table import Delete, Expect, Item, Put, Version, key_of


def job(status: str) -> Item:
    return {"pk": "T#acme#JOBS", "sk": "J#1", "type": "job", "kind": "compact", "status": status}


QUEUED = Put(job("queued"), Expect.ABSENT)
ENDED = Put(job("done"), Version(1))
DELETED = Delete(key_of(job("queued")))


class Died(Exception):
    pass


def die() -> None:
    raise Died


@pytest.fixture
def armed(monkeypatch: pytest.MonkeyPatch) -> LastWrite:
    monkeypatch.setattr(last_write, "_die", die)
    armed = LastWrite()
    armed.arm(Moment("librarian", 1, "compact"))
    return armed


def test_it_comes_with_the_write_that_leaves_such_a_job(armed: LastWrite) -> None:
    armed.wrote("librarian")
    armed.writes([QUEUED])
    with pytest.raises(Died):
        armed.wrote("compact", [QUEUED])


@pytest.mark.parametrize("last", [ENDED, DELETED], ids=["ended", "deleted"])
@pytest.mark.parametrize("told_behind_it", [False, True])
def test_not_behind_one_that_leaves_none(armed: LastWrite, last: Put | Delete, told_behind_it: bool) -> None:
    """Whoever wrote the job may be told of it behind somebody who has ended it, or erased its user."""
    armed.writes([QUEUED])
    if not told_behind_it:
        armed.wrote("api", [QUEUED])
    armed.writes([last])
    armed.wrote("jobs", [last])
    if told_behind_it:
        armed.wrote("api", [QUEUED])
    armed.wrote("librarian")
    assert armed.counts()["librarian"] == 1
