"""The observer without a model does not turn round, garble or date wrongly what was said."""

from __future__ import annotations

import pytest

from neve.domain.records.memories import Kind
from neve.domain.records.sessions import Event, EventType
from neve.observers.extractive.english.person import about
from neve.observers.extractive.english.sentences import MAX_SENTENCE
from neve.observers.extractive.observer import ExtractiveObserver
from neve.observing import Observed, PassInput, PriorMemory

WEDNESDAY = "2026-11-25T09:00:00.000Z"


def observed(text: str, *prior: str, then: str | None = None) -> Observed:
    """``then``: a second message."""
    shown = tuple(PriorMemory(f"mem_{n}", fact, local=False, kind=Kind.FACT) for n, fact in enumerate(prior))
    texts = [text] if then is None else [text, then]
    events = [Event(n, EventType.USER_MESSAGE, said, 1, WEDNESDAY) for n, said in enumerate(texts, start=1)]
    return ExtractiveObserver().observe(PassInput("s", events, shown, "UTC", 8_000))


def lines(text: str, then: str | None = None) -> list[str]:
    return [line.text.split(" ", 1)[1] for line in observed(text, then=then).lines]


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("No nuts please, I'm allergic.", ['User: "No nuts please, I\'m allergic"']),
        ("No alcohol for me, I'm pregnant.", ['User: "No alcohol for me, I\'m pregnant"']),
        ("Hi there, no wheat for me: I'm celiac", ['User: "no wheat for me: I\'m celiac"']),
        ("No peanuts in my recipes", ['User: "No peanuts in my recipes"']),
        ("No problem, I live in Bonn", ['User: "I live in Bonn"']),
        ("No thanks, I'm vegan", ['User: "I\'m vegan"']),
        ("No, I live in Bonn", ['User: "No, I live in Bonn"']),
    ],
)
def test_a_no_that_asks_stays(said: str, kept: list[str]) -> None:
    assert lines(said) == kept


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("My name is Olga and I live in Riga.", "User's name is Olga and User lives in Riga"),
        ("Hi, my name is Tom and I'm a nurse from Leeds.", "User's name is Tom and User is a nurse from Leeds"),
        ("My son is four and I work nights", "User's son is four and User works nights"),
        ("My back hurts and I can't sit", "User's back hurts and User can't sit"),
        ("My wife Ana and I moved to Oslo", "User and their wife Ana moved to Oslo"),
    ],
)
def test_only_people_are_joined_with_the_user(said: str, kept: str) -> None:
    assert about("User", said.removeprefix("Hi, ").removesuffix(".")).casefold() == kept.casefold()


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (
            "My daughter is allergic to nuts and I'm allergic to cats.",
            "User's daughter is allergic to nuts and User is allergic to cats",
        ),
        ("My wife loves sushi but I hate it.", "User's wife loves sushi but User hates it"),
        (
            "My colleague Tom and my wife are vegan, I'm not.",
            "User's colleague Tom and User's wife are vegan, User is not",
        ),
        ("My boss Karin told me I'm getting promoted.", "User's boss Karin told them User is getting promoted"),
        (
            "My mom is allergic to penicillin and so am I.",
            "User's mom is allergic to penicillin and so is User",
        ),
        ("I live in Oslo and my sister lives in Rome.", "User lives in Oslo and their sister lives in Rome"),
        (
            "My mum is a nurse and I'm a vet, so I know my way.",
            "User's mum is a nurse and User is a vet, so they know their way",
        ),
    ],
)
def test_what_is_said_of_a_relative_is_not_said_of_the_user(said: str, kept: str) -> None:
    """ "They" behind "User's daughter" would be the daughter."""
    assert about("User", said.removeprefix("Hi, ").removesuffix(".")).casefold() == kept.casefold()


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (
            "I hate mushrooms, don't put them in any recipe.",
            ['User: "I hate mushrooms, don\'t put them in any recipe"'],
        ),
        ("I'm dyslexic, keep sentences short.", ['User: "I\'m dyslexic, keep sentences short"']),
        (
            "I have asthma, avoid suggesting smoky bars.",
            ['User: "I have asthma, avoid suggesting smoky bars"'],
        ),
        (
            "I'm interviewing at Bosch on Friday at 3pm, don't tell anyone lol",
            ["User: \"I'm interviewing at Bosch on Friday (meaning 2026-11-27) at 3pm, don't tell anyone lol\""],
        ),
        ("I live in Bergen, work at the port, and sing.", ['User: "I live in Bergen, work at the port, and sing"']),
        ("I eat fish, but don't eat meat", ['User: "I eat fish, but don\'t eat meat"']),
        ("I have two cats, please remember that.", ['User: "I have two cats, please remember that"']),
    ],
)
def test_what_the_listener_is_told_to_do_is_not_what_the_user_does(said: str, kept: list[str]) -> None:
    assert lines(said) == kept


