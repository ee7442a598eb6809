"""Tells texts that are not English, as far as their function words or their script tell
(docs/rules/recall.md#languages)."""

from __future__ import annotations

import re
from collections.abc import Sequence

_WORD = re.compile(r"[^\W\d_]+")
_OF_ENGLISH = """
i you he she it we they my your his her its our their the a an and or but of to in on at for with from by as is are was
were be been am have has had do does did not no this that these those there here what which who how when if so than then
me him them us will would can could should about into over up out please only just
"""
_OF_OTHERS = """
ich du er sie es wir ihr und oder der die das den dem des ein eine einen einem ist bin sind war nicht kein keine mit für
auf zu von bei als mein meine auch wie bitte habe hat gegen seit
je tu il elle nous vous et ou le la les des du un une est suis sont ne pas mon ma mes dans pour avec sur que qui j ai au
aux chez s être
yo el los las un una y o es soy son estoy está no mi mis en por para con del al que me se muy tengo vivo
io sono gli di che per non ho il eu sou não um uma com meu minha em ik een het niet met voor mijn
"""
_ENGLISH, _FOREIGN = frozenset(_OF_ENGLISH.split()), frozenset(_OF_OTHERS.split())
_ALSO_ENGLISH = frozenset(["war", "son", "die", "as", "pour", "des"])
_MIN_WORDS = 2


def is_foreign(text: str) -> bool:
    """Say whether a text holds more function words of English's neighbours than of English, or hardly a Latin
    letter."""
    words = [word.lower() for word in _WORD.findall(text)]
    if _hardly_latin(words):
        return True
    foreign = sum(word in _FOREIGN for word in words)
    return foreign >= _MIN_WORDS and foreign > sum(word in _ENGLISH for word in words)


def is_foreign_message(text: str) -> bool:
    """Say the same of a whole message, where to be wrong costs its answer: of different words, at least two and a third
    of all, without those that English has too and those of names (``to La Jolla, Via del Corso``)."""
    words = _WORD.findall(text)
    if _hardly_latin(words):
        return True
    small = {word.lower() for word in words[:1]} | {word for word in words[1:] if word.islower()}
    foreign = (small & _FOREIGN) - _ALSO_ENGLISH - _ENGLISH
    return len(foreign) >= _MIN_WORDS and 3 * len(foreign) >= len(words) and len(foreign) > len(small & _ENGLISH)


def _hardly_latin(words: Sequence[str]) -> bool:
    return sum(word[0] < "\u0250" for word in words) * 2 < len(words)
