"""Reads what a statement in the third person says of a person's life, by its form: their home, work, family, diet,
favourites and what they own (docs/rules/observe.md#extractive). Of some of these only one can be true at a time: a
slot."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from neve.domain.records.memories import Category
from neve.domain.same.meaning import one_spelling
from neve.observers.extractive.english.verbs import is_only_past
from neve.observers.extractive.english.vocabulary import any_of

_CLOSE = any_of(
    "wife husband partner spouse fiance fiancee girlfriend boyfriend sons? daughters? child children kids? dog cat",
    "mother father mom mum dad parents sisters? brothers? twin grandmother grandfather grandma grandpa horse boss",
    "best friend",
)
_ADVERB = r"(?:really|also|still|now|currently|absolutely|just|recently|only|mostly|usually)"
_LEFT = (
    r"(?: (?:left|quit|(?:changed|switched) jobs|no longer \w+|stopped \w+)[^,;]{0,60}?"
    rf"(?:,? and|,)(?: now)?(?: they)?(?: {_ADVERB})*)?"
)
"""The state before: "left Siemens and now works at …", "quit Acme, they now work for …"."""
_HEAD = rf"^(?P<who>[\w-]+(?: [A-Z][\w-]*)?)(?: and their \w+(?: [A-Z]\w+)?)?(?:\s+(?:has\s+)?{_ADVERB})*"


@dataclass(frozen=True, slots=True)
class Form:
    """A form that a statement may have. ``slot``: only one statement of a person can be true in it; the group ``of``
    belongs to its name. ``many``: a person may have several, so that only a statement of a change ("… now") takes the
    place of another. ``denies``: it says what a person does not do. The group ``habit``: a verb, which tells of none
    where it can only be past."""

    pattern: re.Pattern[str]
    category: Category
    importance: int
    slot: str | None = None
    many: bool = False
    denies: bool = False

    @property
    def lasts(self) -> bool:
        """Say whether the form is about who a person or their family is, or what they prefer, and not what they own or
        do."""
        owns = (self.slot or "").startswith("thing")
        return not owns and (self.importance > PASSING or self.category == "PREFERENCE")


@dataclass(frozen=True, slots=True)
class Said:
    """The reading of a statement by a form. ``who``: whom it is about; ``slots``: what it fills, as ``User: home``."""

    who: str
    form: Form
    slots: tuple[str, ...]


PASSING = 3
"""Importance of what may be of the day only: ``My sister is late``"""
SPEAKER = "User"
"""The subject of a statement that names no person: ``Nice is home now``."""


def said_in(text: str) -> Said | None:
    """Read a statement by the first form that it has; it must deny nothing."""
    text = _LEAD.sub("", text)
    for form in FORMS:
        match = form.pattern.search(text)
        if match and not is_only_past((match.groupdict().get("habit") or "").lower()):
            who = match.groupdict().get("who") or SPEAKER
            of = one_spelling((match.groupdict().get("of") or "").casefold())
            fills = form.slot is not None and not _BESIDE_ANOTHER.search(text)
            if form.slot == "home" and _LONG_AGO.search(text):
                fills = False
            slots = _slots(form.slot, text) if form.slot and fills else ()
            return Said(who, form, tuple(f"{who}: {slot} {of}".rstrip() for slot in slots))
    return None


def tells_of_a_change(text: str) -> bool:
    """Say whether a statement itself tells that something is not as it was."""
    return _CHANGED.search(text) is not None


def _slots(slot: str, text: str) -> Iterator[str]:
    yield slot
    if slot == "employer" and _AS_A.search(text):
        yield "job"
    if slot == "job" and _AT.search(text):
        yield "employer"


def _form(
    rest: str, category: Category, importance: int, slot: str | None = None, *, many: bool = False, denies: bool = False
) -> Form:
    return Form(re.compile(_HEAD + rest), category, importance, slot, many, denies)


_BESIDE_ANOTHER = re.compile(
    r"\b(?:also|as well|another|an? second|an? side|on the side|both|besides|in addition|additionally|one of)\b|\btoo$"
)
"""Words of a statement that holds beside what was said before: ``I also work at Globex``."""
_CHANGED = re.compile(r"\b(?:now|new|nowadays|these days|instead|switched|replaced|became|become)\b", re.IGNORECASE)
_LEAD = re.compile(r"^(?:these days|nowadays|now|by now|meanwhile|in the meantime),? (?=[\w-]+)", re.IGNORECASE)
_NO_PLACE = any_of(
    "pain fear hope peace poverty luxury constant denial harmony silence isolation town decaf coffee tea tears remote",
    "online nights days react python vue rust java typescript javascript linux windows android ios here there vegan",
    "React Vue Angular Svelte Python Rust Go Java JavaScript TypeScript Postgres PostgreSQL MySQL MongoDB Kubernetes",
    "Docker AWS Azure GCP Linux Ubuntu Windows Mac Android Notion Slack Zoom Teams Git GitHub GitLab Vim Jira Gmail",
    "a an my their our his her another new bigger smaller different part-time full-time someone it this that home",
)
_HOUSE = any_of("place house flat apartment studio room village town suburb district part city")
_NAME = r"[^\W\da-z_]"
"""The first letter of a name: no small one of English."""
_PLACE = (
    rf" (?:(?:an?|the|my|their|our) (?:[\w'-]+ ){{0,3}}{_HOUSE} (?:in|of|near) {_NAME}"
    rf"|(?!{_NO_PLACE}\b)(?:(?:the )?{_NAME}|\d+\w? {_NAME}"
    r"|[a-z-]+(?=$|[,.;]| (?:now|and|with|for|again|in|last|\())))"
)
"""A name, an address, or one word of somebody who writes no capitals: nobody moves away by moving to a new team."""
_FROM = r" (?!(?:a|an|the|my|their|our|work|home|here|there|it|this|that)\b(?! [A-Z]))[\w(]"
_EMPLOYER = (
    r" (?!(?:\d|nights?\b|home\b|weekends?\b|dawn\b|present\b|free\b|fun\b|hours\b|years\b|once\b|best\b|most\b"
    r"|least\b|full\b|half\b|the (?:moment|weekend)|a (?:desk|time|computer|living|few|couple|long|while|change)"
    r"|(?:one|two|three|four|five|six|seven|eight|nine|ten|twelve) ))\w"
)
_AS_A = re.compile(r" as an? ")
_AT = re.compile(rf" (?:at|for){_EMPLOYER}")
_NAMED = rf"(?: (?:actually|really|now|just))? (?:{_NAME}|[a-z-]+(?=$|[,.;]| (?:please|instead|and|but|not|from)\b))"
_NAME_IS = rf"(?! (?:(?:mis)?spell|pronounced|wrong|missing|taken|common|unusual|long|short|hard|difficult)){_NAMED}"
_A_DAY = (
    r"(?=.*(?:\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)"
    r"|\d{1,2}(?:st|nd|rd|th)\b|(?<!\d)\d{1,2}[/.]\d|\(meaning \d{4}-\d\d-\d\d\)))"
)
_MARRIAGE = (
    r"(?:married|single|divorced|engaged|widowed)"
    r"(?=$|[,.;!]| \(| (?:now|again|since|and|with|for|but|in|on|last|this|yesterday|today|two)\b"
    rf"| (?:to|from) (?:{_NAME}|an? |the |someone))"
)
_MOVED = (
    r"(?: has| said: (?:I|We)(?:'ve| have)?)?(?: (?:just|now|recently|finally))?"
    r" (?:moved|relocated)(?: back| over)?(?: (?:from|out of) [\w' -]{2,30}?,?)? to"
)
_LIVES = (
    r"(?: (?:lives|lives at|is(?: now)? (?:living|based)|has been living) in| lives at"
    r"| said: (?:We(?: now)? live|We(?:'re| are)(?: now)? (?:living|based)) in|'s (?:new )?home is(?: now)? in)"
)
_OCCUPATION = (
    r" (?!(?:[\w-]+ )?(?:father|mother|\w*parent|brother|sister|member|owner|lover|beginner|smoker|drinker|supporter"
    r"|believer|carer|listener|user|customer|runner|survivor|winner|loner|\w+arian)\b)(?:[\w-]+ ){0,2}?(?:"
    + any_of(
        "nurse chef cook coach clerk judge pilot postman fireman midwife secretary student vet waitress actress",
        r"[a-z]{3,}(?:er|or|ist|ian|herd|tect|ant)",
    )
    + r")\b(?! (?:at heart|in training)\b)"
)
_PARTNER = any_of("wife husband partner spouse fiance fiancee fiancé fiancée girlfriend boyfriend")
_PET = any_of("dog cat horse pony rabbit hamster parrot")
_AT_WORK = any_of("boss manager doctor dentist therapist landlord landlady roommate flatmate teacher coach")
_OWN = any_of("car phone laptop computer tablet bike motorbike camera watch van", "phone number|e-?mail|email address")
_FROM_THERE = r" \w+(?:ese|ish|ench|utch|[aei]an|man|reek|wiss|hai|zech|qi|li|ni)\b"
"""``French``, ``Italian``: what follows "is" in capitals and is no name."""
_THING = rf"(?:{_NAME}|i[A-Z])[\w'-]*"
_WITH_A_NAME = rf" {_NAME}[\w'-]+(?=$|[,.;]| (?:now|and|for|since|again)\b)"
_LONG_AGO = re.compile(
    r"\bwhen (?:they|he|she|I|we) (?:was|were)\b|\bas an? (?:kid|child|student|teenager|teen|boy|girl|baby)\b"
    r"|\bin (?:19|20)\d\d\b"
)
"""A time so long ago that the place to which a person moved then may not be their home."""
_ENDS = r"(?: (?:now|these days|at the moment|instead))?(?=$|[,.;])"
FORMS: tuple[Form, ...] = (
    _form(rf"'s (?:full )?name is\b{_NAME_IS}", "PERSON", 5, "name"),
    _form(rf" wants to be called\b{_NAMED}", "PREFERENCE", 4, "called"),
    _form(rf"'s birthday is\b{_A_DAY}", "BIOGRAPHY", 4, "birthday"),
    _form(r" is \d{1,3}(?: years? old\b|(?=$|[,.;]? (?:now|not)\b))", "BIOGRAPHY", 4, "age"),
    _form(rf"{_LEFT}(?:{_LIVES}|{_MOVED})\b{_PLACE}(?!.* (?:office|team|branch|department)\b)", "PLACE", 4, "home"),
    _form(rf" (?:is|comes|originally comes) from\b{_FROM}", "BIOGRAPHY", 4, "origin"),
    Form(
        re.compile(
            r"^(?:Home is(?: now)? (?:in )?"
            + _NAME
            + r"[\w' -]{1,30}?|"
            + _NAME
            + r"[\w' -]{1,30}? is (?:now )?(?:(?P<who>[\w-]+)'s )?(?:new )?home)(?: now)?$"
        ),
        "PLACE",
        4,
        "home",
    ),
    _form(r" was born\b", "BIOGRAPHY", 4),
    _form(rf"{_LEFT} works? as\b(?= (?:an?|the) (?!volunteer\b))", "BIOGRAPHY", 4, "job"),
    _form(
        rf"(?:{_LEFT} (?:is|are)| (?:became|has become))(?: now)? an?\b{_OCCUPATION}", "BIOGRAPHY", 4, "job", many=True
    ),
    _form(
        r"(?: (?:(?:has )?(?:just )?(?:started|got|found|landed|began|took)|has) (?:an?|their) new (?:job|position)"
        r"|'s new (?:job|employer) is)\b(?! (?:offer|title|interview))",
        "BIOGRAPHY",
        4,
        "employer",
    ),
    _form(rf"{_LEFT} works? (?:at|for)\b{_EMPLOYER}", "BIOGRAPHY", 4, "employer"),
    _form(
        rf"(?: is| (?:has )?(?:got|gotten)| said: We(?:'ve| have)? (?:got|gotten)) {_MARRIAGE}",
        "BIOGRAPHY",
        4,
        "marriage",
    ),
    _form(rf" is (?:dating|seeing|together with|in a relationship with){_WITH_A_NAME}", "PERSON", 4, "partner"),
    _form(rf"'s (?:new )?{_PARTNER}(?: is (?:called|named)|'s name is){_WITH_A_NAME}", "PERSON", 4, "partner"),
    _form(rf"'s (?:new )?{_PARTNER} is(?!{_FROM_THERE}){_WITH_A_NAME}", "PERSON", 4, "partner"),
    _form(r" is (?:severely |mildly )?(?:allergic|intolerant) to\b", "BIOGRAPHY", 5),
    _form(
        r" (?:is|(?:has )?(?:became|become|turned|went|gone))(?: now)? (?:an? )?(?:vegetarian|vegan|pescatarian)\b"
        r"(?! (?:food|restaurants?|recipes?|options?|cook))",
        "PREFERENCE",
        4,
        "diet",
    ),
    _form(
        r" (?:never eats|doesn't eat|does not eat) (?:any )?(?P<of>meat|fish|pork|beef|chicken|dairy|cheese|eggs)\b"
        r"(?=$|[,.;]| (?:and|or|because)\b)",
        "PREFERENCE",
        4,
        "eats",
        many=True,
        denies=True,
    ),
    _form(r"'s (?:new |current )?favou?rite (?P<of>[\w ]{1,40}?) (?:is|are)\b", "PREFERENCE", 3, "favourite"),
    Form(
        re.compile(
            r"^[\w' -]{2,40}? (?:is|are) (?:now )?(?P<who>[\w-]+)'s (?:new )?favou?rite"
            rf" (?P<of>[\w ]{{1,40}}?){_ENDS}"
        ),
        "PREFERENCE",
        3,
        "favourite",
    ),
    _form(
        rf" (?:has )?changed their mind[,:;]? (?:and )?[\w' -]{{2,40}}? (?:is|are) (?:now )?their (?:new )?favou?rite"
        rf" (?P<of>[\w ]{{1,40}}?){_ENDS}",
        "PREFERENCE",
        3,
        "favourite",
    ),
    _form(rf" (?:has )?changed their name to\b{_NAMED}", "PERSON", 5, "name"),
    _form(
        rf" (?:drives|is driving) (?:an?|the|their) (?:[\w-]+ ){{0,2}}{_NAME}", "BIOGRAPHY", 3, "thing car", many=True
    ),
    _form(
        rf"'s (?:new )?(?P<of>{_OWN}) is (?:now )?(?:an? |the )?(?:[\w-]+ )?{_THING}",
        "BIOGRAPHY",
        3,
        "thing",
        many=True,
    ),
    _form(rf" (?:has )?(?:got|bought|has) an? new (?P<of>{_OWN})\b", "BIOGRAPHY", 3, "thing", many=True),
    _form(rf" has an? (?:\w+ )?(?P<of>{_PET})\b", "PERSON", 4, "pet", many=True),
    _form(rf"'s (?:new )?(?P<of>{_PET})(?: is (?:called|named)|'s name is)\b", "PERSON", 3, "pet", many=True),
    _form(
        rf"'s (?:new )?(?P<of>{_AT_WORK}) is(?: now)?(?: called| named)?{_WITH_A_NAME}",
        "PERSON",
        3,
        "person",
        many=True,
    ),
    _form(rf"'s (?:\w+ )?{_CLOSE}\b", "PERSON", 3),
    _form(rf" has (?:an?|one|two|three|four|five|\d+) (?:\w+ )?{_CLOSE}\b", "PERSON", 4),
    _form(
        r" (?:likes|loves|enjoys|adores|prefers|hates|dislikes|can't stand|doesn't like"
        r"|(?:never|always)(?: (?P<habit>[\w']+))?)\b",
        "PREFERENCE",
        3,
    ),
)
