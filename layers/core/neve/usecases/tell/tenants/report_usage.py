"""E18: what a model's answer says of its prompt's tokens, counted for the session, the user and the user's day. A
prompt that Neve compiled is reported by its id, once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from neve.domain.errors import not_found
from neve.domain.records.epochs import SessionEpoch
from neve.domain.records.packs import Trigger
from neve.domain.records.prompts import PREFIX_PARTS, PromptRecord
from neve.domain.records.users import UserHead
from neve.domain.tenants.prices import price_of
from neve.domain.tenants.prompt_cache import Counted, PromptReport, ReportedUsage, SessionPrompts, count_report
from neve.domain.tenants.provider_usage import Tokens
from neve.domain.times import iso
from neve.ports.table import Item, Key, WriteOp
from neve.scope import SessionScope, UserScope
from neve.store import idempotency, rows
from neve.store.idempotency import IdempotencyKey, StoredReply
from neve.store.sessions.prompts import put_prompt, read_prompt
from neve.store.tenants.prompt_usage import (
    put_day_prompts,
    put_session_prompts,
    put_user_prompts,
    read_reported,
    read_session_prompts,
    read_totals,
    stored_answer,
)
from neve.store.transact import transact

MAX_WRITE_IDS = 4
"""How many reports' ids a session's row holds: a writer whose answer was lost finds its own behind three others."""
WRITE_ID_LENGTH = SHA_LENGTH = 16
"""Characters of what only has to differ."""

NO_PART = "none"
"""Stands in place of a sha256, so that a part which comes or goes is another prefix."""


@dataclass(frozen=True, slots=True)
class NewReport:
    """A report as the caller sent it. ``pack_version`` 0: the prompt had no pack. ``prefix``: sha256 of the parts that
    stand before it, by name."""

    model: str
    pack_version: int
    input: int
    cache_read: int
    cache_write: int
    output: int
    prefix: Mapping[str, str] = field(default_factory=dict)

    def at(self, now: datetime, epoch: int) -> PromptReport:
        return PromptReport(
            at=iso(now),
            model=self.model,
            pack_version=self.pack_version,
            input=self.input,
            cache_read=self.cache_read,
            cache_write=self.cache_write,
            output=self.output,
            epoch=epoch,
            prefix={name: sha[:SHA_LENGTH] for name, sha in self.prefix.items()},
        )


def report_prompt(
    scope: UserScope, prompt_id: str, model: str, tokens: Tokens, idempotency_key: IdempotencyKey | None = None
) -> ReportedUsage:
    """Count the usage of a prompt that was compiled: its row says the session, the pack and what stood before that, and
    that it was reported. One read, then as ``report_usage``. The same prompt again gets the first answer.

    Raises NeveError: prompt_not_found besides. Raises StoreUnavailable."""
    prompt = _prompt(scope, prompt_id, scope.ports.table.get(scope.keys.prompt(prompt_id)))
    new = NewReport(
        model=model,
        pack_version=prompt.pack_version,
        input=tokens.input,
        cache_read=tokens.cache_read,
        cache_write=tokens.cache_write,
        output=tokens.output,
        prefix={part: prompt.prefix.get(part, NO_PART) for part in PREFIX_PARTS},
    )
    return report_usage(scope.of_session(prompt.session_id), new, idempotency_key, prompt_id)


def _prompt(scope: UserScope, prompt_id: str, item: Item | None) -> PromptRecord:
    """Read a prompt that is kept. Raises prompt_not_found."""
    if rows.live(item, scope.ports.clock.now()) is None or item is None:
        raise not_found("prompt", prompt_id)
    return read_prompt(item)


def report_usage(
    scope: SessionScope,
    new: NewReport,
    idempotency_key: IdempotencyKey | None = None,
    prompt_id: str | None = None,
) -> ReportedUsage:
    """Count a report. One batch read (one read more for a pack version that the session neither serves nor reported
    last) and one transaction. The same Idempotency-Key again gets the first answer.

    Raises NeveError: session_not_found, pack_version_not_found, idempotency_mismatch, erasing, user_closed, conflict.
    Raises StoreUnavailable; with an Idempotency-Key the call may then be repeated safely."""
    write = _Report(scope, new, idempotency_key, scope.ports.ids.token()[:WRITE_ID_LENGTH], prompt_id)
    return transact(scope.ports, write.attempt)


@dataclass
class _Report:
    """One call. ``write_id`` names it on the session's row. ``tried``: what its last attempt would have counted."""

    scope: SessionScope
    new: NewReport
    idempotency_key: IdempotencyKey | None
    write_id: str
    prompt_id: str | None = None
    tried: ReportedUsage | None = None

    def attempt(self) -> ReportedUsage:
        now, keys = self.scope.ports.clock.now(), self.scope.keys
        day = keys.prompts_on(iso(now)[:10])
        found = self.scope.ports.table.get_many(self._keys_to_read(day))
        before = read_session_prompts(found.get(keys.session_prompts))
        if self.tried and self.write_id in before.write_ids:
            return self.tried  # our own commit, whose response was lost
        if self.idempotency_key:
            item = found.get(idempotency.row_key(keys, self.idempotency_key))
            if (first := idempotency.replay(item, self.idempotency_key, now)) is not None:
                return read_reported(first.body)
        head = rows.read_head(found.get(keys.head))
        rows.writable(head)
        prompt = self._of_prompt(found, head)
        if prompt is not None and prompt.reported is not None:
            return read_reported(dict(prompt.reported))
        if not rows.is_there(found, keys.session_head, keys.epoch):
            raise not_found("session", self.scope.session)
        epoch = rows.read_epoch(found[keys.epoch])
        trigger = self._trigger(epoch, before)
        price = price_of(self.new.model, self.scope.policy.prices)
        counted = count_report(before, self.new.at(now, epoch.epoch), price, trigger)
        self.tried = _answer(self.new, counted)
        ops: list[WriteOp] = [rows.check_head(keys, head), *self._puts(found, counted, iso(now)[:10])]
        if self.idempotency_key:
            reply = StoredReply(200, stored_answer(self.tried))
            used_up = found.get(idempotency.row_key(keys, self.idempotency_key))
            ops.append(idempotency.done(keys, self.idempotency_key, reply, now, idempotency.taken_over(used_up)))
        if prompt is not None:
            ops.append(put_prompt(keys, replace(prompt, reported=stored_answer(self.tried)), head.incarnation))
        self.scope.ports.table.write(ops)
        return self.tried

    def _of_prompt(self, found: dict[Key, Item], head: UserHead) -> PromptRecord | None:
        """Give the prompt that is reported, if the call names one. Raises prompt_not_found, also for one of an earlier
        incarnation."""
        if self.prompt_id is None:
            return None
        item = found.get(self.scope.keys.prompt(self.prompt_id))
        of_now = item if item and item["incarnation"] == head.incarnation else None
        return _prompt(self.scope, self.prompt_id, of_now)

    def _keys_to_read(self, day: Key) -> list[Key]:
        keys = self.scope.keys
        wanted = [keys.head, keys.session_head, keys.epoch, keys.session_prompts, keys.user_prompts, day]
        if self.idempotency_key:
            wanted.append(idempotency.row_key(keys, self.idempotency_key))
        if self.prompt_id is not None:
            wanted.append(keys.prompt(self.prompt_id))
        return wanted

    def _trigger(self, epoch: SessionEpoch, before: SessionPrompts) -> Trigger | None:
        """Say why the reported pack was built; None for no pack, for the one that was reported last, and for one that
        was taken away since. Raises pack_version_not_found."""
        version = self.new.pack_version
        if version == 0 or (before.last is not None and before.last.pack_version == version):
            return None
        if epoch.pack is not None and epoch.pack.pack_version == version:
            return epoch.pack.trigger
        item = self.scope.ports.table.get(self.scope.keys.pack(version))
        if item is None and version <= epoch.purged_to:
            return None
        if item is None:
            raise not_found("pack_version", str(version))
        return rows.read_manifest(item).trigger

    def _puts(self, found: dict[Key, Item], counted: Counted, day: str) -> list[WriteOp]:
        keys = self.scope.keys
        known = (*counted.session.write_ids, self.write_id)[-MAX_WRITE_IDS:]
        user, of_day = found.get(keys.user_prompts), found.get(keys.prompts_on(day))
        return [
            put_session_prompts(keys, replace(counted.session, write_ids=known)),
            put_user_prompts(keys, user, read_totals(user).plus(counted.added)),
            put_day_prompts(keys, day, of_day, read_totals(of_day).plus(counted.added)),
        ]


def _answer(new: NewReport, counted: Counted) -> ReportedUsage:
    return ReportedUsage(new.model, counted.added, counted.session.totals, counted.change, counted.collapse)
