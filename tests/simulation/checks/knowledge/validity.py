"""What does not hold is neither packed nor recalled, and every prompt tells what of its pack has ended."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING

from neve.domain.times import iso
from neve.domain.validity import within
from neve.store import rows
from neve.store.keys import SessionKeys
from tests.simulation.checks.replay import Found
from tests.simulation.clients.history import TimedGiven
from tests.simulation.machine.process import START

if TYPE_CHECKING:
    from tests.simulation.run import Run

_RETRIEVED = re.compile(r"<neve-retrieved>.*?</neve-retrieved>")


def what_does_not_hold_is_not_recalled(run: Run) -> Found:
    """Nor retrieved for a prompt: at no moment between question and answer."""
    timed = _timed(run)
    for did in run.history.of("recall"):
        for hit in did.value.hits if did.ok else ():
            if hit.id in timed and not _held(timed[hit.id], did.began_s, did.ended_s):
                yield f"{did.who} at {did.began_s:.1f} was answered {hit.id}, which held {timed[hit.id].between}"
    for did in run.history.of("context"):
        retrieved = " ".join(_RETRIEVED.findall(json.dumps(did.value.request))) if did.ok else ""
        for memory, given in timed.items():
            if given.text in retrieved and not _held(given, did.began_s, did.ended_s):
                yield f"{did.who} at {did.began_s:.1f} was shown {memory}, which held {given.between}"


def what_does_not_hold_is_not_packed(run: Run) -> Found:
    """When a pack is built: at no moment between its time and the writing of its version."""
    timed = _timed(run)
    for keys, built_at, written_s, ids in _packs(run):
        for memory in timed.keys() & ids:
            given = timed[memory]
            ended = given.valid_until is not None and given.valid_until <= built_at
            if ended or (given.valid_from is not None and given.valid_from > _at(written_s)):
                yield f"{keys.log}: {memory} is in a pack of {built_at}, and held {given.between}"


def every_prompt_tells_what_of_its_pack_has_ended(run: Run) -> Found:
    """From the end on, in each prompt of that version that says of nothing that it was not read."""
    timed = _timed(run)
    shown = {(keys, version): ids for keys, version, ids in _versions(run)}
    for did in run.history.of("context"):
        if not did.ok or did.given.message is None or did.value.degraded:
            continue
        told = json.dumps(did.value.request, ensure_ascii=False)
        for memory in timed.keys() & shown.get((did.keys, did.value.pack_version), set()):
            until = timed[memory].valid_until
            if until is not None and until <= _at(did.began_s) and f"No longer holds: {timed[memory].text}" not in told:
                yield f"{did.who} at {did.began_s:.1f} was not told that {memory} ended at {until}"


def _timed(run: Run) -> dict[str, TimedGiven]:
    return {did.value.id: did.given for did in run.history.of("timed") if did.ok}


def _held(given: TimedGiven, first_s: float, last_s: float) -> bool:
    """Whether it held at some moment between the two."""
    begins = given.valid_from or ""
    return within(given.valid_from, given.valid_until, max(begins, _at(first_s))) and begins <= _at(last_s)


def _at(now_s: float) -> str:
    return iso(START + timedelta(seconds=now_s))


def _packs(run: Run) -> Iterator[tuple[SessionKeys, str, float, set[str]]]:
    """Whose, when each was begun and written, and what is in it: of a version that stays what is new."""
    for written in run.cloud.table.log:
        if written.new is not None and written.new["type"] == "pack":
            manifest, old = rows.read_manifest(written.new), rows.read_manifest(written.old) if written.old else None
            before = {entry.id for layer in (old.layers.values() if old else ()) for entry in layer}
            ids = {entry.id for layer in manifest.layers.values() for entry in layer} - before
            yield _keys(run, written.key.pk, manifest.session_id), manifest.built_at, written.at_s, ids


def _versions(run: Run) -> Iterator[tuple[SessionKeys, int, set[str]]]:
    for written in run.cloud.table.log:
        if written.new is not None and written.new["type"] == "pack":
            manifest = rows.read_manifest(written.new)
            ids = {entry.id for layer in manifest.layers.values() for entry in layer if entry.tokens}
            yield _keys(run, written.key.pk, manifest.session_id), manifest.pack_version, ids


def _keys(run: Run, partition: str, session: str) -> SessionKeys:
    return next(keys for keys in run.history.sessions() if (keys.partition, keys.session) == (partition, session))


INVARIANTS = (
    what_does_not_hold_is_not_recalled,
    what_does_not_hold_is_not_packed,
    every_prompt_tells_what_of_its_pack_has_ended,
)
