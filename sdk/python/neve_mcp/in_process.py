"""Keeps the calls of an API that runs in this process, as on one machine, off the network."""

from __future__ import annotations

from neve_mcp.calls import Call

_installed: list[Call] = []


def install(call: Call) -> None:
    """Use this for every request from now on."""
    _installed[:] = [call]


def calls() -> Call | None:
    """Give what was installed; None: the API is somewhere else."""
    return _installed[0] if _installed else None
