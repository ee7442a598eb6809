"""The session log."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from neve.store import rows
from neve.store.keys import CLIENT_ID
from tests.simulation.checks.replay import (
    Found,
    before_erasure,
    every_text,
    first_texts,
    log_of,
    removed_of,
    row,
    rows_of,
    text_of_row,
)
from tests.simulation.clients.history import Did

if TYPE_CHECKING:
    from tests.simulation.run import Run


def the_log_has_no_gap(run: Run) -> Found:
    """The seqs of a session are 1 … last_seq of its head, but for those whose time was over."""
    for keys in run.history.sessions():
        head = row(run, keys, "session_head")
        last = rows.read_session(head).last_seq if head else 0
        seqs = sorted([*(item["seq"] for item in log_of(run, keys)), *removed_of(run, keys)])
        if seqs != list(range(1, last + 1)):
            yield f"{keys.log}: {seqs}, the head says {last}"


def an_acknowledged_event_stands_at_its_seq(run: Run) -> Found:
    """With its words, and with the row of its client id."""
    for did in _appends(run):
        log, removed = first_texts(run, did.keys), removed_of(run, did.keys)
        for event, seq in zip(did.given.events, did.value, strict=True):
            if seq in removed:
                continue
            if seq not in log or log[seq] != event.text:
                yield f"{did.keys.log}: '{event.text[:80]}' was acknowledged at {seq}, there is {log.get(seq)}"


def an_event_is_in_the_log_at_most_once(run: Run) -> Found:
    """However often it was sent: with a client id, with a key, or once without any. So is each client id."""
    for keys in run.history.sessions():
        log = log_of(run, keys)
        for text, count in Counter(text_of_row(item) for item in log if not item.get("erased")).items():
            if count > 1:
                yield f"{keys.log}: '{text}' {count} times"
        ids = {item["client_id"]: item["seq"] for item in log if "client_id" in item}
        noted = {item["sk"].removeprefix(CLIENT_ID): item["seq"] for item in rows_of(run, keys.log, CLIENT_ID)}
        removed = removed_of(run, keys)  # whoever repeats one of those is still told where it stood
        if ids != {name: seq for name, seq in noted.items() if seq not in removed}:
            yield f"{keys.log}: client ids {ids}, noted {noted}"


def appends_keep_their_order(run: Run) -> Found:
    """What was acknowledged before another append began has the lower seqs."""
    appends, begun_s = _appends(run), dict[int, float]()
    for did in run.history.of("append"):  # in the order in which they began
        begun_s.setdefault(id(did.given), did.began_s)
    for first in appends:
        for second in appends:
            if first.keys != second.keys or first.ended_s >= begun_s[id(second.given)]:
                continue
            if max(first.value) >= min(second.value):
                yield f"{first.keys.log}: {first.value} acknowledged before {second.value} was begun"


def a_read_is_a_prefix(run: Run) -> Found:
    """Without a gap but for what was removed, and at least as long as the last append that was acknowledged before the
    read began."""
    appends = _appends(run)
    for did in run.history.of("read_log"):
        if not did.ok or before_erasure(run, did.keys, did.began_s):
            continue
        removed = removed_of(run, did.keys)
        read = {event.seq for event in did.value}
        seqs = sorted(read | {seq for seq in removed if seq <= max(read, default=0)})
        known = [s for a in appends if a.keys == did.keys and a.ended_s < did.began_s for s in a.value]
        if seqs != list(range(1, len(seqs) + 1)) or len(seqs) < max(known, default=0):
            yield f"{did.keys.log}: read {seqs}, acknowledged up to {max(known, default=0)}"
        texts = every_text(run, did.keys)
        yield from (
            f"{did.keys.log}: read {e}, there was {texts.get(e.seq)}"
            for e in did.value
            if e.seq not in removed and e.text not in texts.get(e.seq, ())
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
