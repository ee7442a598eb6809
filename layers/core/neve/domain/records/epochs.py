"""Epochs, horizons and summaries of a session."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from typing_extensions import TypeAliasType

from neve.domain.records.packs import PackPointer, Trigger
from neve.domain.records.sessions import Spans


@dataclass(frozen=True, slots=True)
class HistoryCut:
    """Events that the prompts of one ``epoch`` do not show, for want of room (docs/rules/compile.md#cut). ``keeps``: a
    message among them that is shown, because its turn goes on behind them."""

    epoch: int
    seq_from: int
    seq_to: int
    keeps: int | None = None


@dataclass(frozen=True, slots=True)
class SessionEpoch:
    """Epoch, horizon and pack pointer of a session (row ``SESS#s#E``). ``compacted_by``: the job that moved the epoch
    last. ``covers_keeps``: the covered message whose turn goes on behind the covered events. ``settled_tokens``: of
    all that was ever said, what a compaction has covered or put away. ``pruned_to``: up to here the covered tool
    results are documents of their own. ``cut``: what this epoch's prompts do not show beyond that. ``prefix``: what
    stood before the pack in the prompt that was compiled last. ``purged_to``: numbers of pack versions up to here are
    not given out again. ``removed_to``: the covered events up to here are gone for good, their time being over;
    ``removing_to``: these are about to go, and no index holds them from then on.
    Prompts show no image of the events in ``images_left_out``, which had no room, and in ``images_unusable``, which
    were refused or are gone. ``shown_pending``: the calls that prompts have shown as pending."""

    session_id: str
    epoch: int = 0
    covers_from: int | None = None
    covers_to: int | None = None
    covers_keeps: int | None = None
    pack: PackPointer | None = None
    rebuild_due: Trigger | None = None
    rebuild_failed_at: str | None = None
    compacted_by: str | None = None
    settled_tokens: int = 0
    pruned_to: int = 0
    cut: HistoryCut | None = None
    prefix: str | None = None
    purged_to: int = 0
    removed_to: int = 0
    removing_to: int = 0
    images_left_out: Spans = ()
    images_unusable: Spans = ()
    shown_pending: tuple[int, ...] = ()
    retracted: Spans = ()
    deleted: bool = False
    version: int = 0


Verbosity = TypeAliasType("Verbosity", Literal["brief", "standard", "detailed"])


@dataclass(frozen=True, slots=True)
class Summary:
    """A summary of the covered turns of a session from one epoch on, under four headings. It is outside the log, has no
    seq and is never observed. ``by``: a model, or a deterministic extract that stands in until a model wrote it.
    ``model``: whose words they are; ``prompt_version``: of what a model was asked. ``job_id``: of the compaction whose
    result says the same."""

    session_id: str
    epoch: int
    covers_from: int
    covers_to: int
    verbosity: Verbosity
    by: Literal["model", "extract"]
    tokens: int
    created_at: str
    model: str | None = None
    prompt_version: str | None = None
    decisions: tuple[str, ...] = ()
    action_items: tuple[str, ...] = ()
    insights: tuple[str, ...] = ()
    preferences: tuple[str, ...] = ()
    job_id: str | None = None
    version: int = 0