@pytest.mark.parametrize(
    ("said", "meaning"),
    [
        ("I booked a table at Roma on Friday.", "2026-11-27"),
        ("I've booked the dentist on Monday.", "2026-11-30"),
        ("I promised to call my mom on Sunday", "2026-11-29"),
        ("I signed up for the race on Saturday", "2026-11-28"),
        ("I decided to move to Bergen in May", "2027-05"),
        ("I got an appointment at the clinic on Friday.", "2026-11-27"),
        ("I visited Roma on Friday.", "2026-11-20"),
        ("I booked a table and went there on Friday.", "2026-11-20"),
    ],
)
def test_what_was_arranged_is_to_come(said: str, meaning: str) -> None:
    assert any(f"(meaning {meaning})" in line for line in lines(said))


@pytest.mark.parametrize(
    ("said", "fact"),
    [
        (
            "It turns out I'm not allergic to penicillin, the test came back negative.",
            'User: "i\'m allergic to penicillin"',
        ),
        ("Apparently I'm not allergic to nuts", "User is allergic to nuts"),
        ("The doctor says I'm not allergic to milk after all, my results were fine", "User is allergic to milk"),
        ("Actually the doctor says I don't have celiac after all", "User has celiac"),
    ],
)
def test_what_turns_out_not_to_be_so_is_taken_back(said: str, fact: str) -> None:
    [found] = observed(said, fact).facts
    assert (found.relation, found.target_id) == ("contradicts", "mem_0")


@pytest.mark.parametrize(
    "said",
    [
        "I am allergic to nuts. Just kidding, I'm not.",
        "I'm a vegan. I'm joking.",
        "Don't remember this: I have HIV.",
        "I have HIV. Don't remember that.",
        "I'm pregnant, but please keep this between us.",
        "My SSN is [removed].",
        "My card number is [removed] and PIN 9921",
        "I live at [removed] in Bonn.",
        "Ich arbeite als Arzt in Bonn.",
        "Je suis allergique aux noix.",
        "Soy vegano y vivo en Madrid.",
        "Return self.queryset.filter(owner=request.user)",
        "Explain to me in detail how photosynthesis works in France",
        "My friend says I am allergic to work",
    ],
)
def test_what_is_not_to_be_kept_is_not(said: str) -> None:
    assert (lines(said), observed(said).facts) == ([], ())


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("Rufus died last week.", 'User: "Rufus died last week (meaning 2026-11-16 to 2026-11-22)"'),
        ("Rex died yesterday", 'User: "Rex died yesterday (meaning 2026-11-24)"'),
        ("Google fired me yesterday", 'User: "Google fired me yesterday (meaning 2026-11-24)"'),
        ("Zoe can't have dairy.", 'User: "Zoe can\'t have dairy"'),
        ("Type 1 diabetic, on a pump.", 'User: "Type 1 diabetic, on a pump"'),
        ("We have 4 ovens, and all of them work.", 'User: "We have 4 ovens, and all of them work"'),
        ("I wanna be a pilot some day", 'User: "I wanna be a pilot some day"'),
        ("I ain't vegan", 'User: "I ain\'t vegan"'),
        ("Note to self: buy insulin", 'User: "Note to self: buy insulin"'),
        (
            "Can you remember that the staging DB is at db.internal?",
            'User: "Can you remember that the staging DB is at db.internal?"',
        ),
    ],
)
def test_what_is_said_shortly_is_kept(said: str, kept: str) -> None:
    assert lines(said) == [kept]


