"""The text of a pack: a pure function of its items (docs/rules/pack.md#rendering). No clock, version, counter, id or
map order."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from neve.domain.observe.text import for_pack
from neve.domain.records import Kind
from neve.domain.sessions.rendered_blocks import RENDERED_TAGS

LAYER_TAGS = ("always", "profile", "global", "local")
"""The layers in their order; ``PackLayers.global_`` is ``global``."""
DOCUMENT = "document"
"""The kind of an item that is a document's text."""

Item = tuple[str, str]
"""An item's text and its kind: a memory kind or ``DOCUMENT``."""

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
_CONDENSED = frozenset({Kind.OBSERVATION, Kind.REFLECTION})
_DOCUMENT_LAYERS = ("always", "profile")

_INVISIBLE = (
    "\x00-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Control characters and Unicode's default-ignorable ones: a tag spelt with them is still read as that tag."""


def _hidden(name: str) -> str:
    return f"[{_INVISIBLE}]*+".join(re.escape(letter) for letter in name)


_OWNED_TAG = re.compile(
    rf"<(?=[\s/\\{_INVISIBLE}]*+(?:{'|'.join(map(_hidden, (*RENDERED_TAGS, *LAYER_TAGS)))})(?![\w-]))", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class PackLayers:
    """The items of each layer, chosen and in their final order."""

    always: Sequence[Item] = ()
    profile: Sequence[Item] = ()
    global_: Sequence[Item] = ()
    local: Sequence[Item] = ()


def render(layers: PackLayers) -> str:
    """``<neve-memory format="1">`` with the layers that hold something; nothing at all gives an empty text."""
    contents = (layers.always, layers.profile, layers.global_, layers.local)
    blocks = [block for tag, items in zip(LAYER_TAGS, contents, strict=True) if (block := _layer(tag, items))]
    if not blocks:
        return ""
    return "\n".join(['<neve-memory format="1">', _GUIDE, *blocks, "</neve-memory>"]) + "\n"


def escape(text: str) -> str:
    """``&lt;`` for every ``<`` that could begin a tag of the renderer's, however it is spelt; all else stays."""
    return _OWNED_TAG.sub("&lt;", text)


def indented(text: str) -> str:
    """The text with its further lines two spaces in, so that none of them is taken for a statement of its own."""
    return "\n  ".join(text.splitlines())


def _layer(tag: str, items: Iterable[Item]) -> str:
    shown = [text for text in (_shown(*item) for item in items) if text]
    if not shown:
        return ""
    # Escaped as a whole, so that no tag can be put together from two items.
    content = escape(("\n\n" if tag in _DOCUMENT_LAYERS else "\n").join(shown))
    return f"<{tag}>\n{_HINTS[tag]}\n{content}\n</{tag}>"


def _shown(text: str, kind: str) -> str:
    if kind == DOCUMENT:
        return text if text.strip() else ""
    return indented(for_pack(text) if kind in _CONDENSED else text.strip())
