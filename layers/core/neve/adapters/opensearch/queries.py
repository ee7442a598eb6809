"""The searches of the two legs, as OpenSearch wants them said. The owner is asked for inside every query: a filter
around a ``knn`` clause, or a filtered alias, would be applied to what the whole index's nearest neighbours are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import log
from struct import Struct
from typing import Any, Final, NamedTuple

from neve.adapters.opensearch.documents import feature, floats, stored_term
from neve.domain.recall.query import QueryTerms, TextQuery, query_terms
from neve.domain.recall.weighted_counts import K1
from neve.domain.times import epoch_ms
from neve.ports.search import Owner, SearchFilter

Query = dict[str, Any]

MOST_HITS: Final = 10_000
"""OpenSearch refuses a search for more. A leg asks for as many more items as a pack may hold, which is above this where
a tenant's window is of millions of tokens."""
_SINGLE: Final = Struct("<f")
_BEST_FIRST: Final = [{"_score": "desc"}, {"item_id": "asc"}, {"n": "asc"}]


def in_stored_terms(query: TextQuery) -> QueryTerms | None:
    """Give the query in terms as documents hold them; None for one that nothing can match."""
    asked = query_terms(query)
    if asked.matches_nothing:
        return None
    return replace(
        asked,
        groups=tuple(tuple(map(stored_term, group)) for group in asked.groups),
        excluded=tuple(map(stored_term, asked.excluded)),
    )


# --- what is asked ------------------------------------------------------------------------------


def count_terms(owner: Owner, terms: Sequence[str], where: SearchFilter) -> Query:
    """Make the query that counts how many passages the owner has, how many the filter admits, and how many of all hold
    each term in their text."""
    holding = {str(number): {"term": {"own": term}} for number, term in enumerate(terms)}
    return {
        "size": 0,
        "track_total_hits": True,
        "query": {"bool": {"filter": _of(owner)}},
        "aggs": {"terms": {"filters": {"filters": holding}}, "admitted": {"filter": _only(where)}},
    }


class Counts(NamedTuple):
    """The numbers that the keyword leg weighs terms by. ``idf``: BM25's, over the owner's passages. ``admitted``: how
    many of them the filter admits."""

    idf: Mapping[str, float]
    admitted: int


def counts_of(terms: Sequence[str], answer: Mapping[str, Any]) -> Counts:
    """Read the counts from the answer to ``count_terms``."""
    live = int(answer["hits"]["total"]["value"])
    buckets = answer["aggregations"]["terms"]["buckets"]
    holding = {term: int(buckets[str(number)]["doc_count"]) for number, term in enumerate(terms)}
    idf = {term: log(1 + (live - df + 0.5) / (df + 0.5)) for term, df in holding.items()}
    return Counts(idf, int(answer["aggregations"]["admitted"]["doc_count"]))


def by_words(owner: Owner, query: QueryTerms, idf: Mapping[str, float], where: SearchFilter, depth: int) -> Query:
    """Make the query by words, with BM25F: a term counts by its weighted count, saturated, times its idf."""
    groups = [{"bool": {"should": [_weighed(term, idf[term]) for term in group]}} for group in query.groups]
    phrases = [_phrase(words) for words in query.phrases]
    refused = [*_refused(where), *map(_phrase, query.excluded_phrases)]
    if query.excluded:
        refused.append({"terms": {"own": list(query.excluded)}})
    return _best(
        {
            "bool": {
                "filter": [*_of(owner), *_admitted(where), *phrases],
                "must_not": refused,
                "should": groups,
                "minimum_should_match": query.min_match,
            }
        },
        depth,
    )


def by_vector(owner: Owner, vector: bytes, where: SearchFilter, depth: int, neighbours: int) -> Query:
    """Make the query by a vector. ``neighbours``: passages that are looked at. Among no more than these that pass the
    filter it is exact."""
    nearest = {"knn": {"vector": {"vector": floats(vector), "k": neighbours, "filter": _only(where, *_of(owner))}}}
    return {**_best(nearest, depth), "track_total_hits": True}


