"""Count the places of a leg: utterances among themselves, anything else in the whole list.

Utterances and what stands beside them (memories, documents) are found in one list. A memory says again what an
utterance says, so that in one count the memories would take the places of other utterances, and what an utterance is
found by would depend on what was noted beside it."""

from __future__ import annotations

from collections.abc import Iterable

from neve.domain.ids import is_event_id


def within_depth(ids: Iterable[str], depth: int) -> list[str]:
    """Keep of a leg, best first, the best ``depth`` utterances, and other items that are among the first ``depth``."""
    utterances = 0
    within: list[str] = []
    for place, identifier in enumerate(ids, start=1):
        if not is_event_id(identifier):
            if place <= depth:
                within.append(identifier)
        elif utterances < depth:
            utterances += 1
            within.append(identifier)
        if utterances == depth and place >= depth:
            break
    return within


def places_of(ids: Iterable[str]) -> dict[str, int]:
    """Return the place of each id, from 1: of an utterance among the utterances, of anything else in the whole list. An
    id that is named twice counts where it stands first."""
    found: dict[str, int] = {}
    utterances = 0
    for place, identifier in enumerate(dict.fromkeys(ids), start=1):
        if not is_event_id(identifier):
            found[identifier] = place
        else:
            utterances += 1
            found[identifier] = utterances
    return found
