"""Of a long message both ends are searched, whatever stands between them (docs/rules/recall.md#long-messages)."""

from __future__ import annotations

import math
from array import array
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from local.backend import ENCODER
from local.template import ROOT
from neve.adapters.embedders.bge_small import QUERY_PREFIX, BgeSmall
from neve.adapters.embedders.onnx_model import MAX_TOKENS
from neve.adapters.embedders.titan_embedder import MAX_BYTES as TITAN_BYTES
from neve.domain.recall.fusion import calibrate
from neve.domain.recall.long_message import HEAD_BYTES, MAX_BYTES, TAIL_BYTES, searched_text
from neve.domain.recall.query import MAX_WORDS, shape
from neve.domain.tenants.policy import Policy
from neve.usecases.ask.recall.answer import ENDS_ONLY
from neve.usecases.ask.recall.command import Mode, RecallCommand, ResolvedRequest, resolve
from neve.usecases.ask.recall.record_recall import get_recall
from tests.unit.recall_world import RecallWorld

ANSWER = "My daughter Mia is allergic to hazelnuts."
QUESTION = "By the way, what is my daughter allergic to?"
PAGE = " ".join(f"step{n} compiles module{n} against header{n} and links target{n};" for n in range(60))
NUMBERS = "\n".join(f"{n}.{n % 7}5" for n in range(1_000, 1_600))
"""Every one of them is two words of a keyword query."""
CODE = "\n".join(f'rows["name{n}"] = x{n} ? "left {n}" : -y{n};  // ok' for n in range(90))
QUOTING = 'The mayor said "it is painful but necessary" and left. Nobody else was -as he put it- asked. ' * 40


def resolved(query: str, question: str | None = None, mode: Mode = "prompt") -> ResolvedRequest:
    return resolve(Policy(), RecallCommand(query, question, mode=mode))


