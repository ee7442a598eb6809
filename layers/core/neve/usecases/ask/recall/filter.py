"""The search filter applied to one passage: what both legs do inside the index, for rows that did not come from
there."""

from __future__ import annotations

from neve.domain.documents.paths import is_below
from neve.domain.indexing.passage import Passage
from neve.ports.search import SearchFilter


def allows(where: SearchFilter, passage: Passage) -> bool:
    """Say whether a passage passes the filter in everything but the exclusions, which ``usecases/ask/recall/search.py``
    tells apart by their reason."""
    return (
        (not where.sources or passage.source in where.sources)
        and (not where.statuses or passage.status in where.statuses)
        and (not where.kinds or passage.kind in where.kinds)
        and where.tier in (None, passage.tier)
        and where.category in (None, passage.category)
        and where.group in (None, passage.group)
        and set(where.tags) <= set(passage.tags)
        and set(where.metadata) <= set(passage.metadata)
        and (where.path_prefix is None or _below(passage.path, where.path_prefix))
        and where.session_id in (None, passage.session_id)
        and (where.not_session_id is None or passage.session_id != where.not_session_id)
        and (where.after is None or passage.observed_at >= where.after)
        and (where.before is None or passage.observed_at < where.before)
    )


def _below(path: str | None, prefix: str) -> bool:
    return path is not None and (path == prefix.rstrip("/") or is_below(path, prefix))
