"""Which tests one process of pytest-xdist runs one behind the other, and in which order the groups are begun.

Tests that share something costly are one group. Groups that take long are begun first; the many short ones that stand
for themselves come last, so that no process waits long for another at the end."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]

if TYPE_CHECKING:
    import pytest
    from xdist.workermanage import WorkerController  # type: ignore[import-untyped]

ORDER = (
    *("packaging", "http/retraction", "http/erasure", "http", "contract"),
    *("stack", "faults", "infra", "unit", "crash"),
)
"""Folders of ``tests``. A folder that is not named comes first. The tests that look for words in all that a service
keeps come before those that leave much there: each look merges the whole search index, and reads every row."""
ALONE = ("tests/crash/", "tests/console/", "tests/stack/test_servers.py")
"""Every test starts servers of its own, so none gains by another; those that share theirs are named ``test_they_…``."""
ONE_PROCESS = ("tests/packaging", "tests/infra")
"""The layers are built, and the template is expanded, once a process."""
ENGINE = re.compile(r"[\[-](embedded|full|sqlite|dynamodb-local|moto|elasticmq|files|s3mock|opensearch)[\]-]")
"""The store of a test that runs on several. A process starts a server for each stack but once."""
ENOUGH = 3
"""Tests that wait at a process: no group is handed out before it is needed."""


def group_of(nodeid: str) -> str:
    """Names the group of a test."""
    if nodeid.startswith(ALONE):
        return nodeid.partition("::test_they_")[0]
    for folder in ONE_PROCESS:
        if nodeid.startswith(f"{folder}/"):
            return folder
    file, _, test = nodeid.partition("::")
    engine = ENGINE.search(test)
    return f"{file} {engine[1]}" if engine else file


def place_of(nodeid: str) -> int:
    """Where the test's group comes; equal ones keep their order."""
    first, *deeper = nodeid.removeprefix("tests/").split("/")
    for folder in (f"{first}/{deeper[0]}" if deeper else first, first):
        if folder in ORDER:
            return ORDER.index(folder)
    return -1


def long_first(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: place_of(item.nodeid))


class Groups(LoadScopeScheduling):  # type: ignore[misc]
    """pytest-xdist's own way of handing out groups, with these groups. When a test ends its process, that test has
    failed and is not begun again: the process that takes the place of the dead one, or another, runs the rest."""

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid)

    def remove_node(self, node: WorkerController) -> str | None:
        """The test that the process died of. Raises KeyError for a process that never was ready."""
        left: dict[str, dict[str, bool]] = self.assigned_work.pop(node)
        pending = [(group, test) for group, tests in left.items() for test, done in tests.items() if not done]
        if not pending:
            return None
        group, died_of = pending[0]
        left[group][died_of] = True
        for unfinished in reversed([group for group, tests in left.items() if not all(tests.values())]):
            self.workqueue[unfinished] = left[unfinished]
            self.workqueue.move_to_end(unfinished, last=False)
        for other in self.nodes:
            self._reschedule(other)
        return died_of

    def _reschedule(self, node: WorkerController) -> None:
        """A process begins its last test only once it knows what comes behind it, or that nothing does: with groups of
        one test, one group is not enough. One that takes the place of a dead one has to know the tests first."""
        if node.shutting_down or node not in self.registered_collections:
            return
        while self.workqueue and self._pending_of(self.assigned_work[node]) < ENOUGH:
            self._assign_work_unit(node)
        if not self.workqueue:
            node.shutdown()
