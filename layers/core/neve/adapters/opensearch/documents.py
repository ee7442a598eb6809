"""A passage as a document: its id, its routing, and the terms that the keyword leg reads."""

from __future__ import annotations

import hashlib
import json
import struct
from typing import Any

from neve.domain.indexing.passage import Neighbour, Passage
from neve.domain.recall.weighted_counts import Lengths, Terms, weighted_counts
from neve.domain.terms import terms
from neve.domain.times import epoch_ms
from neve.domain.words import plain_words
from neve.ports.search import Owner

_MAX_TERM = 128


def stored_term(term: str) -> str:
    """Give the term as it is stored; a long one by its hash, because it becomes a term of the index with its field's
    name in front."""
    return term if len(term) <= _MAX_TERM else hashlib.blake2b(term.encode(), digest_size=16).hexdigest()


_lengths = Lengths(terms)


def _stored_terms(text: str) -> list[str]:
    return list(map(stored_term, terms(text)))


def feature(term: str) -> str:
    """Give the name of a term in ``terms``. A query takes what follows the last dot for it, and no term holds a bar."""
    return term.replace(".", "|")


def routing(owner: Owner) -> str:
    """Give one shard to all passages of a user. A hash, because a search takes a comma for the end of a routing value.
    It is no check: every document carries its owner."""
    return hashlib.sha256("\0".join(owner).encode()).hexdigest()[:32]


def document_id(owner: Owner, item_id: str, n: int) -> str:
    """Give the id of a passage's document, with its owner: two owners may have items of one id."""
    return f"{routing(owner)}:{item_id}#{n}"


def index_lines(owner: Owner, passage: Passage) -> str:
    """Give the two lines of a bulk request."""
    action = {"index": _target(owner, passage.item_id, passage.n, passage.document_version)}
    return f"{json.dumps(action)}\n{json.dumps(document(owner, passage))}\n"


def delete_line(owner: Owner, item_id: str, n: int, version: int) -> str:
    return json.dumps({"delete": _target(owner, item_id, n, version)}) + "\n"


def _target(owner: Owner, item_id: str, n: int, version: int) -> dict[str, Any]:
    return {
        "_id": document_id(owner, item_id, n),
        "routing": routing(owner),
        "version": version,
        "version_type": "external_gte",
    }


def document(owner: Owner, passage: Passage) -> dict[str, Any]:
    """Make the document of a passage. ``terms`` are the weighted counts, ``own`` are the terms of ``text`` and
    ``words`` its words as they stand."""
    own = _terms(passage)
    fields = {
        "tenant": owner.tenant,
        "user": owner.user,
        "item_id": passage.item_id,
        "n": passage.n,
        "source": passage.source.value,
        "kind": passage.kind,
        "status": passage.status,
        "tier": passage.tier,
        "category": passage.category,
        "group": passage.group,
        "session_id": passage.session_id,
        "fingerprint": passage.fingerprint,
        "tags": list(passage.tags),
        "metadata": list(passage.metadata),
        "about": list(passage.about) or None,
        "only_in": passage.only_in,
        "paths": None if passage.path is None else path_prefixes(passage.path),
        "observed_at": epoch_ms(passage.observed_at),
        "valid_from": _ms(passage.valid_from),
        "valid_until": _ms(passage.valid_until),
        "created_at": _ms(passage.created_at or passage.observed_at),
        "superseded_at": _ms(passage.superseded_at),
        "terms": _weighted_terms(passage, own),
        "own": sorted(set(own.own)),
        "length": own.length,
        "words": " ".join(plain_words(passage.text)),
        "vector": None if passage.vector is None else floats(passage.vector),
    }
    return {name: value for name, value in fields.items() if value is not None}


def _ms(at: str | None) -> int | None:
    return None if at is None else epoch_ms(at)


def _terms(indexed: Passage | Neighbour) -> Terms[str]:
    own = _stored_terms(indexed.text)
    return Terms(own, len(own) + _lengths.of(indexed.rest))


def _weighted_terms(passage: Passage, own: Terms[str]) -> dict[str, float]:
    around = ((neighbour.distance, _terms(neighbour)) for neighbour in passage.neighbours)
    counts = weighted_counts(own, _stored_terms(passage.date_text), around)
    return {feature(term): count for term, count in counts.items()}


def path_prefixes(path: str) -> list[str]:
    """List what a prefix of whole segments may be: ``/a/b`` -> ``/``, ``/a/``, ``/a/b/``."""
    segments = path.split("/")
    return ["/".join(segments[:end]) + "/" for end in range(1, len(segments) + 1)]


def floats(vector: bytes) -> list[float]:
    """Give the numbers of a little-endian float32 vector."""
    return list(struct.unpack(f"<{len(vector) // 4}f", vector))
