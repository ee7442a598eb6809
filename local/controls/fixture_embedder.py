"""An embedder for tests: deterministic, offline, and predictable enough to compute a similarity by hand.

A text is its set of content words. Every word stands on one of 384 axes, so the raw cosine of two texts of ``m``
and ``n`` words that share ``k`` is ``k / sqrt(m * n)``. Words of one row of ``SYNONYMS`` share the row's own axis,
which nothing else uses; any other word is hashed to one of the remaining axes, where two of them may meet (about
once in 330).

* Identical texts: 1.0. No shared word or synonym: 0.0 (``ORTHOGONAL_PAIR`` uses synonym axes only).
* ``CALIBRATION`` makes calibrated similarity = 0.3 + raw cosine, at most 1.
* A pair at a chosen calibrated similarity: put ``similarity=0.69`` into one of two texts that are otherwise equal or
  synonymous (``similar_pair(0.69)`` gives such a pair without a common keyword). The marker turns the vector away
  from its words, towards an axis that no word has, until the raw cosine with the unmarked text is 0.39."""

from __future__ import annotations

import hashlib
import math
import re
import struct
from collections.abc import Sequence

from neve.ports.models import ANY_LANGUAGE, Calibration
from neve.ports.search import IndexModel

DIMENSIONS = 384
MODEL = IndexModel(f"fixture-{DIMENSIONS}", DIMENSIONS)
MANY = IndexModel(f"fixture-many-{DIMENSIONS}", DIMENSIONS)
"""Stands for the encoder of many languages: vectors that are told apart from the others, and mean the same."""
CALIBRATION = Calibration(random_median=0.0, paraphrase_median=0.6)
CALIBRATION_OFFSET = 0.3
"""Calibrated similarity less raw cosine, under ``CALIBRATION``."""
ORTHOGONAL_PAIR = ("sister brief", "car doctor")

SYNONYMS = tuple(
    row.split()
    for row in """
    sister sibling brother
    brief short concise terse
    car automobile vehicle
    doctor physician
    dentist teeth
    spouse wife husband partner
    child kid son daughter baby
    mother father parent mom dad
    friend buddy pal
    boss manager supervisor
    employee colleague coworker
    dog puppy hound
    cat kitten feline
    home house apartment flat
    city town
    job work occupation profession
    company employer firm
    salary wage pay income
    buy purchase bought
    sell sold
    begin start commence
    finish complete end
    like enjoy prefer favourite favorite love
    hate dislike detest
    eat food meal dish diet
    drink beverage
    vegetarian meatless
    allergy allergic intolerance
    illness disease sickness
    medicine medication drug pill
    trip journey travel vacation holiday
    plane flight airplane
    train railway
    bicycle bike cycling
    meeting appointment
    deadline due
    answer reply respond response
    name called named
    birthday birth born
    money budget cash
    computer laptop
    phone mobile telephone
    picture photo image
    movie film cinema
    music song melody
    book novel reading
    language tongue
    database postgres datastore
    deploy release rollout ship
    bug defect error
    server host machine
    password secret credential
    run jog running
    gym fitness workout
    """.strip().splitlines()
)
"""Each row is one meaning. Words are compared without a plural or possessive ending."""

_STOP_WORDS = frozenset(
    re.findall(
        r"\S+",
        """
        a about all also am an and any are as at be because been but by can could did do does doing for from had
        has have he her his how i if in into is it its me mine my no not of on or our ours she should so than that
        the their them then there these they this to too user user's us very was we were what when where which who
        why will with would you your yours
        """,
    )
)
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)*")
_MARKER = re.compile(r"\bsimilarity=([01](?:\.\d+)?)")
_ASIDE = DIMENSIONS - 1
"""The axis that no word has."""


class FixtureEmbedder:
    """Queries and passages are embedded alike. A text without content words is the axis that no word has."""

    def __init__(self, model: IndexModel = MODEL) -> None:
        self._model = model

    @property
    def model(self) -> IndexModel:
        return self._model

    @property
    def calibration(self) -> Calibration:
        return CALIBRATION

    @property
    def languages(self) -> tuple[str, ...]:
        return ("en",) if self._model == MODEL else (ANY_LANGUAGE,)

    def embed_query(self, text: str) -> bytes:
        return embed(text)

    def embed_passages(self, texts: Sequence[str]) -> list[bytes]:
        return [embed(text) for text in texts]


def similar_pair(calibrated: float) -> tuple[str, str]:
    """(passage, query) without a common keyword, at exactly this calibrated similarity, 0.3 to 1."""
    return f"sister automobile similarity={calibrated:.4f}", "sibling vehicle"


def embed(text: str) -> bytes:
    """384 float32, little-endian, of length 1."""
    marker = _MARKER.search(text)
    axes = {axis_of(word) for word in content_words(_MARKER.sub(" ", text))}
    raw = 1.0 if marker is None else min(max(float(marker[1]) - CALIBRATION_OFFSET, 0.0), 1.0)
    if not axes:
        raw = 0.0
    vector = [0.0] * DIMENSIONS
    for axis in axes:
        vector[axis] = raw / math.sqrt(len(axes))
    vector[_ASIDE] = math.sqrt(1.0 - raw * raw)
    return struct.pack(f"<{DIMENSIONS}f", *vector)


def content_words(text: str) -> list[str]:
    """Case-folded words that are not stop words, without plural and possessive endings."""
    words = (word.replace("’", "'") for word in _WORD.findall(text.casefold()))
    return [_singular(word) for word in words if word not in _STOP_WORDS]


def axis_of(word: str) -> int:
    """Where a content word stands: its row in ``SYNONYMS``, else behind them by hash."""
    if word in _ROW_OF:
        return _ROW_OF[word]
    digest = hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return len(SYNONYMS) + int.from_bytes(digest, "big") % (_ASIDE - len(SYNONYMS))


def _singular(word: str) -> str:
    word = word.removesuffix("'s")
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) and len(word) > 3 else word


_ROW_OF = {_singular(word): row for row, words in enumerate(SYNONYMS) for word in words}
