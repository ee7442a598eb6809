"""The words that people say to keep a conversation going, and that ask for nothing (docs/rules/recall.md#small-talk).
They only decide whether a message is worth a search; beside a word that means something they are searched like any
other."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Final

from neve.domain.words import QUERY_STOP_WORDS, folded_word, is_emoji

_WORDS = """
ok okay okey okie k kk alright right fine sure yes yep yeah yup ya yea y nope nah no n absolutely definitely exactly
indeed totally true agreed correct noted understood gotcha continue
thanks thank thx ty tysm cheers welcome np please pls plz sorry oops whoops congrats congratulations
hi hello hey heya hiya howdy yo greetings bye goodbye cya ciao goodnight gn gm
lol lmao lmfao rofl omg wtf wow whoa woah hm mhm uh um uhm er ah oh aw ooh ugh meh huh yay hooray yikes phew jeez
hmm mmm ahh ohh aww eh erm ha
cool nice great good awesome amazing perfect wonderful excellent brilliant fantastic lovely sweet super neat
idk idc ikr tbh imo imho btw brb afk ttyl gg wp nvm
danke hallo bitte ja nein genau perfekt tschüss gracias hola adios adiós vale sí claro perfecto merci bonjour bonsoir
salut oui parfait grazie prego sì certo perfetto buongiorno buonasera obrigado obrigada ola olá tchau sim perfeito
спасибо привет пока да нет ок хорошо понятно ладно пожалуйста
谢谢 谢谢你 多谢 你好 好的 好 好吧 是的 明白 明白了 知道了 早上好 晚安 再见
ありがとう ありがとうございます ありがとうございました こんにちは こんばんは おはよう
おはようございます おやすみ おやすみなさい はい いいえ 了解 了解です わかりました 分かりました なるほど すみません
감사합니다 고마워 고마워요 고맙습니다 알겠습니다 안녕 안녕하세요 네 شكرا مرحبا نعم धन्यवाद नमस्ते
"""
WORDS: Final = frozenset(_WORDS.split())

SEQUENCES: Final = (
    "good morning", "good afternoon", "good evening", "good night", "have a good day", "have a nice day",
    "have a great day", "see you", "see you later", "see you soon", "see you tomorrow", "talk later", "talk soon",
    "talk to you later", "how is it going", "how's it going", "how are things", "what's up", "what's new",
    "long time no see", "no problem", "no worries", "never mind", "don't worry", "not bad", "sounds good",
    "sounds great", "looks good", "well done", "good job", "great job", "nice work", "makes sense", "i see",
    "i understand", "i know", "i don't know", "no idea", "for your help", "for the help", "go on", "go ahead",
    "carry on", "keep going", "shorten that", "shorten it", "shorter please", "make it shorter", "make that shorter",
    "tell me more", "let's go", "my pleasure", "take care", "good point", "fair enough",
    "vielen dank", "besten dank", "danke schön", "danke sehr", "guten morgen", "guten tag", "guten abend", "gute nacht",
    "bis später", "bis morgen", "bis bald", "alles klar", "kein problem", "sehr gut",
    "muchas gracias", "mil gracias", "buenos días", "buenos dias", "buenas tardes", "buenas noches", "hasta luego",
    "hasta mañana", "de nada", "de acuerdo", "está bien", "muy bien", "por favor",
    "merci beaucoup", "c'est parfait", "très bien", "d'accord", "de rien", "ça marche", "bonne nuit", "bonne journée",
    "au revoir", "à bientôt", "à demain", "s'il te plaît", "s'il vous plaît",
    "grazie mille", "va bene", "molto bene", "a domani", "muito obrigado", "muito obrigada", "bom dia", "boa tarde",
    "boa noite", "até logo", "até amanhã", "tudo bem", "muito bem",
    "большое спасибо", "доброе утро", "добрый день", "добрый вечер", "спокойной ночи",
)  # fmt: skip
"""Words that are small talk side by side and may mean something alone. What they leave over decides."""

_COMMON = """
go goes going gone come comes coming get let make take give put keep start started begin stop continue move moving wait
waiting hold hang try trying say said saying tell told talk talking speak repeat explain explaining rephrase mean meant
think thinking believe guess suppose hope know understand understood see look looks looking hear heard feel feeling seem
seems sound sounds want need love loved hate appreciate appreciated enjoy enjoyed care bet agree agreed disagree worry
worries done doing finish finished ready ask asking asked answer answers question questions message point
idea job chat conversation topic luck joke typo fun way part bit time times moment minute minutes second seconds sec
secs day night evening today tonight tomorrow now later soon again back here there before next last first new old other
another one two best better bad worse worst wrong right clear busy tired glad happy sad interesting funny hilarious
helpful useful weird crazy strange odd incredible unbelievable impressive different easy hard quick fast
already actually basically honestly seriously literally anyway anyways apparently obviously clearly hopefully perhaps
probably possibly always never little lots thing stuff something anything everything nothing somebody anybody everybody
guy guys man dude buddy mate friend dear bro boss
"""
COMMON: Final = frozenset(_COMMON.split())
"""Words that mean something only beside others: what a message is about that has no other, it does not say."""

EMOTICON: Final = re.compile(r"[:;]['-]?[()\[\]DPpOo/\\|*]+|=[()DP]+|[xX]D+|<3+|\^_*\^")
"""A whole word of a message that is a face or a heart, though it may hold letters."""

_LAUGHTER: Final = re.compile(r"(?:a?h[aeio]){2,}h?|(?:j[aeio]){2,}j?|lo(?:lo)+l?")
_DRAWN_OUT: Final = re.compile(r"([^\W\d])\1{2,}")
_EMPTY: Final = WORDS | QUERY_STOP_WORDS
_OF_SELF = """
i i'm i've i'd i'll me my mine myself we we're we've we'd we'll us our ours
"""
_QUESTIONS = """
what what're when where who whom whose which why how how're do does did have has was were am is are
"""
_REQUESTS = """
can could may might shall should would will let let's
"""
_SELF: Final = frozenset(_OF_SELF.split())
_ASKS: Final = frozenset(_QUESTIONS.split())
_OFFERS: Final = frozenset(_REQUESTS.split())
_FOLDED: Final = sorted((" ".join(map(folded_word, sequence.split())) for sequence in SEQUENCES), key=len, reverse=True)
_IN_SEQUENCES: Final = frozenset(" ".join(_FOLDED).split())


def has_content(words: Iterable[str]) -> bool:
    """Say whether any of the words of a message (``words.whole``, in order) is neither a stop word, nor small talk, nor
    an emoji. Reads no further than the first that is never small talk."""
    words_left: list[str] = []
    unsure = False
    for word in words:
        words_left.append(word)
        if not _is_empty(word):
            if word not in _IN_SEQUENCES:
                return True
            unsure = True
    return unsure and bool(_meaning_something(words_left))


def told_words(words: Iterable[str]) -> list[str]:
    """Return the words of a message (as for ``has_content``) that say what it is about: with content, and not among
    ``COMMON``, unless it asks about its sender ("When do I move back?"), who is remembered."""
    given = list(words)
    found = _meaning_something(given)
    if given and given[0] not in _OFFERS and not (_SELF.isdisjoint(given) or _ASKS.isdisjoint(given)):
        return found
    return [word for word in found if word not in COMMON]


def _meaning_something(words: Sequence[str]) -> list[str]:
    return [word for word in _any_sequence().sub(" ", " ".join(words)).split() if not _is_empty(word)]


@cache
def _any_sequence() -> re.Pattern[str]:
    return re.compile(rf"(?<!\S)(?:{'|'.join(map(re.escape, _FOLDED))})(?!\S)")


def _is_empty(word: str) -> bool:
    """Say whether a word asks for nothing, also drawn out: ``okaaay``, ``goooood``, ``hmmm``."""
    if word in _EMPTY or is_emoji(word) or _LAUGHTER.fullmatch(word):
        return True
    return _DRAWN_OUT.search(word) is not None and any(
        _DRAWN_OUT.sub(as_often, word) in _EMPTY for as_often in (r"\1", r"\1\1")
    )
