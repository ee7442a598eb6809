"""Facts that the extractive observer tells apart (docs/rules/observe.md#extractive)."""

from __future__ import annotations

import pytest

from neve.domain.memories.statements import statements
from neve.domain.observe.facts import ProposedFact
from neve.domain.records.memories import Kind
from neve.domain.records.sessions import Event, EventType
from neve.observers.extractive.observer import ExtractiveObserver
from neve.observing import Observed, PassInput, PriorMemory

USER, ASSISTANT = EventType.USER_MESSAGE, EventType.ASSISTANT_RESPONSE


def observed(*texts: str, kind: EventType = USER, prior: tuple[PriorMemory, ...] = ()) -> Observed:
    events = [Event(n, kind, text, 1, "2026-03-10T09:00:00.000Z") for n, text in enumerate(texts, start=1)]
    return ExtractiveObserver().observe(PassInput("s", events, prior, "UTC", 8000))


def facts(*texts: str, kind: EventType = USER, prior: tuple[PriorMemory, ...] = ()) -> list[ProposedFact]:
    return list(observed(*texts, kind=kind, prior=prior).facts)


def shown(text: str, kind: Kind = Kind.FACT) -> tuple[PriorMemory, ...]:
    return (PriorMemory("mem_1", text, local=False, kind=kind),)


@pytest.mark.parametrize(
    ("said", "text", "category"),
    [
        ("I live in Lyon", "User lives in Lyon", "PLACE"),
        ("My name is Anna", "User's name is Anna", "PERSON"),
        ("My sister Ana lives in Porto", "User's sister Ana lives in Porto", "PERSON"),
        ("I'm allergic to nuts", "User is allergic to nuts", "BIOGRAPHY"),
        ("I work at Siemens in Graz now", "User works at Siemens in Graz now", "BIOGRAPHY"),
        ("I like jazz", "User likes jazz", "PREFERENCE"),
        ("My favorite color is blue", "User's favorite color is blue", "PREFERENCE"),
        ("Remember that my locker code is 4711", "User's locker code is 4711", "BIOGRAPHY"),
        ("I am getting married in June", "User is getting married in June (meaning 2026-06)", "EVENT"),
    ],
)
def test_a_statement_about_the_user_has_its_category(said: str, text: str, category: str) -> None:
    [fact] = facts(said)
    assert (fact.text, fact.category, fact.by, fact.relation) == (text, category, "user_stated", "new")
    assert (fact.seq_from, fact.seq_to) == (1, 1)
    assert fact.importance >= 3


@pytest.mark.parametrize(
    "said", ["Is Lyon nice in May?", "Thanks a lot!", "Ana lives in Porto", "I quit my job", "I'm 5 minutes away"]
)
def test_what_has_no_form_is_no_fact(said: str) -> None:
    assert facts(said) == []


def test_what_an_assistant_says_is_no_fact() -> None:
    assert facts("You seem to like jazz", "I like jazz, too", kind=ASSISTANT) == []


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("User lives in Lyon", "I moved to Nice"),
        ("User lives in Lyon", "Actually, I live in Nice"),
        ("User works at Siemens", "I work for Airbus"),
        ("User works at Siemens", "I left Siemens, I now work for Airbus"),
        ("User works at Siemens", "I quit Siemens and now I work at Airbus"),
        ("User is 34 years old", "Actually I'm 35."),
        ("User is 34", "I'm 35 years old."),
        ("User's favourite colour is blue", "My favourite colour is green now"),
    ],
)
def test_what_only_one_can_be_true_of_updates_the_fact_that_was_shown(before: str, now: str) -> None:
    [fact] = facts(now, prior=shown(before))
    assert (fact.relation, fact.target_id) == ("updates", "mem_1")
    [fact] = facts(now, prior=shown(before, Kind.OBSERVATION))
    assert (fact.relation, fact.target_id) == ("new", None)


def test_what_is_said_again_reinforces() -> None:
    [fact] = facts("I live in Lyon", prior=shown("User lives in Lyon"))
    assert (fact.text, fact.relation, fact.target_id) == ("User lives in Lyon", "reinforces", "mem_1")


