"""Lists the function words of the languages beside English that Neve serves: they tell the language of a text, and say
nothing of what a query looks for (docs/rules/recall.md#languages)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_ENGLISH = """
i you he she it we they my your his her its our their the a an and or but of to in on at for with from by as is are
was were be been am have has had do does did no not this that these those there here what which who how when if so
than then me him them us will would can could should about into over up out please only just i'm i've i'll i'd
you're it's that's don't didn't can't we're they're he's she's isn't wasn't won't
"""
_GERMAN = """
ich wohne zuletzt wohnen wohnt arbeite du er sie es wir ihr und oder der das dem ein eine einen einem einer eines
ist bist sind wäre waren nicht kein keine keinen mit für auf zu von bei als mein meine meinen meinem meiner dein
deine deinen deinem deiner sein seine seinen seinem unser unsere unseren unserem uns euch auch wie bitte hab habe
habt hatte hatten haben gegen seit wo wer wann warum wieso weshalb woher wohin welche welcher welches welchen
welchem wenn weil dass aber schon noch nur sehr mir mich dich dir ihn ihm ihnen ihre ihren sich wird werde werden
wurde wurden kann kannst können muss müssen möchte soll sollte darf immer jeden jede jedes jeder nach aus bis über
unter vor zum zur vom beim ins diese dieser dieses diesen einmal nochmal jetzt denn doch gibt geht gern gerne lieber
etwas nichts alle alles viel viele mehr weiß heißt heiße hieß ohne zwischen damit sonst deshalb eigentlich gerade
heute gestern nächste nächsten nächster letzte letzten wieder dann
"""
_SPANISH = """
yo ella nosotros ellos el los las una uno unos unas es soy eres somos son está estás están estoy estamos mi mis tu
tus su sus nuestro nuestra nuestros nuestras en por para con del al que qué se muy tengo tiene tienes tenemos vivo
vive de y lo le les te nos como cómo cuando cuándo dónde donde adónde quién quien cuál cuáles cuánto cuánta cuántos
porque pero más hay hace fue fui ser sobre desde hasta entre también siempre nunca cada todo toda todos todas este
esta esto ese esa eso gusta gustan quiero puedo voy va vamos ahora hoy ayer mañana si sí ni así aquí algo nada otro
otra mucho mucha muchos muchas cuyo sino aunque estaba tenía había ante tras según contra casi ya llevo llama llamo
la
"""
_FRENCH = """
je des sur tu il elle nous vous ils elles et ou où le la les du un une est suis sommes sont êtes es ai avons avez
ont ne pas mon ma mes ton ta tes sa ses notre nos votre vos leur leurs dans avec sans que qui quoi quel quelle quels
quelles quand pourquoi parce mais très aussi moins jamais toujours tout toute tous toutes ce cet cette ces ça c'est
c'était j'ai j'aime j'habite j'avais j'étais n'est n'ai n'a s'est s'appelle m'appelle t'appelle d'un d'une qu'il
qu'elle qu'on qu'un l'on est-ce qu'est-ce suis-je ai-je puis-je aux chez être avoir fait faire était étais avait en
depuis jusqu'à vers entre sous après avant déjà encore maintenant aujourd'hui hier demain ici là rien quelque
quelques peu beaucoup bien dès sinon alors donc se te lui moi toi au cela celui celle dont lequel laquelle y
"""
_PORTUGUESE = """
eu ele ela nós você vocês eles elas é são está estou estão estava estamos não um uma uns umas meu minha meus minhas
teu tua seu sua seus suas nosso nossa nossos nossas de da dos das em na nos nas por para pra com sem que quem qual
quais quando onde aonde como porque quê mas e se já também muito muita muitos muitas mais nunca sempre todo toda
todos todas este esta esse essa isso isto aquele aquela tem tenho temos tinha foi era fui ser ter fazer faz vai vou
ao aos à às pelo pela até desde entre sobre depois antes agora hoje ontem amanhã lá aqui ali lhe te os ou nao voce
ate tambem gosto gosta algo nada outro outra cada quase senão moro chama gente
"""
_ITALIAN = """
io tu lui lei noi voi loro sono sei è siamo gli il lo la le un una uno di che non ho hai abbiamo della delle del nel
nella mio mia miei mie tuo tua anche più ma perché quando dove chi cosa come quale con mi ti si ci e ogni sempre
molto
"""
_DUTCH = """
ik je jij hij zij wij we een het niet geen met voor mijn jouw van de en zijn heb hebben heeft maar ook waar wat wie
hoe waarom wanneer welke naar bij nog wel dat deze dit als er te ze mij ons onze
"""
_WORDS = {"de": _GERMAN, "es": _SPANISH, "fr": _FRENCH, "pt": _PORTUGUESE, "it": _ITALIAN, "nl": _DUTCH}
ENGLISH_VOTES: Final = frozenset(_ENGLISH.split())
VOTES: Final[Mapping[str, frozenset[str]]] = {
    language: frozenset(word for word in words.split() if len(word) > 1) - ENGLISH_VOTES
    for language, words in _WORDS.items()
}
"""Function words by which texts in Latin letters are told apart; those of two languages vote for both, those of English
for English alone. No single letters, which are in every address and formula."""

_ALSO = {
    "de": "die den des war im am um an in so da was bin hat wären mal nie man sein will ob ja nein",
    "es": "y o me he ha has era sin a no sea son eran le sé mí tú él cuáles ellas les ti ello fuera",
    "fr": "y on as pour plus si car me son a fut sois même soit été comment sera ici suis-je",
    "pt": "e é à o a no do me as num numa sou mim deste desta nesta neste seja eram sido há dele dela só",
    "it": "e è per a in da al i o no se ha hanno",
    "nl": "is in die of op om ben was hem haar had kan zal door over uit",
}
STOP_WORDS: Final[Mapping[str, frozenset[str]]] = {
    language: frozenset(f"{_WORDS[language]} {also}".replace("ß", "ss").split()) for language, also in _ALSO.items()
}
"""The words without content, case-folded, of a query in each language in Latin letters but English."""

_RUSSIAN = """
я ты он она оно мы вы они меня тебя его её ее нас вас их мне тебе ему ей нам вам им мной тобой ним ней ними мой моя
моё мое мои моего моей моих моим моему твой твоя твои твоего твоей наш наша наше наши нашего нашей наших нашему свой
своя свои своё и а но или да же ли бы не ни в во на с со к ко у о об от до из за по для при без над под через между
после перед про что чтобы как когда где куда откуда кто кого кому чем который которая которое которые которого какой
какая какое какие какую каком каким какого какому почему зачем сколько это этот эта эти этого этой этом тот та те то
того там тут здесь так уже ещё еще только очень тоже был была было были быть есть нет если всё все всех всего сам
себя себе день
"""
_ARABIC = """
انا انت هو هي نحن انتم هم هذا هذه ذلك تلك الذي التي الذين في من الي علي عن مع بين عند عندي منذ حتي او و ثم لكن لا ما
ماذا لماذا متي اين كيف كم اي هل ان كان كانت كنت كنا يكون قد لقد لن لم ليس ليست كل بعض جدا ايضا فقط بعد قبل اذا لذلك
والا الا وهو وهي وانا لي له لها لنا لك به بها فيه فيها منه منها انه انها اني هنا هناك الان يا عليه لاي
"""
_HINDI = """
मैं मैंने मुझे मुझको मेरा मेरी मेरे हम हमने हमें हमारा हमारी हमारे तुम तुम्हारा आप आपका आपकी आपके वह वो यह ये वे
उसका उसकी उसके उसे उन्हें उनका इस उस इन उन का की के को से में पर ने तक और या लेकिन मगर कि जो तो भी ही है हैं हूं हो
था थी थे गया गई गए रहा रही रहे होता होती होते हुआ हुई हुए कर करके क्या कौन कौनसा कब कहां कैसे क्यों कितना कितनी
कितने किस किसे किसका सा सी नहीं न मत बहुत अब तब जब यहां वहां एक कोई कुछ सब लिए साथ बाद पहले वाला वाली वाले अपना अपनी
अपने जाता जाती जाते इसलिए वरना
"""
_CHINESE = """
什么 为什 么时 时候 怎么 怎样 我们 你们 他们 们的 我的 你的 他的 她的 是什 的什 哪里 哪儿 哪些 哪个 哪种 多少 没有
可以 一个 是不 不是 我是 我在 我有 我对 因为 所以 但是 就是 这个 那个 自己
"""
_JAPANESE = """
です すか ます ますか した まし たか でし ませ せん てい いる いま いた 何で んで 何の どん んな どこ いつ から まで
など こと もの 私の 私は うち ちの のは すは はど はい るの たの ので はな んの って だっ っけ たっ しょ ょう うか
なぜ どの どれ どう うし して たい ない
"""
_KOREAN = """
저는 제가 저의 나는 내가 우리 무엇 뭐예 뭐죠 예요 에요 어요 아요 해요 이에 나요 까요 죠 뭐 어디 디서 언제 왜 누구
누가 어떤 무슨 하고 있어 있고 있나 그리
"""
OTHER_SCRIPTS: Final = frozenset(f"{_RUSSIAN} {_ARABIC} {_HINDI} {_CHINESE} {_JAPANESE} {_KOREAN}".split())
"""The words without content of a query in the other scripts, folded; of those that are read by pairs such pairs."""
