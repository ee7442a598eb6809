"""What must not be missed has the mark that no night leaves out, in whatever words it is said; what is only of the
moment has it not."""

from __future__ import annotations

import pytest

from neve.domain.records.sessions import Event, EventType
from neve.observers.extractive.observer import ExtractiveObserver
from neve.observing import PassInput

AT = "2026-11-18T09:30:00.000Z"


def marks(said: str) -> list[str]:
    events = [
        Event(1, EventType.USER_MESSAGE, said, 1, AT),
        Event(2, EventType.ASSISTANT_RESPONSE, "I see.", 1, AT),
    ]
    lines = ExtractiveObserver().observe(PassInput("s1", events, (), "UTC", 8_000)).lines
    return [line.text.split()[0] for line in lines]


WISHES = """
Please never call me on Sundays.
answer in one sentence
Please answer in one sentence.
Write to me in German.
Short answers, please.
I want short answers.
Metric units only, please.
Don't sugarcoat things.
Skip the small talk.
Please be concise.
One sentence per answer, please.
You can call me Kit.
Address me as Captain.
You should address me formally.
I want my name spelled with a K.
I don't want to be reminded of my birthday.
I would prefer if you didn't use emojis.
It would be great if you never used emojis.
Sundays are off limits for meetings.
Do not schedule anything on Friday afternoons.
Please don't text me after 9 pm.
Not on Sundays, please.
Do not phone me on a Sunday.
I never want to get calls on Sundays.
From here on, answer in a single sentence.
Keep replies to one line.
Make sure you always cite sources.
Under no circumstances tell my wife about the surprise.
"""
HEALTH = """
I take 20 mg of omeprazole every morning.
Every morning I take 20 mg of omeprazole.
20 mg of omeprazole every morning is what I take.
I'm taking lisinopril for my blood pressure.
My doctor put me on statins.
I inject insulin twice a day.
My meds are ramipril and bisoprolol.
I use an inhaler.
I carry two EpiPens.
I've got type 2 diabetes.
I get migraines from red wine.
I had a heart attack two years ago.
I have epilepsy.
I am bipolar.
I've been on antidepressants since last year.
I walk with a cane.
Our son has a heart defect.
My mother has dementia.
"""
DIETS = """
I don't eat pork.
I cannot digest lactose.
No pork, please.
Meat is not for me.
Pork's off limits for me.
I gave up sugar.
I stopped eating meat in 2020.
I've been vegan for ten years.
I'm on a keto diet.
I fast during Ramadan.
I have to avoid gluten.
My religion forbids pork.
As a Muslim I don't eat pork.
I haven't had a drink since 2018.
"""
ALLERGIES = """
I have a severe allergy to peanuts.
Allergic to cats here.
Allergies: penicillin, latex.
Penicillin gives me a rash.
Peanuts could kill me.
Strawberries make me swell up.
I break out in hives from strawberries.
I react badly to latex.
Ibuprofen is a no-go for me, it upsets my stomach.
Bee stings send me to the hospital.
My throat closes up when I eat kiwi.
I swell up from wasp stings.
I had an anaphylactic reaction to shrimp once.
"""
TASTES = """
I usually fly with Lufthansa.
I always sit at the window.
I like to sit by the window.
I refuse to fly.
My go-to drink is green tea.
I drink my tea without milk.
I never fly.
"""
BLOCKERS = """
The oven in the shop keeps tripping the breaker.
My visa application is blocked.
We're waiting on legal before we can ship.
I still don't have a work permit.
My landlord won't give me back the deposit.
I can't log in to my bank.
"""


@pytest.mark.parametrize(
    "said", [said for said in "".join((WISHES, HEALTH, DIETS, ALLERGIES, TASTES, BLOCKERS)).splitlines() if said]
)
def test_what_lasts_is_kept_with_the_mark_that_stays(said: str) -> None:
    assert marks(said) == ["🔴"]


@pytest.mark.parametrize(
    "said",
    """
What is DNS? Answer in one sentence.
Answer with yes or no.
Reply to this email for me.
Use a for loop.
Do not change the function.
Don't do that again.
Great explanation.
I have a presentation about diabetes on Friday.
I'm writing an article on migraines.
I went to a vegan restaurant.
I need a vegetarian option for my guests.
I use a tablet for drawing.
I use steroids as an example in my thesis.
My app has an inhaler tracker.
I took an ibuprofen.
I ate some shrimp yesterday.
I had pancakes for breakfast.
I haven't eaten yet.
I didn't eat lunch today.
I never went to Rome.
No coffee for me today.
Imagine I am allergic to nuts.
Suppose I don't eat pork.
Translate: I am allergic to nuts.
My sister says I'm allergic to drama.
The patient takes 20 mg of omeprazole.
My teacher says "I never sleep" every Monday.
""".strip().splitlines(),
)
def test_what_is_of_the_moment_or_of_a_text_has_not(said: str) -> None:
    assert "🔴" not in marks(said)


def test_a_manner_of_answering_beside_a_question_lasts_where_it_says_so() -> None:
    assert marks("What is DNS? Always answer in one sentence.") == ["🔴"]
