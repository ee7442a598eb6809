"""The vectors of one user's texts: kept by content, so that identical text is not paid for twice."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from neve.domain.indexing.passage import Passage
from neve.domain.memories.text import fingerprint
from neve.domain.records.users import UserHead
from neve.ports.engines import IndexingPorts, WordsPorts
from neve.ports.errors import StoreUnavailable
from neve.ports.search import IndexModel
from neve.ports.table import Put, Table, WriteOp
from neve.scope import UserData
from neve.store import rows
from neve.store.incarnation import still_there
from neve.store.keys import UserKeys, embedder_health
from neve.store.tenants.embedder_health import put_embedder_health, read_embedder_health
from neve.store.transact import transact
from neve.usecases.core.tenants.usage import usage_put
from neve.usecases.work.indexing.vectors.embed_texts import Embedded, embed_texts

BATCH_SIZE = 90
"""Vector rows of one transaction: with the head's check and the usage row below the limit of 100 actions, and some 140
KB at 384 dimensions."""


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


Checks = Callable[[bool], Sequence[WriteOp]]
"""Makes the checks under which vectors are kept: that what their texts were read of is still there. It is told whether
they have failed before, and raises UserErased, or what its caller catches."""


def checks_of_user(data: UserData[IndexingPorts], head: UserHead) -> Checks:
    """Check that the user is the one, ``head``, that the texts were read of."""

    def checks(again: bool) -> Sequence[WriteOp]:
        now = rows.read_head(data.ports.table.get(data.keys.head)) if again else head
        still_there(now, head.incarnation)
        return [rows.check_head(data.keys, now)]

    return checks


def vectors_for(
    data: UserData[IndexingPorts], checks: Checks, texts: Sequence[str], known_only: Sequence[str] = ()
) -> VectorsFound:
    """Return the vectors of ``texts``, embedded where the user has none of the content yet, and those that are known of
    ``known_only``. Raises what ``checks`` raises, StoreUnavailable."""
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
    made = _made(data, checks, missing, reused=sum(prints[t] in known for t in texts))
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
    found = table.get_many(list(places)) if places else {}
    return {places[key]: item["vector"] for key, item in found.items()}


def _made(data: UserData[IndexingPorts], checks: Checks, missing: Mapping[str, str], reused: int) -> Embedded:
    """Embedded and kept part by part, so that a worker which runs out of time in a long document has got on with it.
    ``missing``: texts by fingerprint. ``reused``: how many others were known."""
    embedder, keys = data.ports.embedder, data.keys
    made, prints = Embedded(), list(missing)
    for start in range(0, max(len(prints), 1), BATCH_SIZE):
        part = {one: missing[one] for one in prints[start : start + BATCH_SIZE]}
        some = embed_texts(embedder, part, data.ports.clock)
        used = {"embedded_texts": len(some.vectors), "reused_vectors": 0 if start else reused}
        if any(used.values()):
            model = embedder.model
            _keep(data, checks, [_vector_put(keys, model, one, v) for one, v in some.vectors.items()], used)
        made.vectors |= some.vectors
        made.failed |= some.failed
        made.unavailable = some.unavailable
        if some.late:
            made.late |= some.late | set(prints[start + BATCH_SIZE :])
        if some.late or some.unavailable is not None:
            break
    return made


def _keep(data: UserData[IndexingPorts], checks: Checks, puts: Sequence[Put], used: Mapping[str, int]) -> None:
    """Write the vector rows and the counters. Raises what ``checks`` raises."""
    ports, keys, again = data.ports, data.keys, False

    def write() -> None:
        nonlocal again
        guards, again = checks(again), True
        ports.table.write([*guards, *puts, usage_put(keys, ports.table.get(keys.usage), used)])

    transact(ports, write)


def _vector_put(keys: UserKeys, model: IndexModel, one: str, vector: bytes) -> Put:
    key = keys.vector(one, model.tag)
    return Put({"pk": key.pk, "sk": key.sk, "type": "vector", "vector": vector, "model": model.tag})


def _report(ports: IndexingPorts, model: IndexModel, made: Embedded) -> None:
    """Tell the health of the embedder when it has changed. That health cannot be told must not fail a batch."""
    state: Literal["ready", "unavailable"] = "ready" if made.unavailable is None else "unavailable"
    if state == "ready" and not made.vectors:
        return
    try:
        item = ports.table.get(embedder_health(model.tag))
        seen = read_embedder_health(item) if item else None
        reported = (seen.state, seen.model, seen.reason) if seen else ("ready", model, None)
        if reported != (state, model, made.unavailable):
            ports.table.write([put_embedder_health(model, state, made.unavailable, ports.clock.now())])
    except StoreUnavailable:
        return


def passage_texts(passages: Iterable[Passage]) -> list[str]:
    return list(dict.fromkeys(passage.text for passage in passages))
