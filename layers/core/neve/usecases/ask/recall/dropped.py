"""The rows that a recall must not answer with, and the reason why each candidate that it found was dropped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from neve.domain.compile.history import is_hidden
from neve.domain.documents.chunks import CONVERSATION
from neve.domain.ids import event_ids_of
from neve.domain.recall.fusion import MEASURED_DIGITS
from neve.domain.recall.small_talk import has_content
from neve.domain.records.epochs import HistoryCut
from neve.domain.words import chunks, fold, folded_word
from neve.ports.search import Candidate
from neve.usecases.ask.recall.recall_rows import CACHED_ROWS, RecallRow
from neve.usecases.core.pack.served_pack import PackContents, Uttered

IN_PACK = "in_pack"
IN_HISTORY = "in_history"
"""The prompt shows the events that it was made from."""
EXCLUDED = "excluded"
BELOW_THRESHOLD = "below_threshold"
CHANGED = "changed_since_indexed"
REPEATS = "repeats_another"
LENT = "lent_to_its_utterances"
"""A memory of whose range utterances are among the candidates."""
OVER_TOKENS = "over_tokens"
OVER_K = "over_k"

NO_LONGER_HOLDS = "no_longer_holds"
"""All that it says is a fact that was superseded."""
NOT_CONFIRMED = "not_confirmed"
"""All that it says is a fact that waits in the inbox."""
REJECTED = "rejected"
"""All that it says is a fact that a person has rejected, or put away."""

OFF_TOPIC = "off_topic"
"""The message of a prompt has nothing to do with any candidate."""

SAYS_NOTHING = "says_nothing"
"""An utterance without a word that has content ("ok", "Noted"): a prompt sees it beside another, if at all."""

_NOT_HIDDEN = (BELOW_THRESHOLD, CHANGED, OFF_TOPIC)


@dataclass(frozen=True, slots=True)
class Dropped:
    """A candidate that is not answered with, and why. ``found``: the candidate's score by leg (cosine, BM25), where it
    had one."""

    id: str
    reason: str
    found: Mapping[str, float] = field(default_factory=dict)


def dropped_by(leg: str, candidate: Candidate, reason: str) -> Dropped:
    """Note a candidate that a leg found and does not go on with."""
    return Dropped(candidate.item_id, reason, {leg: round(candidate.score, MEASURED_DIGITS)})


@dataclass(frozen=True, slots=True)
class History:
    """The events of a session that its prompt shows: all but the hidden ones."""

    session: str
    hidden: HistoryCut | None
    _ids: str = field(init=False, repr=False, compare=False)
    """What the ids of its events start with: every candidate of both legs is held against it."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "_ids", event_ids_of(self.session))

    def shows(self, session: str | None, first: int | None, last: int | None) -> bool:
        """Say whether the prompt shows all of a range of the session's log."""
        if session != self.session or first is None or last is None:
            return False
        return self.hidden is None or not (first <= self.hidden.seq_to and last >= self.hidden.seq_from)

    def shows_event(self, identifier: str) -> bool:
        if not identifier.startswith(self._ids):
            return False
        seq = identifier[len(self._ids) :]
        return seq.isdecimal() and not is_hidden(int(seq), self.hidden)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """The ids and text fingerprints that are left out from the start, with the reason of each; ``revs``: what is left
    out at no later rev than the pack shows; and what the history beside it shows. ``sessions``: those of whose
    conversation the prompt has an account, with the reason. ``of_prompt``: no user asked for what is found, so an
    utterance has to say something. ``uttered``: what the pack shows as it was said."""

    ids: Mapping[str, str] = field(default_factory=dict)
    fingerprints: Mapping[str, str] = field(default_factory=dict)
    revs: Mapping[str, int] = field(default_factory=dict)
    history: History | None = None
    sessions: Mapping[str, str] = field(default_factory=dict)
    of_prompt: bool = False
    uttered: Uttered = field(default_factory=Uttered)

    def reason(self, identifier: str, fingerprint: str, rev: int) -> str | None:
        if self.history is not None and self.history.shows_event(identifier):
            return IN_HISTORY
        named = self.ids.get(identifier) or self.fingerprints.get(fingerprint)
        return named or (IN_PACK if rev <= self.revs.get(identifier, 0) else None)

    def reason_of(self, row: RecallRow) -> str | None:
        """Return why an item whose row is known is left out; None where it is not."""
        passages = row.passages
        shows = self.history.shows if self.history is not None and not row.reworded else None
        if shows and all(shows(one.session_id, one.seq_from, one.seq_to) for one in passages):
            return IN_HISTORY
        if not row.reworded and all(self.uttered.shows(one.session_id, one.seq_from, one.seq_to) for one in passages):
            return IN_PACK
        if row.utterance and self.of_prompt and not _says_something(row.utterance.parts):
            return SAYS_NOTHING
        account_of = row.document.source_id if row.document and row.document.source_type == CONVERSATION else None
        if account_of is not None and account_of in self.sessions:
            return self.sessions[account_of]
        return self.reason(passages[0].item_id, passages[0].fingerprint, passages[0].version)


@lru_cache(maxsize=CACHED_ROWS)
def _says_something(parts: tuple[str, ...]) -> bool:
    return any(has_content(map(folded_word, chunks(fold(part)))) for part in parts)


def left_out(
    pack: PackContents | None,
    ids: Iterable[str],
    fingerprints: Iterable[str],
    history: History | None = None,
    *,
    prompt_of: str | None = None,
    of_prompt: bool = False,
) -> LeftOut:
    """Return what the search leaves out: what the prompt's pack and its history hold, and the rows that the caller
    named (``ids`` with the fingerprints of their texts). ``prompt_of``: the session that the prompt is of. A memory
    that was reworded since the pack was frozen is not what the pack shows; a prompt with its history tells it already,
    in the ``<neve-updates>`` behind the pack."""
    in_pack_ids, in_pack_prints = (pack.ids, pack.fingerprints) if pack else (frozenset[str](), frozenset[str]())
    revs = _revs(pack, told=history is not None) if pack else {}
    return LeftOut(
        dict.fromkeys(in_pack_ids - revs.keys(), IN_PACK) | dict.fromkeys(ids, EXCLUDED),
        dict.fromkeys(in_pack_prints, IN_PACK) | dict.fromkeys(fingerprints, EXCLUDED),
        revs,
        history,
        dict.fromkeys(pack.sessions if pack else (), IN_PACK) | ({prompt_of: IN_HISTORY} if prompt_of else {}),
        of_prompt,
        pack.uttered if pack else Uttered(),
    )


def _revs(pack: PackContents, *, told: bool) -> Mapping[str, int]:
    return pack.documents if told else {**pack.memories, **pack.documents}


def by_id(dropped: Iterable[Dropped]) -> dict[str, Dropped]:
    """Return the last reason of each candidate, with the scores of all legs that found it."""
    last: dict[str, Dropped] = {}
    for one in dropped:
        before = last[one.id].found if one.id in last else {}
        last[one.id] = Dropped(one.id, one.reason, {**before, **one.found})
    return last


def hidden(dropped: Iterable[Dropped]) -> frozenset[str]:
    """Return the ids of candidates that took the place of others in a leg and cannot be answered with."""
    return frozenset(one.id for one in by_id(dropped).values() if one.reason not in _NOT_HIDDEN)