def test_other_things_are_not_replaced() -> None:
    for now in ("My favourite food is rice", "My sister lives in Nice", "I like Nice"):
        [fact] = facts(now, prior=shown("User's favourite colour is blue"))
        assert fact.relation == "new"
    assert [fact.relation for fact in facts("My brother lives in Nice", prior=shown("User lives in Lyon"))] == ["new"]


def test_of_one_thing_said_twice_the_later_one_holds() -> None:
    assert [fact.text for fact in facts("I live in Lyon", "Actually, I live in Nice")] == ["User lives in Nice"]


def known(*rows: tuple[str, Kind]) -> tuple[PriorMemory, ...]:
    """In the order in which they were said, the last one first, as a pack may have them."""
    statements = [
        PriorMemory(f"mem_{n}", text, local=False, kind=kind, observed_at=f"2026-03-0{n}T09:00:00.000Z")
        for n, (text, kind) in enumerate(rows, start=1)
    ]
    return tuple(reversed(statements))


@pytest.mark.parametrize(
    ("before", "meanwhile", "again"),
    [
        ("User lives in Paris", "User moved to Rome", "I live in Paris."),
        ("User's name is Kim", "User's name is Alex", "My name is Kim."),
        ("User's favourite team is Ajax", "User's favorite team is Feyenoord", "My favorite team is Ajax."),
        ("User's favourite color is blue", "User's favorite colour is red", "My favourite colour is blue."),
    ],
)
def test_what_was_true_before_is_true_again(before: str, meanwhile: str, again: str) -> None:
    old = (f"🔴 {before}", Kind.OBSERVATION), (f"🔴 {meanwhile}", Kind.OBSERVATION)
    answer = observed(again, prior=known(*old, (meanwhile, Kind.FACT)))
    assert len(answer.lines) == 1
    assert answer.used_memory_ids == ()
    assert [(fact.relation, fact.target_id) for fact in answer.facts] == [("updates", "mem_3")]
    assert len(observed(again, prior=known(*old)).lines) == 1  # without the fact the newest line holds
    assert observed(again, prior=known(*reversed(old))).lines == ()


def test_a_fact_that_holds_is_reinforced_whatever_an_older_line_says() -> None:
    answer = observed(
        "I like jazz", prior=known(("🔴 User doesn't like jazz", Kind.OBSERVATION), ("User likes jazz", Kind.FACT))
    )
    assert answer.lines == ()
    assert [(fact.relation, fact.target_id) for fact in answer.facts] == [("reinforces", "mem_2")]


def test_within_a_pass_the_last_word_holds() -> None:
    texts = ("I live in Paris", "I moved to Rome", "I live in Paris")
    assert [fact.text for fact in facts(*texts)] == ["User lives in Paris"]
    assert [fact.relation for fact in facts(*texts, prior=shown("User lives in Paris"))] == ["reinforces"]
    [fact] = facts(*texts[:2], prior=shown("User lives in Paris"))
    assert (fact.text, fact.relation) == ("User moved to Rome", "updates")


def test_two_spellings_are_one_word() -> None:
    [fact] = facts("My favorite color is blue", prior=shown("User's favourite colour is blue"))
    assert fact.relation == "reinforces"
    [fact] = facts("My favorite color is red", prior=shown("User's favourite colour is blue"))
    assert fact.relation == "updates"


