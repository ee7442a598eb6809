"""Recognises statements of health, which must not be missed, however they are worded: what a person must not eat, take
or be exposed to, what they are ill with, and what they take against it. They are about the speaker or a person close to
them ("my son"), not about what they read or write."""

from __future__ import annotations

import re

from neve.observers.extractive.english.vocabulary import TRAITS, any_of

_DRUG = any_of(
    r"[a-z]{3,}(?:prazole|pril|sartan|statin|olol|formin|gliptin|gliflozin|oxetine|opram|traline|zepam|zolam|cillin"
    r"|mycin|cycline|floxacin|profen|triptan|dipine|parin|xaban|glutide|conazole|lukast|solone|sone|thyroxine|azine"
    r"|apine|bapentin|gabalin)s?|[a-z]{3,}(?:mab|tinib|vir)",
    "insulin warfarin aspirin lithium methotrexate paracetamol codeine morphine melatonin statins antidepressants?",
    "antihistamines? antibiotics? steroids? painkillers? contraceptives? medications? medicine meds pills? tablets",
    "inhalers? epipens? ozempic prozac xanax ritalin adderall",
    r"blood thinners?|beta[- ]blockers?|the pill|birth control|eye drops|chemo",
)
_DOSE = r"\d+(?:[.,]\d+)?\s?(?:mg|mcg|µg|i\.?u\.?|units of insulin|puffs?|tablets?|pills?)"
_CONDITION = any_of(
    *TRAITS,
    r"(?!fantas|plas|elas)[a-z]{3,}(?:itis|osis|emia|aemia|algia|phobia|lepsy|plegia|leptic|philia|exia|arkinson's)",
    "asthma migraines? crohn's ibs gerd reflux hypertension hypotension gout eczema glaucoma cataracts lymphoma lupus",
    "pcos copd hiv pacemaker wheelchair stoma dialysis adhd autism bipolar ptsd ocd schizophrenia dementia alzheimer's",
    "insomnia vertigo tinnitus sciatica hernia bulimia allergy allergies breastfeeding sober seizures arrhythmia",
    "diabetes color-blind cancer hypothyroidism",
    r"(?:high|low) (?:blood pressure|cholesterol)|heart (?:condition|disease|attack|murmur|failure)|blood clots?",
    r"(?:kidney|liver|thyroid|lung|skin) (?:disease|condition|problems?|failure|stones)|sleep apnea|hay fever",
    r"multiple sclerosis|hard of hearing|hearing aids?|panic attacks|(?:an )?anxiety(?: disorder)?",
    r"depression(?= |$)|bad (?:back|knees?|heart)|a stroke(?! of)|eating disorder|(?:recovering )?alcoholic",
)
_FOOD = any_of(
    "sugar meat pork beef chicken fish seafood shellfish shrimps? dairy milk lactose cheese eggs? gluten wheat bread",
    "carbs nuts peanuts soy alcohol wine beer coffee caffeine chocolate grapefruit onions? garlic drinking sweets salt",
    r"red meat|(?:eating|drinking|having) [a-z]+(?: [a-z]+)?",
)
_DIET = any_of(
    r"vegan|vegetarian|pescatarian|keto|halal|kosher|paleo|teetotal\w*|plant-based|fodmap|veggie|c(?:o?eliac)|carnivore",
    r"(?:gluten|dairy|lactose|sugar)-free|low-\w+",
)
_ONE = r"(?:i|we|he|she|my (?!doctor\b|friend|boss\b|neighbou?r|colleague|teacher)(?:[\w-]+ ){0,2}?[\w-]+)"
"""The speaker, or somebody or something of theirs."""
_SOFT = (
    r"(?: (?!about\b|on\b|of\b|for\b|against\b|with\b|who\b|whose\b|that\b|not\b|no\b|if\b|never\b|to\b)[\w'-]+){0,4}?"
)
_NOT_JUST_NOW = (
    r"(?!.*\b(?:today|tonight|yesterday|now|at the moment|this (?:morning|afternoon|evening)|yet|anything"
    r"|breakfast|lunch|dinner)\b)"
)
_THING = (
    r"(?:apps?|projects?|research|articles?|essays?|papers?|class|course|charity|blog|report|page|restaurants?|places?"
    r"|recipes?|food|meals?|dinner|cookbook|friends?|bakery|shop|caf[eé]|menu|dish|options?|burger|cake|tracker)\b"
)
"""Things that have their name from an illness, a drug or a diet, and do not say that a person has it."""
_BAD = (
    r"(?:(?:could|can|would|will|might|nearly|almost) kill(?:ed)? (?:me|him|her)\b"
    r"|(?:gives?|gave) (?:me|him|her) (?:an? |the |bad |terrible )*(?:rash|hives|migraines?|headaches?|heartburn|cramps"
    r"|asthma|stomach ?aches?|diarrh\w+|palpitations)\b"
    r"|makes? (?:me|him|her|my) (?:swell|sick|ill|vomit|itchy?|break out|nauseous|wheeze|bloated|faint|anxious|dizzy"
    r"|throw up|sneeze|panic|unwell|queasy|short of breath|(?:eyes|nose|skin|throat) \w+)"
    r"|(?:upsets?|hurts?) (?:my|his|her) stomach"
    r"|(?:doesn't|don't|does not|do not) agree with (?:me|him|her)"
    r"|sends? (?:me|him|her) to (?:the )?(?:hospital|er)\b"
    r"|(?:a no-go|off[- ]limits|off the table|(?:is|are) (?:not|dangerous|deadly|poison|bad)) for (?:me|him|her)\b)"
)
_PATTERNS = (
    # ill with
    rf"\b{_ONE}(?:(?:'s|'m)(?= )|(?:'ve)?(?: (?:also|still|really|actually|just|both))* (?:have|has|got"
    r"|have got|has got|have had|has had|am|is|are|was|were|been|have been|has been|get|gets"
    r"|live with|lives with|suffer(?:s|ed)? from|suffering from|struggles? with|struggling with|deal with|dealing with"
    r"|living with|developed|carry|carries|use|uses|wear|wears|need|needs|survived"
    r"|(?:was|were|am|is|been|got|have been|has been) (?:recently |just )?diagnosed (?:with|as)))"
    rf"{_SOFT} {_CONDITION}(?![\w'-])(?! {_THING})",
    rf"\b{_ONE} (?:had|got) (?:an? )?(?:\w+ )?(?:heart attack|stroke(?! of)|seizures?|transplant|cancer|leuk\w+)\b",
    r"\bi'?m (?:allergic|intolerant|sensitive|\w+ months pregnant|deaf|blind)\b|\bi can(?:'t|not) (?:see|hear|walk) ",
    rf"\b{_ONE} (?:reacts?|reacted) (?:\w+ )?(?:badly|allergically|severely|strongly) to\b"
    rf"|\b{_ONE} (?:breaks?|comes?|broke|came) out in (?:hives|a rash|spots)\b"
    rf"|\b{_ONE} (?:had|have had|went into|get|gets?) (?:\w+ ){{0,3}}(?:anaphyla\w+|allergic) (?:shock|reactions?)\b",
    rf"^(?!it\b|this\b|that\b)(?:[\w'-]+ ){{1,4}}{_BAD}",
    # what is taken against it
    rf"\b{_ONE}(?:'m|'ve)?(?: (?:also|still|only|always|have|has|had|been|am|is|are|was|were|to))*"
    r"(?: (?:take|takes|taking|on|inject|injects|injecting|use|uses|using|need|needs|swallow|get|gets|put on"
    rf"|prescribed)){_SOFT} (?:{_DRUG}(?![\w-])(?! (?:as|{_THING}))|{_DOSE} (?!of (?:milk|water|flour|sugar|oil)\b))",
    rf"\b(?:put|puts|keeps|started|has|prescribed) (?:me|him|her)(?: \w+)? (?:on )?(?:{_DOSE} (?:of )?)?{_DRUG}\b",
    rf"^{_DOSE} .*\b(?:i (?:take|need|inject)|for me)\b",
    # what is not eaten or drunk
    rf"\b{_ONE} (?:really |also |still )?(?:don't|doesn't|do not|does not|never|can't|cannot|can not|won't|may not"
    r"|must not|mustn't|can no longer|no longer|am not allowed to|is not allowed to|haven't|have not|has not|hasn't)"
    r" (?:really |ever |currently )?(?:eat|eats|eaten|drink|drinks|digest|tolerate|consume|smoke|smokes|touch"
    r"(?= (?:alcohol|meat|sugar|drugs|pork|caffeine|dairy|nuts)\b))(?! (?:out|up|with|in|at|together|enough)\b)"
    rf"(?= |$){_NOT_JUST_NOW}",
    rf"\b{_ONE}(?:'ve)?(?: have| has)? (?:gave up|given up|quit|stopped|cut out|avoids?|stays? away from|off"
    rf"|steers? clear of|abstains? from|can't have|cannot have|can't do|don't do|doesn't do|eat no|eats no|drink no)"
    rf" (?:all |any |most )?{_FOOD}(?![\w'-]){_NOT_JUST_NOW}",
    rf"\bi(?:'m| am) off {_FOOD}(?![\w'-])",
    rf"\b{_ONE}(?:'m|'ve been| (?:am|is|are|been|have been|has been|eat|eats|keep|keeps|follow|follows|live|went|go"
    rf"|turned|became|cook|cooks)){_SOFT} {_DIET}(?![\w-])(?! {_THING})",
    rf"\b{_ONE}(?:'m)? (?:am |is |are )?(?:on|following|follow|follows) (?:an? |the )(?:[\w-]+ ){{0,3}}diet\b",
    rf"\b{_ONE} (?:only|mostly|mainly) (?:eats?|drinks?)\b{_NOT_JUST_NOW}",
    rf"\b{_ONE} (?:fasts?|observes?|keeps?) (?:during |for |in |on )?(?:ramadan|lent|yom kippur|shabbat|the sabbath)\b",
    rf"^(?:please )?no (?:more )?{_FOOD}(?:,? (?:nor|or|and) {_FOOD})*"
    rf"(?:$|,? please| for (?:me|us|him|her)\b| in anything){_NOT_JUST_NOW}",
    r"^(?:known )?(?:food )?(?:allergies\b|allergic to\b|intolerances\b)",
)
_HEALTH = re.compile("|".join(f"(?:{pattern})" for pattern in _PATTERNS), re.IGNORECASE)
_NEAR = re.compile(
    r"^(?!.*\b(?:dog|cat|horse|hamster|friend|boss|neighbou?r|thesis|than the|i took|i had)\b).*"
    rf"(?<!\babout )(?<!\bon )(?<!\bof )\b(?:{_CONDITION}|{_DRUG}|{_DOSE}"
    r"|heart (?:defect|valve|surgery)|thyroid|remission|cane|crutches|transplant|amputated|a kidney|left leg"
    r"|right leg|faint(?:s|ing)?|swells?|throat closes|calories|religion|avoid"
    rf"|stay away from|expecting a baby|in the er|to the er|a drink since)(?![\w'-])(?! {_THING})",
    re.IGNORECASE,
)
"""Words near to health, looked for in a statement that is worth keeping anyway."""
_QUOTED = re.compile(r'"[^"]*"')


def _plain(sentence: str) -> str:
    """Empty the quotations of a sentence."""
    return _QUOTED.sub('""', sentence.replace("’", "'"))


def tells_of_health(sentence: str) -> bool:
    """Say whether a statement tells what its speaker, or a person close to them, must not have, is ill with, or
    takes."""
    return _HEALTH.search(_plain(sentence)) is not None


def is_about_health(sentence: str) -> bool:
    """Say whether a statement of its speaker's, which is kept anyway, is more than a note because it is about
    health."""
    return _NEAR.search(_plain(sentence)) is not None
