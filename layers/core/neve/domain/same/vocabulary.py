"""Lists the words by which two English statements are found to say the same: what carries nothing, what means the
same, and what means the opposite (docs/rules/facts.md#the-same-statement). A word that is in no list stands for itself,
so that a word too few here is a statement kept twice, and never two that are taken for one."""

from __future__ import annotations

import re


def words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_WITHOUT_MEANING = """
a an the this that these those its as such so which what when where who whom whose why how if then i me my mine myself
we us our ours you your they them their theirs themselves user users am is are was were be been being isn aren wasn
weren do does did doing have has had having got own owns owned and or but also just really very quite absolutely truly
definitely certainly strongly deeply especially particularly extremely totally actually currently presently now
nowadays still already yet please always much lot lots bit kind sort any all both each of to for in on at by with
about from into onto through via around within during can able name names named way it one
"""
DEGREES = words("much lot lots really very quite always all both each totally absolutely truly still yet already just")
"""Words without meaning that have one where something is denied: "not always", "not much"."""
DEICTIC = words("this that these those it one you me them him her us")
"""Words that may be all that a statement is about."""
_NOBODY = """
last next since before after first second once every until ago later soon today tomorrow yesterday
tonight again only than not never no none cannot
time day days week weeks month months year years hour hours minute minutes morning evening afternoon night noon weekend
spring summer autumn fall winter age number part half side end top place city town country village street road
take takes taking took eat eats eating come comes coming came give gives giving put puts see sees seeing look looks
bring brings collect collects collecting support supports support carry meet meets wear wears listen listens watch
watches tolerate show shows open opens close closes follow follows leave leaves arrive arrives stay stays turn turns
add adds remove removes change changes plan plans planning order orders send sends share shares join joins miss misses
sleep sleeps sit sits stand stands walk walks hurt hurts care cares matter matters mean means owe owes lend lends
loan loans loaned owed visit visits ask asks asked tell tells told say says said know knows known think thinks
feel feels keep keeps let lets become becomes grow grows happen happens remain remains contain contains include includes
spend spends cost costs save saves
system team family house room office school hospital kitchen desk table door window box bag book books letter page word
words project app service website program file report list test tests version update frontend backend database language
lesson lessons course class club group band member music song game sport sports ball breakfast lunch dinner bread milk
sugar salt water tea juice wine beer cheese fish chicken egg eggs fruit apple rice soup salad pizza cake chocolate
gluten lactose vitamin emoji emojis money bank tax bill budget deadline date event party birthday wedding
passport visa ticket
hotel airport station bus train plane boat road map weather sun rain snow tree flower animal bird horse fish garden
eye eyes ear ears nose mouth tooth teeth head arm leg foot feet back knee heart blood skin stomach surgery medicine
doctor dentist hospital disease pain colour color red blue green yellow black white grey brown pink orange purple
good bad new old great nice best better worse small big long short high low hot cold warm early late fast slow easy hard
important different same favorite full empty free busy ready sure true false right left
more most less least few many several two three four five six seven eight nine ten
"""
NOBODY = words(_NOBODY)
"""Words that are nobody's name: what a statement has beside its relatives and these may be one, however it is
written."""
WITHOUT_MEANING = words(_WITHOUT_MEANING)
"""Words that two statements may differ in and still say the same. Prepositions are among them, and count all the same
where they tell one part from another: ``ROLES``."""

