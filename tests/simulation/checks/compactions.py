"""Compactions: what leaves a prompt can be read elsewhere, and leaves it together with its epoch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from neve.ports.table import Item, Key
from neve.store import rows
from neve.store.keys import DOCUMENT, SUMMARY
from tests.simulation.checks.replay import Found, owner_of, transactions
from tests.simulation.engines.memory_table import Written

if TYPE_CHECKING:
    from tests.simulation.run import Run


def what_was_put_away_is_in_its_document(run: Run) -> Found:
    """From the moment on at which the log names it, word for word."""
    documents: dict[Key, str] = {}
    for written in run.cloud.table.log:
        if written.key.sk.startswith(DOCUMENT):
            if written.new is None:
                documents.pop(written.key, None)
            elif (
                "text" in written.new and documents.setdefault(written.key, written.new["text"]) != written.new["text"]
            ):
                yield f"{written.key}: another text"
        elif put_away(written):
            old: Item = written.old or {}
            new: Item = written.new or {}
            owner = owner_of(written.key.pk)
            stored = documents.get(owner.document(new["artifact_path"])) if owner else None
            if stored != old["content"]:
                yield f"{written.key}: {old['content'][:40]} is {stored and stored[:40]} in {new['artifact_path']}"
            if new["content"] != f"[Tool output saved to {new['artifact_path']}]":
                yield f"{written.key}: {new['content'][:80]}"


def a_prompt_changes_with_its_epoch_only(run: Run) -> Found:
    """What is put away stands in the covered part, or its transaction moves the epoch."""
    covers: dict[str, tuple[int, int]] = {}
    for together in transactions(run):
        moved = {written.key.pk: written for written in together if epoch_moved(written)}
        for written in together:
            if written.new is not None and written.new["type"] == "epoch":
                place = f"{written.key.pk}#S#{written.new['session_id']}"
                covers[place] = (written.new.get("covers_from", 0), written.new.get("covers_to", 0))
        for written in filter(put_away, together):
            first, last = covers.get(written.key.pk, (0, 0))
            row: Item = written.new or {}
            seq = row["seq"]
            if not moved and not first <= seq <= last:
                yield f"{written.key}: put away outside {first}-{last} without an epoch"


def an_epoch_has_the_summary_of_what_it_covers(run: Run) -> Found:
    """They are written together. An epoch whose horizon stays has put something away, or cuts what prompts show, or
    has taken something back, or rewritten what was met by that; its summary holds on, unless it was met."""
    hidden: set[Key] = set()
    for together in transactions(run):
        for written in filter(epoch_moved, together):
            before, after = rows.read_epoch(written.old or {}), rows.read_epoch(written.new or {})
            summary = _summary_of(together, written.key.pk, after.session_id)
            covered = (summary["covers_from"], summary["covers_to"], summary["epoch"]) if summary else None
            wanted = (after.covers_from, after.covers_to, after.epoch) if after.covers_to else None
            retracts = after.retracted != before.retracted or _retracts(together)
            again = summary is not None and written.key in hidden and after.compacted_by != before.compacted_by
            if summary is None and wanted and (retracts or written.key in hidden):
                hidden.add(written.key)
            elif covered != wanted:
                yield f"{written.key}: the epoch covers {wanted}, its summary {covered}"
            elif summary is not None and summary.get("job_id") == after.compacted_by != before.compacted_by:
                hidden.discard(written.key)  # what a prompt made meanwhile is rewritten, too, whoever took it along
            stays = after.covers_to == before.covers_to and after.cut == before.cut
            if stays and not (any(map(put_away, together)) or retracts or again):
                yield f"{written.key}: epoch {after.epoch} for nothing"


def _retracts(together: Sequence[Written]) -> bool:
    return any(written.new is not None and written.new["type"] == rows.RETRACTION for written in together)


def put_away(written: Written) -> bool:
    old, new = written.old, written.new
    return old is not None and new is not None and bool(new.get("pruned")) and not old.get("pruned")


def epoch_moved(written: Written) -> bool:
    old, new = written.old, written.new
    return old is not None and new is not None and new["type"] == "epoch" and new.get("epoch") != old.get("epoch")


def _summary_of(together: Sequence[Written], partition: str, session: str) -> Item | None:
    prefix = f"{SUMMARY}{session}#"
    found = (w.new for w in together if w.key.pk == partition and w.key.sk.startswith(prefix))
    return next(found, None)


INVARIANTS = (
    what_was_put_away_is_in_its_document,
    a_prompt_changes_with_its_epoch_only,
    an_epoch_has_the_summary_of_what_it_covers,
)
