"""Runs the outbox: what changed in the table becomes messages for the workers.

Every message may be sent twice and arrive in any order, because records are: workers read the rows again."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from neve.correlation import correlated
from neve.domain.ids import is_document_id, is_event_id
from neve.ports.engines import Ports
from neve.ports.queue import Message, QueueName
from neve.ports.table import Item, Key
from neve.store import rows
from neve.store.keys import SessionKeys, UserKeys, session_named_in
from neve.store.stream_records import Change
from neve.usecases.core.jobs import queued_jobs
from neve.usecases.core.jobs.messages import compaction, filing, observation
from neve.usecases.core.jobs.messages.indexing import events_message, memory_message
from neve.usecases.tell.memories.note_access import note_access
from neve.usecases.tell.sessions.append_events import OBSERVES
from neve.usecases.tell.sessions.note_open import note_open
from neve.usecases.work.observe.ask_elsewhere import ask_elsewhere
from neve.usecases.work.outgoing.announce import announce, derived_events, rows_of_events
from neve.usecases.work.reflect.note_due import new_candidates, note_due, rows_of_due


def dispatch_changes(ports: Ports, changes: Sequence[Change]) -> None:
    """Note which users a night has rows of and which sessions were opened, then queue what the changes ask for, then
    note which memories were answered with, and tell of it outside. In this order: the sweep makes up for a batch that
    was given up, and sees by what lacks its messages that nothing was noted either. Raises StoreUnavailable, in which
    case some of it may be done already and all of it can be repeated."""
    logs, candidates = _appended(changes), new_candidates(changes)
    latest = _latest(changes)
    events = derived_events(ports, changes)
    wanted = {keys.head for keys, _, _ in latest} | rows_of_due(candidates) | rows_of_events(events)
    found = ports.table.get_many(sorted(wanted)) if wanted else {}
    note_due(ports, candidates, found)
    note_open(ports, changes)
    to_index = [*_index_messages(latest, found), *(log.index_message() for log in logs), *_retractions(changes)]
    if to_index:
        ports.queue.send(QueueName.INDEX, to_index)
    observe = [log.observation() for log in logs if log.observes]
    if observe:
        ports.queue.send(QueueName.EXTRACT, observe)
    ask_elsewhere(ports, changes)
    for queue, messages in _queued_jobs(changes).items():
        ports.queue.send(queue, messages)
    accessed = _accessed(changes)
    if accessed:
        note_access(ports, accessed)
    announce(ports, events, found)


# --- jobs ---------------------------------------------------------------------------------------


def _queued_jobs(changes: Sequence[Change]) -> dict[QueueName, list[Message]]:
    """Give the messages of the jobs that were written to have them sent."""
    messages: defaultdict[QueueName, list[Message]] = defaultdict(list)
    for item in (change.item for change in changes if change.old is None):
        if item.get("type") == rows.QUEUED_JOB:
            with correlated(item):
                queue, message = _queued_job(item)
            messages[queue].append(message)
    return messages


def _queued_job(item: Item) -> tuple[QueueName, Message]:
    """Give a job's queue and message: work on all that is kept of a user, a session that is filed again or whose filing
    is answered later, a pass, and else a compaction or a retraction."""
    if item["kind"] in queued_jobs.KINDS:
        return queued_jobs.queue_of(item["kind"]), queued_jobs.message_of_row(item)
    if item["kind"] == filing.KIND or queued_jobs.handed_in_by(rows.read_job(item)) is not None:
        return QueueName.LIBRARIAN, filing.message_of_row(item)
    if item["kind"] == observation.OBSERVE:
        return observation.queued_row(item)
    return QueueName.COMPACT, compaction.message_of_row(item)


def _retractions(changes: Sequence[Change]) -> list[Message]:
    """Give the messages of what leaves the index now, without waiting for the job."""
    messages = []
    for item in (item for item in _new(changes) if item.get("type") == rows.RETRACTION):
        keys = session_named_in(item)
        with correlated(item):
            span = item["seq_from"], item["seq_to"]
            messages.append(events_message(keys, item["incarnation"], *span, retraction=item["id"]))
    return messages


def _new(changes: Sequence[Change]) -> list[Item]:
    """Give the rows that were inserted."""
    return [change.item for change in changes if change.old is None]


# --- recalls ------------------------------------------------------------------------------------


def _accessed(changes: Sequence[Change]) -> dict[Key, str]:
    """Give the memories that recalls answered with, and when; of several recalls the last."""
    newest: dict[Key, str] = {}
    for item in (change.item for change in changes if change.old is None and change.item.get("type") == "recall"):
        keys = UserKeys(item["tenant_id"], item["user_id"])
        for key in (keys.memory(i) for i in item["answered"] if not is_event_id(i) and not is_document_id(i)):
            newest[key] = max(item["at"], newest.get(key, ""))
    return newest


# --- memories and documents ---------------------------------------------------------------------

Indexed = tuple[UserKeys, Literal["memory", "document"], str]
"""A row of the index: the user's keys, its kind, and its id."""


def _latest(changes: Sequence[Change]) -> dict[Indexed, Item]:
    """Give each memory and document whose rev moved or that is gone, at the highest rev in the batch: a document that
    moved is gone at one path, and at another one of a higher rev."""
    latest: dict[Indexed, Item] = {}
    for change in changes:
        item = change.item
        indexed = item.get("type") == "memory" or (item.get("type") == "document" and "id" in item)  # no artifact
        if indexed and _rev_moved(change):
            place: Indexed = (UserKeys(item["tenant_id"], item["user_id"]), item["type"], item["id"])
            if place not in latest or latest[place]["rev"] <= item["rev"]:
                latest[place] = item
    return latest


def _index_messages(latest: Mapping[Indexed, Item], found: Mapping[Key, Item]) -> list[Message]:
    messages = []
    for (keys, kind, i), item in latest.items():
        head = rows.read_head(found.get(keys.head))
        with correlated(item):
            messages.append(memory_message(keys, head.incarnation, i, item["rev"], kind))
    return messages


def _rev_moved(change: Change) -> bool:
    return change.old is None or change.new is None or change.old["rev"] != change.new["rev"]


# --- events -------------------------------------------------------------------------------------


@dataclass
class _Appended:
    """The new events of one session in one batch. ``newest``: the row of the last one. ``observes``: an append of them
    asks for a pass."""

    keys: SessionKeys
    incarnation: int
    newest: Item = field(default_factory=dict)
    seqs: list[int] = field(default_factory=list)
    observes: bool = False

    def index_message(self) -> Message:
        with correlated(self.newest):
            return events_message(self.keys, self.incarnation, min(self.seqs), max(self.seqs))

    def observation(self) -> Message:
        with correlated(self.newest):
            return observation.observation_message(self.keys, self.incarnation, max(self.seqs))


def _appended(changes: Sequence[Change]) -> list[_Appended]:
    logs: dict[tuple[SessionKeys, int], _Appended] = {}
    for change in changes:
        item = change.item
        if change.old is None and item.get("type") == "event":
            place = (session_named_in(item), item["incarnation"])
            log = logs.setdefault(place, _Appended(*place))
            log.seqs.append(item["seq"])
            log.observes = log.observes or item.get(OBSERVES) is True
            log.newest = item
    return list(logs.values())