_PHRASES = (
    (r"(?:\b(?:is|are|was|am)|'m|'s) (?:called|named)\b", "is"),
    (r"(?P<w>\b(?:an?|the|one) (?:[\w-]+ ){1,2}?)(?:called|named)\b", r"\g<w>"),
    (r"\b(?:the|in) us\b", "america"),
    (r"\b(?P<w>works?|job|career|degree) in it\b", r"\g<w> computing"),
    (r"\bthere (?:is|are|was|were)\b", "has"),
    (r"\b(?:go|goes|going|went) (?=[a-z]+ing\b)", ""),
    (r"\b(?:go|goes|going|went) (?:for|on) an? (?=run|walk|swim|hike|ride|jog)", ""),
    (r"\b(?:go|goes|going) to (?=(?:the )?(?:gym|bed|sleep|school|work|church|kindergarten|college|university)\b)", ""),
    (r"\b(?:work|works|working) with\b", "collaborate"),
    (r"(?:[,;] ?)?\bplease\b[,;]?|,? ?\bby the way\b,?", " "),
    (r"\bwork(?:s|ing)? (?:from home|remotely)\b|\bremote worker\b", "remote job"),
    (r"\bdriv(?:er's|ing) licen[cs]e\b", "licence"),
    (r"\b(?P<w>\d+) years old\b", r"\g<w> old"),
    (r"(?:\b(?:i|user) (?:am|is)|i'm) (?P<w>\d+)$", r"\g<w> old"),
    (r"(?:\b(?:is|am)|'m|'s) an? (?P<w>[\w+#.-]+) users?\b", r"use \g<w>"),
    (r"(?:\b(?:is|am)|'m|'s) an? (?:big |huge |great )?(?P<w>[\w ]{1,20}?) fan\b", r"love \g<w>"),
    (r"(?:\b(?:is|am)|'m|'s) an? supporter of\b", "support"),
    (r"\blikes? (?P<w>[\w ]{1,25}?) (?:better|more)$", r"prefer \g<w>"),
    (r"\bunderwent\b", "had"),
    (r"\battends?\b", ""),
    (r"\bread(?:ing|s)? books?\b", "read"),
    (r"\b(?:my|user's) (?:first )?name is\b", "prefer"),
    (r"(?:\b(?:is|am|are)|'m|'re|'s) (?:going|about|set) to (?=[a-z]{2,})(?!the\b)", "~will "),
    (r"\b(?P<w>(?:my|user's|their|our) (?:[\w-]+ ){1,2})(?:is|was|works as|worked as|is employed as) an? ", r"\g<w>"),
    (
        r"\b(?:an? |the )?(?:mother|father|mum|mom|dad|parent) of (?P<w>\d|two|three|four|five|six)"
        r"(?: (?:kids|children))?\b",
        r"\g<w> child",
    ),
    (
        r"(?:\b(?:is|am|are)|'m|'s|'re)(?: not|n't) (?:really |exactly )?(?:an? )?(?:big )?"
        r"(?:fans? of|fond of|into|keen on)\b",
        "hate",
    ),
    (r"(?:\b(?:is|am|are)|'m|'s|'re) (?:really |very |so |quite )?into\b", "love"),
    (r"\b(?:is|are) (?:one of )?(?:my|their|user's) (?:hobby|hobbies|passions?)\b", "love"),
    (r"\b(?:sick|tired) of\b", "hate"),
    (r"\b(?:do|does|is|are|am)?(?:n't| not) (?P<w>[\w ]{1,30}?) (?:any ?more|any longer)\b", r"~ended \g<w>"),
    (
        r"\b(?:everything|anything|everyone|everybody|all|nothing|none|nobody) but\b|\bapart from\b"
        r"|\bexcluding\b|\bother than\b",
        "except",
    ),
    (r"\b(?:been to|visited)\b", "~past visit"),
    (r"\bcomes? from\b", "from"),
    (r"\bjob[- ]hunt(?:s|ing)?\b", "seek job"),
    (r"\bgetting (?=married|divorced|engaged)", "~will "),
    (
        r"\bplan(?:s|ning)? (?:an?|my|the|our|their) (?=trip|journey|holiday|vacation|wedding|party|move|visit)",
        "~plan ",
    ),
    (r"\b(?:can(?:not|'t| not)|(?:can )?hardly) (?:stand|bear)\b", "hate"),
    (r"\b(?:do|does)(?:n't| not) (?:really |particularly )?(?:like|enjoy|care for)\b", "hate"),
    (
        r"\b(?:no longer|used to|former(?:ly)?|(?:quits?|stop(?:s|ped)?|ceased?|g[ai]ven? up|gives up)"
        r"(?= (?:\w+ing|alcohol|cigarettes|meat|coffee)\b))",
        "~ended",
    ),
    (r"\b(?:best|most) of all (?:\w+)\b|\b(?:the )?(?:best|most) of all\b|\bmost of all\b", "favorite"),
    (r"\blikes? (?:best|most)\b|\bloves? most\b|\bbest[- ]loved\b|\bmost (?:liked|loved)\b", "favorite"),
    (
        r"(?:\bwould|'d) (?:much )?rather(?: (?:have|drink|eat|use|take))?\b|\b(?:asks?|asked) (?:for|to have)\b",
        "prefer",
    ),
    (r"(?:\bwould|'d) (?:like|love)\b(?! to)", "prefer"),
    (r"\bpreferred (?=\w+ is\b)", "favorite "),
    (r"\b(?:likes?|enjoys?) (?P<w>[\w' -]{1,30}?) (?:better|more) than\b", r"prefer \g<w> than"),
    (
        r"\b(?:prefers?|chooses?|preferring|preferred) (?!(?:you|him|her|them|it|me|user)\b)(?P<w>[\w' -]{1,30}?)"
        r" (?:over|to|rather than|instead of)\b",
        r"prefer \g<w> than",
    ),
    (r"\b(?:rather than|instead of|in place of|as opposed to)\b", "than"),
    (r"\b(?:get|gets|got|getting) (?:up|out of bed)\b|\bwakes? up\b", "wake"),
    (r"\b(?:works?|working|employed|job is (?:that of|being)|earns? (?:a|their|my) living) as(?: an?)?\b", "~is"),
    (
        r"\b(?:job|profession|occupation|trade|line of work) is(?: that of)?(?: an?)?\b|\bby (?:profession|trade)\b",
        "~is",
    ),
    (r"\b(?:look|looks|looking|search|searches|searching|hunt|hunts|hunting) for\b", "seek"),
    (r"\b(?:wants?|trying|hoping|tries|try|would like|'d like) to (?:find|get|rent)\b", "seek"),
    (r"\b(?:works?|working) out (?=(?:at|in) (?:the|a) gym)", ""),
    (r"\b(?:works?|working) out\b|\bexercis(?:e|es|ing)\b", "train"),
    (r"\brun(?:s|ning)? (?=(?:an?|the|two|three|\d+)?[\w ]{0,8}marathon)", ""),
    (r"\b(?P<w>flights?|trains?|bus(?:es)?)(?P<to> to [\w ]{1,20})? (?:leaves?|departs?|goes)\b", r"\g<w>\g<to>"),
    (r"\b(?:take|takes|drink|drinks|has|have|like|likes|want|wants) (?:my|their|the) (?=coffee|tea)", "drink "),
    (r"\bdying\b", "terminal"),
    (r"\bruns? on\b", "use"),
    (r"\b(?:gives?|causes?|triggers?|sets? off|provokes?|brings? on)(?= (?:me|us|user|my|their|an?|allerg))", ""),
    (r"\b(?:is|are) (?:my|their|user's) (?:job|profession|occupation|trade)\b", "~is"),
    (
        r"\b(?:goes|go|going|went|been) to (?:the|a|an|my|their) (?=dentist|doctor|gp|physio"
        r"|therapist|vet|lawyer|barber)",
        "visit ",
    ),
    (r"(?:\b(?:is|am)|'m|'s) an? (?:(?:big|huge|great) )?fan of\b", "love"),
    (r"(?:\b(?:is|am)|'m|'s) an? (?=(?:vegetarian|vegan|diabetic|asthmatic|celiac|insomniac|parent)\b)", ""),
    (r"(?:\b(?:is|am)|'m|'s) an? (?=\w)", "~is "),
    (r"\bplays? (?:the )?(?=guitar|piano|drum|violin|cello|flute|bass|saxophone|trumpet|keyboard)", ""),
    (r"\b(?P<w>guitar|piano|drum|violin|cello|flute|bass|saxophone|trumpet|keyboard)s? players?\b", r"\g<w>"),
    (r"\bdrives? (?=an?\b)", "car "),
    (r"\bfluent in\b", "speak fluent"),
    (r"\b(?:home city|city of residence|city (?:that |where )?(?:i|user|they) lives?(?: in)?)\b", "live"),
    (r"\b(?:puts?|putting|sets?|setting) (?:money )?aside\b|\bsaves? up\b|\bsaving up\b", "save"),
    (r"\bsaves? money\b|\bsaving money\b", "save"),
    (
        r"\bpass(?:ed|es)? away\b|\blost (?=(?:their|my|his|her) "
        r"(?:grand\w+|mother|father|mum|mom|dad|sister|brother|son|daughter"
        r"|wife|husband|aunt|uncle)\b)",
        "died ",
    ),
    (r"\b(?:grew|grow|grows|growing) up\b|\bchildhood was spent\b|\b(?:was |been )?raised\b", "grow"),
    (r"\bspent (?:his|her|their|my) childhood\b", "grow"),
    (r"\b(?:year|date|day|place) of birth\b", "born"),
    (r"\bbirthday\b|\b(?:is|was) born\b|\bcame into the world\b", "born"),
    (r"\bdiagnosed with\b|\bsuffer(?:s|ed|ing)? from\b|\bsuffer(?:s|ing)?\b|\blive(?:s)? with(?= \w+ disease\b)", ""),
    (r"\bco?eliac(?: disease)?\b", "celiac"),
    (r"\b(?:trouble|problems?|difficulty|difficulties) (?:with )?(?:sleeping|falling asleep|sleep)\b", "insomnia"),
    (r"\b(?:sleeps?|sleeping) (?:badly|poorly)\b|\b(?:can't|cannot|can not) sleep\b", "insomnia"),
    (r"\ballergic reactions?(?: (?:to|from))?\b", "allergy"),
    (
        r"\b(?:does(?:n't| not)|do(?:n't| not)|is(?:n't| not)|won't|no longer)"
        r" (?:work|run|function|turn on)(?:s|ing)?\b",
        "broken",
    ),
    (r"\bout of order\b", "broken"),
    (r"\bsci[- ]?fi\b|\bscience fiction\b", "scifi"),
    (r"\bright now\b|\bat the moment\b|\bthese days\b|\bat present\b|\bas of now\b|\bfor now\b", ""),
    (r"\bas well\b|\bof course\b|\bin fact\b|\bto be honest\b|\bby the way\b|\ba lot\b|\bkind of\b|\bsort of\b", ""),
    (r"\b(?:notebook|laptop)(?: computers?)?\b", "laptop"),
    (r"\b(?:mobile|cell|smart)[- ]?phones?\b", "phone"),
    (r"\b(?:mountain|push)?[- ]?bicycles?\b|\bbikes?\b", "bike"),
    (r"\bsign(?:ed|s)? up\b|\benrol(?:l|led|ls|s)?\b|\bregister(?:ed|s)?\b", "enrol"),
    (r"\bwithout (?:milk|cream)(?: (?:or|and) sugar)?\b|\bno (?:milk|cream)(?:,? (?:or|and|no) sugar)?\b", "black"),
    (r"\bweekends?\b|\bsaturdays and sundays\b", "weekend"),
    (
        r"\b(?:every|each) (?:single )?(?P<w>morning|evening|night|day|week|month|year|weekend|monday|tuesday|wednesday"
        r"|thursday|friday|saturday|sunday)s?\b",
        r"~every \g<w>",
    ),
    (r"\bdaily\b", "~every day"),
    (r"\bnightly\b", "~every night"),
    (r"\bweekly\b", "~every week"),
    (r"\bmonthly\b", "~every month"),
    (r"\b(?:yearly|annually)\b", "~every year"),
    (r"\bon (?P<w>weekend|monday|tuesday|wednesday|thursday|friday|saturday|sunday)s\b", r"~every \g<w>"),
    (r"\bin the (?P<w>mornings?|evenings?|afternoons?)\b", r"\g<w>"),
    (r"\bonce (?:a|per)\b", "1 time"),
    (r"\btwice (?:a|per)\b", "2 time"),
    (r"\btimes (?:a|per|each|every)\b", "time"),
    (
        r"\b(?:plan(?:s|ning)?|intend(?:s|ing)?|aim(?:s|ing)?|going|about|set|hop(?:e|es|ing)|wish(?:es)?"
        r"|want(?:s|ing)?|would like|'d like|would love|dream(?:s|ing)? of|look(?:s|ing)? forward) to"
        r"(?! (?:be|get) (?:called|addressed|named))",
        "~plan",
    ),
    (r"\b(?:will|'ll|shall)\b(?! not)", "~will"),
    (r"\b(?:wants?|would like|'d like|likes?|prefers?) to be (?:called|addressed as|named)\b", "prefer"),
    (r"\b(?:call|address) (?:me|user)\b", "prefer"),
    (r"\b(?:goes|go|went) by(?: the name(?: of)?)?\b|\bprefers? the name\b", "prefer"),
    (r"\bhas to\b|\bhave to\b|\bneeds? to\b|\bmust\b|\bshould\b|\bought to\b", "~must"),
    (
        r"\bmight\b|\bmay (?=\w+ )(?!\d)|\bmaybe\b|\bperhaps\b|\bpossibly\b|\bprobably\b|\bconsider(?:s|ing)?\b"
        r"|\bthink(?:s|ing)? (?:about|of)\b",
        "~maybe",
    ),
    (r"\b(?:rarely|seldom|hardly ever|hardly any|hardly|barely|scarcely)\b", "~rarely"),
    (r"\b(?:sometimes|occasionally|now and then|from time to time)\b", "~sometimes"),
    (r"\b(?:mostly|mainly|usually|generally|primarily|typically|normally)\b", "~mostly"),
    (r"\b(?:often|frequently|regularly)\b", "~often"),
)
_LITERAL = re.compile(r"'[a-z]+|[a-z]{2,}")
PHRASES = tuple(
    (frozenset(_LITERAL.findall(re.sub(r"\\[a-z]|\?P<\w>|[a-z]\?", " ", pattern))), re.compile(pattern), becomes)
    for pattern, becomes in _PHRASES
)
"""What is said in several words, in one that stands for it, in this order, each with parts of which one is in every
text that it is found in. A word with ``~`` is how something holds."""

