"""Words of a text: the one tokeniser that query shaping and the keyword index agree on. No I/O.

A *chunk* is a run of letters and digits, joined by the marks that hold code, paths, versions and names together
(``neve/ports.py``, ``v2.19.1``, ``snake_case``, ``o'brien``). A chunk gives its whole form and, when it is a compound,
its parts."""

from __future__ import annotations

import re
import unicodedata

_IDEOGRAPH = "\u3040-\u309f\u3400-\u4dbf\u4e00-\u9fff"
_RUN = rf"[^\W_{_IDEOGRAPH}]+"
_CHUNK = re.compile(rf"{_RUN}(?:[_./\\:@#+&=~'-]+{_RUN})*(?:\+\+|#)?|[{_IDEOGRAPH}]")
_PLAIN = re.compile(rf"{_RUN}(?:'{_RUN})*|[{_IDEOGRAPH}]")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_CURLY = str.maketrans({"’": "'", "ʼ": "'", "＇": "'"})

_WITHOUT_CONTENT = """
a about above after again against all also am an and any are as at be because been before being below between both but
by can could did do does doing done down during each either else ever few for from further get gets getting got had has
have having he her here hers herself him himself his how however i if in into is it its itself just kind let like lot
many maybe me mean might more most much must my myself no nor not now of off often on once one only onto or other our
ours ourselves out over own please quite rather really same shall she should so some something still such sure tell than
that the their theirs them themselves then there these they thing things this those though through thus to together too
toward towards under until up upon us very want was we well were what when where whether which while who whom whose why
will with within without would yes yet you your yours yourself yourselves
ain't aren't can't cannot couldn't didn't doesn't don't hadn't hasn't haven't isn't let's mustn't needn't shouldn't
wasn't weren't won't wouldn't i'm i've i'll i'd you're you've you'll you'd he'll he'd she'll she'd we're we've we'll
we'd
we'd they're they've they'll they'd it'll it'd that'll that'd who'll who'd what'll what're how're there'll there're
"""
QUERY_STOP_WORDS = frozenset(_WITHOUT_CONTENT.split())
"""Words that carry no content in a query."""

NAMES_IN_CAPITALS = frozenset({"can", "it", "us", "who", "will"})
"""Stop words that are names when written with a capital inside a sentence (Will, the US, the WHO)."""

_TOO_COMMON = """
a an and are as at be but by for if in into is it of on or such that the their then there these they this to was with
"""
INDEX_STOP_WORDS = frozenset(_TOO_COMMON.split())
"""Words that the keyword index does not hold: those of Lucene's ``english`` analyzer but for no, not and will."""


def fold(text: str) -> str:
    """NFC, straight apostrophes, no thousands separators (``5,000`` -> ``5000``); case is kept."""
    if not text.isascii():
        text = unicodedata.normalize("NFC", text).translate(_CURLY)
    return _THOUSANDS.sub("", text) if "," in text else text


def chunks(folded: str) -> list[str]:
    """The chunks of a folded text, in order, case kept."""
    return _CHUNK.findall(folded)


def plain_words(text: str) -> list[str]:
    """Lower-case words with every compound taken apart: what "consecutive words" of a phrase means."""
    return [whole(word) for word in _PLAIN.findall(fold(text))]


def whole(chunk: str) -> str:
    """The chunk as one lower-case word without the possessive: ``Henrike's`` -> ``henrike``."""
    return chunk.lower().removesuffix("'s")


def parts(chunk: str) -> list[str]:
    """The lower-case parts of a compound, in order and each once; empty for a plain word."""
    if chunk.isalpha() and chunk[1:].islower():
        return []
    found: list[str] = []
    for run in _PLAIN.findall(chunk):
        found.append(whole(run))
        humps = _CAMEL.split(run) if run.isascii() and not run.islower() else ()
        if len(humps) > 1:
            found.extend(hump.lower() for hump in humps if len(hump) > 1)
    whole_form = whole(chunk)
    return [part for part in dict.fromkeys(found) if part != whole_form]
