"""What comes to an end all at once: conversations whose librarian gets to work, messages that are taken back, a user
who is erased. Every script can be carried out again, as a careful client does whose server died, and is then answered
the same."""

from __future__ import annotations

import http.client
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from local.api_client import ApiClient, ApiError
from tests.http.driving.controls import drain
from tests.http.driving.people import Json, Person, events_of

POLICY = {"window": 400, "observer_transcript_cap": 120, "observer_output_cap": 110}
"""Tokens: so few that sessions are reflected and compacted, and that a tail takes several passes."""
PLAN = ("Please plan a weekend for me.", "With pleasure.")
"""Gives a conversation its title, which holds nothing that is taken back."""
DELETED = {"b1": "zqdelvox7", "b4": "zqfiledvox7", "b5": "zqracedvox7"}
"""Of each session of bob's: a word in the third and fourth event, which are deleted."""
EDITED = "zqeditvox7"
ERASED = "zqgonevox7"
"""In whatever there is of cid."""
STAYS = "zqstaysvox7"
"""In whatever there is of dan, of whom nobody asks anything."""


@dataclass(slots=True)
class People:
    """``eve`` is of a tenant whose people decide on everything that is remembered."""

    ann: Person
    bob: Person
    cid: Person
    dan: Person
    eve: Person

    def close(self) -> None:
        """This thread's connections."""
        self.ann.api.close()
        self.eve.api.close()


def people(base_url: str, key: str, other_key: str) -> People:
    mine, others = ApiClient(base_url, key), ApiClient(base_url, other_key)

    def settle(_: Person) -> None:
        drain(mine)

    def finish(person: Person, path: str, body: Json) -> Json:
        job = person.call("POST", path, body).json()
        drain(mine)
        return person.ended(job["id"])

    made = {name: Person(mine, name, settle, finish) for name in ("ann", "bob", "cid", "dan")}
    return People(**made, eve=Person(others, "eve", settle, finish))


def settle_in(them: People) -> None:
    """What there is before anything ends."""
    for api in (them.ann.api, them.eve.api):
        api.expect(200, "PUT", "/v1/policy", POLICY | ({"review_mode": "interactive"} if api is them.eve.api else {}))
    _talk(them.ann, "s0", "I live in Porto now.", "My favourite tea is oolong.", "I am allergic to peanuts.")
    them.bob.put_document("/profile/people/otto", "Otto is a friend of bob's.")
    for session, word in DELETED.items():
        if session != "b5":
            _talk(them.bob, session, f"I am allergic to {word}.", "My favourite tea is sencha.")
    _talk(them.bob, "b3", f"My favourite juice is {EDITED}.", "I am allergic to celery.")
    for person, word in ((them.cid, ERASED), (them.dan, STAYS)):
        _talk(person, "c1", f"I live in {word} now.", f"My favourite tea is {word}.")
        person.remember(f"Likes {word}.")
        person.put_document("/projects/notes", f"All of {word}.")
    them.ann.settle()
    for person, session in ((them.ann, "s0"), (them.bob, "b4"), (them.cid, "c1"), (them.dan, "c1")):
        person.expect(202, "POST", f"/sessions/{session}/end", {})
    them.cid.expect(202, "POST", "/export")
    them.ann.settle()
    for person in (them.bob, them.cid, them.dan):
        person.open("packed")
        person.recall("allergic tea")
    them.ann.settle()


def _talk(person: Person, session: str, *messages: str) -> None:
    person.open(session)
    person.append(session, *_turns(*messages))


def _turns(*messages: str) -> list[Json]:
    return list(events_of(PLAN, *((text, f"I see: {text}") for text in messages)))


# --- what ends ------------------------------------------------------------------------------------


@dataclass
class Script:
    """Steps of one client, each with its answer once that came: what has to be answered the same for ever."""

    person: Person
    steps: dict[str, Callable[[Person], Any]]
    answers: dict[str, Any] = field(default_factory=dict)
    wrong: list[str] = field(default_factory=list)

    def carry_out(self) -> None:
        for name, step in self.steps.items():
            answer = step(self.person)
            known = self.answers.setdefault(name, answer)
            if answer != known:
                self.wrong.append(f"{self.person.id}, {name}: {known}, then {answer}")

    def run_until_killed(self) -> None:
        try:
            self.carry_out()
        except (OSError, http.client.HTTPException):
            return  # what was in flight stays unanswered
        except (ApiError, AssertionError) as error:
            self.wrong.append(f"{self.person.id}: {error}")
        finally:
            self.person.api.close()


def scripts(them: People) -> list[Script]:
    return [
        Script(them.ann, _ends("s1", "I live in Porto now.", "My sister Sarah is a nurse.")),
        Script(them.ann, _ends("s2", "My favourite tea is oolong.", "I am allergic to walnuts.")),
        Script(them.ann, _ends("s3", "I am allergic to peanuts.", "I prefer window seats on trains.")),
        Script(them.eve, _ends("e1", "My favourite tea is sencha.", "My sister Ute is a nurse.")),
        Script(them.eve, _ends("e2", "I am allergic to celery.")),
        Script(them.bob, {"b1": _retract("b1", "deleted"), "b4": _retract("b4", "deleted")}),
        Script(them.bob, {"end b3": _end("b3"), "b3": _retract("b3", "edited")}),
        Script(them.bob, {**_says("b5", f"I am allergic to {DELETED['b5']}."), "b5": _retract("b5", "deleted")}),
        Script(them.cid, {"said": _last_words, "erase": _erase}),
    ]


def again(script: Script, them: People) -> Script:
    """With the answers so far, at another server. Nothing is said in the name of somebody who is being erased: it would
    be the first of a new life. What is taken back of a conversation changes what its end is, so an end that was
    answered is not asked for again where that may have happened."""
    steps = {name: step for name, step in script.steps.items() if step is not _last_words}
    for once in {"erase", "end b3"} & script.answers.keys():
        steps.pop(once, None)
    return replace(script, person=getattr(them, script.person.id), steps=steps)


def _ends(session: str, *messages: str) -> dict[str, Callable[[Person], Any]]:
    return {**_says(session, *messages), f"end {session}": _end(session)}


def _says(session: str, *messages: str) -> dict[str, Callable[[Person], Any]]:
    def say(person: Person) -> Any:
        person.open_without_pack(session)
        return person.append(session, *_turns(*messages), headers={"Idempotency-Key": f"said-{session}"})["seqs"]

    return {f"said {session}": say}


def _end(session: str) -> Callable[[Person], Any]:
    def end(person: Person) -> Any:
        reply = person.call("POST", f"/sessions/{session}/end", {"outcome": "SUCCESS"})
        assert reply.status in (200, 202), reply.text
        return reply.json()["id"]

    return end


def _retract(session: str, reason: str) -> Callable[[Person], Any]:
    body = {"from_seq": 3, "to_seq": 4, "reason": reason}
    return lambda person: person.expect(200, "POST", f"/sessions/{session}/events/retract", body)


def _last_words(person: Person) -> Any:
    """Whose observation, librarian and export meet the erasure."""
    person.open_without_pack("c2")
    person.append("c2", *_turns(f"I am allergic to {ERASED}."))
    person.expect(202, "POST", "/sessions/c2/end", {})
    person.expect(202, "POST", "/export")


def _erase(person: Person) -> Any:
    return person.expect(202, "DELETE", "")["id"]
