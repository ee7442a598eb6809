"""The vectors of one user's texts: kept by content, so that identical text is not paid for twice."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Literal

from neve.caching import CacheSpec
from neve.domain.indexing.passage import Passage
from neve.domain.memories.text import fingerprint
from neve.ports.engines import IndexingPorts, WordsPorts
from neve.ports.errors import StoreUnavailable
from neve.ports.search import IndexModel
from neve.ports.table import Table
from neve.scope import UserData
from neve.store.keys import UserKeys, embedder_health
from neve.store.tenants.embedder_health import put_embedder_health, read_embedder_health
from neve.store.transact import transact
from neve.store.vectors import as_kept, put_vector, read_vector
from neve.usecases.core.tenants.usage import usage_put
from neve.usecases.work.indexing.vectors.embed_texts import Embedded, embed_texts

BATCH_SIZE = 90
"""Vector rows that are kept together, each by a write of its own."""


@dataclass(frozen=True, slots=True)
class VectorsFound:
    """The vectors of texts. ``vectors`` by text. ``failed``: texts that a later attempt may embed; ``late``: those for
    which this worker has no time left. ``unavailable``: why none can be embedded now, and no worker should try again by
    itself. ``wanted`` False: there is no embedder, by choice."""

    vectors: Mapping[str, bytes]
    failed: frozenset[str]
    unavailable: str | None
    wanted: bool
    late: frozenset[str] = frozenset()


def vectors_for(data: UserData[IndexingPorts], texts: Sequence[str], known_only: Sequence[str] = ()) -> VectorsFound:
    """Return the vectors of ``texts``, embedded where the user has none of the content yet, and those that are known of
    ``known_only``. What is made is kept without a condition: a caller looks afterwards whether the texts are still
    there, and an erasure looks twice (ADR 79). Raises StoreUnavailable."""
    ports, keys = data.ports, data.keys
    model = ports.embedder.model
    if not model.dimensions:
        return VectorsFound({}, frozenset(), None, wanted=False)
    held = ports.search.model()
    if held != model:
        reason = f"the index holds vectors of {held.tag}, the embedder makes {model.tag}"
        return VectorsFound({}, frozenset(), reason, wanted=True)
    prints = {text: fingerprint(text) for text in (*texts, *known_only)}
    to_have = {prints[text]: text for text in texts}
    known = _known(ports.table, keys, model, prints.values())
    missing = {one: text for one, text in to_have.items() if one not in known}
    made = _made(data, missing, reused=sum(prints[t] in known for t in texts))
    if missing:
        _report(ports, model, made)
    vectors = known | made.vectors
    return VectorsFound(
        vectors={text: vectors[one] for text, one in prints.items() if one in vectors},
        failed=frozenset(text for text, one in prints.items() if one in made.failed),
        unavailable=made.unavailable,
        wanted=True,
        late=frozenset(text for text, one in prints.items() if one in made.late),
    )


def known_vectors(
    data: UserData[WordsPorts] | UserData[IndexingPorts], model: IndexModel, texts: Sequence[str]
) -> dict[str, bytes]:
    """Return the vectors that the user has already, by text. Raises StoreUnavailable."""
    prints = {text: fingerprint(text) for text in texts}
    known = _known(data.ports.table, data.keys, model, prints.values())
    return {text: known[one] for text, one in prints.items() if one in known}


def with_known_vectors(
    data: UserData[WordsPorts] | UserData[IndexingPorts], model: IndexModel, passages: Sequence[Passage]
) -> list[Passage]:
    """Return the passages with the vectors that their texts have already. Raises StoreUnavailable."""
    known = known_vectors(data, model, passage_texts(passages)) if model.dimensions else {}
    return [replace(passage, vector=known.get(passage.text)) for passage in passages]


def _known(table: Table, keys: UserKeys, model: IndexModel, prints: Iterable[str]) -> dict[str, bytes]:
    places = {keys.vector(one, model.tag): one for one in prints}
    found = table.get_many(list(places), eventual=True) if places else {}  # one that is missed is made again
    return {places[key]: read_vector(item) for key, item in found.items()}


def _made(data: UserData[IndexingPorts], missing: Mapping[str, str], reused: int) -> Embedded:
    """Embedded and kept part by part, so that a worker which runs out of time in a long document has got on with it.
    ``missing``: texts by fingerprint. ``reused``: how many others were known."""
    embedder, keys, table = data.ports.embedder, data.keys, data.ports.table
    made, prints = Embedded(), list(missing)
    for start in range(0, len(prints), BATCH_SIZE):
        part = {one: missing[one] for one in prints[start : start + BATCH_SIZE]}
        some = embed_texts(embedder, part, data.ports.clock)
        # a vector is the same whether it was made now or is read later
        vectors = {one: as_kept(vector) for one, vector in some.vectors.items()}
        table.write_each([put_vector(keys, one, embedder.model.tag, v) for one, v in vectors.items()])
        made.vectors |= vectors
        made.failed |= some.failed
        made.unavailable = some.unavailable
        if some.late:
            made.late |= some.late | set(prints[start + BATCH_SIZE :])
        if some.late or some.unavailable is not None:
            break
    _count(data, {"embedded_texts": len(made.vectors), "reused_vectors": reused})
    return made


def _count(data: UserData[IndexingPorts], used: Mapping[str, int]) -> None:
    """Count once what was made and what was known."""
    ports, keys = data.ports, data.keys
    if any(used.values()):
        transact(ports, lambda: ports.table.write([usage_put(keys, ports.table.get(keys.usage), used)]))


TOLD: CacheSpec[str, tuple[str, str | None]] = CacheSpec("embedder health", size=8, ttl=timedelta(seconds=60))
"""What the row of an embedder's health says, by its tag: state and reason, as this process last saw it."""


def _report(ports: IndexingPorts, model: IndexModel, made: Embedded) -> None:
    """Tell the health of the embedder when it has changed. That health cannot be told must not fail a batch."""
    state: Literal["ready", "unavailable"] = "ready" if made.unavailable is None else "unavailable"
    if state == "ready" and not made.vectors:
        return
    found, told = (state, made.unavailable), ports.caches.of(TOLD)
    if told.get(model.tag) == found:
        return
    as_of = ports.clock.now()
    try:
        item = ports.table.get(embedder_health(model.tag))
        seen = read_embedder_health(item) if item else None
        if ((seen.state, seen.reason) if seen else ("ready", None)) != found or (seen and seen.model != model):
            ports.table.write([put_embedder_health(model, state, made.unavailable, ports.clock.now())])
    except StoreUnavailable:
        return
    told.put(model.tag, found, as_of=as_of)


def passage_texts(passages: Iterable[Passage]) -> list[str]:
    return list(dict.fromkeys(passage.text for passage in passages))
