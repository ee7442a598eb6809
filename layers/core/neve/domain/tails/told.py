"""The part of a log that no pass has observed yet which may be told elsewhere (docs/rules/pack.md#just-said):
utterances as they were said, without what no observer keeps by rule."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from neve.domain.compact.extract import sentences_of
from neve.domain.ids import event_id
from neve.domain.memories.text import fingerprint
from neve.domain.observe.scenes import goes_on, is_over, is_role, set_among, set_by
from neve.domain.observe.unwanted import wanted_sentences
from neve.domain.records.markers import Scene
from neve.domain.records.packs import PackEntry
from neve.domain.records.sessions import Event, EventType
from neve.domain.sessions.frames import shown_name
from neve.domain.sessions.rendered_blocks import strip_event
from neve.domain.sessions.transcript import event_text, images_of
from neve.domain.tokens import estimate
from neve.domain.zones import local_day

UTTERED = "event"
"""The kind of a pack's entry that is an utterance."""
AN_IMAGE = "[an image]"
_ROLES = {EventType.USER_MESSAGE: "user", EventType.ASSISTANT_RESPONSE: "assistant"}


@dataclass(frozen=True, slots=True)
class Told:
    """One utterance. ``said``: its text, without what is to be left out; ``day``: of what was said, where the user
    was."""

    session: str
    event: Event
    said: str
    day: str

    @property
    def id(self) -> str:
        return event_id(self.session, self.event.seq)

    @property
    def of_user(self) -> bool:
        return self.event.event_type is EventType.USER_MESSAGE

    @property
    def line(self) -> str:
        role, name = _ROLES[self.event.event_type], self.event.name
        return f"{self.day} {f'{shown_name(name)} ({role})' if name else role}: {self.said}"

    @property
    def entry(self) -> PackEntry:
        return PackEntry(self.id, 1, fingerprint(self.line), estimate(self.line), UTTERED)


def told_of(session: str, events: Iterable[Event], scene: Scene | None, timezone: str) -> list[Told]:
    """Tell ``events`` in their order; ``scene``: the one that is played before them. What
    the user does not want to have remembered is left out, and what they say in a scene in which they have a part; then
    the answers to it as well, which may repeat it. What tools were asked and said is left out; an image is a line."""
    told: list[Told] = []
    withheld = False
    for event in events:
        if event.event_type not in _ROLES or event.erased:
            continue
        stripped = strip_event(event)
        if stripped is None:
            continue
        said, images = event_text(stripped).strip(), [AN_IMAGE] * len(images_of(event))
        if event.event_type is EventType.USER_MESSAGE:
            sentences = sentences_of(said)
            own, scene = _outside_scenes(wanted_sentences(sentences), goes_on(scene, event.created_at), event)
            withheld = len(own) < len(sentences)
            said = "\n".join(own) if withheld else said
        elif withheld:
            continue
        if text := "\n".join([said, *images] if said else images):
            told.append(Told(session, event, text, local_day(event.created_at, timezone)))
    return told


def _outside_scenes(sentences: Sequence[str], scene: Scene | None, event: Event) -> tuple[list[str], Scene | None]:
    """Give the sentences that a user does not say in a part of theirs, and the scene behind them."""
    own: list[str] = []
    for n, sentence in enumerate(sentences):
        begun = set_by(sentence, event.created_at)
        if scene and is_over(sentence):
            scene = None
        elif is_role(sentence):
            return own, set_among(sentences[n:], event.created_at) or scene
        elif begun and not begun.both:
            scene = begun
        if not (scene and scene.both):
            own.append(sentence)
    return own, scene
