"""The rubric of C31: twenty memories, each with what has to find it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from tests.http.driving.people import Json


class Entry(NamedTuple):
    """``keyword`` is a word of the text. ``paraphrase``, for the fixture embedder, and ``question``, for the real one,
    have no content word of it."""

    text: str
    keyword: str
    paraphrase: str
    question: str


RUBRIC = (
    Entry("User's sister is named Mary.", "Mary", "what is my sibling called", "what is my sibling called?"),
    Entry("User drives an old automobile from Turin.", "Turin", "which vehicle is mine", "which car do I own?"),
    Entry("User wants brief answers on Mondays.", "Mondays", "should you be terse", "how short should a reply be?"),
    Entry("User's physician is Dr Okafor.", "Okafor", "who is my doctor", "who is my doctor?"),
    Entry("User fears the dentist in Graz.", "Graz", "teeth", "who looks after my teeth?"),
    Entry("User's wife paints watercolours.", "watercolours", "my spouse", "does my spouse make art?"),
    Entry("User's daughter collects fossils.", "fossils", "what of my kid", "what does my child like to gather?"),
    Entry("User's manager prefers spreadsheets.", "spreadsheets", "what about my boss", "what does my boss like?"),
    Entry("User's puppy chews slippers.", "slippers", "my dog", "what does my dog gnaw on?"),
    Entry("User's kitten sleeps in a drawer.", "drawer", "my cat", "where does my cat rest?"),
    Entry("User rents an apartment above a pharmacy.", "pharmacy", "where is my home", "is my flat leased?"),
    Entry("User's salary arrives on the 25th.", "25th", "what about my income", "when is my pay day?"),
    Entry("User is meatless since spring.", "spring", "am i vegetarian", "do I still eat meat?"),
    Entry("User has an intolerance of lactose.", "lactose", "which allergy", "which allergy do I have?"),
    Entry("User's flight leaves from Gdansk.", "Gdansk", "which airplane", "where does my plane depart?"),
    Entry("User repairs a bicycle with twine.", "twine", "my bike", "how did I fix my bike?"),
    Entry("User's deadline is the equinox.", "equinox", "when is it due", "when is my work due?"),
    Entry("User's birthday party had lanterns.", "lanterns", "when was i born", "how was my anniversary decorated?"),
    Entry("User watches a film about glaciers.", "glaciers", "which movie", "which movie about ice did I see?"),
    Entry("User's laptop hums in the attic.", "attic", "my computer", "where is my computer?"),
)


def ago(days: float) -> str:
    return (datetime.now(UTC) - timedelta(days=days)).isoformat()


def plain(text: str, **more: object) -> Json:
    """A row without any prior: an observation of 40 days ago with importance 3, cited lately."""
    return {"text": text, "kind": "observation", "observed_at": ago(40), **more}
