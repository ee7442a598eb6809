"""Messages that ask for nothing find nothing."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local.template import ROOT
from neve.domain.recall.query import shape
from neve.domain.recall.small_talk import COMMON, SEQUENCES, WORDS
from neve.domain.words import QUERY_STOP_WORDS
from tests.unit.recall_world import RecallWorld

SMALL_TALK = """
ok|👍|👍🏽 👍🏽|❤️|lol|???|thanks!|the a of and|OK!!!|Okaaay|hahahaha|Hmmm...|goooood|:)|:D|xD <3|Thank you so much!
Good morning!|good night, see you tomorrow|How's it going?|what's up|no problem|sounds good, thanks|that makes sense
I see.|I don't know|Never mind|thanks for your help!|you too|yes please|no|what?|really?|and then?|Will you?|danke!
谢谢|你好！|ありがとう|감사합니다|شكرا|धन्यवाद|спасибо 🙂|…|🇵🇹|-car|"thank you"|ok OR yes
Noted.|continue|go on|Shorten that!|make it shorter please
Sorry|Interesting…|One sec|Let's move on.|Great answer|That was helpful|Wait a moment|I'm done for today
Can you say that again?|What do you think?|How are you doing today?|Could we start again?
Vielen Dank!|Guten Morgen!|ja, genau, danke|Muchas gracias, perfecto|Buenos días|merci beaucoup, c'est parfait
D'accord !|grazie mille|Muito obrigada!|ありがとうございます|了解です|おはようございます！|明白了|большое спасибо
""".replace("\n", "|").strip("|")
MEANT = """
morning|my problem|who is my sister?|thanks, Anna|👍 pizza|ok let's book the flight|what did I see in Oslo?|is Will here
does the US require it|5|2023|谢谢你的面条|help me|"to be" Hamlet|good restaurants|no sugar|nice weather
what's the plan for tomorrow|never eat gluten|go to Lisbon|Haharon|lolita|x|:Dora|D|hmmingbird
shorten the letter|continue the story
When do I move back?|what did we say last time|Is my answer ready|how long have I been busy
Guten Appetit|Vielen geht es so|gracias Anna|merci pour le vélo|de nada sirve|ありがとうのカード|明白了吗朋友|morgen
""".replace("\n", "|").strip("|")


@pytest.mark.parametrize("message", SMALL_TALK.split("|"))
def test_small_talk_has_no_content(message: str) -> None:
    assert not shape(message).has_content


@pytest.mark.parametrize("message", MEANT.split("|"))
def test_any_other_word_is_content(message: str) -> None:
    assert shape(message).has_content


EMPTY = st.sampled_from(sorted({*WORDS, *SEQUENCES, *QUERY_STOP_WORDS}))


@given(st.lists(EMPTY, max_size=6), st.lists(EMPTY, max_size=6))
def test_one_word_that_means_something_is_enough(before: list[str], after: list[str]) -> None:
    assert not shape(" ".join(before)).has_content
    assert shape(" ".join([*before, "kayak", *after])).has_content


def test_the_docs_hold_the_whole_list() -> None:
    rules = (ROOT / "docs" / "rules" / "recall.md").read_text(encoding="utf-8")
    [listed] = re.findall(r"^## Small talk$(.*?)^## ", rules, re.MULTILINE | re.DOTALL)
    documented = set(re.split(r"[\s,.·]+", listed))
    assert (WORDS | COMMON) - documented == set()
    lines = " ".join(listed.split())
    assert [sequence for sequence in SEQUENCES if sequence not in lines] == []


def test_what_nobody_has_indexed_yet_is_not_found_by_small_talk_either(world: RecallWorld) -> None:
    world.open()
    world.remember("Thanks is what User says.")
    world.say("thanks, ok")
    assert world.found("thanks", session_id="s1") == []
    assert len(world.found("thanks", session_id="s1", mode="tool")) == 2


def test_a_prompt_without_time_was_not_searched(world: RecallWorld) -> None:
    assert world.ask("ok", budget_ms=0).result_state == "not_searched"
