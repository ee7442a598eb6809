"""The lag of memory, in the answers of several calls."""

from __future__ import annotations

from dataclasses import asdict

from pydantic import Field

from neve.http.operations import View
from neve.usecases.core.lag.memory_lag import MemoryLag


class MemoryLagOut(View):
    """The lag of memory behind what was said. All zero: everything can be recalled, by words and by meaning."""

    events: int = Field(description="Events whose words are not in the search index yet.")
    unindexed: int = Field(description="Those, and memories that are not in it as they are now.")
    unembedded: int = Field(description="Events and memories that cannot be found by meaning yet.")
    unobserved: int = Field(description="Events up to the last complete turn that no pass has read.")
    seconds: int = Field(description="How long the oldest of all these has waited.")
    at_least: bool | None = Field(
        default=None, description="true: not everything was counted, so each number may be larger. Else absent."
    )

    @classmethod
    def of(cls, lag: MemoryLag) -> MemoryLagOut:
        return cls(**asdict(lag) | {"at_least": lag.at_least or None})
