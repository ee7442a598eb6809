"""The utterances of a session's log as passages of the search index.

An utterance is one message with its speaker. What tools said is no utterance, and neither is an event that holds
nothing but an image or text that Neve itself rendered."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from neve.domain.ids import event_id
from neve.domain.indexing.memory_passages import date_text
from neve.domain.indexing.passage import MAX_FOLLOWING, Neighbour, Passage, Source
from neve.domain.memories.passages import PASSAGE_TOKENS, chunks_of, together
from neve.domain.memories.text import fingerprint
from neve.domain.metadata import as_entries
from neve.domain.recall.weighted_counts import NEIGHBOURS
from neve.domain.records.sessions import Audience, Event, EventType
from neve.domain.sessions.frames import one_line
from neve.domain.sessions.rendered_blocks import strip_event
from neve.domain.sessions.transcript import event_text
from neve.domain.tokens import estimate

EVENT_KIND, EVENT_TIER = "event", "episodic"
ROLES = {EventType.USER_MESSAGE: "user", EventType.ASSISTANT_RESPONSE: "assistant"}


@dataclass(frozen=True, slots=True)
class Utterance:
    """An event as the search index takes it: who said what. ``speaker``: the name that the caller gave, else the role.
    ``parts``: one, or several of at most 500 tokens where a message is longer than that: the encoder reads no
    further. ``participant``, ``audience``: as of the event."""

    session: str
    seq: int
    role: str
    speaker: str
    parts: tuple[str, ...]
    created_at: str
    metadata: tuple[str, ...] = ()
    participant: str | None = None
    audience: Audience | None = None

    @property
    def id(self) -> str:
        return event_id(self.session, self.seq)

    @property
    def texts(self) -> list[str]:
        """Give the texts that are searched: names carry much of what people ask for, so the speaker stands in front."""
        return [f"{self.speaker}: {part}" for part in self.parts]


def utterance_of(session: str, event: Event) -> Utterance | None:
    """Make the utterance of an event; None for an event that no speaker uttered."""
    role = ROLES.get(event.event_type)
    stripped = strip_event(event) if role else None
    text = event_text(stripped).strip() if stripped else ""
    if not role or not stripped or not text:
        return None
    name = one_line(stripped.name or role)
    labels = as_entries(event.metadata)
    parts, said_by = _parts(text), (event.participant, event.audience)
    return Utterance(session, event.seq, role, name, parts, event.created_at, labels, *said_by)


def texts_of_event(session: str, event: Event) -> set[str]:
    """Give the fingerprints of the texts by which the vectors of an event are kept."""
    utterance = utterance_of(session, event)
    return set(map(fingerprint, utterance.texts)) if utterance else set()


def _parts(text: str) -> tuple[str, ...]:
    """Give the text as it is if it fits a passage, else its paragraphs, as many together as fit one."""
    return (text,) if estimate(text) <= PASSAGE_TOKENS else tuple(together(chunks_of(text), "\n\n"))


def utterance_passages(
    utterances: Sequence[Utterance], seqs: Collection[int] | None = None, version: int = 1
) -> list[Passage]:
    """Make the passages of utterances, without vectors, in order. ``utterances`` are consecutive: each one's neighbours
    stand beside it. ``seqs``: make those of these only."""
    texts = [Neighbour(0, text, rest) for utterance in utterances for text, rest in _pair_with_rest(utterance.texts)]
    places = [(utterance, n) for utterance in utterances for n in range(len(utterance.parts))]
    silent = frozenset(at for at, (utterance, _) in enumerate(places) if utterance.audience)
    wanted = utterances if seqs is None else [utterance for utterance in utterances if utterance.seq in seqs]
    prints = {utterance.seq: fingerprint("\n".join(utterance.texts)) for utterance in wanted}
    return [
        Passage(
            item_id=utterance.id,
            n=n,
            version=version,
            source=Source.EVENT,
            text=texts[at].text,
            fingerprint=prints[utterance.seq],
            kind=EVENT_KIND,
            status="active",
            scope="session",
            tier=EVENT_TIER,
            observed_at=utterance.created_at,
            rest=texts[at].rest,
            neighbours=tuple(_around(texts, at, silent if utterance.audience is None else frozenset())),
            following_known=min(MAX_FOLLOWING, len(texts) - 1 - at),
            date_text=date_text(utterance.created_at),
            session_id=utterance.session,
            metadata=utterance.metadata,
            seq_from=utterance.seq,
            seq_to=utterance.seq,
            about=(utterance.participant,) if utterance.participant else (),
            only_in=utterance.session if utterance.audience else None,
        )
        for at, (utterance, n) in enumerate(places)
        if utterance.seq in prints
    ]


def _pair_with_rest(texts: Sequence[str]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Give each part of a message with its other parts."""
    for n, text in enumerate(texts):
        yield text, (*texts[:n], *texts[n + 1 :])


def _around(texts: Sequence[Neighbour], at: int, silent: Collection[int]) -> Iterator[Neighbour]:
    """Give the neighbours of a text, without ``silent`` ones: those stay in the session, and the text may not."""
    for distance in NEIGHBOURS:
        if 0 <= at + distance < len(texts) and at + distance not in silent:
            neighbour = texts[at + distance]
            yield Neighbour(distance, neighbour.text, neighbour.rest)