def everything_of(owner: Owner, size: int) -> Query:
    return {"size": size, "version": True, "query": {"bool": {"filter": _of(owner)}}, "sort": ["_doc"]}


def count_of(owner: Owner) -> Query:
    return {"query": {"bool": {"filter": _of(owner)}}}


def _best(query: Query, depth: int) -> Query:
    """Ask for the best passage of each item, best first, ties by item id and n."""
    return {
        "size": min(depth, MOST_HITS),
        "query": query,
        "sort": _BEST_FIRST,
        "collapse": {"field": "item_id"},
        "version": True,
        "track_total_hits": False,
    }


def _phrase(words: Sequence[str]) -> Query:
    return {"match_phrase": {"words": " ".join(words)}}


def _weighed(term: str, idf: float) -> Query:
    """Weigh a term: ``idf · (k1 + 1) · count / (count + k1)``. The boost as the number that the index makes of it."""
    return {
        "rank_feature": {
            "field": f"terms.{feature(term)}",
            "boost": as_float32(idf * (K1 + 1)),
            "saturation": {"pivot": K1},
        }
    }


def as_float32(number: float) -> float:
    [single] = _SINGLE.unpack(_SINGLE.pack(number))
    return float(single)


# --- filters ------------------------------------------------------------------------------------


def _of(owner: Owner) -> list[Query]:
    return [{"term": {"tenant": owner.tenant}}, {"term": {"user": owner.user}}]


def _only(where: SearchFilter, *also: Query) -> Query:
    return {"bool": {"filter": [*also, *_admitted(where)], "must_not": _refused(where)}}


def _admitted(where: SearchFilter) -> list[Query]:
    lists = {"source": [source.value for source in where.sources], "status": where.statuses, "kind": where.kinds}
    singles = {
        "tier": where.tier,
        "category": where.category,
        "group": where.group,
        "session_id": where.session_id,
        "paths": None if where.path_prefix is None else where.path_prefix.rstrip("/") + "/",
    }
    clauses: list[Query] = [{"terms": {name: list(values)}} for name, values in lists.items() if values]
    clauses += [{"term": {name: value}} for name, value in singles.items() if value is not None]
    clauses += [{"term": {"tags": tag}} for tag in where.tags]
    clauses += [{"term": {"metadata": entry}} for entry in where.metadata]
    clauses += [{"terms": {"about": list(where.about)}}] if where.about else []
    clauses.append(_told_in(where.asked_in))
    return clauses + _observed(where)


def _told_in(session: str | None) -> Query:
    """Admit what any session is told, and what only ``session`` is."""
    anywhere = {"bool": {"must_not": {"exists": {"field": "only_in"}}}}
    if session is None:
        return anywhere
    return {"bool": {"should": [anywhere, {"term": {"only_in": session}}], "minimum_should_match": 1}}


def _observed(where: SearchFilter) -> list[Query]:
    bounds = {"gte": where.after, "lt": where.before}
    given = {name: epoch_ms(at) for name, at in bounds.items() if at is not None}
    return [{"range": {"observed_at": given}}] if given else []


def _refused(where: SearchFilter) -> list[Query]:
    refused = {
        "session_id": [] if where.not_session_id is None else [where.not_session_id],
        "item_id": sorted(where.exclude_ids),
        "fingerprint": sorted(where.exclude_fingerprints),
    }
    return [{"terms": {name: values}} for name, values in refused.items() if values] + _out_of_time(where)


def _out_of_time(where: SearchFilter) -> list[Query]:
    """Refuse what begins later or has ended: a passage without such a time has neither."""
    spans = {("valid_from", "valid_until"): where.holds_at, ("created_at", "superseded_at"): where.in_force_at}
    given = [(first, end, epoch_ms(at)) for (first, end), at in spans.items() if at is not None]
    return [
        clause for first, end, ms in given for clause in ({"range": {first: {"gt": ms}}}, {"range": {end: {"lte": ms}}})
    ]
