"""What answers may say at all."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tests.simulation.checks.replay import Found
from tests.simulation.clients.client import tag_of

if TYPE_CHECKING:
    from tests.simulation.run import Run

TAG = re.compile(r"\bt\d\.u\d\b")


def nobody_reads_what_others_said(run: Run) -> Found:
    """Every text says whose it is."""
    for did in run.history.done:
        if did.ok:
            strange = set(TAG.findall(_text(did.value))) - {tag_of(did.keys)}
            if strange:
                yield f"{did.who} {did.what} of {tag_of(did.keys)} was told of {sorted(strange)}"


def _text(value: Any) -> str:
    return str(value)


def nothing_fails_unforeseen(run: Run) -> Found:
    """A worker and a call end with the errors that they name."""
    yield from run.cloud.unforeseen


INVARIANTS = (nobody_reads_what_others_said, nothing_fails_unforeseen)