@pytest.mark.parametrize(
    ("before", "now", "text"),
    [
        (
            "User is allergic to peanuts",
            "I am not allergic to peanuts, that was a mistake",
            "User is not allergic to peanuts",
        ),
        ("User is severely allergic to nuts", "Actually, I'm not allergic to nuts", "User is not allergic to nuts"),
        ("User is a vegetarian", "I'm no longer vegetarian", "User is no longer vegetarian"),
        ("User really likes sushi", "I don't like sushi anymore", "User doesn't like sushi anymore"),
        ("User works at Google", "I no longer work at Google", "User no longer works at Google"),
        ("User doesn't like sushi anymore", "I like sushi again", "User likes sushi again"),
        ("User doesn't eat meat", "I eat meat again", "User eats meat again"),
        ("User's favorite colour is red", "My favourite color isn't red", "User's favourite color isn't red"),
    ],
)
def test_a_denial_contradicts_the_fact_that_it_denies(before: str, now: str, text: str) -> None:
    [fact] = facts(now, prior=shown(before))
    assert (fact.text, fact.relation, fact.target_id) == (text, "contradicts", "mem_1")


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("User is allergic to peanuts and shellfish", "I'm not allergic to peanuts"),
        ("User is allergic to peanuts", "I'm not allergic to peanuts, but to walnuts"),
        ("User is allergic to peanuts", "I'm not only allergic to peanuts"),
        ("User likes sushi", "I don't like sushi in the morning"),
        ("User likes sushi", "I don't like sushi, I love it"),
        ("User likes sushi", "My sister doesn't like sushi"),
        ("User likes sushi", "We don't like sushi"),
        ("User's name is Alex", "My name is not Kim"),
        ("User is vegetarian", "I'm not vegan"),
    ],
)
def test_a_denial_of_something_else_contradicts_nothing(before: str, now: str) -> None:
    assert [fact for fact in facts(now, prior=shown(before)) if fact.relation != "new"] == []


def test_what_is_denied_in_the_same_pass_is_no_fact() -> None:
    [fact] = facts("I like sushi", "I don't like sushi anymore", prior=shown("User likes sushi"))
    assert (fact.text, fact.relation) == ("User doesn't like sushi anymore", "contradicts")
    assert [fact.text for fact in facts("I don't like sushi", "I like sushi")] == ["User likes sushi"]


def test_a_denial_that_is_said_again_reinforces() -> None:
    [fact] = facts("I no longer live in Paris", prior=shown("User no longer lives in Paris"))
    assert (fact.relation, fact.target_id) == ("reinforces", "mem_1")


@pytest.mark.parametrize(
    ("before", "now", "text"),
    [
        ("User works at Google", "I left Google and now work at Apple", "User left Google and now works at Apple"),
        ("User lives in Paris", "I left Paris and now live in Rome", "User left Paris and now lives in Rome"),
    ],
)
def test_what_was_left_is_replaced(before: str, now: str, text: str) -> None:
    [fact] = facts(now, prior=shown(before))
    assert (fact.text, fact.relation, fact.target_id) == (text, "updates", "mem_1")


@pytest.mark.parametrize("head", ["Remember this:", "Please remember this,", "Remember that", "Don't forget this:"])
def test_what_was_to_be_remembered_is(head: str) -> None:
    [fact] = facts(f"{head} the gate code word is tulip.")
    assert (fact.text, fact.category) == ("The gate code word is tulip", "BIOGRAPHY")
    assert facts("Remember this song", "Remember this?") == []
    assert len(facts(f"{head} my gate code word is tulip.")) == 1


@pytest.mark.parametrize(
    ("known", "said"),
    [
        ("User lives in Paris", "I moved to a new team."),
        ("User lives in Paris", "I moved to the second floor."),
        ("User lives in Paris", "I moved to React for the frontend."),
        ("User lives in Paris", "I moved back to coffee."),
        ("User lives in Paris", "I live in constant pain."),
        ("User lives in Paris", "I live in a two-bedroom flat."),
        ("User lives in Paris", "I moved to Lyon when I was 5."),
        ("User lives in Paris", "I moved to Lyon in 2010."),
        ("User works at Google", "I work at night."),
        ("User works at Google", "I work for 8 hours a day."),
        ("User works as a nurse", "I work as hard as I can."),
        ("User is from Ghana", "I'm from a big family."),
        ("User is married", "I'm single-handedly raising two kids."),
        ("User wants to be called Sam", "Call me when the report is done."),
        ("User's birthday is May 3", "My birthday is ruined."),
        ("User's name is Sam", "My name is misspelled on the ticket."),
    ],
)
def test_what_says_something_else_leaves_a_fact_alone(known: str, said: str) -> None:
    """A fact that is updated is superseded: nobody would be told any more where the user lives."""
    assert [fact for fact in facts(said, prior=shown(known)) if fact.target_id] == []


