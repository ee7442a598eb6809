"""The rows of the librarian: how far a session is filed, what waits for a decision, and when a session that is open is
to be looked at."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any

from pydantic import TypeAdapter

from neve.correlation import carried
from neve.domain.librarian.filing import Filing, Proposal
from neve.ports.table import Expect, Item, Put, Table
from neve.store.keys import PROPOSAL, SessionKeys, UserKeys, inbox_key
from neve.store.partitions import all_rows
from neve.store.rows import due_keys, expectation

PROPOSED = "proposal"
_filing = TypeAdapter(Filing)
_proposal = TypeAdapter(Proposal)


def read_filing(session: str, item: Item | None) -> Filing:
    """Read how far a session is filed; one that was never filed begins at its start."""
    if item is None:
        return Filing(session)
    return _filing.validate_python(item | {"result": json.loads(item["result"])})


def put_filing(keys: SessionKeys, filing: Filing) -> Put:
    attributes: dict[str, Any] = _filing.dump_python(filing, mode="json", exclude_none=True)
    attributes.pop("version")
    attributes["result"] = json.dumps(filing.result, ensure_ascii=False)
    key = keys.filing
    return Put({"pk": key.pk, "sk": key.sk, "type": "filing", **attributes}, expectation(filing.version))


def read_proposal(item: Item) -> Proposal:
    return _proposal.validate_python(item)


def proposals_about(table: Table, keys: UserKeys, document_id: str) -> list[str]:
    """Find the ids of what was proposed for a document, or made it, decided or not. Reads all that the user has. Raises
    StoreUnavailable."""
    found = all_rows(table, keys.partition, prefix=PROPOSAL)
    return [item["id"] for item in found if document_id in (item["action"].get("base_id"), item.get("document_id"))]


def put_proposal(keys: UserKeys, proposal: Proposal) -> Put:
    """Make the put of a proposal. Through the index ``rank`` it is in the user's inbox while it waits."""
    attributes: dict[str, Any] = _proposal.dump_python(proposal, mode="json", exclude_none=True)
    attributes.pop("version")
    key = keys.proposal(proposal.id)
    item: Item = {"pk": key.pk, "sk": key.sk, "type": PROPOSED, **attributes}
    item |= {"tenant_id": keys.tenant, "user_id": keys.user}
    if proposal.status == "inbox":
        item |= {"rank_pk": keys.inbox, "rank_sk": inbox_key(proposal.created_at, proposal.id)}
    return Put(carried(item), expectation(proposal.version))


def put_open_session(keys: SessionKeys, at: datetime) -> Put:
    """Make the put that notes when the sweep has to look whether the session is idle: ``at``. The last write holds."""
    key = keys.open_session
    names = {"id": keys.session, "tenant_id": keys.tenant, "user_id": keys.user, "session_id": keys.session}
    item: Item = {"pk": key.pk, "sk": key.sk, "type": "open_session", **names}
    return Put(item | due_keys("idle", keys, keys.session, at), Expect.ANY)