def bytes_of(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


# --- both legs find the question --------------------------------------------------------------------


@pytest.mark.parametrize("legs", [("lexical",), ("vector",), ("lexical", "vector")])
@pytest.mark.parametrize("page", [PAGE, NUMBERS, CODE, QUOTING], ids=["steps", "numbers", "code", "quoting"])
@pytest.mark.parametrize(
    "shape_of", ["{page} {q}", "{page}\n\n{q} Thanks!", "{q}\n\n{page}"], ids=["behind", "thanks", "before"]
)
def test_a_question_beside_a_pasted_page_is_found(
    world: RecallWorld, legs: tuple[str, ...], page: str, shape_of: str
) -> None:
    memory = world.remember(ANSWER)
    world.pump()
    assert len(page) >= 3_000
    answer = world.ask(shape_of.format(page=page, q=QUESTION), legs=legs)
    assert [hit.id for hit in answer.hits] == [memory]
    assert (answer.degraded, answer.transparency) == ([], [f"Loaded 1 relevant entries: {memory}", ENDS_ONLY])


@pytest.mark.usefixtures("encoder_files")
@pytest.mark.parametrize("message", [f"{PAGE} {QUESTION}", f"{QUESTION}\n{PAGE}"], ids=["behind", "before"])
def test_the_real_encoder_finds_it_as_near_as_without_the_page(tmp_path: Path, message: str) -> None:
    world = RecallWorld.make(tmp_path, BgeSmall(ENCODER))
    try:
        memory = world.remember(ANSWER)
        world.remember("Compiles module3 with header3 on Mondays.")
        world.pump()
        alone, beside = (world.ask(query, legs=("vector",), budget_ms=20_000) for query in (QUESTION, message))
        assert [hit.id for hit in beside.hits] == [memory]
        assert beside.hits[0].components["sim_cal"] == alone.hits[0].components["sim_cal"]
    finally:
        world.close()


@pytest.mark.usefixtures("encoder_files")
def test_beside_two_lines_of_the_page_it_would_not_be_near_enough() -> None:
    """Why the vector leg reads the question alone."""
    encoder = BgeSmall(ENCODER)
    answer, alone, beside = (
        array("f", embedded)
        for embedded in (
            encoder.embed_passages([ANSWER])[0],
            encoder.embed_query(QUESTION),
            encoder.embed_query(f"{PAGE[-160:]} {QUESTION}"),
        )
    )
    cosines = [math.fsum(x * y for x, y in zip(answer, one, strict=True)) for one in (alone, beside)]
    near, nearly = calibrate(cosines, encoder.calibration)
    assert near > Policy().recall_threshold > nearly


@pytest.mark.usefixtures("encoder_files")
@pytest.mark.parametrize("pattern", ["docs/rules/*.md", "layers/core/neve/usecases/**/*.py"])
def test_both_legs_read_all_of_nearly_any_text_up_to_the_limit(pattern: str) -> None:
    """Where the number comes from. [CLS], [SEP] and the query's instruction are among the encoder's tokens."""
    tokenizer = Tokenizer.from_file(str(ENCODER / "model" / "tokenizer.json"))
    tokenizer.no_truncation()
    texts = [path.read_text("utf-8") for path in sorted(ROOT.glob(pattern))]
    cuts = [text[at : at + MAX_BYTES] for text in texts for at in range(0, len(text) - MAX_BYTES, 3 * MAX_BYTES)]
    tokens = [len(tokenizer.encode(QUERY_PREFIX + cut).ids) for cut in cuts]
    words = [sum(map(len, shape(cut, operators=False, last_first=True).text_query.groups)) for cut in cuts]
    assert len(cuts) > 50
    assert sum(count <= MAX_TOKENS for count in tokens) > 0.95 * len(cuts)
    assert sum(count < MAX_WORDS for count in words) > 0.85 * len(cuts)


def test_a_wish_that_is_no_question_is_among_the_words(world: RecallWorld) -> None:
    memory = world.remember("User learns Portuguese in Porto.")
    world.pump()
    assert memory in world.found(f"{PAGE}\nTranslate this to Portuguese.", legs=("lexical",))
    assert memory in world.found(f"Translate to Portuguese:\n{PAGE}", legs=("lexical",), mode="tool")


def test_a_question_beside_the_query_is_read_in_the_same_way(world: RecallWorld) -> None:
    request = resolved("daughter -red", f"{PAGE} {QUESTION}", mode="tool")
    assert request.vector_text == QUESTION
    assert request.shaped.terms == ("daughter",)
    assert request.shaped.text_query.excluded == ("red",), "the query itself is short"
    assert request.cut
    assert resolved(f"{PAGE} {QUESTION}", "Who is allergic?").vector_text == "Who is allergic?"
    assert resolved("", f"{PAGE} {QUESTION}").vector_text == ""


# --- operators --------------------------------------------------------------------------------------


def test_nothing_in_a_long_message_is_an_operator() -> None:
    query = resolved(f'"a red kite" {PAGE} -wind a OR b, where is "my cello"?').shaped.text_query
    assert (query.phrases, query.excluded) == ((), ())
    assert all(len(group) == 1 or "OR" not in group for group in query.groups)
    assert {("cello",), ("kite",), ("wind",)} <= set(query.groups)


def test_up_to_the_limit_operators_hold() -> None:
    short = f'"a red kite" -wind {"x" * MAX_BYTES}'[:MAX_BYTES]
    assert resolved(short, mode="tool").shaped.text_query.phrases == (("a", "red", "kite"),)
    assert resolved(short, mode="tool").shaped.text_query.excluded == ("wind",)
    assert not resolved(short).cut
    assert resolved(f"{short}x").cut


# --- what is asked ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("end", "asked"),
    [
        ("Where is my car? And when is the train?", "Where is my car? And when is the train?"),
        ("Where is my car? I need it.\nThanks.", "Where is my car? I need it.\nThanks."),
        ("Où est ma voiture ?", "Où est ma voiture ?"),
        ("私の車はどこですか？", "私の車はどこですか？"),
        ("أين سيارتي؟", "أين سيارتي؟"),
        ('He asked "where is the car?"', 'He asked "where is the car?"'),
    ],
)
def test_the_last_question_with_what_is_said_behind_it(end: str, asked: str) -> None:
    assert searched_text(f"{PAGE}\n{end}").meaning == asked


@pytest.mark.parametrize(
    "end",
    [
        "const at = a?.b ?? c; let x: String? = null; return a ? b : c;",  # operators of code
        "Is it?",  # no word of it says what it is about
        f"Who is it that sleeps? {'And so on it goes. ' * 20}",  # a question of the page
        "Translate this.",
    ],
)
def test_without_a_question_near_an_end_both_ends_are_read_the_last_one_first(end: str) -> None:
    searched = searched_text(f"Summarise: {PAGE}\n{end}")
    head, tail = searched.words.split("\n", 1)
    assert head.startswith("Summarise: step0 ")
    assert tail.endswith(end)
    assert searched.meaning == f"{tail}\n{head}"