@pytest.mark.parametrize(
    "said",
    [
        "I've moved to Lyon.",
        "I just moved to Lyon for work.",
        "We moved to Lyon last month.",
        "We've moved to the Netherlands.",
        "We live in Lyon now.",
        "I'm living in Lyon now.",
        "I moved to a bigger place in Lyon.",
        "I live at 12 Baker Street.",
        "i moved to lyon",
    ],
)
def test_a_new_home_takes_the_place_of_the_old_one(said: str) -> None:
    [fact] = facts(said, prior=shown("User lives in Paris"))
    assert (fact.relation, fact.target_id, fact.category) == ("updates", "mem_1", "PLACE")


@pytest.mark.parametrize(
    ("before", "said", "category"),
    [
        ("I moved to Bremen", "I meant Lübeck", "PLACE"),
        ("I like green tea", "Sorry, black tea", "PREFERENCE"),
        ("I work at Siemens in Munich as an engineer", "No wait, Nuremberg", "BIOGRAPHY"),
    ],
)
def test_a_bare_correction_takes_the_place_of_the_fact(before: str, said: str, category: str) -> None:
    """In the next pass, which sees the line and the fact that was made of it."""
    noted = PriorMemory("mem_2", f'🟡 User: "{before}"', local=True, kind=Kind.OBSERVATION, span=(0, 0))
    [known] = facts(before)
    [fact] = facts(said, prior=(*shown(known.text), noted))
    assert fact.text == f'User: "{before}" → User: "{said}"'
    assert (fact.category, fact.relation, fact.target_id) == (category, "updates", "mem_1")
    assert len(statements(fact.text)) == 1


def test_what_was_corrected_at_once_is_a_fact_as_it_was_corrected() -> None:
    [fact] = facts("I moved to Bremen. Sorry, Lübeck.")
    assert (fact.text, fact.category) == (
        'User: "I moved to Bremen" → User: "Sorry, Lübeck"',
        "PLACE",
    )


def test_what_was_corrected_is_updated_like_any_other() -> None:
    [fact] = facts("I moved to Kiel", prior=shown('User: "I moved to Bremen" → User: "Sorry, Lübeck"'))
    assert (fact.text, fact.relation, fact.target_id) == ("User moved to Kiel", "updates", "mem_1")


@pytest.mark.parametrize(
    "said",
    [
        "I never put milk in my coffee.",
        "I always cut carbs.",
        "I never let the dog in.",
        "I always hit the gym at six.",
    ],
)
def test_a_habit_whose_verb_looks_the_same_in_the_past_is_one(said: str) -> None:
    assert [fact.category for fact in observed(said).facts] == ["PREFERENCE"]


