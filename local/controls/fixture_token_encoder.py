"""A token encoder for tests: deterministic, offline, a token for each word.

The same word has the same vector everywhere, and two words share nothing but chance: MaxSim grows with the share of the
query's words that one window of the message holds."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence

MODEL = "fixture-tokens"


class FixtureTokenEncoder:
    """16 bytes of its sha256 are the code of a word."""

    @property
    def model(self) -> str:
        return MODEL

    def encode_query(self, text: str) -> bytes:
        return _codes(text)

    def encode_passages(self, texts: Sequence[str]) -> list[bytes]:
        return [_codes(text) for text in texts]

    def similarities(self, query: bytes, messages: Sequence[Sequence[bytes]]) -> list[float]:
        from neve.adapters.embedders.token_codes import from_codes, max_sims

        return max_sims(from_codes(query), messages)


def _codes(text: str) -> bytes:
    words = re.findall(r"\w+", text.casefold())
    return b"".join(hashlib.sha256(word.encode()).digest()[:16] for word in words)