_GROUPS = """
love like enjoy adore fond fan
hate dislike detest loathe despise
prefer preference want wish require need needs
fluent fluently
pain hurt hurts ache aches aching sore
live reside resident inhabitant home based residence dwell living
move relocate
job work employment career
boss manager supervisor
colleague coworker workmate
company employer firm
doctor physician gp
lawyer attorney solicitor
nurse nursing
teach teaching
math maths mathematics mathematical
paint painting
write writing
run running jog jogging happen occur
swim swimming
cycle cycling bike
hike hiking trek
cook cooking cooks
bake baking
food dish dishes cuisine meal meals
train training prepare preparing preparation practise practice
learn learning study studying student
begin start starting beginning commence
finish complete
end stop quit cease
buy purchase
child children kid kids
mother mum mom mummy mommy
father dad daddy
grandmother grandma granny
grandfather grandpa granddad grandad
partner spouse
married marry marriage wed
fiance fiancee engaged engagement
flat apartment
car automobile
photo photograph picture
film movie
television tv telly
garden yard
holiday vacation
trip journey travel travels travelling traveling
fly flight flying flights
allergy allergic allergies
asthma asthmatic
diabetes diabetic
ill sick unwell illness
tired exhausted
happy glad pleased
sad unhappy
angry mad
afraid scared fear fears frightened terrified phobia
broken broke break breaks
repair fix mend
big large huge
small little tiny
fast quick rapid
short brief concise
long lengthy detailed
reply answer response respond
remind reminder
use using
deploy deployment
meeting appointment
insomnia insomniac
weigh weight
kg kilogram kilograms kilo kilos
km kilometre kilometres kilometer kilometers
euro euros eur
dollar dollars usd
height tall
old age aged
born birth birthplace
die dead died death
brazil brazilian
france french
germany german
spain spanish
italy italian
japan japanese
china chinese
korea korean
russia russian
portugal portuguese
england english
poland polish
sweden swedish
norway norwegian
denmark danish
greece greek
turkey turkish
india indian
mexico mexican
canada canadian
america american usa
medication medicine medicines meds
licence license licences licenses
football soccer
promoted promotion promote
hand handed
drink drinking
smoke smoking
read reading
strong strongly
wake rise
cost price
help assist
talk speak
difficult hard
simple easy
clever smart intelligent
talented gifted
rich wealthy
quiet silent
beautiful pretty lovely
present gift
shop store
lift elevator
university college uni
parcel package
mail email e-mail
phone telephone
error bug
choose chose chosen pick decide decided decision
allow permit
discover find found
build built
create make made
interested interest
hobby pastime
engineer engineering
program programming code coding
accountant accounting
photographer photography
"""

