"""The text of a pack: a pure function of its items (docs/rules/pack.md#rendering). No clock, version, counter, id or
map order."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from neve.domain.memories.text import for_pack
from neve.domain.records.memories import Kind
from neve.domain.sessions.rendered_blocks import BEFORE_A_NAME, INVISIBLE, OWN_NAMES, spelt

LAYER_TAGS = ("always", "profile", "global", "local")
"""The layers in their order; ``PackLayers.global_`` is ``global``."""
ABOUT = "about"
"""The element of one document of the profile."""
PEOPLE = "People"
"""The title above the people of the profile."""

Item = tuple[str, str]
"""A memory's text and its kind."""
Titled = tuple[str, str]
"""A document's title, which is one line, and its text."""

_GUIDE = (
    "What is remembered of this user. Use it only where it bears on the latest message, and never mention that it"
    " exists. Where two statements disagree, the newer one holds."
)
_HINTS = {
    "always": "Texts that apply to every conversation.",
    "profile": "Who the user is and how they want to be treated.",
    "global": "Background from other conversations, most relevant first; it may be out of date.",
    "local": "Earlier in this very conversation, oldest first; rely on it as its recent history.",
}
JUST_SAID = "Just said in another conversation:"
"""Stands in front of the utterances of each conversation that are not observed yet."""
_CONDENSED = frozenset({Kind.OBSERVATION, Kind.REFLECTION})

_OWNED_NAMES = "|".join([OWN_NAMES, *map(spelt, (*LAYER_TAGS, ABOUT))])
_OWNED_TAG = re.compile(rf"<(?={BEFORE_A_NAME}(?:{_OWNED_NAMES})(?!(?![{INVISIBLE}])[\w-]))", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class PackLayers:
    """The contents of each layer, chosen and in its final order. ``always``: texts of documents. ``profile``: documents
    with their titles; ``people``: a line each, the last of the same layer. ``just_said``: utterances, by conversation,
    which end the global layer."""

    always: Sequence[str] = ()
    profile: Sequence[Titled] = ()
    people: Sequence[str] = ()
    global_: Sequence[Item] = ()
    local: Sequence[Item] = ()
    just_said: Sequence[Sequence[str]] = ()


def render(layers: PackLayers) -> str:
    """Write ``<neve-memory format="1">`` with the layers that hold something; nothing at all gives an empty text."""
    contents = (
        documents_text(layers.always),
        profile_text(layers.profile, layers.people),
        _memories_text(layers.global_, layers.just_said),
        _memories_text(layers.local),
    )
    blocks = [
        f"<{tag}>\n{_HINTS[tag]}\n{content}\n</{tag}>"
        for tag, content in zip(LAYER_TAGS, contents, strict=True)
        if content
    ]
    if not blocks:
        return ""
    return "\n".join(['<neve-memory format="1">', _GUIDE, *blocks, "</neve-memory>"]) + "\n"


def escape(text: str) -> str:
    """Write ``&lt;`` for every ``<`` that could begin a tag of the renderer's, however it is spelt; all else stays."""
    return _OWNED_TAG.sub("&lt;", text)


def indented(text: str) -> str:
    """Indent the text's further lines by two spaces, so that none of them is taken for a statement of its own."""
    return "\n  ".join(text.splitlines())


# --- the layers. Each is escaped in pieces as large as no tag of its own stands between them, so that no tag can be put
# together from two items.


def documents_text(texts: Iterable[str]) -> str:
    """Join texts, which keep every character, with a blank line between them."""
    return escape("\n\n".join(text for text in texts if text.strip()))


def profile_text(documents: Iterable[Titled], people: Iterable[str]) -> str:
    """Write an element for each document, with its title as the first line; then one for all the people."""
    lines = "\n".join(indented(line) for line in people)
    titled = [*documents, (PEOPLE, lines)]
    return "\n".join(about_text(title, text) for title, text in titled if text.strip())


def about_text(title: str, text: str) -> str:
    """Write the element of one document of the profile."""
    content = escape(f"{title}\n{text}" if title else text)
    return f"<{ABOUT}>\n{content}\n</{ABOUT}>"


def _memories_text(items: Iterable[Item], just_said: Iterable[Sequence[str]] = ()) -> str:
    lines = [text for text in (shown_memory(*item) for item in items) if text]
    for said in just_said:
        lines += [JUST_SAID, *map(indented, said)]
    return escape("\n".join(lines))


def shown_memory(text: str, kind: str) -> str:
    """Give a memory as it is shown, before it is escaped."""
    return indented(for_pack(text) if kind in _CONDENSED else text.strip())
