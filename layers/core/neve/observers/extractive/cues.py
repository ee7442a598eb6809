"""Which English statements are worth remembering, by cue phrases, and how much (docs/rules/observe.md#extractive).

The marks follow the observer's scale: 🔴 durable identity, preference, standing wish, correction, unresolved blocker;
🟡 plans, events, decisions, work; 🟢 tentative; ✅ a change of state that really happened. The weights only order the
lines of one pass against each other, where more qualify than a pass may keep."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from neve.observers.extractive.chatter import is_dangling, is_hypothetical, is_platitude, is_small_talk, speaks_of_self
from neve.observers.extractive.vocabulary import ADVERB, DONE_VERB, EVENT_VERB, FAMILY, any_of

Mark = Literal["🔴", "🟡", "🟢", "✅"]


@dataclass(frozen=True, slots=True)
class Cue:
    """What kind of statement a sentence is. ``weight`` grows with how surely it should be kept."""

    kind: str
    mark: Mark
    weight: int


FEWEST_WORDS = 3
FEWEST_DATED_WORDS = 6
"""Of a statement that only its date makes worth keeping; the resolved date adds two."""

# --- pieces of patterns -------------------------------------------------------------------------

_I = rf"\b(?:i|we|my (?:\w+ ){{0,2}}and i)(?:\s+{ADVERB})*\s+"
_IM = rf"\b(?:i'm|im|i am|we're|we are)(?:\s+{ADVERB})*\s+"
_IVE = rf"\b(?:i've|ive|i have|we've|we have)(?:\s+{ADVERB})*\s+"
_WILL = rf"\b(?:(?:i|we)'ll|(?:i|we) will|(?:i'm|im|i am|we're|we are) (?:going to|gonna))(?:\s+{ADVERB})*\s+"
_PLEASE = r"^(?:please\s+)?(?:can you\s+|could you\s+)?(?:just\s+)?"
_MY = r"\b(?:my|our)\s+(?:[\w-]+\s+){0,2}"
_BE = r"(?:\s+(?:is|are|was|were)|'s|'re)\b"
_OBJECT = (
    r"(?!\s+"
    + any_of(
        "that it this these those them their you your how what hearing seeing so such",
        "the way|the idea|the sound|to hear|to see|to know|to be|no idea",
    )
    + r"\b)"
)
"""Not followed by an object that only the conversation explains, or that is the listener."""
_BARE_THIS = r"(?:that|this|these|those)(?:\s*$|\s*[,;.!-]|\s+(?:and|but|so)\b)"
_THING = rf"(?!\s+(?:(?:it|them|you|your|how|what|so|such|no idea)\b|{_BARE_THIS}))"
"""As ``_OBJECT``, but "this bowl" says enough where it is told what happened to it."""


def _not(*lists: str) -> str:
    return rf"(?!{any_of(*lists)}\b)"


def _cue(kind: str, mark: Mark, weight: int, *patterns: str) -> tuple[Cue, re.Pattern[str]]:
    return Cue(kind, mark, weight), re.compile("|".join(patterns), re.IGNORECASE)


# --- what an assistant is told ------------------------------------------------------------------

_REMEMBER = _cue(
    "remember",
    "🔴",
    10,
    _PLEASE
    + any_of("remember note", "don't forget|do not forget|keep in mind|make a note|bear in mind")
    + r"\s+"
    + _not("when how me if", "the time|to be")
    + r"(?:that\s+|this\b:?\s*)?\w",
    r"^(?:important|for the record|fyi|note to self)\s*:",
)
_REMIND = _cue("remind", "🟡", 7, _PLEASE + r"remind me\b")
_INSTRUCTED = any_of(
    "use using call calling write writing add adding include including send sending ask asking suggest suggesting",
    "mention mentioning recommend recommending start starting put putting say saying repeat repeating answer reply",
)
_RULE = _cue(
    "rule",
    "🔴",
    9,
    r"^(?:please\s+)?(?:always|never)\s+"
    + _not("mind know knew seen heard thought a the been had gonna again")
    + r"\w+",
    r"\bfrom now on\b|\bin (?:the )?future,? (?:please|always|never|don't|use|call|write|answer)\b",
    r"^(?:please\s+)?(?:whenever|every time|each time) (?:i|you)\b.*\b"
    r"(?:please|always|use|do|don't|run|reply|answer|write|ask|send)\b",
    rf"^(?:please\s+)?(?:don't|do not|stop|avoid|quit)\s+(?:ever\s+)?{_INSTRUCTED}\b",
    r"^(?:please\s+)?(?:just\s+)?call me\s+"
    + _not("back later when whenever anytime if on at tomorrow asap crazy today tonight")
    + r"\w+",
    r"^(?:please\s+)?(?:answer|reply|respond|write|speak|talk)(?:\s+(?:to )?me)?\s+(?:only\s+|always\s+)?"
    r"(?:in|with|without)\b",
    r"^(?:please\s+)?keep (?:your |the |all )?(?:answers|replies|responses)\b",
    r"\bi (?:want|need|expect|ask|would like|prefer) you to\b(?! know\b)",
)

_REQUEST = _cue(
    "request",
    "🟡",
    5,
    _PLEASE
    + any_of("book schedule reschedule order cancel move send buy reserve set add plan arrange", "set up")
    + r"\s+\w+",
)
"""Only with a date: "book a table for Friday" is an appointment in the making."""

# --- who someone is -----------------------------------------------------------------------------

_CORRECTION = _cue(
    "correction",
    "🔴",
    9,
    r"\b(?:no longer|not anymore|changed my mind|i was wrong|i misspoke|i meant)\b",
    r"(?:n't|\bnot)\b(?!.*\bknow\b).*\bany ?more\b",
    r"\b(?:i|we|it|he|she|they) used to (?!it\b|her\b|him\b|them\b|the\b|my\b).*\b(?:but|now|until)\b",
    r"\bis (?:actually |really )?[\w'-]+, not [\w'-]+",
    r"\b(?:it's|that's|i'm|it is|i am) not [\w' -]{2,40}[,;] (?:but|it's|i'm|that's|it is)\b",
)
_TRAIT = any_of(
    "vegan vegetarian pescatarian allergic intolerant diabetic celiac coeliac asthmatic pregnant married single",
    "divorced widowed engaged retired unemployed self-employed freelance left-handed color-blind colour-blind",
    "colorblind deaf blind dyslexic autistic transgender trans gay lesbian bisexual queer nonbinary non-binary",
    "jewish muslim christian buddhist hindu atheist bilingual",
    r"\d{1,3} years old|an only child|lactose intolerant",
)
_ROLE = any_of(
    r"[\w-]*(?:eer|ist|ian|tor|cher|ver|per|ger|ner|der|yer|wer|ter|ser|ker)|cook",
    "nurse chef pilot coach parent mom mum dad mother father guide student dev artist scientist vet judge clerk",
    "introvert extrovert accountant assistant consultant actress intern freshman sophomore junior senior veteran",
)
_NOT_A_ROLE = any_of(
    "bit little lot fan couple few good great bad big total complete mess wreck idiot sucker morning night step",
    "year month week day while hundred firm strong true proud lucky happy nervous different better new long real",
    "part sure believer huge supporter lover winner loser fighter matter never",
)
_AILMENT = r"(?:allerg|asthma|diabetes|migraine|anxiety|depression|adhd|celiac|arthritis|insomnia|epilepsy|cancer)\w*"
_IDENTITY = _cue(
    "identity",
    "🔴",
    8,
    _MY
    + any_of(
        "name birthday anniversary pronouns nationality religion address hometown email e-mail job profession major",
        "degree age",
        "phone number|time ?zone|blood type|shoe size|native language|mother tongue|first language",
    )
    + _BE,
    r"\b(?:my name's|i go by|i'm called|i am called|people call me|everyone calls me)\b",
    rf"{_IM}(?:an?\s+)?(?:\w+\s+)?{_TRAIT}\b",
    rf"{_IM}an?\s+(?!{_NOT_A_ROLE}\b)(?:(?!{_NOT_A_ROLE}\b)[\w-]+\s+){{0,3}}?{_ROLE}\b",
    _I + r"(?:live|lived|grew up|was born|were born|was raised|come)\s+(?:in|at|on|near|with|from|outside)\b"
    r"(?!\s+(?:a world|the moment|that|it)\b)",
    _IM + r"(?:originally\s+)?(?:from|based in|living in|located in)\s+" + _not("what now here there the") + r"\w+",
    _I + r"(?:work|works|worked|teach|study|studied|major|majored)\s+(?:as|at|for|in|part|full|remotely|from)\b"
    r"(?!\s+(?:it|that|them|the)\b)",
    _I + rf"(?:have|own|'ve got|got)\s+(?:an?|one|two|three|four|five|six|\d|twin)\s+(?:[\w-]+\s+){{0,2}}{FAMILY}\b",
    rf"{_MY}{FAMILY}(?:'s)?\s+"
    + any_of("name named called live lives work works study studies studied speak speaks died", "was born|passed away")
    + r"\b",
    rf"{_MY}{FAMILY}{_BE}\s+(?:an?|the|named|called|\d+|from|{_TRAIT})\b",
    rf"{_MY}{FAMILY},?\s+(?-i:[A-Z])\w+",
    _I + r"speak\s+(?-i:[A-Z])\w+",
    r"\b(?:his|her|its|their) names?(?:'s| is| are)\s+(?-i:[A-Z])\w+",
    r"\b(?:i|we)(?: have|'ve(?: got)?| suffer from| was diagnosed with| have been diagnosed with) (?:an? )?(?:\w+ )?"
    + _AILMENT,
)
_PREFERENCE = _cue(
    "preference",
    "🔴",
    7,
    _I
    + any_of(
        "like love prefer enjoy hate dislike adore despise loathe avoid favor favour", "swear by|can't live without"
    )
    + _OBJECT
    + r"\s+\w+",
    _I
    + r"(?:don't|do not|can't|cannot|never)\s+(?:really\s+|actually\s+)?"
    + any_of("like eat drink enjoy stand tolerate watch wear drive fly smoke trust")
    + _OBJECT
    + r"\b",
    _MY + any_of("favorite favourite favorites favourites fave go-to preferred") + r"\b",
    rf"{_MY}(?:passion|hobby|hobbies|biggest fear|specialty|comfort food){_BE}",
    r"(?:\b(?:is|are|was|were)|'s)\s+(?:also\s+|still\s+|definitely\s+|probably\s+|one of\s+)?my\s+(?:\w+\s+){0,2}"
    r"(?:favou?rites?|fave|passion|thing|hobby|go-to|dream|love)\b",
    r"\bi(?:'d| would) (?:much )?rather\b",
    _IM + r"(?:not\s+)?(?:an?\s+)?(?:big\s+|huge\s+|great\s+|massive\s+)*(?:fan|lover) of\s+"
    r"(?!(?:that|it|this|you)\b)\w+",
    _IM
    + r"(?:not\s+)?"
    + any_of(
        "into",
        "keen on|fond of|passionate about|obsessed with|addicted to|afraid of|scared of|terrified of|interested in",
        "crazy about|tired of",
    )
    + r"\s+(?!(?:that|it|this|you|what)\b)\w+",
    r"\b(?:helps|calms|relaxes|inspires|motivates) me (?:to )?\w+",
)

# --- what is going on ---------------------------------------------------------------------------

_BLOCKER = _cue(
    "blocker",
    "🔴",
    7,
    _IM + r"(?:stuck|blocked|locked out)\b",
    r"\b(?:doesn't|does not|won't|isn't|still not|not) "
    r"(?:work|working|start|build|building|compile|load|loading|connect)\b(?! out)",
    r"\b(?:keeps?|still|kept) (?:failing|crashing|breaking|timing out|throwing|getting (?:an?|the) error)\b",
    r"\b(?:i|we) (?:still )?(?:can't|cannot|couldn't) "
    r"(?:log in|login|access|figure out|connect|open|install|reproduce|get .{2,40} to work)\b",
    r"\b(?:is|are) (?:still )?(?:broken|failing|blocked|crashing)\b",
)
_DECISION = _cue(
    "decision",
    "🟡",
    8,
    _I
    + any_of("decided chose agreed settled opted picked concluded switched", "went with|made up my mind|ended up")
    + _OBJECT
    + r"\b",
    _IVE + any_of("decided chosen agreed settled opted picked switched selected", "made up my mind|gone with") + r"\b",
    _IM + r"(?:going with|switching to|sticking with|dropping|giving up)\s+\w+",
    _WILL + r"(?:go with|use|stick with|switch to|choose|pick|drop)\s+(?!(?:that in|your|it)\b)\w+",
    r"^let's (?:go with|use|take|do|stick with|switch to|keep|call it|drop|move|meet|schedule)\s+"
    + _not("it that this motivating going up", "in touch|it up"),
    r"\b(?:the|our|my) decision (?:is|was)\b",
)
_DONE = _cue(
    "done",
    "✅",
    7,
    rf"{_I}{DONE_VERB}\b(?!'){_THING}",
    rf"{_IVE}{DONE_VERB}\b{_THING}",
    r"\b(?:is|are|was|were|got|has been|have been) (?:now |finally |already |just |successfully )*"
    + any_of("finished deployed fixed live merged released shipped published approved accepted signed sold booked paid")
    + r"\b",
)
_DOING = any_of(
    "planning hoping flying traveling travelling moving leaving getting meeting visiting seeing having hosting",
    "running returning attending saving applying preparing training expecting buying selling renovating launching",
    "organizing organising throwing volunteering performing participating",
    r"going to|gonna|about to|signing up|looking for|looking into|starting(?! to\b)|taking(?! care| in\b)",
)
_OCCASION = any_of(
    "appointment meeting interview exam test flight trip deadline call surgery date class lesson party wedding",
    "concert show game match race tournament conference workshop presentation reservation event visit checkup",
    "check-up performance gig competition goal plan project dream launch release move graduation opening vacation",
    "holiday",
    "due date|idea for",
)
_PLAN = _cue(
    "plan",
    "🟡",
    6,
    rf"{_IM}{_DOING}\s+"
    + _not("better well good great okay ok fine it that fun so there", "the most|used to|a blast|a great time")
    + r"\w+",
    r"\b(?:i|we)(?:'d| would)?(?:\s+(?:really|also|still))*\s+"
    r"(?:plan|want|hope|intend|wish|aim|need|have|like|love)\s+to\s+"
    + _not(
        "know hear ask thank say share talk tell admit be agree apologize relax believe keep help make",
        "see (?:it|them|that|your|you|what|how)|check (?:it|that|them)|think about it|give a shout",
    )
    + r"\w+",
    r"\b(?:i|we) (?:want|need) (?:an?|some|my|more|new)\s+\w+",
    _I + rf"(?:have|'ve got|got)\s+(?:an?|my|the|our)\s+(?:[\w-]+\s+){{0,3}}{_OCCASION}\b",
    _WILL
    + _not(
        "see miss talk catch ask support always definitely make keep do be try get give love never cherish let think",
        "tell send forget remember enjoy",
        "add (?:it|that)|look into that|look forward|take care|check (?:it|that|them|out)|have to (?:check|try|watch)",
    )
    + r"\w+",
    rf"{_MY}{_OCCASION}(?:{_BE}|\s+starts?\b|\s+begins?\b|\s+will\b|\s+got moved\b)",
    r"\bi'?m (?:really |so |super |also )*(?:looking forward to|excited (?:for|about|to))\s+"
    + _not("it that hear know your you more", "see(?:ing)? (?:it|what|you|how)|what's")
    + r"\w+",
    r"\bi can't wait (?:for|to)\s+"
    + _not("it that hear know your you", "see (?:it|what|you|how|all|your|where)|show you|tell you|chat|catch")
    + r"\w+",
    rf"{_MY}(?:goal|plan|dream|aim|next step|ambition|resolution)s?{_BE}",
)
_ONGOING = _cue(
    "ongoing",
    "🟡",
    6,
    _IM
    + any_of(
        "learning studying teaching writing reading building developing struggling dealing recovering raising",
        "restoring designing painting researching practising practicing creating growing managing considering",
        "reorganizing working",
        "trying (?:to|out)|doing (?!well|good|great|ok|fine|alright|it|that|so|my best)|making (?!sure)",
        "on (?:a|the) (?:diet|waiting list|team|committee|medication)",
    )
    + r"\b(?! hard$| on it\b| that$)",
    r"\bi(?:'ve| have) been (?:\w+ )?(?!doing (?:great|well|good|ok)|feeling)\w+ing\b(?! (?:great|well|good|ok|you)\b)",
    r"\b(?:i|we)(?:'ve| have) (?:\w+ )?(?:been|known|lived|worked|had|owned|played|studied|loved)\b"
    r".*\b(?:for|since)\b.*\b(?:years?|months?|weeks?|ago|\d+|i)\b",
    r"\b(?:we|i) "
    + any_of(
        "use run host deploy develop maintain manage build sell target drive own rent coach lead collect grow",
        "volunteer play practise practice train",
    )
    + r"\s+"
    + _not("it that this you care into for out")
    + r"\w+",
)
_CALENDAR = any_of(
    "morning day night evening week weekend month year summer winter",
    "monday tuesday wednesday thursday friday saturday sunday",
)
_HABIT = _cue(
    "habit",
    "🟡",
    6,
    r"\b(?:i|we) (?:usually|always|never|typically|normally|tend to|mostly|rarely|often)\s+"
    + _not("thought wanted know knew had been was felt say said mind loved got hoped wonder think feel try be expected")
    + r"\w+",
    rf"\bevery (?:other )?{_CALENDAR}\b.*\b(?:i|we)\b",
    rf"\b(?:i|we|i'm|im|i've)\b.*\b(?:each|every|every other) {_CALENDAR}\b",
)
_TENTATIVE = _cue(
    "tentative",
    "🟢",
    3,
    r"\b(?:i|we) (?:might|may)\s+" + _not("say not", "be wrong|as well|have missed") + r"\w+",
    _IM
    + any_of(
        "thinking (?:about|of)|not sure (?:if|whether)|torn between|wondering (?:if|whether)|tempted to|curious about"
    )
    + r"\s+(?!you\b)",
    r"^maybe (?:i|we)\b|\bi(?:'ve| have) been thinking (?:about|of)\b",
    r"\b(?:i|we) (?:need|could use) (?:some )?help (?:with|to)\b",
    r"\bi think (?:we|i) should\b|\bi(?:'m| am) leaning towards?\b",
)
_EVENT = _cue(
    "event",
    "🟡",
    4,
    rf"{_I}{EVENT_VERB}\b(?!'){_THING}(?!\s+(?:a blast|fun|great|good)\b)",
    rf"{_IVE}{EVENT_VERB}\b{_THING}(?!\s+(?:there|great|good|fun|through)\b)",
    _MY
    + any_of("was were broke died arrived came went won lost got had failed passed fell gave took started ended turned")
    + r"\b",
)
_FAMILY_NEWS = _cue("family", "🟡", 5, rf"{_MY}{FAMILY}\s+(?!and\b|mean\b|moments\b)\w+")

_STATE = _cue(
    "state",
    "🟡",
    3,
    r"^(?:the|our|my|(?-i:[A-Z])[\w-]+(?:'s)?)\s+[\w' -]{2,40}?\s"
    + any_of(
        "is are was were has have runs? uses? wants? needs? costs? expires? starts? ends? closes? opens? prefers?",
        "moved changed",
    )
    + r"\b\s+\w+",
    r"^[\w' -]{2,40}\s(?:is|are|was|were|costs?)\s[^.]{0,20}\d",
)
"""How things are in the user's world: the client wants it in green, the server runs on port 8443."""

