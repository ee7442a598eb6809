"""A policy that names other languages: every vector of the tenant anew, by keyword meanwhile (A34, E17 of
docs/features.md)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

import pytest

from local.controls.fixture_embedder import MANY, MODEL, FixtureEmbedder
from neve.domain.records.jobs import Job
from neve.domain.records.memories import EmbeddingState
from neve.domain.tenants.policy import Policy
from neve.domain.times import iso
from neve.observing import for_ever
from neve.ports.errors import EmbeddingUnavailable
from neve.ports.table import Delete
from neve.scope import Tenant
from neve.store import rows
from neve.store.keys import tenant_row
from neve.store.tenants.tenant_rows import TenantRow, put_tenant, read_tenant
from neve.usecases.ask.recall.stages.legs import EMBED_ERROR, OTHER_MODEL
from neve.usecases.core.jobs.carry_on import carry_on as carry_on_work
from neve.usecases.core.jobs.queued_jobs import REINDEX, message_of_row
from neve.usecases.core.tenants.policy_in_force import tenant_scope
from neve.usecases.tell.tenants.write_policy import write_policy
from neve.usecases.work.background.steps import steps
from neve.usecases.work.indexing.reindex_tenant import AGAIN_AFTER, SETTLED_AFTER
from neve.usecases.work.reflect.reflect_user import NightReport
from neve.workers.job_worker import work
from tests.unit.recall_world import RecallWorld

QUESTION = "which sibling has an automobile?"
"""In the words of neither text: it is found by meaning alone."""


class Absent(FixtureEmbedder):
    """Files that are not there, until they are."""

    there = False

    def embed_query(self, text: str) -> bytes:
        return self._there() or super().embed_query(text)

    def embed_passages(self, texts: Sequence[str]) -> list[bytes]:
        self._there()
        return super().embed_passages(texts)

    def _there(self) -> bytes:
        if not self.there:
            raise EmbeddingUnavailable("model.onnx is not in the bucket")
        return b""


@pytest.fixture
def world(new_recall_world: RecallWorld) -> RecallWorld:
    """Two users with a memory and an utterance each, everything embedded in English."""
    world = new_recall_world
    world.inner_multi = FixtureEmbedder(MANY)
    world.rows.write([put_tenant(TenantRow("acme", iso(world.clock.now())))])
    for user in ("ann", "bob"):
        world.remember("The sister drives a car", user=user)
        world.open(user=user)
        world.say("My sister bought a car.", "How nice.", user=user)
    world.pump()
    return world


def row(world: RecallWorld) -> TenantRow:
    item = world.rows.get(tenant_row("acme"))
    assert item is not None
    return read_tenant(item)


def speak(world: RecallWorld, languages: str) -> Job:
    """Writes the policy; the job that this has made."""
    found = write_policy(tenant_scope(world, "acme"), Policy(languages=languages))  # type: ignore[arg-type]
    assert found.reindex_job is not None
    look_again(world)
    return job(world, found.reindex_job)


def job(world: RecallWorld, job_id: str) -> Job:
    item = world.rows.get(world.tenant.keys.job(job_id))
    assert item is not None
    return rows.read_job(item)


def look_again(world: RecallWorld) -> None:
    world.forget()
    world.tenant = tenant_scope(world, "acme").tenant


def carry_on(world: RecallWorld, job_id: str, left: float | None = None) -> None:
    item = world.rows.get(world.tenant.keys.job(job_id))
    assert item is not None
    work(world, dict(message_of_row(item).body), for_ever if left is None else lambda: left)
    look_again(world)


def test_the_vectors_are_made_anew_and_recall_works_by_keyword_until_they_are(world: RecallWorld) -> None:
    assert len(world.found(QUESTION)) == 2
    asked = speak(world, "multi")
    assert (asked.kind, asked.status, asked.user_id) == (REINDEX, "queued", None)
    assert not world.tenant.reindexed
    before = world.ask(QUESTION)
    assert (before.hits, before.degraded) == ([], [OTHER_MODEL])
    assert len(world.ask("sister car").hits) == 2
    carry_on(world, asked.id)
    assert world.tenant.reindexed and row(world).reindex_job is None
    for user in ("ann", "bob"):
        answer = world.ask(QUESTION, user=user)
        assert len(answer.hits) == 2 and answer.degraded == []
        [memory] = [hit.id for hit in answer.hits if hit.source == "memory"]
        assert world.memory(memory, user).embedding_model == MANY.tag
    result = job(world, asked.id).result
    assert (result["users"], result["memories"], result["events"]) == (2, 2, 4)


def test_no_text_is_embedded_by_the_other_model_while_the_job_runs(world: RecallWorld) -> None:
    asked = speak(world, "multi")
    new = world.remember("The brother rides a bicycle")
    world.pump()
    assert world.memory(new).embedding_model == MANY.tag
    carry_on(world, asked.id)
    assert new in world.found("bike of a brother")


def test_what_a_worker_wrote_that_knew_the_former_policy_is_made_up_for(world: RecallWorld) -> None:
    asked = speak(world, "multi")
    carry_on(world, asked.id)
    late = world.remember("The mother owns a dog")
    world.change(late, embedding_state=EmbeddingState.READY, embedding_model=MODEL.tag, rev_at=None, words_at=None)
    carry_on(world, asked.id)
    assert world.memory(late).embedding_model == MODEL.tag, "it is not due yet"
    world.clock.advance(SETTLED_AFTER + timedelta(seconds=1))
    carry_on(world, asked.id)
    assert world.memory(late).embedding_model == MANY.tag
    assert job(world, asked.id).status == "done"


def test_back_to_english_is_a_reindex_too_that_pays_for_no_text_again(world: RecallWorld) -> None:
    carry_on(world, speak(world, "multi").id)
    calls = len(world.calls.entries("embed"))
    carry_on(world, speak(world, "en").id)
    passages = [call for call in world.calls.entries("embed")[calls:] if call["operation"] == "passages"]
    assert passages == []
    assert len(world.found(QUESTION)) == 2 and world.tenant.reindexed


def test_a_change_overtakes_the_one_before(world: RecallWorld) -> None:
    first, second = speak(world, "multi"), speak(world, "en")
    carry_on(world, first.id)
    assert job(world, first.id).status == "failed" and not world.tenant.reindexed
    carry_on(world, second.id)
    assert world.tenant.reindexed and len(world.found(QUESTION)) == 2


def test_another_number_of_the_policy_begins_nothing(world: RecallWorld) -> None:
    assert write_policy(world.scope, Policy(recall_limit=7)).reindex_job is None
    asked = speak(world, "multi")
    assert write_policy(world.scope, Policy(recall_limit=8, languages="multi")).reindex_job == asked.id


def test_without_the_files_words_are_found_and_the_job_waits_for_them(world: RecallWorld) -> None:
    absent = Absent(MANY)
    world.inner_multi = absent
    asked = speak(world, "multi")
    carry_on(world, asked.id)
    waiting = job(world, asked.id)
    assert waiting.status == "running" and "not in the bucket" in waiting.result["waits_for"]
    answer = world.ask("sister car")
    assert len(answer.hits) == 2 and answer.degraded
    absent.there = True
    world.clock.advance(AGAIN_AFTER + timedelta(seconds=1))
    carry_on(world, asked.id)
    assert len(world.found(QUESTION)) == 2 and "waits_for" not in job(world, asked.id).result
    absent.there = False
    world.forget()
    later = world.ask("sister car of a sibling")
    assert later.degraded == [EMBED_ERROR] and later.hits


def test_a_worker_out_of_time_hands_on_and_nothing_is_left_out(world: RecallWorld) -> None:
    for n in range(120):
        world.remember(f"The company number {n} sells bread")
    world.say(*(f"Sentence number {n} about a journey" for n in range(40)))
    world.pump()
    asked = speak(world, "multi")
    for _ in range(60):
        carry_on(world, asked.id, left=0.0)
        if world.tenant.reindexed:
            break
    assert world.tenant.reindexed
    page = world.rows.query(world.tenant.keys.of_user("ann").partition, prefix="MEM#", limit=500)
    assert {rows.read_memory(item).embedding_model for item in page.items} == {MANY.tag}
    assert len(world.ask("travel in a sentence", k=10).hits) == 10
    assert job(world, asked.id).result["memories"] == 122


def test_a_stage_whose_encoder_knows_every_language_reindexes_nothing(world: RecallWorld) -> None:
    world.inner_multi = None
    assert write_policy(world.scope, Policy(languages="multi")).reindex_job is None
    world.tenant = Tenant("acme", Policy(languages="multi"))
    assert len(world.found(QUESTION)) == 2


def test_the_job_of_a_removed_tenant_ends(world: RecallWorld) -> None:
    asked, scope = speak(world, "multi"), tenant_scope(world, "acme").of_user("")
    table = world.rows
    item = table.get(tenant_row("acme"))
    assert item is not None
    table.write([Delete(tenant_row("acme"))])
    carry_on_work(scope, REINDEX, asked.id, steps(scope, NightReport())[REINDEX], for_ever)
    assert job(world, asked.id).status == "failed"


def test_an_index_of_other_dimensions_is_another_models(world: RecallWorld) -> None:
    world.tenant = replace(Tenant("acme", Policy(languages="multi")), reindexed=True)
    world.inner_multi = FixtureEmbedder(replace(MANY, dimensions=512))
    assert world.ask(QUESTION).degraded == [OTHER_MODEL]
