"""What another than the user says in a conversation is told in no other."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from neve.store.keys import SessionKeys
from tests.simulation.checks.replay import Found, of_kind
from tests.simulation.clients.history import BEN, Did

if TYPE_CHECKING:
    from tests.simulation.run import Run


def nobody_elsewhere_is_told_what_another_said(run: Run) -> Found:
    """No pack, hit or prompt of another conversation names a message of his."""
    labels = _labels(run)
    for did in run.history.of("open", "read_pack", "recall", "context"):
        told = _told(did) if did.ok else ""
        for label, keys in labels.items():
            if did.keys != keys and f" {label} " in told:
                yield f"{did.what} of {did.keys.session} at {did.began_s:.1f} tells {label} of {keys.session}"


def what_another_said_is_ranked_nowhere(run: Run) -> Found:
    """No memory that names a message of his is one of those that packs of other conversations, nights and passes look
    among."""
    labels = _labels(run)
    for _, memory in of_kind(run, "memory"):
        if "rank_pk" in memory and any(f" {label} " in memory["text"] for label in labels):
            yield f"{memory['id']}: {memory['text']}"


def _labels(run: Run) -> dict[str, SessionKeys]:
    """The names of his messages, each with its conversation."""
    said = ((event, did.keys) for did in run.history.of("append") for event in did.given.events)
    return {event.text.split()[2]: keys for event, keys in said if event.participant == BEN}


def _told(did: Did) -> str:
    value: Any = did.value
    if did.what == "recall":
        return "\n".join(hit.text for hit in value.hits)
    return json.dumps(value.request) if did.what == "context" else str(value.text)


INVARIANTS = (nobody_elsewhere_is_told_what_another_said, what_another_said_is_ranked_nowhere)