_CUES = (
    *(_REMEMBER, _REMIND, _RULE, _CORRECTION, _IDENTITY, _PREFERENCE, _BLOCKER, _DECISION, _DONE),
    *(_PLAN, _HABIT, _ONGOING, _TENTATIVE, _EVENT, _FAMILY_NEWS, _REQUEST, _STATE),
)
"""The surest first: the first that matches decides."""
_ORDERS = frozenset({"remember", "remind", "rule"})
"""Kinds that are said to an assistant, and that small talk does not look like."""

# --- judgement ----------------------------------------------------------------------------------

_STATES = re.compile(
    r"^(?:it|that|the|this|he|she|they)\b.*\b(?:is|are|was|were|isn't|aren't|has|have)\b|^(?:it|that|he|she)'s\b",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?<=[a-z,;:] )(?!I\b)[A-Z][\w'-]+")
_TAKEN_BACK = Cue("correction", "🔴", 9)
_OF_SPEAKER = re.compile(
    r"\b(?:i|i'm|i've|i'd|i'll|my|me|mine|please|from now on|in (?:the )?future|answers?|repl(?:y|ies)|responses?)\b"
    rf"|^(?:don't|do not|stop|avoid|quit)\s+(?:ever\s+)?{_INSTRUCTED}\b",
    re.IGNORECASE,
)
_LISTENER = re.compile(r"\b(?:you|you're|your|yours|yourself)\b", re.IGNORECASE)
_REASON = re.compile(r"\b(?:because|since|so that|due to|in order to|therefore)\b", re.IGNORECASE)


def judge(sentence: str, *, dated: bool, corrects: bool, among_people: bool, casual: bool) -> Cue | None:
    """The cue of a statement, or None for what is not worth keeping. ``dated``: it holds a resolved date, which alone
    makes a statement an event. ``corrects``: it began by taking something back. ``among_people``: the listener is a
    person, who is given advice where an assistant is given orders. ``casual``: too short a message to be pasted."""
    if len(sentence.split()) < FEWEST_WORDS or is_hypothetical(sentence):
        return None
    cue = next((cue for cue, pattern in _CUES if pattern.search(sentence)), None)
    if corrects and not is_small_talk(sentence) and (speaks_of_self(sentence) or _states(sentence, cue)):
        cue = _TAKEN_BACK
    else:
        if not (cue and cue.kind in _ORDERS):
            cue = _of_statement(sentence, cue, dated, among_people)
        if cue and not _meant(sentence, cue.kind, dated, among_people, casual):
            cue = None
    return cue and Cue(cue.kind, cue.mark, max(0, cue.weight + _bonus(sentence, dated)))


def _states(sentence: str, cue: Cue | None) -> bool:
    return _STATES.search(sentence) is not None or (cue is not None and cue.kind == "state")


def _of_statement(sentence: str, cue: Cue | None, dated: bool, among_people: bool) -> Cue | None:
    """The cue, unless the sentence is chat or cannot be understood alone; a date may stand in for one."""
    if is_small_talk(sentence) or (among_people and not dated and is_platitude(sentence)):
        return None
    if is_dangling(sentence) and not (dated and speaks_of_self(sentence)):
        return None
    return cue or (Cue("dated", "🟡", 3) if dated and len(sentence.split()) > FEWEST_DATED_WORDS else None)


def _meant(sentence: str, kind: str, dated: bool, among_people: bool, casual: bool) -> bool:
    """Bare states are taken seriously where they are said to an assistant, and so are orders; between people an order
    must be a wish of the speaker."""
    if kind in _ORDERS:
        return not among_people or _wished(sentence, kind)
    if kind == "request":
        return dated and not among_people
    return kind != "state" or (casual and not among_people)


def _wished(sentence: str, kind: str) -> bool:
    """Whether an order is about its speaker or the way to talk to them, not advice such as "never give up"."""
    if is_platitude(sentence) or (kind == "remember" and _LISTENER.search(sentence)):
        return False
    return _OF_SPEAKER.search(sentence) is not None


def _bonus(sentence: str, dated: bool) -> int:
    """What makes a statement worth more than another of its kind: a date, a figure, a name, a reason."""
    length = len(sentence.split())
    bonus = 2 if dated else 0
    bonus += 1 if re.search(r"\d", sentence) else 0
    bonus += 1 if _NAME.search(sentence) else 0
    bonus += 1 if _REASON.search(sentence) else 0
    bonus -= 0 if dated or speaks_of_self(sentence) else 2
    return bonus - (1 if length > 45 or length < 5 else 0)


# --- what an assistant did ----------------------------------------------------------------------

_ASSISTANT_VERB = any_of(
    "booked reserved ordered created deployed sent scheduled rescheduled canceled cancelled updated fixed deleted",
    "removed moved added saved renamed merged published submitted filed installed configured enabled disabled",
    "registered purchased bought uploaded refunded changed migrated restarted reverted transferred paid subscribed",
    "unsubscribed confirmed",
    "set up|rolled back",
)
_ASSISTANT_DID = re.compile(
    rf"^(?:i|i've|i have|we've)(?:\s+(?:{ADVERB}|gone ahead and))*\s+{_ASSISTANT_VERB}\b"
    r"(?!.*\b(?:example|below|above|would)\b)"
    r"|^(?:your|the)\s[^,;]{2,80}?\b(?:has been|have been|is now|are now)\s+(?:\w+ly\s+)?"
    rf"(?:{_ASSISTANT_VERB}|live)\b",
    re.IGNORECASE,
)


def assistant_did(sentence: str) -> bool:
    """Whether an assistant reports an action that it completed for the user."""
    return _ASSISTANT_DID.search(sentence) is not None
