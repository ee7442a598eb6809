"""What must be true in the stores themselves, and between them, once nobody works on them: read through the adapters
after the service has ended, from the same servers on the same data."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from evals.soak.journal import Account
from local.engines import Engines
from neve.domain.indexing.document_passages import document_passages
from neve.domain.indexing.memory_passages import memory_passages
from neve.domain.indexing.utterances import utterance_of, utterance_passages
from neve.domain.records.jobs import Job
from neve.domain.records.markers import SessionMarker
from neve.domain.records.memories import EmbeddingState, Kind, Memory, Scope, Status
from neve.domain.records.sessions import Event, EventType
from neve.ports.search import Owner
from neve.ports.table import Index, Item, Key
from neve.store import rows
from neve.store.documents import is_searched, read_document, text_of
from neve.store.keys import (
    CLIENT_ID,
    DOCUMENT,
    EVENT,
    MEMORY,
    PACK,
    SESSION,
    Keys,
    client_id_of,
    due_partitions,
)
from neve.store.tenants.directory import users_of
from neve.usecases.core.pack.build_pack import read_body
from neve.usecases.work.indexing.index_memories import NEVER_RECALLED

PAGE = 500
DUE_KINDS = ("embed", "failed", "rebuild", "replace", rows.QUEUED, rows.LEAVE)


@dataclass
class StoreChecks:
    """``findings``: what is not as it must be. ``counts``: what was found, over all users."""

    engines: Engines
    acknowledged_jobs: Mapping[str, set[str]]
    findings: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)

    def run(self, accounts: Sequence[Account]) -> None:
        for tenant in sorted({account.tenant for account in accounts}):
            expected = sorted(account.user for account in accounts if account.tenant == tenant)
            found = sorted(users_of(self.engines.table, Keys(tenant)))
            self._must(found == expected, f"{tenant}: the directory holds {found} and not {expected}")
            self._jobs(tenant)
        for account in accounts:
            _UserChecks(self, account).run()
        self._queues()
        self._due()

    def must(self, holds: bool, finding: str) -> None:
        self._must(holds, finding)

    def rows(self, partition: str, prefix: str | None, index: Index = Index.MAIN) -> Iterator[Item]:
        cursor = None
        while True:
            page = self.engines.table.query(partition, index=index, prefix=prefix, limit=PAGE, cursor=cursor)
            yield from page.items
            cursor = page.cursor
            if cursor is None:
                return

    def _jobs(self, tenant: str) -> None:
        """Each has ended, and those that were acknowledged are done."""
        for item in self.rows(Keys(tenant).jobs, None):
            job: Job = rows.read_job(item)
            self.counts["jobs"] += 1
            self.counts[f"jobs {job.status}"] += 1
            ended = job.status in ("done", "failed")
            acknowledged = job.id in self.acknowledged_jobs.get(tenant, set())
            self._must(ended and (job.status == "done" or not acknowledged), f"{tenant}: {job.id} is {job.status}")

    def _queues(self) -> None:
        for name in self.engines.template.queues:
            left = self.engines.broker.counts(name)
            self.counts["messages left"] += sum(left)
            self._must(sum(left) == 0, f"queue {name}: {left}")

    def _due(self) -> None:
        for kind in DUE_KINDS:
            for partition in due_partitions(kind):
                for item in self.rows(partition, None, Index.DUE):
                    self.counts["due rows left"] += 1
                    self._must(False, f"{kind} is still due: {item['pk']} {item['sk']}")

    def _must(self, holds: bool, finding: str) -> None:
        if not holds:
            self.findings.append(finding)


class _UserChecks:
    def __init__(self, checks: StoreChecks, account: Account) -> None:
        self._checks, self._account = checks, account
        self._table, self._keys, self._user = checks.engines.table, Keys(account.tenant), account.user
        self._memories: list[Memory] = []

    def run(self) -> None:
        self._memories = [rows.read_memory(item) for item in self._rows(MEMORY)]
        passages = self._memory_rows() + self._document_rows()
        sessions = [rows.read_session(item) for item in self._rows(SESSION)]
        for session in sessions:
            log = self._log(session.session_id, session.last_seq)
            utterance = [one for one in (utterance_of(session.session_id, event) for event in log) if one]
            passages += len(utterance_passages(utterance))
            self._session(session.session_id, session.last_seq, log)
        found = self._checks.engines.search.count(Owner(self._account.tenant, self._user))
        self._checks.counts["passages expected"] += passages
        self._checks.counts["passages in the search index"] += found
        self._must(found == passages, f"{passages} passages in the rows, {found} in the search index")
        self._objects({session.session_id for session in sessions})

    # --- rows -----------------------------------------------------------------------------------

    def _memory_rows(self) -> int:
        """How many passages they are."""
        passages = 0
        for memory in self._memories:
            what = f"{memory.id} is {memory.status}, {memory.embedding_state}, rev_at {memory.rev_at}"
            old = memory.status is Status.SUPERSEDED
            settled = {EmbeddingState.READY, EmbeddingState.SKIPPED} if old else {EmbeddingState.READY}
            self._must(memory.embedding_state in settled and memory.rev_at is None, what)
            passages += 0 if memory.status in NEVER_RECALLED else len(memory_passages(memory))
            self._checks.counts[f"memories {memory.status}"] += 1
        return passages

    def _document_rows(self) -> int:
        """How many passages they are. The librarian writes documents behind a compaction."""
        passages, keys = 0, self._keys.of_user(self._user)
        heads = [read_document(item) for item in self._rows(DOCUMENT) if is_searched(item)]
        places = [keys.document_rev(str(head.id), head.rev) for head in heads]
        revisions = self._table.get_many(places) if places else {}
        for head, place in zip(heads, places, strict=True):
            what = f"{head.path} is {head.embedding_state}, rev_at {head.rev_at}"
            self._must(head.embedding_state is EmbeddingState.READY and head.rev_at is None, what)
            self._must(place in revisions, f"{head.path}: no revision {head.rev}")
            if place in revisions and head.status is not Status.ARCHIVED:
                text = text_of(self._checks.engines.objects, read_document(revisions[place]))
                passages += len(document_passages(replace(head, text=text)))
        self._checks.counts["documents"] += len(heads)
        return passages

    def _log(self, session: str, last_seq: int) -> list[Event]:
        partition = self._keys.of_user(self._user).of_session(session).log
        log = [rows.read_event(item) for item in self._checks.rows(partition, EVENT)]
        self._must([event.seq for event in log] == list(range(1, last_seq + 1)), f"{session}: gaps below {last_seq}")
        named = {event.client_id: event.seq for event in log if event.client_id}
        noted = {
            client_id_of(Key(partition, item["sk"])): int(item["seq"])
            for item in self._checks.rows(partition, CLIENT_ID)
        }
        self._must(
            named == noted, f"{session}: client ids of the events and their rows differ: {len(named)}, {len(noted)}"
        )
        self._checks.counts["events"] += len(log)
        return log

    def _session(self, session: str, last_seq: int, log: Sequence[Event]) -> None:
        places = [
            self._keys.of_user(self._user).of_session(session).marker,
            self._keys.of_user(self._user).of_session(session).epoch,
        ]
        found = self._table.get_many(places)
        marker, epoch = rows.read_marker(found[places[0]]), rows.read_epoch(found[places[1]])
        self._must(
            (epoch.covers_to or 0) <= marker.observed_seq <= last_seq,
            f"{session}: covers to {epoch.covers_to}, observed {marker.observed_seq}, last {last_seq}",
        )
        read_to = max(marker.observed_seq, marker.offered_seq)
        self._must(read_to == last_seq, f"{session}: observed {read_to} of {last_seq} events")
        self._must(epoch.rebuild_due is None, f"{session}: a pack is still to be built, {epoch.rebuild_due}")
        memories = [memory for memory in self._memories if memory.session_id == session]
        self._live_list(session, marker, memories)
        self._observations(session, marker, log, memories)

    def _live_list(self, session: str, marker: SessionMarker, memories: Sequence[Memory]) -> None:
        """It names exactly the session's rows that were not superseded, each once."""
        times = Counter(row.id for row in marker.live)
        live = {m.id for m in memories if m.status is not Status.SUPERSEDED and m.scope is Scope.SESSION}
        self._must(max(times.values(), default=1) == 1, f"{session}: twice in the live list, {times.most_common(3)}")
        self._must(set(times) == live, f"{session}: live list and rows differ: {set(times) ^ live}")

    def _observations(
        self, session: str, marker: SessionMarker, log: Sequence[Event], memories: Sequence[Memory]
    ) -> None:
        """No event in two of them, none beyond the marker, and no user message in none."""
        made = [m for m in memories if m.kind is Kind.OBSERVATION]
        covered = _times_observed(made)
        twice = [seq for seq, times in covered.items() if times > 1]
        self._must(not twice, f"{session}: observed twice, {twice[:5]}")
        beyond = [seq for seq in covered if not 1 <= seq <= marker.observed_seq]
        self._must(not beyond, f"{session}: observed beyond the marker {marker.observed_seq}, {beyond[:5]}")
        user_seqs = {event.seq for event in log if event.event_type is EventType.USER_MESSAGE}
        missed = {seq for seq in user_seqs if seq <= marker.observed_seq} - set(covered)
        self._must(not missed, f"{session}: behind the marker, but in no observation, {sorted(missed)[:5]}")
        self._checks.counts["observations"] += len(made)

    def _rows(self, prefix: str) -> Iterator[Item]:
        return self._checks.rows(self._keys.of_user(self._user).partition, prefix)

    # --- objects --------------------------------------------------------------------------------

    def _objects(self, sessions: set[str]) -> None:
        """Every manifest's object is there with its bytes. An object without a manifest is one whose build ended
        between the two writes, or was overtaken by another's: whole, of a session that exists, and served to nobody."""
        manifests = [rows.read_manifest(item) for item in self._rows(PACK)]
        prefix = self._keys.of_user(self._user).packs_prefix
        objects = set(self._checks.engines.objects.list(prefix))
        named = {
            self._keys.of_user(self._user).of_session(m.session_id).pack_object(m.pack_version): m for m in manifests
        }
        self._checks.counts["pack manifests"] += len(manifests)
        self._checks.counts["pack objects"] += len(objects)
        self._checks.counts["pack objects without manifest"] += len(objects - named.keys())
        self._must(named.keys() <= objects, f"no object of {sorted(named.keys() - objects)[:3]}")
        for name in sorted(objects):
            built = read_body(self._checks.engines.objects.get(name))
            whole = built is not None and hashlib.sha256(built.text.encode()).hexdigest() == built.manifest.sha256
            known = built is not None and built.manifest.session_id in sessions
            self._must(whole and known, f"{name} is not a whole pack")
            wanted = named.get(name)
            same = wanted is None or (built is not None and wanted.sha256 == built.manifest.sha256)
            self._must(same, f"{name} is not what its manifest says")

    def _must(self, holds: bool, finding: str) -> None:
        self._checks.must(holds, f"{self._account.tenant}/{self._user}: {finding}")


def _times_observed(observations: Sequence[Memory]) -> Counter[int]:
    """How many of the observations cover each seq."""
    covered: Counter[int] = Counter()
    for memory in observations:
        covered.update(range(memory.provenance.seq_from or 0, (memory.provenance.seq_to or 0) + 1))
    return covered
