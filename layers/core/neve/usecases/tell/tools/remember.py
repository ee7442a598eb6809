"""The tool `remember`: a fact that a model wants kept goes through the ordinary storage decision
(docs/rules/tools.md#remember)."""

from __future__ import annotations

from dataclasses import dataclass

from neve.domain.memories.storage_decision import FactCandidate
from neve.domain.records.memories import Category, Provenance
from neve.domain.records.sessions import Event, EventType, SessionHead
from neve.domain.sessions.participants import SESSION_ONLY
from neve.domain.sessions.spans import holds
from neve.domain.sessions.transcript import event_text
from neve.domain.sessions.voices import THE_USER, Voice, voice_of
from neve.domain.tenants.write_tools import need_write_tools
from neve.domain.terms import stem
from neve.domain.words import content_words
from neve.scope import UserScope
from neve.store import rows
from neve.store.idempotency import Beside, nothing_beside
from neve.usecases.tell.memories.store_fact import store_facts
from neve.usecases.tell.memories.stored_fact import StoredFact

_OF_THE_USER = frozenset({stem("user")})
"""The name by which a fact speaks of whoever said it."""


@dataclass(frozen=True, slots=True)
class ToRemember:
    """A statement that a model wants kept. ``seq``: the event of the session in which the user has said it."""

    text: str
    category: Category = "BIOGRAPHY"
    importance: int = 3
    seq: int | None = None


def remember(
    scope: UserScope, wanted: ToRemember, session_id: str | None, beside: Beside[StoredFact] = nothing_beside
) -> StoredFact:
    """Decide on the fact and store it. It is the user's word where the event holds each of its content words, else the
    model's own. Three batch reads at most, one transaction. Raises write_tools_off, and what ``store_facts`` does, 422
    ``pii_blocked`` among it."""
    need_write_tools(scope.policy)
    session, said = _said(scope, session_id, wanted.seq)
    seq = said.seq if said else None
    voice = voice_of(said, room=session.room) if session and said else _of_the_model(session)
    named = _OF_THE_USER | _stems(voice.name or "")
    stated = said is not None and _stems(wanted.text) - named <= _stems(event_text(said))
    origin = Provenance(
        "user_stated" if stated else "assistant", session_id, seq, seq, trust="user" if stated else "assistant"
    )
    fact = FactCandidate(
        voice.fact(wanted.text),
        wanted.category,
        origin,
        wanted.importance,
        written_by="model",
        about=voice.about,
        audience=voice.audience,
    )
    return store_facts(scope, [fact], via="model", beside=lambda stored: beside(stored[0]))[0]


def _stems(text: str) -> set[str]:
    """Give the content words of a text, whatever their endings."""
    return set(map(stem, content_words(text)))


def _of_the_model(session: SessionHead | None) -> Voice:
    """Give the voice of a model that cites nobody: in a session in which others speak it may repeat them."""
    return Voice(audience=SESSION_ONLY, is_user=False) if session and session.others_from else THE_USER


def _said(scope: UserScope, session_id: str | None, seq: int | None) -> tuple[SessionHead | None, Event | None]:
    """Read the session and the user's message; None where the log has none there, or it was taken back."""
    if session_id is None:
        return None, None
    keys = scope.of_session(session_id).keys
    found = scope.ports.table.get_many([keys.session_head, *([keys.event(seq)] if seq is not None else ())])
    if not rows.is_there(found, keys.session_head):
        return None, None
    session = rows.read_session(found[keys.session_head])
    if seq is None or keys.event(seq) not in found:
        return session, None
    event = rows.read_event(found[keys.event(seq)])
    meant = event.event_type is EventType.USER_MESSAGE and not holds(session.retracted, seq)
    return session, event if meant else None
