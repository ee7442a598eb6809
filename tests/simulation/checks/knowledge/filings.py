"""Filings: what the cursor has passed is written, once, and no word of a person is lost to an answer that had not seen
it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from neve.domain.librarian.filing import Filing
from neve.ports.table import Item
from neve.store import rows
from neve.store.filings import read_filing
from tests.simulation.checks.replay import Found, before_erasure, of_kind, owner_of, transactions
from tests.simulation.engines.memory_table import Written

if TYPE_CHECKING:
    from tests.simulation.run import Run

HEAD, REVISION = "document", "document_rev"


def a_cursor_passes_what_is_written_with_it(run: Run) -> Found:
    """The spans of a session's filings follow each other without a gap, and every document, every proposal and the
    summary that a filing speaks of are in its transaction."""
    for together in transactions(run):
        for written in filter(_moved, together):
            before, after = _filing(written.old), _filing(written.new)
            if after.filed_seq == 0:
                continue  # to be filed again
            filed = after.result["filed"]
            if (filed["seq_from"], filed["seq_to"]) != (before.filed_seq + 1, after.filed_seq):
                yield f"{written.key}: says {filed}, and moved from {before.filed_seq} to {after.filed_seq}"
            for one in after.result["documents"]:
                if not any(_is_document(row, one["id"], one["rev"]) for row in together):
                    yield f"{written.key}: {one} is not written with the cursor"
            for proposal in after.result.get("inbox", ()):
                if not any(row.new is not None and row.new.get("id") == proposal for row in together):
                    yield f"{written.key}: {proposal} is not written with the cursor"
            # no account where all that was said is taken back
            first = before.memory_id is None and after.account is not None
            if first and not any(_is_memory(row, after.memory_id) for row in together):
                yield f"{written.key}: its summary is not written with the cursor"


def a_session_is_filed_once(run: Run) -> Found:
    """One summary a session, whatever a person evolves it into, and no event in two filings, but for what is filed
    again because something of it, or of what it was written onto, was taken back."""
    seen: dict[str, int] = {}
    for old, item in of_kind(run, "filing"):
        place = f"{item['pk']}/{item['session_id']}"
        filing = _filing(item)
        if old is None:
            seen.pop(place, None)  # of another life of the user
        again = filing.filed_seq == 0 and _takes_back(run, item["pk"])
        if filing.filed_seq < seen.get(place, 0) and not again:
            yield f"{place}: the cursor went back from {seen[place]} to {filing.filed_seq}"
        seen[place] = filing.filed_seq
    summaries: dict[str, set[str]] = {}
    memories = [item for item in run.cloud.table.rows.values() if item["type"] == "memory"]
    evolved = {i for item in memories if item["provenance"]["by"] == "human_edit" for i in item.get("supersedes", ())}
    for item in memories:
        if item["status"] == "superseded" and (item["id"] in evolved or _takes_back(run, item["pk"])):
            continue
        if item["kind"] == "session_summary" and not _gone(run, item):
            summaries.setdefault(f"{item['pk']}/{item['session_id']}", set()).add(item["id"])
    for place, ids in summaries.items():
        if len(ids) > 1:
            yield f"{place}: {len(ids)} summaries"


def a_conversation_has_a_document_of_its_own(run: Run) -> Found:
    """When calm, and nobody but librarians writes there: all of a day have the same title, so that what one deletes or
    moves is at once another's place."""
    for item in run.cloud.table.rows.values():
        if item["type"] != "filing" or _filing(item).account is None:
            continue
        filing = _filing(item)
        rows_of_user = (one for one in run.cloud.table.rows.values() if one["pk"] == item["pk"])
        own = [one["source_id"] for one in rows_of_user if one["type"] == HEAD and one.get("id") == filing.document_id]
        if own != [filing.session_id]:
            yield f"{item['pk']}: {filing.session_id}'s document {filing.document_id} is {own}"


