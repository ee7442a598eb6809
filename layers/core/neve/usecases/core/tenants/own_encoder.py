"""The engines of a tenant whose policy names the encoder of many languages (docs/rules/indexing.md#encoders)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from neve.caching import Caches
from neve.domain.errors import TenantRemoved
from neve.domain.indexing.passage import Passage
from neve.domain.recall.query import TextQuery
from neve.ports.engines import Ports
from neve.ports.models import Embedder
from neve.ports.objects import ObjectStore
from neve.ports.queue import Queue
from neve.ports.runtime import Clock, Ids
from neve.ports.search import Candidate, FoundByWords, IndexModel, Owner, SearchFilter, SearchIndex
from neve.ports.table import Table
from neve.usecases.core.tenants.policy_in_force import tenant_scope


def own_model(held: IndexModel, model: IndexModel, multi: Embedder | None) -> IndexModel:
    """Return the model of a tenant's vectors in an index that is for the vectors of ``held``. ``model``: of the
    tenant's embedder. Those of ``multi`` lie in the index of any model that has as many dimensions: vectors of two
    tenants are never compared."""
    lies_beside = multi is not None and model == multi.model and held.dimensions == model.dimensions
    return model if lies_beside else held


def worker_ports(ports: Ports, tenant: str) -> Ports | OwnPorts:
    """Return the engines with which a worker indexes rows of the tenant. One that is being removed has those of the
    stage. Raises StoreUnavailable."""
    if ports.multi is None:
        return ports
    try:
        languages = tenant_scope(ports, tenant).policy.languages
    except TenantRemoved:
        return ports
    return OwnPorts(ports) if languages == "multi" else ports


@dataclass(frozen=True, slots=True)
class OwnPorts:
    """The engines with the encoder of many languages. None is taken out of them before it is needed: once the time of
    the function is over, ``ports`` may give none."""

    ports: Ports

    @property
    def table(self) -> Table:
        return self.ports.table

    @property
    def objects(self) -> ObjectStore:
        return self.ports.objects

    @property
    def search(self) -> SearchIndex:
        return OwnSearch(self.ports.search, self.embedder)

    @property
    def embedder(self) -> Embedder:
        return self.ports.multi or self.ports.embedder

    @property
    def queue(self) -> Queue:
        return self.ports.queue

    @property
    def caches(self) -> Caches:
        return self.ports.caches

    @property
    def clock(self) -> Clock:
        return self.ports.clock

    @property
    def ids(self) -> Ids:
        return self.ports.ids


@dataclass(frozen=True, slots=True)
class OwnSearch:
    """An index that names the model of the tenant's own vectors."""

    inner: SearchIndex
    multi: Embedder

    def model(self) -> IndexModel:
        return own_model(self.inner.model(), self.multi.model, self.multi)

    def upsert(self, owner: Owner, passages: Sequence[Passage]) -> None:
        self.inner.upsert(owner, passages)

    def trim(self, owner: Owner, item_id: str, *, keep: int, version: int) -> None:
        self.inner.trim(owner, item_id, keep=keep, version=version)

    def erase(self, owner: Owner, *, at_most: int | None = None) -> int:
        return self.inner.erase(owner, at_most=at_most)

    def search_text(self, owner: Owner, query: TextQuery, where: SearchFilter, depth: int) -> FoundByWords:
        return self.inner.search_text(owner, query, where, depth)

    def search_vector(self, owner: Owner, vector: bytes, where: SearchFilter, depth: int) -> list[Candidate]:
        return self.inner.search_vector(owner, vector, where, depth)

    def count(self, owner: Owner) -> int:
        return self.inner.count(owner)
