"""The gate against a maintained detector of secrets: strings drawn from the detector's own patterns are found
(ADR 33)."""

from __future__ import annotations

import base64
import importlib
import json
import pkgutil
import random
import re
import string
from collections.abc import Callable, Iterator
from typing import Any

import detect_secrets.plugins
import pytest
from detect_secrets.plugins.jwt import JwtTokenDetector

from neve.domain.privacy.screen import screen
from neve.domain.tenants.policy import Policy

ACTIONS = Policy().pii.actions
DRAWN = 40
WITHOUT_FORM = {
    "ArtifactoryDetector-1": "a word such as 'jfrog' up to 200 characters before anything that begins with AP",
    "CloudantDetector": "a word with 'cloudant' before any letters and digits",
    "IbmCloudIamDetector": "a word with 'ibm' before any 44 letters and digits",
    "IbmCosHmacDetector": "a word with 'cos' before any 48 hexadecimal digits",
    "SoftlayerDetector": "a word with 'sl' before any 64 letters and digits",
}
"""Detectors of a product by a word before any string: their patterns are not taken over."""


def patterns() -> Iterator[tuple[str, Any, re.Pattern[str]]]:
    for module in pkgutil.iter_modules(detect_secrets.plugins.__path__):
        named = importlib.import_module(f"detect_secrets.plugins.{module.name}")
        for name, kind in vars(named).items():
            denied = getattr(kind, "denylist", None)
            if getattr(kind, "__module__", None) == named.__name__ and isinstance(denied, list | tuple):
                yield from ((f"{name}-{n}", kind(), pattern) for n, pattern in enumerate(denied))


ALL = list(patterns())
BY_PATTERN = [one for one in ALL if not {one[0], one[0].partition("-")[0]} & WITHOUT_FORM.keys()]


def drawn(parsed: Any, rng: random.Random) -> str:
    """A string that a parsed pattern matches; what only looks around it is left out."""
    makers: dict[str, Callable[[Any], str]] = {
        "LITERAL": chr,
        "ATOMIC_GROUP": lambda given: drawn(given, rng),
        "NOT_LITERAL": lambda _: "x",
        "ANY": lambda _: rng.choice(string.ascii_letters),
        "IN": lambda members: _member(members, rng),
        "BRANCH": lambda given: drawn(rng.choice(given[1]), rng),
        "SUBPATTERN": lambda given: drawn(given[-1], rng),
        "MAX_REPEAT": lambda given: _repeated(given, rng),
        "MIN_REPEAT": lambda given: _repeated(given, rng),
        "AT": lambda _: "",
    }
    return "".join(makers[str(kind)](given) for kind, given in parsed)


def _repeated(given: Any, rng: random.Random) -> str:
    least, most, inside = given
    return "".join(drawn(inside, rng) for _ in range(rng.randint(least, min(int(most), least + 30))))


def _member(members: Any, rng: random.Random) -> str:
    kinds = {"CATEGORY_DIGIT": string.digits, "CATEGORY_SPACE": " ", "CATEGORY_WORD": string.ascii_letters}
    allowed, negated = "", False
    for kind, given in members:
        if str(kind) == "NEGATE":
            negated = True
        elif str(kind) == "RANGE":
            allowed += "".join(map(chr, range(given[0], given[1] + 1)))
        else:
            allowed += chr(given) if str(kind) == "LITERAL" else kinds.get(str(given), " ")
    return rng.choice([c for c in string.ascii_letters if c not in allowed] if negated else allowed)


def test_the_detector_has_the_patterns_that_this_is_about() -> None:
    names = {name for name, _, _ in ALL}
    assert len(BY_PATTERN) > 15
    assert WITHOUT_FORM.keys() <= names | {name.partition("-")[0] for name in names}


@pytest.mark.parametrize(("name", "detector", "pattern"), BY_PATTERN, ids=[name for name, _, _ in BY_PATTERN])
def test_what_the_detector_knows_is_found(name: str, detector: Any, pattern: re.Pattern[str]) -> None:
    rng = random.Random(name)
    parsed = importlib.import_module("re._parser").parse(pattern.pattern, pattern.flags)
    texts = [f"it is {drawn(parsed, rng)} now" for _ in range(DRAWN)]
    known = [text for text in texts if list(detector.analyze_string(text))]
    assert [text for text in known if not screen(text, ACTIONS).found] == []


def test_web_tokens_that_the_detector_takes_for_one_are_found() -> None:
    """Drawn letters are no JSON, so the detector does not take them for a token."""
    parts = (
        base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=")
        for part in ({"alg": "HS256"}, {"sub": "ann"})
    )
    text = f"it is {'.'.join(parts)}.c2lnbmF0dXJlLW9mLWl0 now"
    assert list(JwtTokenDetector().analyze_string(text))
    assert screen(text, ACTIONS).text == "it is [removed] now"