def revisions_of_a_document_follow_each_other(run: Run) -> Found:
    """Without a gap, and each revision that a librarian wrote holds every line of the one before it: its answers keep
    what they were shown, so that one that loses a line had not seen it. What is put back is word for word an
    earlier one."""
    texts: dict[tuple[str, str], tuple[int, str]] = {}
    earlier: dict[tuple[str, str], set[str]] = {}
    for together in transactions(run):
        for written in together:
            new = written.new
            if new is None or new["type"] != REVISION:
                continue
            place = (written.key.pk, new["id"])
            rev, before = texts.get(place, (0, ""))
            if new["rev"] == rev:
                continue  # what does not move rev is written in place
            if new["rev"] != rev + 1:
                yield f"{place}: rev {new['rev']} behind {rev}"
            seen = earlier.setdefault(place, set())
            put_back = new["sha256"] in seen and _takes_back(run, written.key.pk)
            seen.add(new["sha256"])
            if _by_librarian(new) and not put_back:
                lost = [line for line in before.splitlines() if line not in new["text"].splitlines()]
                if lost:
                    yield f"{place}: rev {new['rev']} has lost {lost[:3]}"
            texts[place] = (new["rev"], new["text"])


def a_session_is_extracted_when_all_of_it_is_filed(run: Run) -> Found:
    for together in transactions(run):
        for written in together:
            new = written.new
            if new is None or new["type"] != "session" or new["status"] != "extracted":
                continue
            if written.old is not None and written.old.get("status") == "extracted":
                continue
            filed = _filed_by_then(run, written, new["session_id"])
            if filed != rows.read_session(new).last_seq:
                yield f"{written.key}: extracted at {new.get('last_seq')}, filed to {filed}"


def every_end_ends(run: Run) -> Found:
    """Nobody polls a job for ever."""
    for item in run.cloud.table.rows.values():
        if item["type"] in ("job", rows.QUEUED_JOB) and item.get("kind") in ("compact", "librarian"):
            owner = owner_of(f"T#{item['pk'].split('#')[1]}#U#{item.get('user_id')}")
            erased = owner is not None and owner in run.erased
            if item["status"] == "running" and not erased:
                yield f"{item['sk']}: {item['kind']} of {item.get('session_id')} is still running"


def decided_once(run: Run) -> Found:
    """What was decided stays so."""
    for old, new in of_kind(run, "proposal"):
        if old is not None and old["status"] != "inbox" and old["status"] != new["status"]:
            yield f"{new['id']}: {old['status']}, then {new['status']}"


def _filed_by_then(run: Run, until: Written, session: str) -> int:
    """In its transaction or before."""
    filed = 0
    for written in run.cloud.table.log:
        if written.transaction > until.transaction:
            break
        new = written.new
        if written.key.pk == until.key.pk and written.key.sk == f"SESF#{session}":
            filed = _filing(new).filed_seq
    return filed


def _moved(written: Written) -> bool:
    if written.new is None or written.new["type"] != "filing":
        return False
    return _filing(written.old).filed_seq != _filing(written.new).filed_seq


def _filing(item: Item | None) -> Filing:
    return read_filing(str(item["session_id"]) if item else "", item)


def _takes_back(run: Run, pk: str) -> bool:
    """Whether the user has taken something back."""
    return any(item["pk"].startswith(pk) for _, item in of_kind(run, rows.RETRACTION))


def _by_librarian(item: Item) -> bool:
    return item["provenance"]["by"] == "assistant" and not item["path"].startswith("/conversations/")


def _is_document(written: Written, document_id: str, rev: int) -> bool:
    new = written.new
    return new is not None and new["type"] == HEAD and (new["id"], new["rev"]) == (document_id, rev)


def _is_memory(written: Written, memory_id: str | None) -> bool:
    return written.new is not None and written.new["type"] == "memory" and written.new["id"] == memory_id


def _gone(run: Run, item: Item) -> bool:
    owner = owner_of(item["pk"])
    return owner is not None and before_erasure(run, owner, 0.0)


INVARIANTS = (
    a_cursor_passes_what_is_written_with_it,
    a_session_is_filed_once,
    a_conversation_has_a_document_of_its_own,
    revisions_of_a_document_follow_each_other,
    a_session_is_extracted_when_all_of_it_is_filed,
    every_end_ends,
    decided_once,
)
