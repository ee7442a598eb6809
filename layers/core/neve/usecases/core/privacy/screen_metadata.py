"""The gate on the labels of a caller's own: their names are looked at as well as their values."""

from __future__ import annotations

from collections.abc import Mapping

from neve.domain.metadata import Metadata, is_key
from neve.domain.privacy.structured import Walk


def walk_metadata(walk: Walk, metadata: Mapping[str, str]) -> Metadata:
    """Give the labels that may be kept. A name that holds anything is no key any more: its label goes with it."""
    return {name: value for name, value in walk.members(metadata).items() if is_key(name)}
