"""Choose which ends of a prompt's cached prefixes are marked (docs/rules/compile.md#breakpoints)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from neve.domain.compile.formats.every import FORMATS
from neve.domain.compile.prompt import Breakpoint, Prompt
from neve.domain.tenants.prices import DEFAULT_FAMILY, cacheable_from, family

MOST_MARKS = 4
"""The most marks of one request (*limit*: Anthropic)."""
_WORTH: tuple[Breakpoint, ...] = ("history", "system", "previous", "static")
"""The order in which ends are marked where not all can be: each covers what stands before it."""


@dataclass(frozen=True, slots=True)
class PrefixEnd:
    """One end of a cached prefix. ``tokens``: of the prefix that ends there; ``minimum``: the fewest that the model's
    provider caches. ``why_not``: why it is not marked; for a person."""

    at: Breakpoint
    tokens: int
    minimum: int
    marked: bool
    why_not: str | None = None

    @property
    def cacheable(self) -> bool:
        return self.tokens >= self.minimum


@dataclass(frozen=True, slots=True)
class CacheRules:
    """The rules by which ends are marked. ``model``: the policy's, None where it names none. ``minima``: of the policy,
    by model or family. ``most``: the marks that the caller wants."""

    form: str
    model: str | None = None
    minima: Mapping[str, int] | None = None
    most: int = MOST_MARKS

    @property
    def minimum(self) -> int:
        return cacheable_from(self.model or DEFAULT_FAMILY[self.form], self.minima or {})

    def ends(self, prompt: Prompt, tokens: Mapping[Breakpoint, int]) -> tuple[PrefixEnd, ...]:
        """Mark the ends of the prompt's prefixes. ``tokens``: of the prefix that ends at each."""
        there = prompt.breakpoints()
        own = FORMATS[self.form].own_marks(prompt.tools) + (prompt.callers_mark is not None)
        room = min(self.most, MOST_MARKS - own) if self._marks else 0
        cached = [at for at in _WORTH if at in there and tokens[at] >= self.minimum]
        chosen = cached[: max(0, room)]
        return tuple(
            PrefixEnd(at, tokens[at], self.minimum, at in chosen, None if at in chosen else self._why_not(at in cached))
            for at in there
        )

    @property
    def _marks(self) -> bool:
        """Say whether the format has marks. The AI SDK's marks are Anthropic's: models of others know none."""
        if self.form == "ai_sdk" and self.model is not None:
            return family(self.model).startswith("claude")
        return FORMATS[self.form].marks

    def _why_not(self, cached: bool) -> str:
        if not self._marks:
            return "the provider caches by itself"
        return "no more marks are wanted, or left beside the caller's own" if cached else "below the minimum"
