"""The session log."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from neve.store import rows
from neve.store.keys import CLIENT_ID
from tests.simulation.checks.replay import Found, before_erasure, log_of, row, rows_of
from tests.simulation.clients.history import Did

if TYPE_CHECKING:
    from tests.simulation.run import Run


def the_log_has_no_gap(run: Run) -> Found:
    """The seqs of a session are 1 … last_seq of its head."""
    for keys in run.history.sessions():
        head = row(run, keys, "session_head")
        last = rows.read_session(head).last_seq if head else 0
        seqs = [item["seq"] for item in log_of(run, keys)]
        if seqs != list(range(1, last + 1)):
            yield f"{keys.log}: {seqs}, the head says {last}"


def an_acknowledged_event_stands_at_its_seq(run: Run) -> Found:
    """With its words, and with the row of its client id."""
    for did in _appends(run):
        log = {item["seq"]: item for item in log_of(run, did.keys)}
        for said, seq in zip(did.given.events, did.value, strict=True):
            if seq not in log or log[seq]["content"] != said.text:
                yield f"{did.keys.log}: '{said.text}' was acknowledged at {seq}, there is {log.get(seq)}"


def an_event_is_in_the_log_at_most_once(run: Run) -> Found:
    """However often it was sent: with a client id, with a key, or once without any. So is each client id."""
    for keys in run.history.sessions():
        log = log_of(run, keys)
        for text, count in Counter(item["content"] for item in log).items():
            if count > 1:
                yield f"{keys.log}: '{text}' {count} times"
        ids = {item["client_id"]: item["seq"] for item in log if "client_id" in item}
        noted = {item["sk"].removeprefix(CLIENT_ID): item["seq"] for item in rows_of(run, keys.log, CLIENT_ID)}
        if ids != noted:
            yield f"{keys.log}: client ids {ids}, noted {noted}"


def appends_keep_their_order(run: Run) -> Found:
    """What was acknowledged before another append began has the lower seqs."""
    appends = _appends(run)
    for first in appends:
        for second in appends:
            begun_s = min(did.began_s for did in run.history.of("append") if did.given is second.given)
            if first.keys != second.keys or first.ended_s >= begun_s:
                continue
            if max(first.value) >= min(second.value):
                yield f"{first.keys.log}: {first.value} acknowledged before {second.value} was begun"


def a_read_is_a_prefix(run: Run) -> Found:
    """Without a gap, and at least as long as the last append that was acknowledged before the read began."""
    for did in run.history.of("read_log"):
        if not did.ok or before_erasure(run, did.keys, did.began_s):
            continue
        seqs = [event.seq for event in did.value]
        known = [s for a in _appends(run) if a.keys == did.keys and a.ended_s < did.began_s for s in a.value]
        if seqs != list(range(1, len(seqs) + 1)) or len(seqs) < max(known, default=0):
            yield f"{did.keys.log}: read {seqs}, acknowledged up to {max(known, default=0)}"
        texts = {item["seq"]: item["content"] for item in log_of(run, did.keys)}
        yield from (
            f"{did.keys.log}: read {e}, there is {texts.get(e.seq)}" for e in did.value if texts.get(e.seq) != e.text
        )


def _appends(run: Run) -> list[Did]:
    return [did for did in run.history.of("append") if did.ok and not before_erasure(run, did.keys, did.began_s)]


INVARIANTS = (
    the_log_has_no_gap,
    an_acknowledged_event_stands_at_its_seq,
    an_event_is_in_the_log_at_most_once,
    appends_keep_their_order,
    a_read_is_a_prefix,
)
