"""Which English sentences are worth remembering, by cue phrases, and how much (engine.md §3, "extractive").

The marks follow the observer's scale: 🔴 durable identity, preference, standing wish, correction, unresolved blocker; 🟡
plans, events, decisions, work; 🟢 tentative; ✅ a change of state that really happened. The weights only order the lines of
one pass against each other, where more qualify than a pass may keep."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Mark = Literal["🔴", "🟡", "🟢", "✅"]

_ADVERB = (
    r"(?:really|also|just|still|always|usually|finally|recently|already|actually|even|never|now|only|so|absolutely|totally"
    r"|truly|definitely|probably|often|sometimes|kinda|mostly|generally|typically|currently|simply|both|all|officially"
    r"|successfully|once|first|then|kind of|sort of)"
)
_I = rf"\b(?:i|we|my (?:\w+ ){{0,2}}and i)(?:\s+{_ADVERB})*\s+"
_IM = rf"\b(?:i'm|im|i am|we're|we are)(?:\s+{_ADVERB})*\s+"
_IVE = rf"\b(?:i've|ive|i have|we've|we have)(?:\s+{_ADVERB})*\s+"
_WILL = rf"\b(?:i'll|i will|we'll|we will|i'm going to|i am going to|i'm gonna|im gonna|we're going to|we're gonna)(?:\s+{_ADVERB})*\s+"
_FAMILY = (
    r"(?:wife|husband|partner|spouse|fianc[eé]e?|girlfriend|boyfriend|ex|mother|mom|mum|father|dad|parents?|sisters?|brothers?"
    r"|siblings?|sons?|daughters?|kids?|child(?:ren)?|baby|twins|grandma|grandpa|grandmother|grandfather|grandparents|aunt"
    r"|uncle|cousins?|nieces?|nephews?|(?:best )?friends?|roommates?|flatmates?|neighbou?rs?|boss|manager|dogs?|cats?|pets?"
    r"|pupp(?:y|ies)|kittens?|horse|bird|rabbit|parrot|turtles?|fish|family|team|mentor|doctor|therapist|landlord|colleagues?)"
)
_DONE_VERBS = (
    r"(?:finished|completed|booked|bought|sold|moved|shipped|deployed|released|launched|fixed|solved|resolved|submitted|sent"
    r"|signed|passed|graduated|quit|resigned|retired|started|opened|closed|published|paid|cancell?ed|ordered|merged|adopted"
    r"|received|won|lost|registered|enrolled|joined|left|installed|migrated|upgraded|renewed|delivered|built|renovated|rented"
    r"|hired|fired|promoted|accepted|applied|got married|got engaged|got divorced|got promoted|got hired|got fired|got accepted"
    r"|got the job|got a (?:new )?(?:job|dog|cat|puppy|kitten|car|bike|raise|promotion|degree|house|apartment|place|offer|visa)"
    r"|got my|gave birth|became|broke up|switched|changed|reached|achieved|earned|founded|created|recorded|wrapped up|set up"
    r"|picked up|turned in|handed in|broke my|hurt my|sprained|lost my|named)"
)
_EVENT_VERBS = (
    r"(?:went|met|saw|visited|attended|took|had|made|cooked|baked|ran|hiked|camped|travell?ed|flew|drove|swam|played|watched"
    r"|read|wrote|painted|drew|learned|learnt|tried|spent|celebrated|volunteered|helped|taught|gave|talked|spoke|called|found"
    r"|discovered|hosted|organi[sz]ed|ran into|came|returned|got|did|heard|worked|stayed|performed|participated|took part"
    r"|checked out|came across|explored|grew up|grew|lived|studied|used to|planted|donated|raised|shared|presented|interviewed"
    r"|been|gone|done|seen|had to|decorated|designed|carved|sewed|knitted|photographed|rescued|fostered|competed|trained)"
)
_SMALL_OBJECT = r"(?!\s+(?:that|it|this|these|those|them|you|your|how|what|the way|the idea|the sound|hearing|seeing|to hear|to see|to know)\b)"


@dataclass(frozen=True, slots=True)
class Cue:
    """What kind of statement a sentence is. ``weight`` grows with how surely it should be kept."""

    kind: str
    mark: Mark
    weight: int


def _cue(kind: str, mark: Mark, weight: int, *patterns: str) -> tuple[Cue, re.Pattern[str]]:
    return Cue(kind, mark, weight), re.compile("|".join(patterns), re.IGNORECASE)


_CUES: tuple[tuple[Cue, re.Pattern[str]], ...] = (
    _cue(
        "remember",
        "🔴",
        10,
        r"^(?:please\s+)?(?:can you\s+)?(?:remember|don't forget|do not forget|keep in mind|note|make a note|bear in mind)\s+"
        r"(?:that\s+|this:?\s*|to\s+)?(?!when|how|me\b|the time|if\b)\w",
        r"^(?:important|for the record|fyi|note to self)\s*:",
    ),
    _cue("remind", "🟡", 7, r"^(?:please\s+)?(?:can you\s+)?remind me\b"),
    _cue(
        "rule",
        "🔴",
        9,
        r"^(?:please\s+)?(?:always|never)\s+(?!mind|know|knew|seen|heard|thought|a\b|the\b|been|had\b|gonna|going|ever|again|been)\w+",
        r"\bfrom now on\b|\bin (?:the )?future,? (?:please|always|never|don't|use|call|write|answer)",
        r"^(?:please\s+)?(?:whenever|every time|each time) (?:i|you)\b.*\b(?:please|always|use|do|don't|run|reply|answer|write|ask|send)\b",
        r"^(?:please\s+)?(?:don't|do not|stop|avoid|quit)\s+(?:ever\s+)?(?:use|using|call|calling|write|writing|add|adding|include"
        r"|including|send|sending|ask|asking|suggest|suggesting|mention|mentioning|recommend|recommending|start|starting"
        r"|put|putting|say|saying|repeat|repeating)\b",
        r"^(?:please\s+)?call me\s+(?!back|later|when|if|on\b|at\b|tomorrow|asap|crazy)\w+",
        r"^(?:please\s+)?(?:answer|reply|respond|write|speak|talk)(?:\s+(?:to )?me)?\s+(?:only\s+|always\s+)?(?:in|with|without|more|less)\b",
        r"^(?:please\s+)?keep (?:your |the |all )?(?:answers|replies|responses)\b",
        r"\bi (?:want|need|expect|ask|would like) you to (?:always|never|stop|call)\b",
        r"\b(?:i|we) (?:always|only|never) want\b",
    ),
    _cue(
        "correction",
        "🔴",
        9,
        r"\b(?:no longer|not anymore|changed my mind|i was wrong|i misspoke|i meant)\b",
        r"\b(?:don't|doesn't|do not|isn't|aren't|am not|'m not|haven't|can't|won't|not)\b(?!.*\bknow\b).*\bany ?more\b",
        r"\b(?:i|we|my|it|that|he|she)\b.*\bused to\b.*\b(?:but|now|until)\b",
        r"\bis (?:actually |really )?[\w'-]+, not [\w'-]+",
        r"\b(?:it's|that's|i'm|it is|i am) not [\w' -]{2,40}[,;] (?:but|it's|i'm|that's|it is)\b",
    ),
    _cue(
        "identity",
        "🔴",
        8,
        r"\bmy (?:\w+ ){0,2}(?:name|birthday|anniversary|pronouns|nationality|religion|address|hometown|e-?mail|phone number"
        r"|time ?zone|job|profession|blood type|shoe size|native language|mother tongue|major|degree)(?:'s| is|s are| was)\b",
        r"\b(?:my name's|i go by|i'm called|i am called|people call me|everyone calls me)\b",
        _IM + r"(?:an?\s+)?(?:\w+\s+)?(?:years? old|\d{1,3} years old|vegan|vegetarian|pescatarian|allergic|intolerant|diabetic"
        r"|celiac|coeliac|asthmatic|pregnant|married|single|divorced|widowed|engaged|retired|unemployed|self-employed|freelance"
        r"|left-handed|colou?r-?blind|deaf|blind|dyslexic|autistic|transgender|trans|gay|lesbian|bisexual|queer|non-?binary"
        r"|jewish|muslim|christian|buddhist|hindu|atheist|an only child|bilingual|lactose)\b",
        _IM + r"an?\s+(?!(?:bit|little|lot|huge fan|big fan|fan|couple|few|good|great|bad|big|total|complete|mess|wreck|idiot|sucker"
        r"|morning|night|pro|beginner|step|year|month|week|day|while|hundred|firm|strong|true|proud|lucky|happy|nervous|different"
        r"|better|new|long|real|part|sure)\b)(?:[\w-]+\s+){0,3}?[\w-]*(?:er|or|ist|ian|ant|ent|nurse|chef|cook|pilot|coach|parent|mom"
        r"|mum|dad|mother|father|guide|student|dev|lawyer|artist|engineer|doctor|scientist|vet|judge|clerk|introvert|extrovert)\b",
        _I + r"(?:live|lived|grew up|was born|were born|was raised|come|came originally)\s+(?:in|at|on|near|with|from|outside)\b",
        _IM + r"(?:originally\s+)?(?:from|based in|living in|located in)\s+(?!what|now|here|there|the)\w+",
        _I + r"(?:work|works|worked|teach|study|studied|major|majored)\s+(?:as|at|for|in|with|part|full|remotely|from)\b",
        _I + r"(?:have|own|'ve got|got)\s+(?:an?|one|two|three|four|five|six|\d|twin)\s+(?:[\w-]+\s+){0,3}" + _FAMILY + r"\b",
        rf"\b(?:my|our) (?:[\w-]+ ){{0,2}}{_FAMILY}(?:'s)?(?:,? [A-Z]\w+,?)? (?:is|are|'s|name|named|called|lives?|works?|has|have|was|turns?|turned"
        r"|loves?|likes?|hates?|plays?|speaks?|goes|studies|studied|moved|died|passed away|got|just|needs?)\b",
        rf"\b(?:my|our) (?:[\w-]+ ){{0,2}}{_FAMILY} [A-Z]\w+\b",
        _I + r"speak\s+\w+",
        r"\b(?:i|we) (?:have|suffer from|was diagnosed with|'ve been diagnosed with) (?:an? )?(?:\w+ )?(?:allerg|asthma|diabetes|migraine"
        r"|anxiety|depression|adhd|celiac|arthritis|insomnia|epilepsy|cancer|autism|dyslexia|high blood|condition)\w*",
    ),
    _cue(
        "preference",
        "🔴",
        7,
        _I + r"(?:like|love|prefer|enjoy|hate|dislike|adore|despise|loathe|avoid|favou?r|appreciate|swear by)" + _SMALL_OBJECT + r"\s+\w+",
        _I + r"(?:don't|do not|can't|cannot|never)\s+(?:really\s+|actually\s+)?(?:like|eat|drink|enjoy|stand|tolerate|watch|use|wear|drive"
        r"|fly|smoke|read|trust|do well)" + _SMALL_OBJECT + r"\b",
        r"\bmy (?:\w+ ){0,2}(?:favou?rite|fave|go-to|preferred|comfort|dream|biggest fear|passion|hobb(?:y|ies)|specialty)\b",
        r"\b(?:is|are|was|were|'s)\s+(?:also\s+|still\s+|definitely\s+|probably\s+|one of\s+)?my\s+(?:\w+\s+){0,2}(?:favou?rites?|fave|passion"
        r"|thing|hobby|go-to|dream|love)\b",
        r"\bi'd (?:much )?rather\b|\bi would rather\b",
        _IM + r"(?:a\s+)?(?:big\s+|huge\s+|great\s+|massive\s+|not a\s+|not a big\s+)*(?:fan|lover) of\s+(?!that|it|this|you)\w+",
        _IM + r"(?:really\s+|very\s+|super\s+|not\s+|so\s+)*(?:into|keen on|fond of|passionate about|obsessed with|addicted to|afraid of"
        r"|scared of|terrified of|interested in|crazy about|sick of)\s+(?!that|it|this|you|what)\w+",
        r"\b(?:i|we) (?:usually|always|never|typically|normally|tend to|mostly|rarely|only|often)\s+(?!thought|wanted|know|knew|had\b|been|was"
        r"|felt|say|said|mind|loved|got\b|hoped|wonder|think|feel)\w+",
        r"\b(?:every|each) (?:morning|day|night|evening|week|weekend|month|year|summer|winter|monday|tuesday|wednesday|thursday|friday"
        r"|saturday|sunday)\b.*\b(?:i|we)\b|\b(?:i|we)\b.*\b(?:every|each) (?:morning|day|night|evening|week|weekend|month|year|summer"
        r"|winter|monday|tuesday|wednesday|thursday|friday|saturday|sunday|other)\b",
        r"\b(?:helps|calms|relaxes|inspires|motivates|energi[sz]es) me\b",
    ),
    _cue(
        "blocker",
        "🔴",
        7,
        _IM + r"(?:completely\s+|totally\s+)?(?:stuck|blocked|locked out)\b",
        r"\b(?:doesn't|does not|won't|isn't|still not|not) (?:work|working|start|starting|build|building|compile|load|loading|connect)\b(?! out)",
        r"\b(?:keeps?|still|kept) (?:failing|crashing|breaking|timing out|throwing|getting (?:an?|the) error)\b",
        r"\b(?:i|we) (?:can't|cannot|couldn't) (?:log in|login|access|find|figure out|connect|get .* to work|open|reach|install|reproduce)\b",
        r"\b(?:is|are) (?:broken|down|failing|blocked|crashing)\b(?! to)",
    ),
    _cue(
        "decision",
        "🟡",
        8,
        _I + r"(?:decided|chose|agreed|settled|opted|picked|resolved to|concluded|switched|went with|made up my mind|ended up)\b",
        _IVE + r"(?:decided|chosen|agreed|settled|opted|picked|switched|made up my mind|concluded|selected)\b",
        _IM + r"(?:going with|switching to|sticking with|dropping|giving up|keeping|choosing)\s+\w+",
        _WILL + r"(?:go with|use|take|stick with|switch to|choose|pick|drop|keep)\s+(?!care|a look|it easy|in mind|an eye|you|that in|your)\w+",
        r"^let's (?:go with|use|take|do|stick with|switch to|keep|make it|call it|drop|move|meet|schedule|plan)\b",
        r"\b(?:the|our|my) decision (?:is|was)\b",
    ),
    _cue(
        "done",
        "✅",
        7,
        _I + _DONE_VERBS + r"\b" + _SMALL_OBJECT,
        _IVE + _DONE_VERBS + r"\b" + _SMALL_OBJECT,
        r"\b(?:is|are|was|were|got|has been|have been|'s been) (?:now |finally |already |just |successfully )*(?:done|finished|deployed|fixed|live"
        r"|merged|released|shipped|published|approved|accepted|signed|sold|booked|paid|resolved|cancell?ed|completed|delivered)\b",
    ),
    _cue(
        "plan",
        "🟡",
        6,
        _IM + r"(?:going to|gonna|planning|hoping|about to|off to|heading to|flying|travell?ing|moving|starting|leaving|getting|taking|meeting"
        r"|visiting|seeing|having|hosting|running|doing|returning|attending|signing up|looking for|looking into|saving|applying|preparing"
        r"|training|expecting|buying|selling|renovating|launching|organi[sz]ing|throwing|volunteering|performing|participating)\s+"
        r"(?!better|well|good|great|okay|ok|fine|it\b|that\b|a blast|fun|so\b)\w+",
        _I + r"(?:plan|want|hope|intend|wish|aim|need|have|got|'ve got|'d like|would like|would love)\s+to\s+(?!know|hear|see (?:it|them|that|your|you|what"
        r"|how)|ask|thank|say|share|talk|tell|admit|agree|be honest|hear|check (?:it|that|them)|think about it|apologi)\w+",
        _I + r"(?:want|need)\s+(?:an?|some|my|more|new|better)\s+\w+",
        _I + r"(?:have|'ve got|got)\s+(?:an?|my|the|our)\s+(?:[\w-]+\s+){0,3}(?:appointment|meeting|interview|exam|test|flight|trip|deadline|call"
        r"|surgery|date|class|lesson|party|wedding|concert|show|game|match|race|tournament|conference|workshop|presentation|reservation"
        r"|event|visit|check-?up|performance|competition|gig|goal|plan|project|idea for|dream)\b",
        _WILL + r"(?!be (?:here|there|fine|ok|okay|back|around|sure)|let you|keep (?:that|you|it|in)|try (?:it|that)|check (?:it|that|them|out)"
        r"|think about|definitely (?:check|keep|try)|do (?:that|it)|see|look (?:it|into that)|take care|miss|remember that|talk|catch|ask|tell you"
        r"|send you|have to (?:check|try)|give it|get back|never forget|cherish|support|always)\w+",
        r"\b(?:my|our|the) (?:[\w-]+ ){0,3}(?:deadline|appointment|meeting|interview|exam|flight|trip|wedding|surgery|launch|release|move|party"
        r"|concert|show|race|tournament|conference|presentation|due date|graduation|performance|class|event|opening|competition) (?:is|are|'s"
        r"|starts?|begins?|will|was moved|got moved|has been)\b",
        r"\b(?:looking forward to|can't wait (?:for|to)|excited (?:for|about|to))\s+(?!it\b|that\b|see(?:ing)? (?:it|what|you|how)|hear|know|your|you)"
        r"(?:the|my|our|next|this|a|\w+ing|start|begin|visit|move|try|show|share|meet|get|go|perform|teach|play|take|join)\b",
        r"\b(?:my|our) (?:\w+ ){0,2}(?:goal|plan|dream|aim|next step|ambition|resolution)s? (?:is|are|was|for)\b",
        r"\bone day i\b|\bsomeday i\b",
    ),
    _cue(
        "ongoing",
        "🟡",
        6,
        _IM + r"(?:learning|working on|working|studying|trying to|teaching|writing|reading|building|making|developing|struggling|dealing|recovering"
        r"|raising|caring|restoring|designing|painting|taking care|researching|practi[sc]ing|creating|practicing|growing|managing|focusing"
        r"|considering|reorgani[sz]ing|on (?:a|the) (?:diet|waiting list|team|committee|medication))\b(?! hard$| on it$)",
        r"\bi(?:'ve| have) been (?:\w+ ){0,1}(?!thinking about you|good|great|well|busy|okay|ok\b|there\b|so\b|up to\b|doing (?:great|well|good|ok))\w+ing\b",
        r"\b(?:i|we)(?:'ve| have) (?:\w+ )?(?:been|known|lived|worked|had|owned|played|studied|loved)\b.*\b(?:for|since)\b",
        r"\b(?:we|i) (?:use|run|host|deploy|develop|maintain|manage|build|support|sell|offer|target|drive|own|rent|take|teach|coach|lead"
        r"|collect|grow|belong to|volunteer|play|practi[sc]e|train|organi[sz]e)\s+(?!it\b|that\b|this\b|you\b|care\b)\w+",
    ),
    _cue(
        "event",
        "🟡",
        4,
        _I + _EVENT_VERBS + r"\b(?!\s+(?:it|that|you|this|so|no idea|a blast|what you|fun|great|good)\b)",
        _IVE + _EVENT_VERBS + r"\b(?!\s+(?:it|that|you|this|so|there|great|good|fun)\b)",
        r"\b(?:my|our) (?:[\w'-]+ ){1,3}(?:was|were|broke|died|arrived|came|went|won|lost|got|had|failed|passed|fell|made|gave|took|started|ended|turned)\b",
    ),
    _cue(
        "tentative",
        "🟢",
        3,
        r"\b(?:i|we) (?:might|may|could)\s+(?!be wrong|as well|have missed|say|not|imagine|use a|never|tell|see|relate)\w+",
        _IM + r"(?:thinking (?:about|of)|considering|not sure (?:if|whether)|torn between|wondering (?:if|whether)|tempted to|curious about)\b",
        r"^maybe (?:i|we)\b|\b(?:i|we)(?:'ve| have) been thinking (?:about|of)\b",
        _I + r"(?:need|could use) help\b",
    ),
)

_SMALL_TALK = re.compile(
    r"^(?:thanks|thank you|thx|cheers|welcome|no problem|no worries|good (?:luck|night|morning|point|idea|job|one)|sounds|that sounds|that's|thats"
    r"|that is|that must|that was (?:so )?(?:great|awesome|fun|amazing|nice|cool)$|see you|talk (?:to you|soon)|take care|bye|have (?:a|fun)|enjoy"
    r"|congrat|how (?:about|are)|glad|happy to|nice|cool|awesome|amazing|wow|same here|me too|i see|got it|i (?:agree|understand|get it|hear you"
    r"|bet|guess so|know,? right|know what you|totally get|can (?:imagine|see|relate|totally|only)|appreciate (?:it|that|you)|hope (?:you|so|your|it|that)"
    r"|wish you|love (?:it|that|how|your|hearing|the idea|this|those|them)|can't (?:believe|imagine|agree|thank|wait to (?:see|hear))|couldn't agree|feel you"
    r"|really appreciate (?:it|you|that|your)|'?d love to (?:hear|see|know|check)|would love to (?:hear|see|know)|'?ll (?:keep that|be there|let you|check)"
    r"|think (?:so|that's|you|it's)|don't (?:know|mind|think so)|mean)\b"
    r"|i'?m (?:so |really |very |super |just |always |also )*(?:glad|happy|proud|excited|sorry|here|rooting|impressed|thrilled|grateful|thankful|good|great|fine|ok|okay"
    r"|doing|sure|all ears|with you|there|not sure|curious|lucky|blessed)\b(?! (?:my|our|we|i|to (?:announce|share that|have (?:found|finished|started|my)))\b)"
    r"|(?:keep|let me know|let's (?:chat|talk|catch)|don't (?:worry|give up|forget to)|what a|such a|you|your|you're|you've|you'll|hope|wishing|sending)\b)",
    re.IGNORECASE,
)
_FIRST_PERSON = re.compile(r"\b(?:i|i'm|im|i've|ive|i'll|i'd|my|mine|me|we|we're|we've|we'll|our|us)\b", re.IGNORECASE)
_HYPOTHETICAL = re.compile(r"^(?:if|imagine|suppose|what if|let's say|say i|pretend)\b|\b(?:hypothetically|just kidding|j/k)\b", re.IGNORECASE)
_DANGLING = re.compile(r"^(?:it|it's|that|this|these|those|they|they're|he|she|he's|she's|there|then|which|because|cause)\b", re.IGNORECASE)
_STATES = re.compile(r"^(?:it|that|the|this|he|she|they)\b.*\b(?:is|are|was|were|isn't|aren't|has|have)\b|^(?:it's|that's|he's|she's)\b", re.IGNORECASE)
_NAME = re.compile(r"(?<=[a-z,;:] )[A-Z][\w'-]+")
_REASON = re.compile(r"\b(?:because|since|so that|due to|in order to|therefore)\b", re.IGNORECASE)

FEWEST_WORDS = 3


def judge(sentence: str, *, dated: bool, corrects: bool) -> Cue | None:
    """The cue of a statement with a subject, or None for what is not worth keeping. ``dated``: it holds a date that was
    resolved, which alone makes a statement an event. ``corrects``: it began by taking something back."""
    words = sentence.split()
    if len(words) < FEWEST_WORDS or _HYPOTHETICAL.search(sentence):
        return None
    cue = next((cue for cue, pattern in _CUES if pattern.search(sentence)), None)
    small = _SMALL_TALK.search(sentence) is not None
    if corrects and not small and (_FIRST_PERSON.search(sentence) or _STATES.search(sentence)):
        cue = Cue("correction", "🔴", 9)
    if cue is None or (small and cue.kind not in _SURE_KINDS):
        cue = Cue("dated", "🟡", 3) if dated and not small else None
    if cue is None:
        return None
    return Cue(cue.kind, cue.mark, max(0, cue.weight + _bonus(sentence, dated)))


_SURE_KINDS = frozenset({"remember", "remind", "rule", "correction", "identity"})


def _bonus(sentence: str, dated: bool) -> int:
    """What makes a statement worth more than another of its kind: a date, a figure, a name, a reason."""
    bonus = 2 if dated else 0
    bonus += 1 if re.search(r"\d", sentence) else 0
    bonus += 1 if _NAME.search(sentence) else 0
    bonus += 1 if _REASON.search(sentence) else 0
    bonus -= 3 if _DANGLING.search(sentence) else 0
    bonus -= 2 if not _FIRST_PERSON.search(sentence) and not dated else 0
    bonus -= 1 if len(sentence.split()) > 45 or len(sentence.split()) < 5 else 0
    return bonus


# --- elliptic statements ------------------------------------------------------------------------

_LOST_I = re.compile(
    rf"^(?:(?:just|finally|recently|already|also|still|even|actually)\s+)*(?:{_DONE_VERBS}|{_EVENT_VERBS})\b(?!\s*$)", re.IGNORECASE
)
_LOST_IM = re.compile(
    r"^(?:(?:just|still|currently|also|finally|now)\s+)*(?:planning|thinking (?:of|about)|working on|learning|trying to|looking for|looking forward to"
    r"|moving to|going to|training for|studying|reading|considering|hoping to|getting ready|saving (?:up )?for|preparing)\b",
    re.IGNORECASE,
)
_LOST_PRESENT = re.compile(r"^(?:love|hate|prefer|need to|have to|gotta|want to|live in|work (?:at|as|for)|used to|can't stand|don't (?:eat|drink|like))\s+\w+", re.IGNORECASE)


def with_subject(sentence: str) -> str:
    """The sentence with the "I" that chat leaves out: ``Just finished the course`` -> ``I just finished the course``."""
    if _FIRST_PERSON.match(sentence):
        return sentence
    lowered = sentence[:1].lower() + sentence[1:]
    if _LOST_IM.search(sentence):
        return f"I'm {lowered}"
    if _LOST_I.search(sentence) or _LOST_PRESENT.search(sentence):
        return f"I {lowered}"
    return sentence


# --- what an assistant did ----------------------------------------------------------------------

_ASSISTANT_VERBS = (
    r"(?:booked|reserved|ordered|created|deployed|sent|scheduled|rescheduled|cancell?ed|updated|fixed|deleted|removed|moved|added|saved|renamed"
    r"|merged|published|submitted|filed|set up|installed|configured|enabled|disabled|registered|purchased|bought|uploaded|refunded|changed|migrated"
    r"|restarted|rolled back|reverted|transferred|paid|subscribed|unsubscribed|confirmed|applied)"
)
_ASSISTANT_DID = re.compile(
    rf"^(?:i|i've|i have|we've)(?:\s+(?:now|just|successfully|also|already|gone ahead and|have))*\s+{_ASSISTANT_VERBS}\b(?!.*\b(?:example|below|above|would)\b)"
    rf"|^(?:your|the)\s[^,;]{{2,80}}?\b(?:has been|have been|is now|are now|was|were)\s+(?:\w+ly\s+)?(?:{_ASSISTANT_VERBS}|live|confirmed)\b",
    re.IGNORECASE,
)


def assistant_did(sentence: str) -> bool:
    """Whether an assistant reports an action that it completed for the user."""
    return _ASSISTANT_DID.search(sentence) is not None
