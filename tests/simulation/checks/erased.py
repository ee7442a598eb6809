"""Erased users and revoked keys."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from neve.ports.search import Owner
from neve.store import rows
from neve.store.keys import EVENT, UserKeys
from tests.simulation.checks.replay import Found, owner_of
from tests.simulation.clients.pictures import PNG

if TYPE_CHECKING:
    from tests.simulation.run import Run

LABEL = re.compile(r"\bc\d+-\d+\b")
VERDICT_S = 60.0
"""How long an authorizer goes by what it knows while the table is down (docs/rules/tenants.md#keys)."""


def nothing_is_left_of_an_erased_user(run: Run) -> Found:
    """No row, passage, object or message from before, nor what a worker made of one afterwards."""
    for keys, (_, done_s) in run.erased.items():
        own = [did for did in run.history.done if (did.keys.tenant, did.keys.user) == (keys.tenant, keys.user)]
        # the last try of these came behind the erasure, to whom started over
        afterwards = [did.given for did in own if did.ok and did.ended_s > done_s]
        before = {
            label
            for did in own
            if did.began_s <= done_s and not any(did.given is given for given in afterwards)
            for label in LABEL.findall(str(did.given))
        }
        for where, text in _everything_of(run, keys):
            erased_labels = before & set(LABEL.findall(text))
            if erased_labels:
                yield f"{keys.partition}: {where} still says {sorted(erased_labels)}"
        head = rows.read_head(run.cloud.table.rows.get(keys.head))
        for key, item in run.cloud.table.rows.items():
            if key.sk.startswith(EVENT) and owner_of(key.pk) == keys and item["incarnation"] != head.incarnation:
                yield f"{key}: of the incarnation {item['incarnation']}, now is {head.incarnation}"


def _everything_of(run: Run, keys: UserKeys) -> list[tuple[str, str]]:
    """Names and contents."""
    cloud = run.cloud
    found = [(str(key), str(item)) for key, item in cloud.table.rows.items() if owner_of(key.pk) == keys]
    passages = cloud.search.stored.get(Owner(keys.tenant, keys.user), {})
    found += [(f"passage {place}", passage.text) for place, passage in passages.items()]
    found += [
        (name, stored.body.decode())
        for name, stored in cloud.objects.objects.items()
        if name.split("/")[1:3] == [keys.tenant, keys.user] and stored.content_type != PNG
    ]
    return found


def a_row_of_an_erased_user_came_afterwards(run: Run) -> Found:
    """Whatever is there was written after the erasure was done, but for the head."""
    at = {written.key: written.at_s for written in run.cloud.table.log}
    for keys, (_, done_s) in run.erased.items():
        for key in run.cloud.table.rows:
            if owner_of(key.pk) == keys and key != keys.head and at[key] < done_s:
                yield f"{key}: written at {at[key]:.1f}, erased at {done_s:.1f}"


def nothing_is_accepted_during_an_erasure(run: Run) -> Found:
    """What was begun after the erasure, and answered before it was done. A repeat may be told what its first try came
    to: that writes nothing."""
    for keys, (began_s, done_s) in run.erased.items():
        for did in run.history.of("append", "create", "update", "delete", "used"):
            own = (did.keys.tenant, did.keys.user) == (keys.tenant, keys.user)
            first = min(other.began_s for other in run.history.of(did.what) if other.given is did.given)
            if own and did.ok and first > began_s and did.ended_s < done_s:
                yield f"{did.who} {did.what} was accepted at {did.began_s:.1f}, erased {began_s:.1f}-{done_s:.1f}"


def a_revoked_key_is_refused(run: Run) -> Found:
    """At once where the table answers, after a minute where it does not; before, it is taken."""
    for revoked in run.history.of("revoke"):
        for asked in run.history.of("authorize"):
            if asked.keys != revoked.keys or not asked.ok:
                continue
            if asked.value is not None and asked.began_s > revoked.ended_s + VERDICT_S:
                yield f"{asked.given} was taken {asked.began_s - revoked.ended_s:.0f} s after it was revoked"
            if asked.value is None and asked.ended_s < revoked.began_s:
                yield f"{asked.given} was refused before it was revoked"


INVARIANTS = (
    nothing_is_left_of_an_erased_user,
    a_row_of_an_erased_user_came_afterwards,
    nothing_is_accepted_during_an_erasure,
    a_revoked_key_is_refused,
)