@pytest.mark.parametrize("sign", [".", "!", "…", ";", "1. "])
def test_a_message_of_one_sign_holds_up_no_worker(sign: str) -> None:
    """Read again from each of its signs, this takes minutes, in which nothing else of the session is observed."""
    assert lines(f"I live in Lyon\n{sign * (110_000 // len(sign))}") == ['User: "I live in Lyon"']


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("My friend wrote me this:\nI'm leaving my husband. I'm moving to Spain.\nWhat should I answer?", []),
        ("She said:\n\nI'm pregnant.\n\nI live in Rome.", ['User: "I live in Rome"']),
        ("I got this email from my landlord:\n\nI am selling the flat.\n\nI love you all.\nBob", []),
        (
            "Can you reply to this?\n\nHi John,\n\nMy wife Karen is pregnant.\n\nBest,\nMike\n\nI live in Rome.",
            ['User: "I live in Rome"'],
        ),
        ('What does this mean?\n\n"I have been diagnosed with cancer."', []),
        ("What does this mean? “I live in Oslo.” I live in Rome.", ['User: "I live in Rome"']),
        ("2026-03-10 12:00:01 - my connection is dead\nERROR: my driver is stuck\nI'm vegan", ['User: "I\'m vegan"']),
        # their own
        ("I told her:\nI'm a nurse.", ['User: "I\'m a nurse"']),
        ("Two things about me:\nI'm a nurse.", ['User: "I\'m a nurse"']),
        ("Hi Neve,\n\nI'm a nurse.\n\nBest,\nAna", ['User: "I\'m a nurse"']),
        ('"I\'m a nurse."', ['User: "I\'m a nurse"']),
        ('"I will survive" is my favourite song.', ["User: \"'I will survive' is my favourite song\""]),
    ],
)
def test_what_somebody_else_wrote_is_not_the_users(said: str, kept: list[str]) -> None:
    assert [line for line in lines(said) if "got this email" not in line] == kept


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("If I move to Spain in June, do I need a visa?", []),
        ("I almost bought a Tesla yesterday.", []),
        ("We've nearly finished the garden.", []),
        ("Please forget that I'm vegan.", []),
        ("I almost never eat meat.", ['User: "I almost never eat meat"']),
        ("I nearly always skip breakfast.", ['User: "I nearly always skip breakfast"']),
    ],
)
def test_what_did_not_happen_is_not_remembered(said: str, kept: list[str]) -> None:
    assert lines(said) == kept
    assert all("Tesla" not in fact.text for fact in observed(said).facts)


DICTATED = (
    "so i finally got around to it and i moved to berlin last month and i work at a small bakery near the canal"
    " now which is great because the mornings are early but you get to go home by two and the people there are"
    " kind and my sister is coming to visit in the spring and we might go hiking in the harz for a few days"
    " because she has never been there and i'm allergic to penicillin so i need to find a doctor here soon and the"
    " heating in the flat has been broken for a whole week now and the landlord does not answer when anybody calls"
    " him and the neighbours say he never does and that the last people who lived here left because of it which"
    " would have been good to know before"
)


def test_what_was_dictated_without_a_full_stop_is_read_in_parts() -> None:
    assert len(DICTATED) > MAX_SENTENCE
    assert 'User: "i\'m allergic to penicillin"' in "\n".join(lines(DICTATED))
    pasted = " ".join(f"item {n} of the list" for n in range(60))
    assert lines(f"i'm allergic to {pasted}") == []


def test_a_short_month_does_not_end_a_sentence() -> None:
    assert lines("My review is on Dec. 5th at noon.") == [
        'User: "My review is on Dec. 5th (meaning 2026-12-05) at noon"'
    ]


def test_a_long_statement_is_kept_whole() -> None:
    long = f"I'm allergic to nuts, {', '.join(f'grass number {n}' for n in range(20))} and penicillin"
    found = observed(f"I live in Lyon.\n{long}.")
    assert [line.text for line in found.lines] == ['🔴 User: "I live in Lyon"', f'🔴 User: "{long}"']
    assert found.lines_left_out == ()


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("I use spaces, never tabs.", ['User: "I use spaces, never tabs"']),
        ("My son likes rice, never pasta.", ['User: "My son likes rice, never pasta"']),
        ("I smoke cigars, never cigarettes, at parties.", ['User: "I smoke cigars, never cigarettes, at parties"']),
        ("I speak German, never learned French.", ['User: "I speak German, never learned French"']),
        (
            "I prefer short answers, never use emojis.",
            ['User: "I prefer short answers, never use emojis"'],
        ),
    ],
)
def test_never_before_a_thing_is_no_order(said: str, kept: list[str]) -> None:
    assert lines(said) == kept


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("14 Rose Lane, Bristol BS1 4DJ", 'User: "14 Rose Lane, Bristol BS1 4DJ"'),
        ("10:30 - took my insulin", 'User: "10:30 - took my insulin"'),
    ],
)
def test_a_figure_in_front_is_no_lost_subject(said: str, kept: str) -> None:
    assert lines(said) == [kept]


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (
            "The contractor quoted 13,900 incl. VAT but without appliances, approx. 3 weeks, e.g. no tiles",
            ['User: "The contractor quoted 13,900 incl. VAT but without appliances, approx. 3 weeks, e.g. no tiles"'],
        ),
        ("I live at 12 Mill Rd. in Leeds.", ['User: "I live at 12 Mill Rd. in Leeds"']),
        ("My rent is approx. 900 euros incl. heating.", ['User: "My rent is approx. 900 euros incl. heating"']),
        ("I take 20 mg. daily for my asthma.", ['User: "I take 20 mg. daily for my asthma"']),
        # of who writes no capitals, or few
        ("i live in porto. my dog is called rex", ['User: "i live in porto"', 'User: "my dog is called rex"']),
        ("I live in Porto. my dog is called rex", ['User: "I live in Porto"', 'User: "my dog is called rex"']),
        ("I work at Bosch. love it there. vegan btw", ['User: "I work at Bosch"']),
        (
            "I live at 12 Mill Rd. My dog is called Rex.",
            ['User: "I live at 12 Mill Rd"', 'User: "My dog is called Rex"'],
        ),
    ],
)
def test_a_sentence_does_not_end_inside(said: str, kept: list[str]) -> None:
    assert [line for line in lines(said) if "love it" not in line] == kept


