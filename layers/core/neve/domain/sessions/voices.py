"""Parts a log by whose word it is, so that an observer reads one person at a time (docs/rules/observe.md#speakers).
Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from neve.domain.records.memories import Memory
from neve.domain.records.sessions import Audience, Event, EventType
from neve.domain.sessions.transcript import Pass

_BEFORE = r"(?m)(^(?:[^\w\s]+\s)?(?:Correction: )?|→ )"
"""What stands in front of a speaker in a line of a memory: its mark, or what the line follows."""
_USER = re.compile(_BEFORE + r"(?:[Tt]he user|User)\b")


@dataclass(frozen=True, slots=True)
class Voice:
    """Tells whose words a pass reads. ``participant`` and ``name``: None of one who was not named. ``audience``: who
    may be told of what is made of them. ``is_user``: it is the person whose session it is."""

    participant: str | None = None
    name: str | None = None
    audience: Audience | None = None
    is_user: bool = True

    @property
    def about(self) -> tuple[str, ...]:
        return (self.participant,) if self.participant else ()

    def named(self, text: str) -> str:
        """Name the speaker where an observer says "User"."""
        return _USER.sub(lambda found: found[1] + (self.name or ""), text) if self.name else text

    def fact(self, text: str) -> str:
        """Name the subject of a fact. That of the user's facts stays "User", in whichever session they are said."""
        return text if self.is_user else self.named(text)

    def as_the_user(self, text: str) -> str:
        """Call the speaker "User" again, as an observer does."""
        called = rf"{_BEFORE}{re.escape(self.name)}(?!\w)" if self.name else None
        return re.sub(called, lambda found: f"{found[1]}User", text) if called else text

    def may_be_shown(self, memory: Memory, session: str) -> bool:
        """Say whether a pass over these words may repeat, reinforce or correct a memory: the same speaker said it."""
        if self.is_user:
            return memory.audience is None
        here = self.audience is None or memory.session_id == session
        return here and (memory.about, memory.audience) == (self.about, self.audience)


THE_USER = Voice()


def with_one_voice(plan: Pass, *, room: bool) -> tuple[Pass, Voice]:
    """Cut a pass where another speaker begins, and leave out what may not be told where this one's words may be. What
    assistants and tools said belongs to whom it answers. A participant is no name to an observer, but the user."""
    voice: Voice | None = None
    end = len(plan.events)
    for n, event in enumerate(plan.events):
        if event.event_type is EventType.USER_MESSAGE:
            said_by = voice_of(event, room=room)
            voice = voice or said_by
            if (said_by.participant, said_by.audience) != (voice.participant, voice.audience):
                end = n
                break
    heard = plan.events[:end]
    if voice is None:
        only_here = heard[0].audience if heard and all(event.audience for event in heard) else None
        voice = Voice(audience=only_here, is_user=only_here is None and not room)
    kept = tuple(event for event in heard if event.audience in (None, voice.audience))
    if voice.name is not None:
        kept = tuple(replace(one, name=None) if one.participant else one for one in kept)
    if len(kept) == len(plan.events):
        return replace(plan, events=kept), voice
    cut = plan.cut_by_cap or end < len(plan.events)
    return replace(plan, events=kept, cut_by_cap=cut, through=heard[-1].seq), voice


def voice_of(event: Event, *, room: bool) -> Voice:
    """Give the voice of a message. ``room``: of its session."""
    name = event.name if event.participant else None
    return Voice(event.participant, name, event.audience, is_user=event.audience is None and not room)
