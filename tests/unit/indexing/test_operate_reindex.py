"""The operator's reindex on a real OpenSearch: what it says, what it leaves, and what it removes."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from infra.operate.__main__ import parser
from local.controls.fixture_embedder import MODEL as FIXTURE
from local.controls.fixture_embedder import FixtureEmbedder
from local.recovery.progress import EVERY_S, Progress
from local.reindex.search_domain import reindex_stage
from neve.adapters.embedders.no_embedder import NoEmbedder
from neve.adapters.opensearch import mapping, places
from neve.adapters.opensearch.calls import Calls
from neve.adapters.opensearch.client import open_search_client
from neve.adapters.opensearch.index import OpenSearchIndex
from neve.adapters.opensearch.mapping import index_name
from neve.ports.search import IndexModel, Owner
from neve.store.tenants.tenant_rows import TenantRow, put_tenant
from neve.usecases.tell.memories.delete_memory import delete_memory
from neve.usecases.work.indexing.reindex import Reindexed
from tests.servers import opensearch_url
from tests.unit.recall_world import RecallWorld

NONE = IndexModel("none", 0)


class Domain:
    """A service whose index is behind an alias of its own."""

    def __init__(self, folder: Path) -> None:
        self.alias = f"operate-{uuid.uuid4().hex}"
        self.client = open_search_client(opensearch_url())
        self.calls = Calls(self.client)
        self.world = RecallWorld.make(folder)
        self.world.rows.write([put_tenant(TenantRow(self.world.tenant.id, self.world.ago()))])
        self.find_again()

    def find_again(self) -> None:
        """As a process does after a while: look what is behind the alias."""
        self.world.search = OpenSearchIndex(self.client, self.alias, self.world.embedder.model, wait=False)

    def name(self, model: IndexModel) -> str:
        return index_name(self.alias, model)

    def indexes(self) -> set[str]:
        return set(self.calls.mappings(f"{self.alias}-v*"))

    def in_use(self) -> list[str]:
        return list(self.calls.mappings(self.alias))

    def reindex(self, *, drop_old: bool = False) -> None:
        reindex_stage(self.world, opensearch_url(), drop_old=drop_old, settle_s=0, alias=self.alias)
        self.find_again()

    def found(self, query: str) -> list[str]:
        self.calls.refresh(self.alias)
        return [hit.id for hit in self.world.ask(query, mode="tool").hits]

    def held(self) -> int:
        self.calls.refresh(self.alias)
        return self.world.search.count(Owner(self.world.tenant.id, "ann"))

    def close(self) -> None:
        for index in self.indexes():
            self.calls.delete(index)
        self.world.close()
        self.client.close()


@pytest.fixture
def domain(tmp_path: Path) -> Iterator[Domain]:
    with closing(Domain(tmp_path)) as made:
        yield made


def test_an_old_index_stays_until_its_removal_is_asked_for(domain: Domain, capsys: pytest.CaptureFixture[str]) -> None:
    memory = domain.world.remember("The kayak is blue")
    domain.world.pump()
    domain.world.inner_embedder = NoEmbedder()
    domain.reindex()
    assert domain.in_use() == [domain.name(NONE)]
    assert domain.indexes() == {domain.name(NONE), domain.name(FIXTURE)}
    assert domain.found("kayak") == [memory]
    captured = capsys.readouterr().out
    assert f"it was {domain.name(FIXTURE)}" in captured and "1 users, 1 memories, 0 logs" in captured
    assert f"{domain.name(FIXTURE)} is still there" in captured and "--drop-old" in captured

    domain.reindex(drop_old=True)
    assert domain.indexes() == {domain.name(NONE)} == set(domain.in_use())
    assert f"{domain.name(FIXTURE)} is removed." in capsys.readouterr().out
    assert domain.found("kayak") == [memory]


def test_an_index_of_older_terms_is_refused_and_made_again(domain: Domain, monkeypatch: pytest.MonkeyPatch) -> None:
    world = domain.world
    memory = world.remember("The café in the Kayakstraße")
    version = mapping.MAPPING_VERSION - 1
    with monkeypatch.context() as older:
        older.setattr(mapping, "MAPPING_VERSION", version)
        older.setattr(places, "MAPPING_VERSION", version)
        world.pump()
        assert domain.found("café") == [memory]
        before = domain.in_use()
    domain.find_again()
    answer = world.ask("café")
    assert (answer.result_state, answer.degraded) == ("not_searched", ["lexical:error", "vector:error"])
    late = world.remember("A café by the sea")
    with pytest.raises(AssertionError):
        world.pump()
    domain.reindex()
    assert before != domain.in_use() == [domain.name(FIXTURE)]
    assert set(domain.found("cafe")) == {memory, late}
    assert domain.found("kayakstrasse") == [memory]


def test_what_was_deleted_meanwhile_does_not_come_back_with_an_old_index(domain: Domain) -> None:
    world = domain.world
    memory, gone = world.remember("The kayak is blue"), world.remember("The tent is green")
    world.pump()
    world.inner_embedder = NoEmbedder()
    domain.reindex()
    delete_memory(world.user("ann"), gone, if_match=None)
    world.pump()
    world.inner_embedder = FixtureEmbedder()
    domain.reindex()
    assert domain.in_use() == [domain.name(FIXTURE)]
    assert (domain.held(), domain.found("kayak")) == (1, [memory])


def test_the_index_in_use_is_filled_in_place(domain: Domain) -> None:
    remembered = domain.world.remember("The kayak is blue")
    domain.world.pump()
    domain.calls.refresh(domain.alias)
    assert domain.world.search.erase(Owner(domain.world.tenant.id, "ann")) == 1
    assert domain.held() == 0
    lost = domain.indexes()
    domain.world.change(remembered, rev=domain.world.memory(remembered).rev + 1)
    domain.reindex()
    assert domain.indexes() == lost == set(domain.in_use())
    assert domain.found("kayak") == [remembered]


def test_every_embedder_of_a_stage_can_be_chosen() -> None:
    for name in ("bge-small", "titan", "none"):
        given = parser().parse_args(["--stage", "dev", "reindex", "--embedder", name, "--drop-old"])
        assert (given.embedder, given.drop_old) == (name, True)
    assert parser().parse_args(["--stage", "dev", "reindex"]).drop_old is False


def test_progress_is_said_now_and_then(capsys: pytest.CaptureFixture[str]) -> None:
    now = [0.0]
    progress = Progress(lambda: now[0])
    for step in range(1, 5):
        now[0] = step * EVERY_S / 2
        progress(Reindexed(users=step, memories=1000 * step, logs=0))
    assert capsys.readouterr().out == ("  2 users, 2,000 memories, 0 logs …\n  4 users, 4,000 memories, 0 logs …\n")
