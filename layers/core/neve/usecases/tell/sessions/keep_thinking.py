"""Keeps thinking with an append: the rows of the open turn come with their events, and go with the message that
ends it (docs/rules/sessions.md#thinking)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from neve.domain.records.sessions import EventType, SessionHead
from neve.domain.sessions.new_event import NewEvent
from neve.ports.table import Delete, WriteOp
from neve.store.keys import SessionKeys
from neve.store.sessions.thinking import put_thinking


def keep_thinking(
    keys: SessionKeys, head: SessionHead, new: Sequence[tuple[int, NewEvent]], room: int
) -> tuple[SessionHead, list[WriteOp]]:
    """Give the head with what it says of thinking behind these new events, and the writes that make it true: at most
    ``room``. What has no room to be deleted is shown to no reader, and goes with the next append."""
    asked = max([head.asked_seq, *(seq for seq, event in new if event.event_type is EventType.USER_MESSAGE)])
    thought = [(seq, event.thinking) for seq, event in new if event.thinking and seq > asked]
    puts = thought[max(0, len(thought) - room) :]
    over = [seq for seq in head.thinking if seq <= asked]
    gone = over[: room - len(puts)]
    left = [seq for seq in head.thinking if seq not in gone]
    ops: list[WriteOp] = [put_thinking(keys, seq, blocks) for seq, blocks in puts]
    ops += [Delete(keys.thinking(seq)) for seq in gone]
    return replace(head, asked_seq=asked, thinking=(*left, *(seq for seq, _ in puts))), ops