def test_the_question_at_the_end_comes_before_the_one_at_the_beginning() -> None:
    assert searched_text(f"Who is my dentist? {PAGE} {QUESTION}").meaning == QUESTION
    assert searched_text(f"Hello. Who is my dentist? {PAGE}").meaning == "Hello. Who is my dentist?"


def test_small_talk_around_a_page_is_no_small_talk() -> None:
    assert not resolved(f"hi {PAGE} thanks").small_talk
    assert resolved("ok thanks " * 500).small_talk


# --- short ones -------------------------------------------------------------------------------------

SHORT = st.text(max_size=MAX_BYTES).filter(lambda text: bytes_of(text) <= MAX_BYTES)


@given(SHORT)
@example("x" * MAX_BYTES)
@example("é" * (MAX_BYTES // 2))
@example('"a phrase" -word a OR b')
@example("\ud800 alone")
def test_a_short_message_is_searched_as_it_stands(message: str) -> None:
    searched = searched_text(message)
    assert (searched.words, searched.meaning, searched.cut) == (message, message, False)
    request = resolved(message)
    assert request.shaped == shape(message.strip(), operators=False)
    assert resolved(message, mode="tool").shaped == shape(message.strip())
    assert request.vector_text == message.strip()


# --- long ones --------------------------------------------------------------------------------------

UNUSUAL = st.sampled_from(
    ["a", " ", "\n", "?", '"', "-", "é", "字", "ﷺ", "🏽", "👩", "\u200d", "\u0301", "🇵", "한", "؟"]
)
LONG = st.builds(lambda unit, times: unit * times, st.text(UNUSUAL, min_size=1, max_size=40), st.integers(1, 4_000))


@given(LONG)
@example("字" * 5_000)
@example("\u0301" * 5_000)
@example("x" * 200_000)
@example("ﷺ" * 5_000)
def test_what_is_searched_is_bounded_whatever_comes_in(message: str) -> None:
    searched = searched_text(message)
    assert bytes_of(searched.words) <= HEAD_BYTES + TAIL_BYTES + 1 <= TITAN_BYTES
    assert bytes_of(searched.meaning) <= HEAD_BYTES + TAIL_BYTES + 1
    assert sum(map(len, resolved(message).shaped.text_query.groups)) <= MAX_WORDS
    assert not any("\ud800" <= character <= "\udfff" for character in searched.words + searched.meaning)
    if searched.cut:
        assert searched.words[:200] == message[:200] or bytes_of(message[:200]) > HEAD_BYTES - 64 * 4


@pytest.mark.parametrize(
    ("message", "head", "tail"),
    [
        (f"{'word ' * 79}straddling {'word ' * 300}", "word", "word "),
        ("字" * 1_000, "字" * 133, "字" * 266),
        ("👩\u200d👩\u200d👧" * 100, "👩\u200d👩\u200d👧" * 22, "👩\u200d👩\u200d👧" * 44),
        ("e\u0301" * 1_000, "e\u0301" * 133, "e\u0301" * 266),
        ("🇵🇹" * 300, "🇵🇹" * 50, "🇵🇹" * 100),
    ],
    ids=["words", "without spaces", "joined emoji", "accents", "flags"],
)
def test_the_ends_are_cut_between_words_or_between_what_a_reader_sees_as_characters(
    message: str, head: str, tail: str
) -> None:
    first, last = searched_text(message).words.split("\n")
    assert (first, last) == (head, tail) if head != "word" else first.endswith(" word") and last.startswith("word ")


def test_the_ledger_knows_a_message_by_all_of_it(world: RecallWorld) -> None:
    world.remember(ANSWER)
    messages = [f"{PAGE} middle{n} {PAGE} {QUESTION}" for n in (1, 2)]
    assert searched_text(messages[0]) == searched_text(messages[1])
    answers = [world.ask(message) for message in (*messages, messages[0])]
    first, other, again = (get_recall(world.user(), str(one.recall_id)).query_hash for one in answers)
    assert first == again != other


def test_the_vector_of_a_question_is_remembered_without_its_page(world: RecallWorld) -> None:
    world.remember(ANSWER)
    world.pump()
    for message in (QUESTION, f"{PAGE} {QUESTION}", f"{NUMBERS}\n{QUESTION}"):
        answer = world.ask(message)
    assert answer.legs["vector"].embed_cache == "hit"
