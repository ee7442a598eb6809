"""The English verb forms that the extractive observer needs: which are past, and the third person of a present one."""

from __future__ import annotations

from neve.observers.extractive.english.vocabulary import words

_PAST = words(
    "was were had did went came saw took made got gave found told left felt kept brought began ran met bought sold",
    "paid spent lost won caught taught thought fell held led grew knew drew flew drove rode wrote spoke broke chose",
    "woke wore tore swore froze stole rose ate drank sang swam rang sank built sent lent bent slept swept wept dealt",
    "meant heard said stood understood sat shot fought sought became forgot forgave hid bit blew threw shook wound",
    "hung dug stuck struck swung spun lay laid lit hurt quit shut split cut put let cost hit beat learnt",
    "didn't wasn't weren't hadn't been gone done seen taken made given written driven eaten",
)
_ALSO_PRESENT = words("put cut let cost hit beat quit shut split hurt lay")
"""Past forms that are base forms, too: ``I never put sugar in it``."""
_BASE_FORMS_IN_ED = words("need feed speed proceed succeed exceed bleed breed embed shed wed seed weed")
_NOT_VERBS_IN_ED = words(
    "red bed indeed hundred sacred kindred ned ted fred med sled interested excited scared worried tired married named",
    "called supposed allowed based obsessed located concerned related involved advanced limited talented beloved",
)
_UNCHANGED = words(
    "will would can could should must might may shall can't cannot won't wouldn't couldn't shouldn't mustn't ought"
)
_THIRD = {"am": "is", "are": "is", "were": "was", "was": "was", "aren't": "isn't", "weren't": "wasn't", "have": "has"}
_THIRD |= {"haven't": "hasn't", "do": "does", "don't": "doesn't", "dont": "doesn't", "go": "goes", "ain't": "isn't"}
_THIRD |= {"wanna": "wants to", "gotta": "has to"}
_COMMON_PRESENT = words(
    "am live prefer enjoy hate dislike want hope intend think believe feel know mean speak learn teach write read eat",
    "drink sleep wake get go come do have keep make take bring buy sell pay spend own try practise bake sing sew",
    "collect meet send listen avoid forget understand agree disagree suffer struggle worry belong commute manage lead",
    "build develop volunteer donate follow attend organize organise meditate swim ride like love work play",
    "wear wash feed tend carry fix repair fly don't haven't am",
)
"""Verbs whose base form is rarely a noun behind an "and"."""


def is_past_form(word: str) -> bool:
    """Say whether a lower-case word is the past form or participle of a verb, as far as its spelling tells."""
    return word in _PAST or (_ends_like_past(word) and word not in _NOT_VERBS_IN_ED)


def is_only_past(word: str) -> bool:
    """Say whether a lower-case word is a past form, and no base form."""
    return is_past_form(word) and word not in _ALSO_PRESENT


def is_common_present(word: str) -> bool:
    """Say whether a lower-case word is the base form of an everyday verb."""
    return word in _COMMON_PRESENT


def third_person_form(word: str) -> str:
    """Return the form that follows "he" where ``word`` (lower-case) follows "I": like -> likes, have -> has, went ->
    went."""
    if word in _THIRD:
        return _THIRD[word]
    if word in _UNCHANGED or word in _PAST or _ends_like_past(word):
        return word
    if word.endswith(("s", "x", "z", "ch", "sh")):
        return word + "es"
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return word[:-1] + "ies"
    return word + "s"


def _ends_like_past(word: str) -> bool:
    return word.endswith("ed") and len(word) > 3 and word not in _BASE_FORMS_IN_ED
