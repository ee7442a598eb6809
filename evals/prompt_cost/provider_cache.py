"""A provider's prompt cache, by the rules that Anthropic publishes: a breakpoint writes the prefix that ends there; a
request reads the longest prefix that was written before and ends at a breakpoint or at most 20 blocks in front of one;
a prefix below the model's minimum is neither. Turns follow each other faster than an entry dies, so none does."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field

from evals.prompt_cost.blocks import Block

LOOKBACK = 20
"""https://platform.claude.com/docs/en/build-with-claude/prompt-caching, read in November 2026."""


@dataclass(frozen=True, slots=True)
class Billed:
    """Tokens of one prompt by what is charged for them."""

    input: int
    cache_read: int
    cache_write: int

    @property
    def prompt(self) -> int:
        return self.input + self.cache_read + self.cache_write


@dataclass
class ProviderCache:
    """``minimum``: tokens of the shortest prefix that is cached."""

    minimum: int
    _written: set[bytes] = field(default_factory=set)

    def send(self, blocks: Sequence[Block]) -> Billed:
        ends, tokens = _prefixes(blocks)
        marks = [n for n, block in enumerate(blocks) if block.marked and tokens[n] >= self.minimum]
        read = max((n for mark in marks for n in self._known(ends, mark)), default=-1)
        last = max(marks, default=-1)
        self._written.update(ends[mark] for mark in marks)
        cached = tokens[read] if read >= 0 else 0
        written = (tokens[last] if last >= 0 else 0) - cached
        prompt = tokens[-1] if tokens else 0
        return Billed(prompt - cached - max(written, 0), cached, max(written, 0))

    def _known(self, ends: Sequence[bytes], mark: int) -> list[int]:
        return [n for n in range(max(0, mark - LOOKBACK + 1), mark + 1) if ends[n] in self._written]


def _prefixes(blocks: Sequence[Block]) -> tuple[list[bytes], list[int]]:
    """A name for the prefix that ends with each block, and its tokens."""
    ends, tokens = [], []
    so_far, total = hashlib.sha256(), 0
    for block in blocks:
        so_far.update(len(block.data).to_bytes(8, "big") + block.data)
        total += block.tokens
        ends.append(so_far.digest())
        tokens.append(total)
    return ends, tokens
