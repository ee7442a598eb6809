"""A new conversation knows what was said in the others a moment before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from neve.domain.ids import event_id
from neve.domain.sessions.spans import holds
from neve.ports.table import Item, Key
from neve.store import rows
from neve.store.keys import SessionKeys
from tests.simulation.checks.replay import Found, before_erasure, text_of_row
from tests.simulation.engines.memory_table import Written

if TYPE_CHECKING:
    from tests.simulation.run import Run

INDEX_S = 3.0
"""An index follows its rows up to 2 s later."""
OTHERS, EVENTS = 3, 20
"""So many conversations are told, and so many of their short utterances have room at any rate."""


def a_first_pack_knows_the_newest_unobserved_utterance_of_each_other_session(run: Run) -> Found:
    """What the user said there last before the session was there, unless it was observed, or taken back, by the time
    the pack was."""
    now: dict[Key, Item] = {}
    since: dict[SessionKeys, tuple[float, Mapping[Key, Item]]] = {}
    for written in run.cloud.table.log:
        if written.new is not None and written.new["type"] == "epoch" and written.old is None:
            keys = _session(run, written)
            if keys is not None:
                since[keys] = written.at_s, dict(now)
        if written.new is not None and written.new["type"] == "pack" and written.old is None:
            keys = _session(run, written)
            manifest = rows.read_manifest(written.new)
            first = manifest.pack_version == 1 and manifest.trigger == "initial"
            if first and keys in since and not before_erasure(run, keys, written.at_s):
                told = {entry.id for entry in manifest.layers.get("global", ())}
                at_s, then = since[keys]
                for name, place in _newest_of_others(run, keys, at_s, then, now):
                    if place not in told:
                        yield f"{keys.log}: its first pack does not tell {name}, {place}"
        if written.new is None:
            now.pop(written.key, None)
        else:
            now[written.key] = written.new | {"at_s": written.at_s}


def _session(run: Run, written: Written) -> SessionKeys | None:
    """Whose epoch or pack it is."""
    mine = (keys for keys in run.history.sessions() if written.key.pk == keys.partition)
    return next((keys for keys in mine if written.key.sk.startswith((keys.state, keys.packs))), None)


def _newest_of_others(
    run: Run, keys: SessionKeys, at_s: float, then: Mapping[Key, Item], now: Mapping[Key, Item]
) -> Iterator[tuple[str, str]]:
    """Text and id. ``then``: the rows when the session was made; ``now``: when its pack was."""
    others = [
        one
        for one in run.history.sessions()
        if (one.tenant, one.user) == (keys.tenant, keys.user)
        and one.session != keys.session
        and one.session_head in now
    ]
    if len(others) > OTHERS:
        return
    for other in others:
        head, marker = now[other.session_head], now.get(other.marker)
        if marker is None or head["last_seq"] > EVENTS:
            continue
        read = rows.read_marker(_row(marker))
        session = rows.read_session(_row(head))
        user = [
            item
            for key, item in then.items()
            if key.pk == other.log and item["type"] == "event" and item["event_type"] == "user_message"
            if item["at_s"] < at_s - INDEX_S and text_of_row(item).strip()
        ]
        newest = max(user, key=lambda item: int(item["seq"]), default=None)
        if newest is None or newest["seq"] <= max(read.observed_seq, read.offered_seq):
            continue
        if not holds(session.retracted, newest["seq"]):
            yield text_of_row(newest), event_id(other.session, newest["seq"])


def _row(item: Item) -> Item:
    return {name: value for name, value in item.items() if name != "at_s"}


INVARIANTS = (a_first_pack_knows_the_newest_unobserved_utterance_of_each_other_session,)
