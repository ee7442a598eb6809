"""How the tests are handed out to the processes that run them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tests.distribution import ORDER, Groups, group_of, place_of


def test_every_kill_stands_for_itself() -> None:
    seeds = {group_of(f"tests/crash/test_kill_nine.py::test_nothing[{seed}]") for seed in range(50)}
    assert len(seeds) == 50


@pytest.mark.parametrize(
    ("nodeid", "group"),
    [
        ("tests/packaging/test_layer_sizes.py::test_a", "tests/packaging"),
        ("tests/packaging/test_lambda_layers.py::test_b[core]", "tests/packaging"),
        ("tests/infra/test_lint.py::test_c", "tests/infra"),
        ("tests/stack/test_servers.py::test_they_answer", "tests/stack/test_servers.py"),
        ("tests/stack/test_servers.py::test_they_listen", "tests/stack/test_servers.py"),
        ("tests/stack/test_servers.py::test_a_port[s3]", "tests/stack/test_servers.py::test_a_port[s3]"),
        ("tests/http/test_t0.py::test_a[embedded]", "tests/http/test_t0.py embedded"),
        ("tests/http/test_t0.py::test_b[full-vector-error]", "tests/http/test_t0.py full"),
        ("tests/http/test_x.py::test_c[PUT /v1/policy][embedded]", "tests/http/test_x.py embedded"),
        ("tests/contract/test_queue_contract.py::test_d[moto-embed]", "tests/contract/test_queue_contract.py moto"),
        ("tests/unit/http/test_http_pack.py::test_e[a full house]", "tests/unit/http/test_http_pack.py"),
        ("tests/unit/http/test_http_pack.py::test_f", "tests/unit/http/test_http_pack.py"),
    ],
)
def test_what_shares_something_costly_is_one_group(nodeid: str, group: str) -> None:
    assert group_of(nodeid) == group


def test_the_long_groups_are_begun_first_and_the_many_short_ones_last() -> None:
    folders = ["tests/crash/a.py::t", "tests/new/a.py::t", "tests/unit/a.py::t", "tests/http/a.py::t"]
    assert sorted(folders, key=place_of) == [folders[1], folders[3], folders[2], folders[0]]
    assert ORDER[-1] == "crash"
    looks = ["tests/http/test_a.py::t", "tests/http/recall/b.py::t", "tests/http/retraction/c.py::t"]
    assert sorted(looks, key=place_of) == [looks[2], looks[0], looks[1]]


# --- when a test ends its process ---------------------------------------------------------------

KILLS = [f"tests/crash/test_kill_nine.py::test_nothing[{seed}]" for seed in range(6)]
FILE = [f"tests/unit/test_a.py::test_{name}" for name in "abc"]


class _Process:
    """A ``WorkerController``. It begins a test when it knows the next one, or that there is none, as theirs do."""

    def __init__(self, name: str) -> None:
        self.gateway = SimpleNamespace(id=name)
        self.shutting_down = False
        self.waiting: list[int] = []

    def send_runtest_some(self, indices: list[int]) -> None:
        assert not self.shutting_down
        self.waiting += indices

    def shutdown(self) -> None:
        self.shutting_down = True

    def begin(self) -> int | None:
        if len(self.waiting) > 1 or (self.waiting and self.shutting_down):
            return self.waiting.pop(0)
        return None


def _run(tests: list[str], deadly: set[str], *, beside: int) -> tuple[list[str], list[str]]:
    """What passed and what its process died of, with so many processes, each of which is replaced when it dies."""
    config: Any = SimpleNamespace(option=SimpleNamespace(loadscopereorder=False, tx=["popen"] * beside))
    config.getvalue = lambda _: ["popen"] * beside
    groups = Groups(config)
    living = [_Process(f"gw{number}") for number in range(beside)]
    for process in living:
        groups.add_node(process)
    for process in living:
        groups.add_node_collection(process, tests)
    groups.schedule()
    passed, failed = list[str](), list[str]()
    newcomers: list[_Process] = []
    while (begun := [(process, at) for process in living if (at := process.begin()) is not None]) or newcomers:
        for process, at in begun:
            if tests[at] not in deadly:
                passed.append(tests[at])
                groups.mark_test_complete(process, at)
                continue
            living.remove(process)
            failed.append(str(groups.remove_node(process)))
            newcomers.append(_Process(f"gw{beside + len(failed)}"))
            groups.add_node(newcomers[-1])
        if not begun:
            living.append(newcomers.pop())
            groups.add_node_collection(living[-1], tests)
            groups.schedule()
    return passed, failed


@pytest.mark.parametrize("beside", [1, 2, 3])
@pytest.mark.parametrize(
    "deadly",
    [{KILLS[0]}, {KILLS[1], KILLS[2]}, {KILLS[5]}, {FILE[1]}, {FILE[2], KILLS[0]}, set(KILLS + FILE)],
    ids=["first", "two", "last", "inside a group", "both", "all"],
)
def test_the_others_still_run(deadly: set[str], beside: int) -> None:
    tests = FILE + KILLS
    passed, failed = _run(tests, deadly, beside=beside)
    assert sorted(failed) == sorted(deadly)
    assert sorted(passed) == sorted(set(tests) - deadly)