@pytest.mark.parametrize("tag", ["right?", "crazy right?", "wild, huh?", "correct?"])
def test_a_tag_makes_no_question_of_what_is_said_of_oneself(tag: str) -> None:
    said = f"I've been married to Joost for eleven years, {tag}"
    assert lines(said) == [f'User: "{said}"']


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (
            "My daughter Liv turned 6. She's allergic to kiwi.",
            'User: "My daughter Liv turned 6. She\'s allergic to kiwi"',
        ),
        ("My husband has a cold. He is also diabetic!", 'User: "My husband has a cold. He is also diabetic"'),
        ("My sister is here. She has a nut allergy.", 'User: "My sister is here. She has a nut allergy"'),
        (
            "I took my son Ben to the park on Sunday. He's diabetic.",
            'User: "I took my son Ben to the park on Sunday (meaning 2026-11-22). He\'s diabetic"',
        ),
        ("My son was at the doctor. He's diabetic.", 'User: "My son was at the doctor. He\'s diabetic"'),
        (
            "Took my son to the park in May. He's diabetic.",
            'User: "Took my son to the park in May (meaning 2026-05). He\'s diabetic"',
        ),
    ],
)
def test_what_a_relative_must_not_eat_is_kept_with_who_they_are(said: str, kept: str) -> None:
    assert kept in lines(said)


@pytest.mark.parametrize(
    "said",
    [
        "My sister's cat Luna is at the vet. She's diabetic.",
        "My sister has a new cat. She's diabetic.",
        "My wife met Julia today. She's allergic to nuts.",
        "Julia met my wife today. She's allergic to nuts.",
        "My daughter has a new teacher, Ms Jones. She's allergic to cats.",
        "I asked my friend about Anna. She's vegan.",
        "My brother and Tom visit us. He is diabetic.",
        "My partner cooks for his mother. She's diabetic.",
        "My wife saw her. She's diabetic.",
        "My daughter met my sister. She's allergic to kiwi.",
    ],
)
def test_whose_illness_it_is_is_said_as_it_was_said(said: str) -> None:
    assert any(said.rpartition(". ")[0].rpartition(". ")[2] in line for line in lines(said))
    assert not any("is diabetic" in fact.text or "is allergic" in fact.text for fact in observed(said).facts)


@pytest.mark.parametrize(
    "said",
    [
        "Explain the difference between REST and GraphQL",
        "Explain the pros and cons of a fixed rate",
        "Improve my short story",
        "Please check my homework",
        "Compare the two offers from the bank",
        "Here is our lease, please keep it in mind when I ask about the flat",
        "- As a nurse I want to see my shifts\n- As a manager, I want to approve holidays",
        "As a customer, I want to reset my password so that I can log in again.",
    ],
)
def test_an_errand_is_no_memory(said: str) -> None:
    assert lines(said) == []


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("Please always check my grammar.", 'User: "Please always check my grammar"'),
        ("Please give me short answers.", 'User: "Please give me short answers"'),
        ("Book the table for Friday.", 'User: "Book the table for Friday (meaning 2026-11-27)"'),
        ("As a diabetic I would like to eat less sugar", 'User: "As a diabetic I would like to eat less sugar"'),
        ("As a nurse I want to stop by 3 May.", 'User: "As a nurse I want to stop by 3 May (meaning 2027-05-03)"'),
        ("The book club meets on Tuesdays.", 'User: "The book club meets on Tuesdays"'),
    ],
)
def test_what_is_to_hold_or_has_a_day_is_no_errand(said: str, kept: str) -> None:
    assert lines(said) == [kept]
