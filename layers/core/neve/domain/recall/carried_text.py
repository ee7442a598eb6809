"""Recognise a message that hands over the text that it is about ("Proofread: '…'", "Translate this: …"): all that it
asks for is in it, and nothing that was said before is (docs/rules/recall.md#small-talk)."""

from __future__ import annotations

import re
from typing import Final

LONGEST_WISH: Final = 100
"""*Chosen*: characters before the text. A message with more of them says something itself."""

_POLITE = r"(?:(?:please|pls|now|then|ok(?:ay)?|hey|hi|can|could|would|will|you|kindly|just|help(?: me)?(?: to)?)\W+)*"
_ON_TEXTS = (
    "proof-?read|translate|transliterate|transcribe|rewrite|rephrase|reword|paraphrase|summari[sz]e|shorten|condense"
    "|spell-?check|punctuate|capitali[sz]e|alphabeti[sz]e|decode|encode|reformat"
)
"""Verbs for what is done to a text and to nothing else."""
_ON_THIS = (
    r"(?:make|turn|put|change|convert|fix|correct|check|edit|improve|polish|simplify|expand|clean|format|extract|count"
    r"|sort|classify|review|grade|analy[sz]e|complete)\b[^\n:：\"“«„`]*?"
    r"\b(?:this|these|following|text|sentences?|paragraphs?|words|grammar|spelling)"
)
"""Verbs for what is done to anything, when it is done to this text."""
_TEXT = r"(?:[:：]\s*\S|\n\s*\S|(?<!\w)[\"'“‘«„`]\w)"
"""The begin of the text: behind a colon, on a line of its own, or in quotes."""
_HANDS_OVER: Final = re.compile(
    rf"\W*{_POLITE}(?P<wish>(?:{_ON_TEXTS}|{_ON_THIS})\b[^\n:：\"“«„`]{{0,{LONGEST_WISH}}}?){_TEXT}", re.IGNORECASE
)
_OF_SELF: Final = re.compile(r"\b(?:i|my|mine|we|our|ours)\b", re.IGNORECASE)


def hands_over_its_text(message: str) -> bool:
    """Say whether a message wants something done to a text that stands in it, and does not speak of its sender in
    saying so: "Translate this into my language: …" asks for what was said before. Reads the beginning alone."""
    found = _HANDS_OVER.match(message[: 3 * LONGEST_WISH])
    return found is not None and _OF_SELF.search(found["wish"]) is None
