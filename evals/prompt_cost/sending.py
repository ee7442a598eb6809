"""What one request was, and what a provider's cache made of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evals.prompt_cost.blocks import Block, blocks_of, common_prefix, stable, whole
from evals.prompt_cost.provider_cache import ProviderCache


@dataclass(frozen=True, slots=True)
class Sent:
    """``prefix``: bytes of the request that were the beginning of the one before. ``stable`` and ``stable_prefix``: the
    same of what stands before the user's last message. Then its tokens by what is charged for them."""

    bytes: int
    prefix: int
    stable: int
    stable_prefix: int
    input: int
    cache_read: int
    cache_write: int


@dataclass
class Stream:
    """What one method sends, request by request."""

    cache: ProviderCache
    before: Sequence[Block] = ()

    def send(self, request: Mapping[str, Any]) -> Sent:
        blocks = blocks_of(request)
        last, own, fixed = whole(self.before), whole(blocks), stable(blocks)
        billed = self.cache.send(blocks)
        self.before = blocks
        return Sent(
            bytes=len(own),
            prefix=common_prefix(last, own),
            stable=len(fixed),
            stable_prefix=common_prefix(last, fixed),
            input=billed.input,
            cache_read=billed.cache_read,
            cache_write=billed.cache_write,
        )
