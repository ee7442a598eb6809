"""Turn ranked rows into an answer: which hits fit, what is shown of each, and what is said about them
(docs/rules/recall.md#answer)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from neve.domain.indexing.document_passages import heading_of
from neve.domain.indexing.passage import Passage
from neve.domain.memories.marks import REPLACED, WAITS, marked
from neve.domain.pack.render import escape, indented
from neve.domain.records.documents import Document
from neve.domain.records.memories import DEFAULT_TRUST, Provenance, Status, Trust
from neve.domain.tokens import estimate, trim_to
from neve.domain.zones import local_day
from neve.usecases.ask.recall.command import UNSUPPORTED, VECTOR_LANGUAGE, ResolvedRequest
from neve.usecases.ask.recall.dropped import OVER_K, OVER_TOKENS, Dropped, History
from neve.usecases.ask.recall.recall_rows import RecallRow
from neve.usecases.ask.recall.stages.legs import LegReport
from neve.usecases.ask.recall.stages.rank_candidates import Ranked
from neve.usecases.core.lag.memory_lag import MemoryLag

INDEX_BEHIND = "index:behind"
"""Some utterances or memories cannot be found yet."""

ENDS_ONLY = "Read only the beginning and the end of the message: it is too long to be searched as a whole."

PLAIN_WORDS = "Nothing has what the message quotes and lacks what it excludes: its words were searched for alone."

ResultState = Literal["found", "none", "not_searched"]

HEAD_TOKENS = 40
"""Tokens shown of the beginning of a row that is longer than the matched passage."""
HIT_TOKENS = 600
"""Tokens of the hits together: k times this. A passage has at most 500, its row's head 40, and the rest is for a single
statement that a tenant's own counter measured larger."""
INJECTED_TOKENS = 5_000
"""Tokens of ``injection_text``: the section for retrieved text of the 200,000 token window
(docs/rules/recall.md#answer)."""

REPLY_TO = "in reply to"
"""Begins the line with the message before a hit."""
TOLD_DAYS = 7
"""The most other days told on which the same was said (*chosen*)."""

_INTRODUCTION = (
    "Candidates from memory, found by similarity to the latest message. They may not bear on it, and what is similar"
    " need not be true: use what helps and leave the rest."
)
_NO_FAULTS = {INDEX_BEHIND, UNSUPPORTED, VECTOR_LANGUAGE}
"""Flags that no operator can do anything about at once."""
_DEGRADATIONS = {
    "deadline": "The time budget ran out: what had not been found by then is missing.",
    "lexical:error": "The keyword index did not answer: found by meaning only.",
    "vector:error": "The vector index did not answer: found by keywords only.",
    "vector:embed_timeout": "The question was not embedded in time: found by keywords only.",
    "vector:embed_error": "The question could not be embedded: found by keywords only.",
    "vector:dimension_mismatch": "The index holds vectors of another model: found by keywords only.",
    UNSUPPORTED: "No language of the message's script is known here: its words were looked for as they are written.",
    VECTOR_LANGUAGE: "The encoder does not know the language of the message: what it finds by its meaning says little.",
    "documents:error": "The texts of long documents could not be read: they are missing here.",
    "rerank:error": "The candidates could not be read again: they are in the order before that.",
    "rerank:no_model": "This stage has no model to read the candidates again: they are in the order before that.",
    "rerank:timeout": "The candidates were not read again in time: they are in the order before that.",
    INDEX_BEHIND: "Some of what was said or kept is not in the index yet: it may be missing here.",
    "pack:error": "What the prompt's pack holds could not be read: hits may repeat it.",
    "pack:timeout": "What the prompt's pack holds was not read in time: hits may repeat it.",
    "recent:error": "What is too new for the index could not be read: it may be missing here.",
    "recent:timeout": "What is too new for the index was not read in time: it may be missing here.",
    "hydrate:unreadable": "A row could not be understood: it is missing here.",
    "ledger:error": "This recall was not recorded.",
    "hydrate:error": "The row store did not answer: what could not be verified is not returned.",
}


@dataclass(frozen=True, slots=True)
class FurtherStatement:
    """A passage of a memory: its place in the row, its range of the log, and whose word it is."""

    n: int
    text: str
    seq_from: int | None
    seq_to: int | None
    trust: Trust


