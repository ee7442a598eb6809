"""The rows of what prompts have cost: of a session, of a user, of a user's day. They are other rows than those that
appends and passes move, so that no report gets in their way."""

from __future__ import annotations

import json
from dataclasses import fields
from datetime import datetime, timedelta
from typing import Any

from pydantic import TypeAdapter

from neve.domain.tenants.prompt_cache import PromptTotals, ReportedUsage, SessionPrompts
from neve.ports.table import Item, Put
from neve.store.keys import SessionKeys, UserKeys
from neve.store.rows import expectation

RETENTION_DAYS = 400
"""The days for which the sums of a day are kept: a year and the month to compare it with (docs/rules/usage.md#sums)."""

_session = TypeAdapter(SessionPrompts)
_answer = TypeAdapter(ReportedUsage)
_NAMES = tuple(f.name for f in fields(PromptTotals))


def read_session_prompts(item: Item | None) -> SessionPrompts:
    """Read what was reported of a session's prompts; all zero where nothing was."""
    if item is None:
        return SessionPrompts()
    return _session.validate_python(json.loads(item["prompts"]) | {"version": item["version"]})


def put_session_prompts(keys: SessionKeys, prompts: SessionPrompts) -> Put:
    key = keys.session_prompts
    attributes = _session.dump_python(prompts, mode="json", exclude_none=True, exclude_defaults=True)
    attributes.pop("version", None)
    text = json.dumps(attributes, separators=(",", ":"))
    item: Item = {"pk": key.pk, "sk": key.sk, "type": "session_prompts", "prompts": text}
    return Put(item, expectation(prompts.version))


def stored_answer(reported: ReportedUsage) -> dict[str, Any]:
    """Encode a report's answer as it is kept with its Idempotency-Key."""
    stored: dict[str, Any] = _answer.dump_python(reported, mode="json", exclude_none=True)
    return stored


def read_reported(stored: dict[str, Any]) -> ReportedUsage:
    return _answer.validate_python(stored)


def read_totals(item: Item | None) -> PromptTotals:
    return PromptTotals(**{name: int((item or {}).get(name, 0)) for name in _NAMES})


def put_user_prompts(keys: UserKeys, current: Item | None, totals: PromptTotals) -> Put:
    """Make the put of the counters of a user's prompts. The index ``due`` lists the rows of a tenant's users; it holds
    no counter, so moving one does not write it."""
    key = keys.user_prompts
    item = {"pk": key.pk, "sk": key.sk, "type": "prompts", "due_pk": keys.prompts, "due_sk": keys.user}
    return _put(item, current, totals)


def put_day_prompts(keys: UserKeys, day: str, current: Item | None, totals: PromptTotals) -> Put:
    key = keys.prompts_on(day)
    item = {"pk": key.pk, "sk": key.sk, "type": "prompts", "due_pk": keys.prompts_of(day), "due_sk": keys.user}
    gone = datetime.fromisoformat(f"{day}T00:00:00+00:00") + timedelta(days=RETENTION_DAYS)
    return _put(item | {"expires_at": int(gone.timestamp())}, current, totals)


def _put(item: Item, current: Item | None, totals: PromptTotals) -> Put:
    moved = {name: n for name in _NAMES if (n := getattr(totals, name))}
    return Put(item | moved, expectation(int(current["version"]) if current else 0))
