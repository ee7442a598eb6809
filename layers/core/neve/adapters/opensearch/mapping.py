"""The layout of an index of passages on OpenSearch 2.19: the one source of its settings and fields.

``MAPPING_VERSION`` is part of every index's name. Raise it with any change here, of a term in ``neve.domain.terms`` or
of a count in ``neve.domain.recall.weighted_counts``: an index is never changed in place, a new one is filled from the
table (``neve.usecases.work.indexing.reindex``)."""

from __future__ import annotations

import re
from typing import Any, Final

from neve.ports.search import IndexModel

MAPPING_VERSION: Final = 6
SHARDS: Final = 3
"""A user's passages lie in one of them. At 9.5 KB a passage (measured on 2,760 chat turns with 384 dimensions) three of
30 GB hold some 9 million."""

REFRESHED_EVERY: Final = "1s"
"""OpenSearch's own number, but said: unsaid, a shard that was not searched for 30 s goes to sleep, and a writer that
waits for a refresh waits for its next search."""
NEVER: Final = "-1"
REMOVALS_REMEMBERED_S: Final = 600
"""The seconds for which a removal's version is remembered: far longer than a worker takes from its read of a row to its
write, and with the quarter of it that passes until a refresh looks for what is over, shorter than the wait before an
erased id is free: what its next life says begins at rev 1 again."""

_KEYWORDS = ("tenant", "user", "source", "kind", "status", "tier", "category", "group", "session_id", "fingerprint")
_TIME = {"type": "date", "format": "epoch_millis"}
_NOT_SORTED = {"type": "keyword", "doc_values": False}
RETURNED: Final = ("tenant", "user", "item_id", "n", "source", "fingerprint", "length")
"""The only fields that the index gives back. A passage's words are in no answer: recall reads them from the table."""


def index_body(model: IndexModel, *, refreshed_every: str) -> dict[str, Any]:
    """Make the body that creates an index. With ``dimensions=0`` it takes no vectors."""
    fields: dict[str, Any] = dict.fromkeys(_KEYWORDS, _NOT_SORTED)
    fields |= {
        "item_id": {"type": "keyword"},
        "n": {"type": "integer"},
        "tags": _NOT_SORTED,
        "metadata": _NOT_SORTED,
        "about": _NOT_SORTED,
        "only_in": _NOT_SORTED,
        "paths": _NOT_SORTED,
        "observed_at": _TIME,
        "valid_from": _TIME,
        "valid_until": _TIME,
        "created_at": _TIME,
        "superseded_at": _TIME,
        "terms": {"type": "rank_features"},
        "length": {"type": "integer", "index": False, "doc_values": False},
        "own": _NOT_SORTED,
        "words": {"type": "text", "analyzer": "whitespace", "norms": False},
    }
    if model.dimensions:
        # the engine must be named: without it the field falls to another one
        method = {"name": "hnsw", "engine": "lucene", "space_type": "cosinesimil"}
        fields["vector"] = {"type": "knn_vector", "dimension": model.dimensions, "method": method}
    return {
        "settings": {
            "index": {
                "knn": True,
                "number_of_shards": SHARDS,
                "auto_expand_replicas": "0-1",
                "refresh_interval": refreshed_every,
                "gc_deletes": f"{REMOVALS_REMEMBERED_S}s",
            }
        },
        "mappings": {
            "dynamic": "strict",
            "_meta": {"model": model.tag, "dimensions": model.dimensions, "mapping": MAPPING_VERSION},
            "_routing": {"required": True},
            "_source": {"includes": list(RETURNED)},
            "properties": fields,
        },
    }


def index_name(alias: str, model: IndexModel) -> str:
    """Name an index: ``passages-v6-bge-small-en-v1.5-int8-68807e3f-384``."""
    tag = re.sub(r"[^a-z0-9._-]+", "-", model.tag.lower())
    return f"{alias}-v{MAPPING_VERSION}-{tag}-{model.dimensions}"


def write_alias(index: str) -> str:
    """Give the name that documents are written under. It is asked to be an alias, so that a write that comes after an
    index was deleted fails; under the index's own name it would make a new one, without this mapping."""
    return f"{index}-write"