@dataclass(frozen=True, slots=True)
class Before:
    """The whole message directly before a hit."""

    id: str
    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class Hit:
    """One answered row. ``text``: the matched passage, and behind it the head of its row where the passage does not
    begin the row. ``n``, ``seq_from``, ``seq_to``: the passage's place in the row and its range of the log; ``trust``:
    whose word it is. ``title``, ``summary``: of a document. ``reply_to``: the message that a short reply answers.
    ``also``: other statements of the same memory. ``said_again``: when else the same text was said, newest first.
    ``rev``: of the row."""

    id: str
    source: str
    kind: str
    tier: str
    text: str
    n: int
    rank: int
    score: float
    components: Mapping[str, float]
    provenance: Provenance
    created_at: str
    observed_at: str
    status: str
    path: str | None = None
    session_id: str | None = None
    speaker: str | None = None
    seq: int | None = None
    seq_from: int | None = None
    seq_to: int | None = None
    group: str | None = None
    tags: tuple[str, ...] = ()
    metadata: tuple[str, ...] = ()
    about: tuple[str, ...] = ()
    category: str | None = None
    title: str | None = None
    summary: str | None = None
    trust: Trust = DEFAULT_TRUST
    also: tuple[FurtherStatement, ...] = ()
    said_again: tuple[str, ...] = ()
    rev: int = 0
    reply_to: Before | None = None

    @property
    def slug(self) -> str:
        """Return the name by which a transparency line calls the hit."""
        return self.path or self.id


@dataclass(frozen=True, slots=True)
class RecallAnswer:
    """The answer to one recall. ``injection_text`` is ready for a prompt and empty without hits. ``recall_id`` is None
    when the ledger row could not be written. ``debug`` is set when the caller asked for it. ``lag``: set with
    ``index:behind``. ``query_lines``: how the query was read, see ``query_lines``. ``history``: what of the session was
    left out because the prompt shows it; ``pack_version``: of the pack whose rows were. ``read_again``: see
    ``search.Found``."""

    hits: list[Hit]
    result_state: ResultState
    legs: Mapping[str, LegReport]
    degraded: list[str]
    transparency: list[str]
    injection_text: str
    budget_ms: int
    elapsed_ms: float
    recall_id: str | None = None
    debug: Mapping[str, Any] | None = None
    history: History | None = None
    pack_version: int | None = None
    lag: MemoryLag | None = None
    query_lines: Sequence[str] = ()
    read_again: LegReport | None = None

    def metrics(self) -> dict[str, float]:
        """Return the counts that the alarms on recall add up."""
        return {
            "Recalls": 1,
            "RecallDegraded": any(flag not in _NO_FAULTS for flag in self.degraded),
            "RecallIndexLag": INDEX_BEHIND in self.degraded,
            "RecallNotSearched": self.result_state == "not_searched",
            "RecallEmpty": self.result_state == "none",
            "RecallNotReadAgain": self.read_again is not None and self.read_again.status == "error",
        }

    @property
    def reports(self) -> Mapping[str, LegReport]:
        """Return the reports for health: of the legs, and of the model that reads the first candidates again."""
        return {**self.legs, "rerank": self.read_again} if self.read_again else self.legs


def fit(
    ranked: Sequence[Ranked], k: int, said_again: Mapping[str, tuple[str, ...]]
) -> tuple[list[Hit], list[Dropped], int]:
    """Choose the first ``k`` hits that fit together, whole; one that does not fit is skipped, and the next is tried.
    Return the hits, the dropped candidates and the tokens that are left. ``said_again``: times by the id of a row."""
    hits: list[Hit] = []
    dropped: list[Dropped] = []
    left = k * HIT_TOKENS
    for one in ranked:
        if len(hits) == k:
            dropped.append(Dropped(one.row.id, OVER_K, one.components))
            continue
        hit = _hit(one, len(hits) + 1, said_again.get(one.row.id, ()))
        tokens = estimate(hit.text)
        if tokens > left:
            dropped.append(Dropped(one.row.id, OVER_TOKENS, one.components))
            continue
        hits.append(hit)
        left -= tokens
    return hits, dropped, left


def injected(hits: Sequence[Hit], timezone: str) -> tuple[str, list[Hit]]:
    """Render the hits that fit a prompt as Markdown, each whole; return the text and the hits in it. ``timezone``: of
    the days that it tells."""
    opening, closing = f"<neve-retrieved>\n{_INTRODUCTION}\n", "</neve-retrieved>\n"
    left = INJECTED_TOKENS - estimate(opening + closing)
    lines: list[str] = []
    shown: list[Hit] = []
    for hit in hits:
        line = hit_line(hit, timezone)
        tokens = estimate(line)
        if tokens <= left:
            lines.append(line)
            shown.append(hit)
            left -= tokens
    # Escaped as a whole, so that no tag can be put together from two hits.
    return (f"{opening}{escape(''.join(lines))}{closing}" if lines else ""), shown


def transparency(shown: Sequence[Hit], degraded: Sequence[str], query_lines: Sequence[str]) -> list[str]:
    """Return the lines that an integrator may show a user: what was put into the prompt, how the message was read as a
    query, and what was not possible."""
    slugs = ", ".join(hit.slug for hit in shown) or "(none)"
    loaded = f"Loaded {len(shown)} relevant entries: {slugs}"
    return [loaded, *query_lines, *(degradation_line(flag) for flag in degraded)]


