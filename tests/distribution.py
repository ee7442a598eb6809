"""Which tests one process of pytest-xdist runs one behind the other, and in which order the groups are begun.

Tests that share something costly are one group. Groups that take long are begun first; the many short ones that stand
for themselves come last, so that no process waits long for another at the end."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]

if TYPE_CHECKING:
    import pytest

ORDER = ("packaging", "http", "contract", "stack", "faults", "infra", "unit", "crash")
"""Folders of ``tests``. A folder that is not named comes first."""
ALONE = ("tests/crash/", "tests/stack/test_servers.py")
"""Every test starts servers of its own, so none gains by another."""
TOGETHER = ("tests/packaging",)
"""Their layers are built once a process."""
ENGINE = re.compile(r"[\[-](embedded|full|sqlite|dynamodb-local|moto|elasticmq|files|s3mock|opensearch)[\]-]")
"""The store of a test that runs on several. A process starts a server for each stack but once."""


def group_of(nodeid: str) -> str:
    """Names the group of a test."""
    if nodeid.startswith(ALONE):
        return nodeid
    for folder in TOGETHER:
        if nodeid.startswith(f"{folder}/"):
            return folder
    file, _, test = nodeid.partition("::")
    engine = ENGINE.search(test)
    return f"{file} {engine[1]}" if engine else file


def place_of(nodeid: str) -> int:
    """Where the test's group comes; equal ones keep their order."""
    folder = nodeid.removeprefix("tests/").partition("/")[0]
    return ORDER.index(folder) if folder in ORDER else -1


def long_first(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: place_of(item.nodeid))


class Groups(LoadScopeScheduling):  # type: ignore[misc]
    """pytest-xdist's own way of handing out groups, with these groups."""

    def _split_scope(self, nodeid: str) -> str:
        return group_of(nodeid)
