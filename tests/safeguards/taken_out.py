"""A file without one of its safeguards."""

from __future__ import annotations

from tests.safeguards.table import Safeguard


class NotThere(ValueError):
    """The table names what the file does not hold; the message says what."""


def taken_out(safeguard: Safeguard, text: str) -> str:
    """With an ``after`` the first place behind it, else every place. Raises NotThere."""
    before, after, rest = text.partition(safeguard.after) if safeguard.after else ("", "", text)
    if safeguard.after and not after:
        raise NotThere(f"{safeguard.after} is not in {safeguard.file}")
    if safeguard.has not in rest:
        raise NotThere(f"{safeguard.has} is not in {safeguard.file}")
    return before + after + rest.replace(safeguard.has, safeguard.without, 1 if safeguard.after else -1)
