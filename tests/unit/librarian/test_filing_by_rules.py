"""What the librarian without a model writes on documents (docs/rules/librarian.md#extractive)."""

from __future__ import annotations

import pytest

from neve.domain.librarian.filing import Remembered, ShownDocument
from neve.domain.records.sessions import Event, EventType
from neve.observers.extractive.librarian.filing import actions_of
from neve.observers.extractive.librarian.projects import project_in
from neve.observing import FilingInput
from tests.unit.domain_rows import event

IDENTITY = "/profile/identity"


def chat(*messages: str) -> tuple[Event, ...]:
    log: list[Event] = []
    for message in messages:
        log.append(event(len(log) + 1, message))
        log.append(event(len(log) + 1, "Noted.", event_type=EventType.ASSISTANT_RESPONSE))
    return tuple(log)


def filed(
    *messages: str, documents: tuple[ShownDocument, ...] = (), remembered: tuple[Remembered, ...] = ()
) -> dict[str, str]:
    """Texts by path."""
    given = FilingInput("s1", chat(*messages), documents, "UTC", remembered=remembered)
    return {action.path: action.text for action in actions_of(given)}


@pytest.mark.parametrize(
    ("messages", "path", "line"),
    [
        (
            ["My daughter Emma is 7. Sorry, 8, she had her birthday on Sunday."],
            "/profile/people/emma",
            'User\'s daughter Emma is 7 → User: "Sorry, 8, she had her birthday on Sunday"',
        ),
        (
            ["My sister Ana lives in Berlin. No wait, Bonn."],
            "/profile/people/ana",
            'User\'s sister Ana lives in Berlin → User: "No wait, Bonn"',
        ),
        (
            ["My sister Ana lives in Berlin.", "No wait, Bonn."],
            "/profile/people/ana",
            'User\'s sister Ana lives in Berlin → User: "No wait, Bonn"',
        ),
        (["I'm 34. I mean 43."], IDENTITY, 'User is 34 → User: "I mean 43"'),
        (
            ["My birthday is 12 May 1990. Actually 21 May, typo."],
            IDENTITY,
            'User\'s birthday is 12 May 1990 → User: "Actually 21 May, typo"',
        ),
    ],
)
def test_a_statement_is_filed_as_it_was_corrected(messages: list[str], path: str, line: str) -> None:
    title = path.rpartition("/")[2].capitalize()
    assert filed(*messages) == {path: f"# {title}\n\n- {line} (2026-03-10)"}


def test_a_correction_rests_on_both_messages() -> None:
    [action] = actions_of(FilingInput("s1", chat("My sister Ana lives in Berlin.", "No wait, Bonn."), (), "UTC"))
    assert action.seqs == (1, 3)


def test_what_was_filed_before_and_is_corrected_stands_among_the_earlier() -> None:
    text = "# Emma\n\n- User's daughter Emma is 7 (2026-03-09)\n- User's daughter Emma likes horses"
    before = ShownDocument("/profile/people/emma", 1, text)
    texts = filed("My daughter Emma is 7. Sorry, 8.", documents=(before,))
    current, _, earlier = texts["/profile/people/emma"].partition("## Earlier")
    assert 'User\'s daughter Emma is 7 → User: "Sorry, 8"' in current and "likes horses" in current
    assert "- User's daughter Emma is 7 (2026-03-09)" in earlier


def test_a_new_job_in_one_sentence_with_the_old_one_puts_that_among_the_earlier() -> None:
    old = ShownDocument(IDENTITY, 1, "Works at Krume as a baker.")
    text = filed("I left Krume, I am a teacher at the Elbschule now.", documents=(old,))[IDENTITY]
    current, earlier = text.split("## Earlier")
    assert "Elbschule" in current and "as a baker" not in current and "Works at Krume" in earlier


def test_nothing_of_a_scene_is_filed() -> None:
    assert filed("Let's role-play. I am Kael, the knight.", "I am Kael; I have never lost a duel!") == {}


def test_nothing_is_filed_that_is_not_to_be_remembered() -> None:
    assert filed("My sister Ana lives in Bonn. Don't remember that.", "Between us: my boss Tom is ill.") == {}


# --- what a person has corrected of the session's memories ----------------------------------------

LATER = "2027-01-01T00:00:00.000Z"
PREFERENCES = "/profile/preferences"


def corrected(text: str, first: int, last: int, at: str = LATER) -> Remembered:
    return Remembered(text, first, last, at)


