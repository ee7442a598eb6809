"""Whether the policy lets a model write (docs/rules/tools.md#policy)."""

from __future__ import annotations

from neve.domain.errors import NeveError
from neve.scope import TenantScope


def need_write_tools(scope: TenantScope) -> None:
    """Raise write_tools_off where the policy refuses the tools that write."""
    if scope.policy.write_tools == "off":
        raise NeveError("write_tools_off", "Set the policy's write_tools to propose or on to let a model write.")
