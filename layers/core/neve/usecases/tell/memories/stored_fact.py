"""Holds what became of a fact."""

from __future__ import annotations

from dataclasses import dataclass

from neve.domain.memories.storage_decision import Decision, StorageVerdict
from neve.domain.records.memories import Criteria, Memory


@dataclass(frozen=True, slots=True)
class StoredFact:
    """The outcome for one fact. ``memory``: the row as it is now, new or reinforced or waiting in the inbox; None when
    the fact was rejected."""

    memory: Memory | None
    verdict: StorageVerdict

    @property
    def decision(self) -> Decision:
        return self.verdict.decision

    @property
    def criteria(self) -> Criteria:
        return self.verdict.criteria

    @property
    def reason(self) -> str:
        return self.verdict.judged.reason