def test_a_statement_is_filed_as_a_person_put_it_right() -> None:
    texts = filed("I prefer tea.", remembered=(corrected("User prefers coffee", 1, 1),))
    assert texts == {PREFERENCES: "# Preferences\n\n- User prefers coffee (2026-03-10)"}


def test_what_was_filed_in_the_old_words_stands_among_the_earlier() -> None:
    before = ShownDocument(PREFERENCES, 1, "# Preferences\n\n- User prefers tea (2026-03-09)")
    texts = filed("I prefer tea.", documents=(before,), remembered=(corrected("User prefers coffee", 1, 1),))
    current, _, earlier = texts[PREFERENCES].partition("## Earlier")
    assert "User prefers coffee" in current and "User prefers tea" not in current
    assert "User prefers tea" in earlier


def test_of_two_statements_of_a_message_the_one_is_put_right_that_nothing_says_any_more() -> None:
    kept = (Remembered("🟡 User prefers trains", 1, 1), corrected("🟡 User prefers coffee", 1, 1))
    text = filed("I prefer tea. I prefer trains.", remembered=kept)[PREFERENCES]
    assert "User prefers coffee" in text and "User prefers trains" in text and "User prefers tea" not in text


def test_of_many_lines_of_a_memory_the_corrected_one_is_taken() -> None:
    pass_ = corrected("🟡 User's sister Ana lives in Bonn\n🟡 User's sister Berta lives in Bergen", 1, 3)
    texts = filed("My sister Ana lives in Bonn.", "My sister Berta lives in Oslo.", remembered=(pass_,))
    assert {path: text.splitlines()[-1] for path, text in texts.items()} == {
        "/profile/people/ana": "- User's sister Ana lives in Bonn (2026-03-10)",
        "/profile/people/berta": "- User's sister Berta lives in Bergen (2026-03-10)",
    }


@pytest.mark.parametrize(
    "other",
    [
        corrected("User prefers coffee", 3, 3),
        corrected("User's dog is called Bruno", 1, 1),
        corrected("User prefers coffee", 1, 1, at="2026-01-01T00:00:00.000Z"),
        Remembered("User prefers coffee", 1, 1),
        Remembered("User prefers coffee", corrected_at=LATER),
    ],
    ids=["of another message", "another matter", "said again since", "an observer's", "of unknown origin"],
)
def test_a_memory_that_puts_something_else_right_changes_nothing(other: Remembered) -> None:
    assert filed("I prefer tea.", remembered=(other,)) == filed("I prefer tea.")


@pytest.mark.parametrize(
    ("said", "name"),
    [
        ("For project Otter we chose Kotlin.", "Otter"),
        ("On the Otter project we chose Kotlin.", "Otter"),
        ("In project Blue Heron I chose Kotlin.", "Blue Heron"),
        ("The Blue Heron project goes with Kotlin.", "Blue Heron"),
        ("Project: Otter, we chose Kotlin.", "Otter"),
        ("PROJECT OTTER: we chose Kotlin.", "OTTER"),
        ("Our project, called Otter, uses Kotlin.", "Otter"),
        ("Our project is called otter.", "otter"),
        ("My side project, Otter, gets Kotlin.", "Otter"),
        ("for project otter we chose kotlin", "otter"),
        ("for the otter project we chose kotlin", "otter"),
        ('For project "Blue Heron" we chose Kotlin.', "Blue Heron"),
        ("Project Apollo 11 goes with Kotlin.", "Apollo 11"),
        ("For the project for my mother we chose oak.", None),
        ("For this project we chose Kotlin.", None),
        ("For our project, Kotlin was chosen.", None),
        ("We settled it for our project: Kotlin.", None),
        ("For my new project we chose Kotlin.", None),
        ("Our Project Manager chose Kotlin.", None),
        ("Project management is what we chose.", None),
        ("Anna's project uses Kotlin.", None),
    ],
)
def test_a_project_has_the_name_that_it_is_given(said: str, name: str | None) -> None:
    assert project_in(said) == name


@pytest.mark.parametrize(
    "message", ["For project Otter we chose Kotlin.", "I'm on project Otter. We chose Kotlin for the server."]
)
def test_a_decision_is_filed_under_its_project(message: str) -> None:
    [path] = [path for path in filed(message) if path.startswith("/projects/")]
    assert path.startswith("/projects/otter/decisions/2026-03-10-")
