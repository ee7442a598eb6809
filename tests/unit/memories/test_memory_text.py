"""The passages of a memory."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neve.domain.memories.passages import MAX_PASSAGES, chunks_of, passages_of
from neve.domain.records.memories import Kind, MemoryPassage, Provenance
from neve.domain.tokens import estimate
from tests.unit.domain_rows import memory


def test_an_observation_has_one_passage_a_bullet_with_its_own_range() -> None:
    bullets = (MemoryPassage("🔴 lives in Nice", 1, 2), MemoryPassage("🟡 plans a trip", 3, 4))
    row = memory("🔴 lives in Nice\n🟡 plans a trip", passages=bullets)
    assert passages_of(row) == list(bullets)


def test_an_observation_without_stored_bullets_is_split_by_line() -> None:
    row = memory("🔴 lives in Nice\n\n🟡 plans a trip")
    assert passages_of(row) == [MemoryPassage("🔴 lives in Nice", 1, 8), MemoryPassage("🟡 plans a trip", 1, 8)]


def test_a_short_row_is_one_passage_with_its_range() -> None:
    row = memory("Ana moved\nto Nice.", kind=Kind.NOTE)
    assert passages_of(row) == [MemoryPassage("Ana moved\nto Nice.", 1, 8)]


def test_a_row_without_a_range_has_passages_without_one() -> None:
    row = memory("Ana", kind=Kind.MANUAL, provenance=Provenance(by="human_edit"))
    assert passages_of(row) == [MemoryPassage("Ana", None, None)]


def test_a_blank_row_has_no_passage() -> None:
    assert passages_of(memory(" \n\n ", kind=Kind.NOTE)) == []


@pytest.mark.parametrize(("kind", "joint"), [(Kind.OBSERVATION, "\n"), (Kind.MANUAL, "\n\n")])
def test_very_many_short_lines_stand_together(kind: Kind, joint: str) -> None:
    few, many = ([str(n) for n in range(count)] for count in (MAX_PASSAGES, 10_000))
    assert [passage.text for passage in passages_of(memory(joint.join(few), kind=kind))] == few
    found = passages_of(memory(joint.join(many), kind=kind))
    assert "\n".join(passage.text for passage in found) == "\n".join(many)
    assert len(found) < 50 and {(one.seq_from, one.seq_to, one.trust) for one in found} == {(1, 8, None)}


def test_three_paragraphs_of_100_900_and_100_tokens() -> None:
    sentence = "This is a sentence of text. "
    paragraphs = ["a" * 320, (sentence * 103).strip(), "b" * 320]
    assert estimate(paragraphs[1]) == 901
    chunks = chunks_of("\n\n".join(paragraphs))
    assert [chunks[0], chunks[-1]] == [paragraphs[0], paragraphs[2]]
    assert [estimate(chunk) for chunk in chunks] == [100, 499, 403, 100]
    assert all(chunk.endswith("text.") for chunk in chunks[1:3])


def test_a_long_bullet_keeps_its_range_in_every_part() -> None:
    row = memory("x" * 3200, passages=(MemoryPassage("x" * 3200, 5, 6),))
    assert passages_of(row) == [MemoryPassage("x" * 1600, 5, 6), MemoryPassage("x" * 1600, 5, 6)]


def test_a_long_sentence_is_cut_between_words() -> None:
    chunks = chunks_of("longer word " * 400)
    assert {word for chunk in chunks for word in chunk.split()} == {"longer", "word"}
    assert [estimate(chunk) for chunk in chunks] == [499, 499, 499, 4]


def test_a_short_text_behind_a_long_word_is_not_lost() -> None:
    assert chunks_of("x" * 1700 + " and more.") == ["x" * 1600, "x" * 100 + " and more."]


@pytest.mark.parametrize(("mark", "space"), [(".", " "), ("!", "\n"), ("?", "  "), ("。", "")])
def test_sentences_stay_whole(mark: str, space: str) -> None:
    sentence = "s" * 700 + mark
    assert chunks_of(space.join([sentence] * 3)) == [
        space.join([sentence] * 2),
        sentence,
    ]


def test_paragraphs_are_parted_by_blank_lines_only() -> None:
    assert chunks_of("a\nb\n \t\nc\n\n\n\nd") == ["a\nb", "c", "d"]


texts = st.lists(
    st.sampled_from(["word ", "end. ", "x" * 700, "\n", "\n\n", "🟡", "e\u0301" * 200, "。", "? ", " "]), max_size=60
).map("".join)


@given(texts)
def test_chunks_are_within_500_tokens_in_order_and_lose_only_space(text: str) -> None:
    chunks = chunks_of(text)
    assert all(0 < estimate(chunk) <= 500 for chunk in chunks)
    assert "".join("".join(chunks).split()) == "".join(text.split())
    assert all(chunk == chunk.strip() and "\n\n" not in chunk for chunk in chunks)


@pytest.mark.parametrize("unit", ["a", " ", "\n", "\n ", ". ", "🟡", "\u0301", "a\n\n", "。"])
def test_256_kib_of_one_pattern(unit: str) -> None:
    text = unit * (262_144 // len(unit.encode()))
    chunks = chunks_of(text)
    assert "".join("".join(chunks).split()) == "".join(text.split())
    assert all(estimate(chunk) <= 500 for chunk in chunks)