_AGENTS = """
teacher:teach guitarist:guitar pianist:piano drummer:drum violinist:violin painter:paint writer:write runner:run
jogger:run swimmer:swim cyclist:cycle hiker:hike baker:bake smoker:smoke reader:read programmer:program
developer:program coder:program photographer:photo
"""
AGENTS = dict(entry.split(":") for entry in _AGENTS.split())
"""What somebody does who is said to be one. Who has a teacher does not teach."""

_KIN = """
mother father sister brother son daughter wife husband partner girlfriend boyfriend child grandmother grandfather aunt
uncle cousin nephew niece twin fiance boss colleague friend neighbour neighbor flatmate roommate parent dog cat pet
"""
KIN = words(_KIN)
"""Whoever stands in a statement beside the person that it is about: two of them can change places in it."""

ROLES = {
    "about": "about",
    "unless": "unless",
    "if": "if",
    "without": "without",
    "except": "except",
    "than": "than",
    "from": "from",
    "to": "to",
    "before": "before",
    "after": "after",
    "until": "until",
    "till": "until",
    "since": "since",
    "into": "to",
    "towards": "to",
    "against": "against",
}
"""Prepositions that tell one part of a statement from another."""

_ANTONYMS = """
love hate|like hate|prefer hate
early late|long short|big small|fast slow|up down|left right|single married|alone together|morning evening
day night|good bad|well badly|hot cold|warm cold|happy sad|rich poor|old young|old new|high low|easy difficult|begin end
accept decline|accept refuse|accept reject|pass fail|win lose|buy sell|lend borrow|open close|open shut|arrive leave
for against|support oppose|agree disagree|alive die|married divorced|online offline
on off|inside outside|indoors outdoors
always never|rarely often|more less|increase decrease|before after|first last|public private|remote office|home office
home abroad|vegan vegetarian|sweet savoury|light dark|light heavy|strong weak|quiet loud|clean dirty|safe dangerous
healthy ill|full empty|employ unemployed|formal informal|male female|north south|east west|black white|yes no|true false
enable disable|add remove|include exclude|allow forbid|introvert extrovert|tall short|thick thin|wet dry|near far
"""
_NUMBER_WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen twenty"
)
NUMBERS = {word: str(n) for n, word in enumerate(_NUMBER_WORDS.split())}
_MONTHS = """
january jan|february feb|march mar|april apr|may|june jun|july jul|august aug|september sep sept|october oct
november nov|december dec
"""
MONTHS = {name: f"{n:02}" for n, names in enumerate(re.split(r"[|\n]", _MONTHS.strip()), 1) for name in names.split()}
DAYS = words("monday tuesday wednesday thursday friday saturday sunday")

GROUPS = tuple(tuple(line.split()) for line in _GROUPS.strip().splitlines())
ANTONYMS = tuple(tuple(pair.split()) for line in _ANTONYMS.strip().splitlines() for pair in line.split("|"))

_IRREGULAR = """
be:was,were|grow:grew|lose:lost|buy:bought|sell:sold|see:saw,seen|meet:met|take:took,taken|write:wrote,written
eat:ate,eaten|drink:drank,drunk|drive:drove,driven|come:came|spend:spent|begin:began,begun|find:found|run:ran
sing:sang,sung|sleep:slept|teach:taught|think:thought|win:won|become:became|give:gave,given|pay:paid|hear:heard
speak:spoke,spoken|fly:flew,flown|swim:swam,swum|choose:chose,chosen|feel:felt|know:knew|hold:held|wear:wore|fall:fell
build:built|lend:lent|send:sent|forget:forgot|catch:caught|bring:brought|stand:stood|wake:woke|ride:rode|draw:drew|have:had
"""
IRREGULAR = {
    form: base
    for line in _IRREGULAR.strip().splitlines()
    for base, _, forms in (entry.partition(":") for entry in line.split("|"))
    for form in forms.split(",")
}