@pytest.mark.parametrize("said", ["I never said I was from Texas.", "I always wanted a dog.", "I never ate pork."])
def test_what_never_happened_is_no_habit(said: str) -> None:
    assert observed(said).facts == ()
    assert [fact.category for fact in observed("I never eat pork.").facts] == ["PREFERENCE"]


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("User works at Acme as a nurse", "I started a new job at Globex."),
        ("User works at Acme as a nurse", "I left Acme, I'm a teacher at the Nordschule now."),
        ("User works at Acme as a nurse", "I don't work at Acme anymore."),
        ("User works as a nurse", "I'm a teacher now."),
        ("User works at Acme", "I quit my job."),
        ("User works at Acme", "I was laid off."),
        ("User quit their job", "I started a new job at Globex."),
        ("User's favourite colour is blue", "Green is my favourite colour now."),
        ("User's favourite colour is blue", "I've changed my mind, green is my favourite colour."),
        ("User is vegetarian", "I eat meat again."),
        ("User is vegetarian", "I stopped being vegetarian."),
        ("User lives in Lyon", "Nice is home now."),
        ("User lives in Lyon", "I just moved from Lyon to Nice."),
        ("User lives in Lyon", "My wife and I moved to Nice."),
        ("User lives in Lyon", "I've left Lyon."),
        ("User's boyfriend is called Tom", "Tom and I broke up."),
        ("User's girlfriend is Anna", "Anna left me."),
        ("User is dating Tom", "I'm dating Ben now."),
        ("User is married", "My wife and I separated."),
        ("User is single", "I got married in June."),
        ("User drives a Golf", "I sold the Golf and bought a Zoe."),
        ("User drives a Golf", "I sold my car."),
        ("User's phone is an iPhone", "I got a new phone, a Pixel."),
        ("User has a cat called Milo", "Milo died last week."),
        ("User's name is Anna", "I changed my name to Lea."),
    ],
)
def test_what_a_life_changes_takes_the_place_of_what_was(before: str, now: str) -> None:
    [fact] = facts(now, prior=shown(before))
    assert (fact.relation, fact.target_id) == ("updates", "mem_1")


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ("User works at Acme", "I also work at Globex."),
        ("User works at Acme", "I work at Globex, too."),
        ("User works at Acme", "I have a second job at Globex."),
        ("User works at Acme", "I left work early today."),
        ("User works at Acme", "I left the Acme party early."),
        ("User works at Acme", "I quit smoking."),
        ("User works at Acme", "I got a new job offer from Globex."),
        ("User works at Acme", "I want to quit my job."),
        ("User works at Acme", "My wife quit her job."),
        ("User is a nurse", "I'm a painter in my free time."),
        ("User is a nurse", "I quit my job."),
        ("User lives in Lyon", "I don't live in Rome anymore."),
        ("User's phone is an iPhone", "I sold my old phone."),
        ("User lives in Lyon", "My sister moved to Nice."),
        ("User lives in Lyon", "I'm visiting Nice."),
        ("User lives in Lyon", "I left Lyon for the weekend."),
        ("User's favourite colour is blue", "I love both blue and green."),
        ("User's favourite colour is blue", "Green is my wife's favourite colour."),
        ("User is vegetarian", "I eat eggs for breakfast now."),
        ("User is vegetarian", "My brother isn't vegetarian anymore."),
        ("User is married", "My parents got divorced."),
        ("User is dating Tom", "Ben and Sue broke up."),
        ("User's wife is called Ana", "My wife is French."),
        ("User drives a Golf", "I also drive a Zoe."),
        ("User drives a Golf", "I sold my bike."),
        ("User has a cat called Milo", "I have a dog called Rex now."),
    ],
)
def test_what_holds_beside_it_or_of_somebody_else_takes_no_place(before: str, now: str) -> None:
    assert [fact for fact in facts(now, prior=shown(before)) if fact.target_id] == []


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("I'm vegan and my sister Ana lives in Porto.", ["User is vegan", "User's sister Ana lives in Porto"]),
        ("We live in Lyon, and I work at Airbus.", ['User: "We live in Lyon"', "User works at Airbus"]),
        ("My favourite colour is blue, it calms me down.", ["User's favourite colour is blue"]),
        ("I live in Bergen and work at the port.", ["User lives in Bergen and works at the port"]),
        ("I hate mushrooms, don't put them in any recipe.", ["User hates mushrooms"]),
        ("My wife Ana and I moved to Oslo.", ["User and their wife Ana moved to Oslo"]),
    ],
)
def test_a_fact_is_one_whole_clause(said: str, kept: list[str]) -> None:
    assert [fact.text for fact in facts(said)] == kept


@pytest.mark.parametrize(
    ("before", "now", "fact"),
    [
        ("User is vegetarian", "I'm not vegetarian anymore, I eat fish again.", "User eats fish again"),
        ("User loves sushi", "I can't stand sushi anymore.", "User can't stand sushi anymore"),
        ("User works at Krume", "I left Krume, I am a teacher at the Elbschule now.", None),
        ("User works at Krume", "I'm a teacher at the Elbschule now, I left Krume.", None),
        ("User lives in Oslo", "I'm not in Oslo anymore, I live in Bergen now.", "User lives in Bergen now"),
        ("User is dating Tom", "Tom and I broke up last week, it hurts.", None),
        ("User prefers tea", "I no longer prefer tea, coffee is my thing now.", None),
        ("User's boss is Karin", "My boss is now Lena, Karin left.", "User's boss is now Lena"),
    ],
)
def test_of_two_clauses_the_one_that_says_what_is_now_takes_the_place(before: str, now: str, fact: str | None) -> None:
    [found] = facts(now, prior=shown(before))
    assert found.relation in ("updates", "contradicts")
    assert found.target_id == "mem_1"
    assert fact in (None, found.text)
