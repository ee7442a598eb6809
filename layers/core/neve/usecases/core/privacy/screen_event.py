"""The gate before an event is compared, counted or kept: what is found is taken out in place, and the conversation goes
on (docs/rules/privacy.md#events)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from neve.domain.privacy.screen import screen, screen_parts
from neve.domain.privacy.structured import Walk
from neve.domain.sessions.new_event import Content, NewEvent
from neve.domain.tenants.policy import Action, PiiClass

IDS = ("tool_use_id",)
"""Members of an event's data by which a result finds its call: no speaker's words."""
SEALED = ("signature", "data", "encrypted_content", "id")
"""Members of a block of thinking that its provider alone reads."""
IMAGE_REMOVED = {"type": "text", "text": "[image removed]"}
"""Stands in place of an image whose address holds what is taken out: the address leads nowhere without it."""


def screen_event(event: NewEvent, actions: Mapping[PiiClass, Action]) -> tuple[NewEvent, Counter[str]]:
    """Screen an event; it is the same event when nothing was found."""
    walk = Walk(actions)
    name = walk.text(event.name) if event.name else event.name
    data = walk.members(event.event_data, leave=IDS)
    metadata = walk.labels(event.metadata)
    content, found = _content(event.content, actions)
    thinking, in_thinking = _thinking(event.thinking, actions)
    screened = replace(event, name=name, content=content, event_data=data, thinking=thinking, metadata=metadata)
    return screened, walk.found + found + in_thinking


def _thinking(
    blocks: tuple[dict[str, Any], ...], actions: Mapping[PiiClass, Action]
) -> tuple[tuple[dict[str, Any], ...], Counter[str]]:
    """Keep the blocks of thinking in which nothing was found. A provider takes a block as it was made or not at all:
    one that holds something goes as a whole. What its own members hold that are sealed is no text."""
    walk = Walk(actions)
    kept = tuple(block for block in blocks if walk.members(block, leave=SEALED) == block)
    return kept, walk.found


def _content(content: Content, actions: Mapping[PiiClass, Action]) -> tuple[Content, Counter[str]]:
    if isinstance(content, str):
        screened = screen(content, actions)
        return screened.text, screened.found
    blocks, found = _images(content, actions)
    texts, in_texts = screen_parts([block["text"] for block in blocks if "text" in block], actions)
    left = iter(texts)
    redacted_blocks = [block | {"text": next(left)} if "text" in block else block for block in blocks]
    return redacted_blocks, found + in_texts


def _images(
    blocks: list[dict[str, Any]], actions: Mapping[PiiClass, Action]
) -> tuple[list[dict[str, Any]], Counter[str]]:
    """Replace images whose addresses hold what is taken out. Signed addresses hold keys by their nature and end by
    themselves: keys in them stay."""
    of_address: dict[PiiClass, Action] = {kind: action for kind, action in actions.items() if kind != "api_key"}
    found = [screen(block.get("url", ""), of_address).found for block in blocks]
    left = [IMAGE_REMOVED if one else block for one, block in zip(found, blocks, strict=True)]
    return left, sum(found, Counter[str]())
