"""The rows of late interaction: the token vectors of a memory or an utterance, and how far a user's are made.

Under the item's id and not by content, as sentence vectors are: recall knows the ids of its candidates before their
texts, so both are one read, and what is deleted takes its token vectors along in the same transaction (ADR 13)."""

from __future__ import annotations

from dataclasses import dataclass

from neve.domain.times import parse
from neve.ports.table import Expect, Item, Put, Version
from neve.store import rows
from neve.store.keys import Keys, UserKeys


@dataclass(frozen=True, slots=True)
class TokenVectors:
    """``parts``: the encoded passages of the item, in order. Good for the text of this ``fingerprint`` and for
    ``model``; anything else counts as missing."""

    item_id: str
    fingerprint: str
    model: str
    parts: tuple[bytes, ...]

    def good_for(self, fingerprint: str, model: str) -> bool:
        """Whether they are of the text that the item has now, and of the model in use."""
        return (self.fingerprint, self.model) == (fingerprint, model)

    def put(self, keys: UserKeys) -> Put:
        """In place of what was there: the same text gives the same bytes."""
        key = keys.tokens_of(self.item_id)
        item: Item = {
            "pk": key.pk,
            "sk": key.sk,
            "type": "tokens",
            "fingerprint": self.fingerprint,
            "model": self.model,
            "parts": list(self.parts),
        }
        return Put(item, Expect.ANY)


def read_token_vectors(item: Item) -> TokenVectors:
    return TokenVectors(item["sk"], item["fingerprint"], item["model"], tuple(item["parts"]))


@dataclass(frozen=True, slots=True)
class LateProgress:
    """``round``: what asked for it (a rev of the policy, a drain). ``after``: the last memory key, then the last
    session and seq that were looked at; empty at the beginning. ``items``: looked at so far."""

    round: str
    after: str = ""
    items: int = 0
    done: bool = False
    version: int = 0

    def put(self, keys: UserKeys) -> Put:
        """In the index ``due`` of its tenant until it is done."""
        key = keys.late_progress
        due = {} if self.done else {"due_pk": keys.late, "due_sk": keys.user}
        given = {"round": self.round, "after": self.after, "items": self.items, "done": self.done}
        own = {"pk": key.pk, "sk": key.sk, "type": "late", "id": keys.user, "user_id": keys.user}
        return Put({**own, "tenant_id": keys.tenant, **given, **due}, rows.expectation(self.version))


def read_late_progress(item: Item | None) -> LateProgress | None:
    if item is None:
        return None
    return LateProgress(item["round"], item["after"], item["items"], item["done"], item["version"])


TENANT_ITSELF = "#"
"""In the place of a user, and is none."""
LATE = "late"
"""The kind of due work: tenants whose users have not all been told."""


@dataclass(frozen=True, slots=True)
class LateUsers:
    """Whether a tenant's users have all been told to encode what they have. ``round``: what asked for it; ``at``: when
    somebody was last at it."""

    round: str
    at: str
    done: bool = False
    version: int = 0

    def put(self, keys: Keys, expect: Expect | Version = Expect.ANY) -> Put:
        """In the index ``due`` until they have, for the sweep: the message that says so may be lost."""
        key = keys.late_users
        due_at = parse(self.at) + rows.SENT_WITHIN
        due = {} if self.done else rows.due_keys(LATE, keys.of_user(TENANT_ITSELF), "users", due_at)
        own = {"pk": key.pk, "sk": key.sk, "type": "late_users", "id": TENANT_ITSELF, "tenant_id": keys.tenant}
        return Put({**own, "round": self.round, "at": self.at, "done": self.done, **due}, expect)


def read_late_users(item: Item) -> LateUsers:
    return LateUsers(item["round"], item["at"], item["done"], item["version"])


def round_of_policy(rev: int) -> str:
    """What asks for it where the policy of this rev has become ``rerank: late``."""
    return f"policy {rev}"
