"""Rows T0, B08, B36, C28, C31 and E08 with the sentence encoder that the service is shipped with. It is the same on
every stack, so they run on one: a server that cannot reach another machine."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from evals.retrieval.off_topic import OFF_TOPIC
from local.api_client import ApiClient
from local.running import start_server
from local.template import ROOT
from neve.adapters.embedders.bge_small import MODEL_TAG
from tests.http.driving.controls import Controls
from tests.http.driving.people import Person, answered, user_message
from tests.http.driving.stage import Stage
from tests.http.real_encoder.egress import Egress, blocked_egress
from tests.http.real_encoder.new_process import recall_in_a_new_process
from tests.http.real_encoder.offline import MEMORY, QUESTION, assert_remembered, namespace, remember_and_recall
from tests.http.real_encoder.rubric import RUBRIC

pytestmark = [pytest.mark.usefixtures("encoder_files")]
NO_WAY = "Network is unreachable"
ENOUGH_S = 300
"""Of a process that hangs; one that works ends by itself."""


@pytest.fixture(scope="module")
def egress(tmp_path_factory: pytest.TempPathFactory) -> Egress:
    return blocked_egress(tmp_path_factory.mktemp("encoder") / "egress")


@pytest.fixture(scope="module")
def stage(encoder_files: None, egress: Egress, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """In the place of the server with the fixture embedder."""
    data = tmp_path_factory.mktemp("encoder") / "data"
    server = start_server(data, embedder="bge-small", test_controls=True, env=egress.env)
    try:
        with closing(ApiClient(server.base_url)) as client:
            yield Stage(server.base_url, server.key, None, Controls(client))
    finally:
        server.stop()


@pytest.fixture(scope="module")
def api(stage: Stage) -> Iterator[ApiClient]:
    with closing(ApiClient(stage.base_url, stage.key)) as client:
        yield client


@pytest.mark.controls
def test_t0_a_new_process_recalls_it_by_meaning(user: Person, stage: Stage) -> None:
    written = user.remember(MEMORY)
    user.settle()
    settled = user.memory(written["id"])
    assert (settled["embedding_state"], settled["embedding_model"]) == ("ready", MODEL_TAG)
    best, *_ = recall_in_a_new_process(stage, f"{user.path}/recall", QUESTION)["hits"]
    assert best["id"] == written["id"]
    assert best["components"]["rank_vec"] == 1
    assert "rank_lex" not in best["components"], "by meaning, not by a word"


@pytest.mark.controls
def test_b08_you_told_me_your_sisters_name(user: Person) -> None:
    memory_id = user.remember("User's sister is named Mary")["id"]
    user.remember("User repairs antique clocks in Vienna.")
    user.settle()
    answer = user.recall(QUESTION)
    assert answer["hits"][0]["id"] == memory_id
    assert answer["hits"][0]["components"]["rank_vec"] == 1
    assert (answer["result_state"], answer["degraded"]) == ("found", [])


STATED_AND_ANSWERED = (
    ("I moved to Lisbon, and I am a vegetarian now.", "Congratulations on the move!", "Which city did I move to?"),
    ("I bought a green boat and I live on it now.", "Living on a boat sounds wonderful.", "What colour is my boat?"),
    ("I passed the exam for the ham radio licence.", "Congratulations on passing the exam!", "Which exam did I pass?"),
    ("I quit smoking on my fortieth birthday.", "Well done on quitting smoking!", "When did I quit smoking?"),
)


@pytest.mark.controls
@pytest.mark.parametrize(("told", "reply", "question"), STATED_AND_ANSWERED)
def test_b08_what_was_said_stands_before_the_reaction_to_it(user: Person, told: str, reply: str, question: str) -> None:
    """The reply has the question's word and borrows those of the message before, but not what is asked for. With the
    memory that was made of it, and among utterances alone."""
    user.open_without_pack("s1")
    user.append("s1", user_message(told), answered(reply))
    user.observe("s1")
    user.settle()
    assert len(user.memories()) > 0
    for sources in (["memory", "event"], ["event"]):
        best, *_ = user.recall(question, sources=sources)["hits"]
        assert (best["source"], best["text"]) == ("event", told)


@pytest.mark.controls
def test_c28_no_call_leaves_the_machine(api: ApiClient, controls: Controls, egress: Egress) -> None:
    assert_remembered(remember_and_recall(api, controls))
    assert egress.attempts() == "", "and nothing since the server was started"


@pytest.mark.controls
def test_c28_a_machine_without_a_network(tmp_path: Path) -> None:
    """Where this system has no namespaces, the hook alone keeps the service in."""
    inside = namespace()
    paths = {"PYTHONPATH": os.pathsep.join([str(ROOT / "layers" / "core"), str(ROOT)])}
    done = subprocess.run(
        [*inside, sys.executable, "-m", "tests.http.real_encoder.offline", str(tmp_path)],
        env={**os.environ, **paths, "NEVE_TEST_NAMESPACE": "1" if inside else ""},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=ENOUGH_S,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert_remembered(seen)
    assert seen["health"]["embedder"]["model"] == MODEL_TAG
    assert seen["attempts"] == ""
    assert not inside or seen["elsewhere"] == NO_WAY, "it must really have been without a network"


# --- the rubric ---------------------------------------------------------------------------------


@pytest.mark.controls
def test_c31_keywords_find_their_entry_first(rubric: tuple[Person, list[str]]) -> None:
    user, ids = rubric
    assert [user.recalled(entry.keyword)[:1] for entry in RUBRIC] == [[memory_id] for memory_id in ids]


@pytest.mark.controls
def test_c31_paraphrases_reach_the_first_five(rubric: tuple[Person, list[str]]) -> None:
    """By rank, so without the gate: some of these two or three words are under its similarity of 0.7."""
    user, ids = rubric
    found = {entry.paraphrase: user.recalled(entry.paraphrase, threshold=0) for entry in RUBRIC}
    assert [asked for (asked, hits), i in zip(found.items(), ids, strict=True) if i not in hits] == []
    assert max(map(len, found.values())) == 5


@pytest.mark.controls
def test_c31_questions_pass_the_gate_and_are_found_by_meaning_alone(
    rubric: tuple[Person, list[str]], controls: Controls
) -> None:
    user, ids = rubric
    asked = dict(zip([entry.question for entry in RUBRIC], ids, strict=True))
    assert [question for question, i in asked.items() if i not in user.recalled(question)] == []
    controls.fault("vector", "error")
    for question, memory_id in asked.items():
        answer = user.recall(question, limit=50)
        assert memory_id not in {hit["id"] for hit in answer["hits"]}
        assert answer["degraded"] == ["vector:error"]


@pytest.mark.controls
def test_b36_thirty_messages_about_something_else_stay_below_the_gate(rubric: tuple[Person, list[str]]) -> None:
    """By meaning alone and by both legs: a word that some memory holds too is not half of a message."""
    user, _ = rubric
    for legs in (["vector"], ["lexical", "vector"]):
        answers = {message: user.recall(message, legs=legs) for message in OFF_TOPIC}
        assert [message for message, answer in answers.items() if answer["result_state"] != "none"] == [], legs


@pytest.mark.controls
def test_e08_small_talk_injects_nothing(rubric: tuple[Person, list[str]]) -> None:
    """Some of it is nearer to some memory than the gate asks for."""
    user, _ = rubric
    messages = ("ok", "👍", "lol", "???", "thanks!", "the a of and", "Good morning!", "Hi there")
    assert [message for message in messages if user.recalled(message)] == []
    assert [message for message in messages if user.recalled(message, mode="tool")] != []
