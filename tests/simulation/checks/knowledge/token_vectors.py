"""Token vectors of memories and utterances."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from neve.domain.ids import event_id
from neve.domain.indexing.memory_passages import memory_passages
from neve.domain.indexing.utterances import utterance_of, utterance_passages
from neve.domain.records.memories import Status
from neve.ports.table import Item
from neve.store import rows
from neve.store.keys import UserKeys, tenant_row
from neve.store.tenants.tenant_rows import read_tenant
from neve.store.token_vectors import read_token_vectors
from tests.simulation.checks.memories import memories_of
from tests.simulation.checks.replay import Found, log_of

if TYPE_CHECKING:
    from tests.simulation.run import Run

RECALLED = (Status.ACTIVE, Status.INBOX)


def what_is_ranked_late_is_encoded(run: Run) -> Found:
    """When calm, of a tenant that ranks late: whatever recall answers with has the token vectors of its text, however
    often the encoder has failed and the policy has changed."""
    for keys in run.history.users():
        if not _ranks_late(run, keys):
            continue
        for identifier, fingerprint, recalled in _items(run, keys):
            row = run.cloud.table.rows.get(keys.tokens_of(identifier))
            if recalled and (row is None or row["fingerprint"] != fingerprint):
                yield f"{keys.partition}: {identifier} has {'none' if row is None else 'those of another text'}"


def no_token_vectors_are_left_alone(run: Run) -> Found:
    """When calm: none without their item, and none of a text that it has no more. What is taken back keeps its own,
    until somebody deletes it."""
    for keys in run.history.users():
        known = {identifier: fingerprint for identifier, fingerprint, _ in _items(run, keys)}
        kept = set(_taken_back(run, keys))
        for item in run.cloud.table.rows.values():
            if item["type"] == "tokens" and item["pk"] == keys.tokens_of("any").pk:
                vectors = read_token_vectors(item)
                if vectors.item_id not in kept and known.get(vectors.item_id) != vectors.fingerprint:
                    there = vectors.item_id in known
                    yield f"{keys.partition}: {vectors.item_id} {'says something else by now' if there else 'is gone'}"


def _ranks_late(run: Run, keys: UserKeys) -> bool:
    tenant = read_tenant(run.cloud.table.rows[tenant_row(keys.tenant)])
    return run.cloud.settings.encodes and tenant.policy.rerank == "late"


def _items(run: Run, keys: UserKeys) -> Iterator[tuple[str, str, bool]]:
    """Ids, fingerprints of their texts, and whether recall answers with them."""
    for memory in memories_of(run, keys):
        passages = memory_passages(memory)
        if passages:
            yield memory.id, passages[0].fingerprint, memory.status in RECALLED
    for session, item in _log(run, keys):
        utterance = utterance_of(session, rows.read_event(item))
        passages = utterance_passages([utterance]) if utterance else []
        if passages:
            yield event_id(session, item["seq"]), passages[0].fingerprint, True


def _taken_back(run: Run, keys: UserKeys) -> Iterator[str]:
    """Ids of what was not deleted, only taken back."""
    for session, item in _log(run, keys):
        if item.get("taken_back") and not item.get("erased"):
            yield event_id(session, item["seq"])


def _log(run: Run, keys: UserKeys) -> Iterator[tuple[str, Item]]:
    """With the sessions."""
    for session in run.history.sessions():
        if (session.tenant, session.user) == (keys.tenant, keys.user):
            yield from ((session.session, item) for item in log_of(run, session))


INVARIANTS = (what_is_ranked_late_is_encoded, no_token_vectors_are_left_alone)
