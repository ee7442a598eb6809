"""Finds the messages that a person sees of a conversation whose messages were edited or asked for again: such a file
holds a tree, of which one path is shown."""

from __future__ import annotations

from collections.abc import Mapping

OTHER = "messages on branches that were left"


def shown_path(parents: Mapping[str, str | None], newest_first: list[str], leaf: str | None) -> list[str]:
    """The ids from the root to ``leaf``, or to the newest message that nothing follows where no such leaf is there.

    ``parents``: of each id its parent's; one that is not among them ends the path. ``newest_first``: all ids."""
    if leaf not in parents:
        followed = set(parents.values())
        leaf = next((one for one in newest_first if one not in followed), None)
    path: dict[str, None] = {}
    while leaf is not None and leaf in parents and leaf not in path:
        path[leaf] = None
        leaf = parents[leaf]
    return list(reversed(path))
