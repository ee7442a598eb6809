"""Word lists that several rules of the extractive observer share."""

from __future__ import annotations


def words(*lists: str) -> frozenset[str]:
    """The words of the lists."""
    return frozenset(word for entries in lists for word in entries.split())


def any_of(*lists: str) -> str:
    """A group that matches any of the entries. A list holds words between blanks, or, with a ``|`` in it, patterns
    between bars, which may hold blanks."""
    alternatives = [entry for entries in lists for entry in ([entries] if "|" in entries else entries.split())]
    return "(?:" + "|".join(alternatives) + ")"


_ADVERBS = (
    "really also just still always usually finally recently already actually even never now only so absolutely",
    "totally truly definitely probably often sometimes kinda mostly generally typically currently simply both all",
    "officially successfully once first then completely super very rarely mainly personally ever hardly barely",
)
ADVERBS = words(*_ADVERBS)
ADVERB = any_of(*_ADVERBS, "kind of|sort of")
FIRST_PERSON = any_of("i i'm im i've ive i'll i'd my mine me we we're we've we'll we'd our us")

FAMILY = any_of(
    "wife husband partner spouse fiancé fiancée fiance fiancee girlfriend boyfriend ex mother mom mum father dad",
    "parent parents sister sisters brother brothers sibling siblings son sons daughter daughters kid kids child",
    "children baby twins grandma grandpa grandmother grandfather grandparents aunt uncle cousin cousins niece nieces",
    "nephew nephews friend friends roommate roommates flatmate neighbor neighbors neighbour neighbours boss manager",
    "mentor therapist landlord colleague colleagues coworker dog dogs cat cats pet pets puppy puppies pup kitten",
    "kittens horse rabbit parrot turtle turtles family",
)
"""People and animals that someone has."""

DONE_VERB = any_of(
    "finished completed booked bought sold moved shipped deployed released launched fixed solved resolved submitted",
    "sent signed passed graduated quit resigned retired started opened closed published paid canceled cancelled",
    "ordered merged adopted won registered enrolled joined installed migrated upgraded renewed delivered built",
    "renovated rented hired promoted accepted applied switched achieved earned founded recorded",
    "got (?:married|engaged|divorced|promoted|hired|fired|accepted)",
    "got (?:the|an?|my) (?:new )?(?:job|dog|cat|puppy|pup|kitten|car|bike|raise|promotion|degree|house|apartment|place"
    "|offer|visa|tattoo|scholarship|license|part-time job)",
    "lost my|broke my|hurt my|gave birth|became an?|broke up|wrapped up|set up|picked up|turned in|handed in|signed up",
)
"""Past forms that tell of a change of state."""

EVENT_VERB = any_of(
    "went met saw visited attended took had made cooked baked ran hiked camped traveled travelled flew drove swam",
    "played watched read wrote painted drew learned learnt tried spent celebrated volunteered helped taught gave",
    "talked spoke called found discovered hosted organized organised came returned got did heard worked stayed",
    "performed participated explored grew lived studied planted donated raised shared presented been gone done seen",
    "decorated designed carved sewed rescued fostered competed trained lost left changed created received",
    "ran into|took part|checked out|came across|used to|had to",
)
"""Past forms that tell of something that happened."""
