"""What happened in a run, in order: always as a hash, as lines when somebody wants to read them."""

from __future__ import annotations

from hashlib import blake2b


class Trace:
    """Two runs are the same iff their hashes are."""

    def __init__(self, *, keep: bool = False) -> None:
        self.lines: list[str] | None = [] if keep else None
        self._hash = blake2b(digest_size=16)

    def add(self, at_s: float, who: str, what: str, outcome: str = "") -> None:
        line = f"{at_s:12.3f} {who} {what} {outcome}\n"
        self._hash.update(line.encode())
        if self.lines is not None:
            self.lines.append(line)

    def digest(self) -> str:
        return self._hash.hexdigest()