def query_lines(request: ResolvedRequest) -> list[str]:
    """Tell how the message was read as a query, one line for each thing that a user may not expect. That the middle of
    a long message is not read is no failure, and so no degradation. Only a tool's query has operators."""
    lines = [ENDS_ONLY] if request.cut else []
    if request.plain:
        return [*lines, PLAIN_WORDS]
    query = request.shaped.text_query
    phrases = " and ".join(f'"{" ".join(words)}"' for words in query.phrases)
    excluded = " or ".join(query.excluded)
    if phrases:
        lines.append(f"Searched only for what holds {phrases}, which the message quotes.")
    if excluded:
        lines.append(f"Left out what holds {excluded}, which the message excludes by a minus.")
    return lines


def degradation_line(flag: str) -> str:
    return f"{flag}: {_DEGRADATIONS.get(flag, 'Something did not work as usual.')}"


def _hit(one: Ranked, rank: int, said_again: tuple[str, ...]) -> Hit:
    row, passage = one.row, one.row.passages[one.n]
    utterance = row.utterance
    text = utterance.parts[one.n] if utterance else _passage_with_head(row.passages, one.n)
    if row.document:
        text = _chunk_with_name(row.document, passage)
    elif one.text is not None:
        text = one.text
    return Hit(
        id=row.id,
        source=passage.source.value,
        kind=passage.kind,
        tier=passage.tier,
        text=text,
        n=one.n,
        rank=rank,
        score=one.final,
        components=one.components,
        provenance=row.provenance,
        created_at=row.created_at,
        observed_at=passage.observed_at,
        status=passage.status,
        path=passage.path,
        session_id=passage.session_id,
        speaker=utterance.speaker if utterance else None,
        seq=utterance.seq if utterance else None,
        seq_from=passage.seq_from,
        seq_to=passage.seq_to,
        group=passage.group,
        tags=passage.tags,
        metadata=passage.metadata,
        about=passage.about,
        category=passage.category,
        title=row.document.name if row.document else None,
        summary=row.document.summary if row.document else None,
        trust=row.trust_of(one.n),
        said_again=said_again,
        rev=row.version,
    )


def _passage_with_head(passages: Sequence[Passage], n: int) -> str:
    text = passages[n].text
    if n == 0:
        return text
    head = trim_to(" ".join(passages[0].text.split()), HEAD_TOKENS)
    return f"{text}\n(from: {head})"


def _chunk_with_name(document: Document, passage: Passage) -> str:
    chunk = passage.text.removeprefix(f"{heading_of(document)}: ")
    return chunk if document.name in chunk else f"{chunk}\n(from: {document.name})"


def shown_again(
    row: RecallRow, n: int, said_again: tuple[str, ...], before: RecallRow | None = None, told: str | None = None
) -> Hit:
    """Make a hit that a prompt has shown, as it was then: what has replaced it since is told to the next turn.
    ``before``: what it replies to; ``told``: its text where that is not the passage's."""
    ranked = Ranked(row, n, 0.0, {}, 0.0, 0, 0.0)._replace(text=told)
    hit = replace(_hit(ranked, 1, said_again), status=Status.ACTIVE)
    return reply_to(hit, before) if before else hit


def reply_to(hit: Hit, before: RecallRow) -> Hit:
    """Return the hit with the message that it replies to: ``before``, a row that must be of an utterance; else the hit
    as it is."""
    said = before.utterance
    return replace(hit, reply_to=Before(said.id, said.speaker, "\n".join(said.parts))) if said else hit


def hit_line(hit: Hit, timezone: str) -> str:
    """Render a hit as ``- [id] date, who: text``, with further lines of the text, the message that it replies to and
    further statements of its row indented below. Words of a tool, rows that wait for a decision and rows that no longer
    hold are marked as such."""
    who = f"{hit.speaker} said" if hit.speaker else hit.kind
    marks = {"inbox": WAITS, "superseded": REPLACED}
    standing = f"{marks[hit.status]} " if hit.status in marks else ""
    further = (f"also: {marked(one.text, one.trust)}" for one in hit.also)
    before = [f"{REPLY_TO} {hit.reply_to.speaker}: {hit.reply_to.text}"] if hit.reply_to else []
    text = "\n".join([marked(hit.text, hit.trust), *before, *further, *_tell_other_days(hit, timezone)])
    return f"- [{hit.slug}] {local_day(hit.observed_at, timezone)}, {who}: {standing}{indented(text)}\n"


def _tell_other_days(hit: Hit, timezone: str) -> list[str]:
    """Tell on which other days the same was said, in one line; no line where there are none."""
    days = list(dict.fromkeys(local_day(at, timezone) for at in hit.said_again))
    others = [day for day in days if day != local_day(hit.observed_at, timezone)]
    if not others:
        return []
    more = len(others) - TOLD_DAYS
    return [f"the same on {', '.join(others[:TOLD_DAYS])}" + (f" and {more} days before" if more > 0 else "")]
