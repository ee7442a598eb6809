"""Decides whether the policy lets a model write (docs/rules/tools.md#policy)."""

from __future__ import annotations

from neve.domain.errors import NeveError
from neve.domain.tenants.policy import Policy


def need_write_tools(policy: Policy) -> None:
    """Raise write_tools_off where the policy refuses the tools that write."""
    if policy.write_tools == "off":
        raise NeveError("write_tools_off", "Set the policy's write_tools to propose or on to let a model write.")
