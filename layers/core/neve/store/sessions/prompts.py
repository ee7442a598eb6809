"""Keeps compiled prompts beside the recall ledger, for seven days."""

from __future__ import annotations

import json
from datetime import datetime, timedelta

from pydantic import TypeAdapter

from neve.domain.records.prompts import PromptRecord
from neve.ports.table import Item, Put
from neve.store.keys import UserKeys
from neve.store.rows import expectation

RETENTION = timedelta(days=7)
_record = TypeAdapter(PromptRecord)


def put_prompt(keys: UserKeys, prompt: PromptRecord, incarnation: int) -> Put:
    """Make the put of a compiled prompt. A new one need not be durable, as no caller was promised it; a reported one
    was."""
    key = keys.prompt(prompt.id)
    attributes = _record.dump_python(prompt, mode="json", exclude_none=True, exclude_defaults=True)
    attributes.pop("version", None)
    item: Item = {
        "pk": key.pk,
        "sk": key.sk,
        "type": "prompt",
        "id": prompt.id,
        "incarnation": incarnation,
        "prompt": json.dumps(attributes, separators=(",", ":")),
        "expires_at": int((datetime.fromisoformat(prompt.at) + RETENTION).timestamp()),
    }
    return Put(item, expectation(prompt.version), durable=prompt.reported is not None)


def read_prompt(item: Item) -> PromptRecord:
    return _record.validate_python(json.loads(item["prompt"]) | {"version": item["version"]})
