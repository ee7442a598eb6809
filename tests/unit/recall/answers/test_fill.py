"""The hits of a prompt go on to 600 tokens, and a short reply stands with what it replies to
(docs/rules/compile.md#retrieved)."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from neve.domain.indexing.utterances import utterance_of, utterance_passages
from neve.domain.records.sessions import Event, EventType
from neve.domain.tokens import estimate
from neve.usecases.ask.recall.answer import Hit, hit_line
from neve.usecases.ask.recall.dropped import OVER_TOKENS
from neve.usecases.ask.recall.recall_rows import RecallRow
from neve.usecases.ask.recall.search import Found
from neve.usecases.ask.recall.stages.fill import FILL_TOKENS, MOST_HITS, filled
from neve.usecases.ask.recall.stages.rank_candidates import Ranked

SENTENCE = "The cello that stands in the hall has strings of gut, and nobody has played it for years."


def row(seq: int, text: str, speaker: str = "Ann") -> RecallRow:
    utterance = utterance_of("s", Event(seq, EventType.USER_MESSAGE, text, 0, "2026-03-01T10:00:00.000Z", name=speaker))
    assert utterance is not None
    return RecallRow(utterance_passages([utterance]), utterance=utterance)


def found(*ranked: RecallRow, beside: tuple[RecallRow, ...] = (), terms: int = 99) -> Found:
    order = [Ranked(one, 0, 1 / place, {}, 0.5, terms, 0.0) for place, one in enumerate(ranked, start=1)]
    return Found(order, [], {}, [], True, None, rows={one.id: one for one in (*ranked, *beside)})


def tokens(hits: list[Hit]) -> int:
    return sum(estimate(hit_line(hit, "UTC")) for hit in hits)


def test_short_messages_go_on_to_the_tokens_and_no_further() -> None:
    hits, dropped = filled(found(*(row(2 * n, f"{SENTENCE} {n}") for n in range(1, 40))), 5)
    assert 5 < len(hits) < MOST_HITS
    assert FILL_TOKENS - estimate(hit_line(hits[0], "UTC")) < tokens(hits) <= FILL_TOKENS
    assert [hit.rank for hit in hits] == list(range(1, len(hits) + 1))
    assert len(dropped) == 39 - len(hits)


def test_the_first_hits_stand_whole_whatever_they_take() -> None:
    hits, dropped = filled(found(*(row(2 * n, f"{n} {SENTENCE * 8}") for n in range(1, 8))), 5)
    assert [hit.seq for hit in hits] == [2, 4, 6, 8, 10] and tokens(hits) > FILL_TOKENS
    assert [one.reason for one in dropped] == [OVER_TOKENS] * 2


def test_one_that_has_no_room_is_skipped() -> None:
    first, long = [row(2 * n, f"{n} {SENTENCE * 2}") for n in range(1, 6)], row(20, SENTENCE * 10)
    hits, _ = filled(found(*first, long, row(22, "A viola")), 5)
    assert [hit.seq for hit in hits] == [2, 4, 6, 8, 10, 22]


def test_there_are_never_more_than_twenty_unless_the_policy_has_more() -> None:
    short = [row(2 * n, f"A cello {n}") for n in range(1, 40)]
    assert len(filled(found(*short), 5)[0]) == MOST_HITS
    assert len(filled(found(*short), 30)[0]) == 30


@given(st.lists(st.integers(1, 400), max_size=30), st.integers(1, 8))
def test_what_follows_the_first_hits_never_takes_more_than_is_left(sizes: list[int], k: int) -> None:
    rows = [row(n, f"{n} " + "x" * size, f"Ann{n % 2}") for n, size in enumerate(sizes, start=1)]
    hits, dropped = filled(found(*rows, terms=1), k)
    assert [hit.id for hit in hits[:k]] == [one.id for one in rows[:k]]
    first = sum(estimate(hit_line(filled(found(one), 1)[0][0], "UTC")) for one in rows[:k])
    assert tokens(hits) <= max(FILL_TOKENS, first)
    shown = [hit.id for hit in hits] + [hit.reply_to.id for hit in hits if hit.reply_to]
    assert len(shown) == len(set(shown)), "nothing stands there twice"
    assert {hit.id for hit in hits} | {one.id for one in dropped} == {one.id for one in rows}


def test_a_short_reply_stands_with_what_it_replies_to() -> None:
    reply, asked = row(8, "Yes, twice!", "Bob"), row(7, "Have you been to Kyoto?")
    [hit], _ = filled(found(reply, beside=(asked,), terms=3), 5)
    assert hit_line(hit, "UTC") == (
        "- [evt:s:8] 2026-03-01, Bob said: Yes, twice!\n  in reply to Ann: Have you been to Kyoto?\n"
    )
    for other in (
        found(reply, beside=(asked,), terms=40),
        found(reply, terms=3),
        found(row(8, "Yes", "Ann"), beside=(asked,), terms=3),
    ):
        assert filled(other, 5)[0][0].reply_to is None, "long, not read, or the same speaker"


def test_what_is_a_hit_is_not_shown_before_another_as_well() -> None:
    reply, asked = row(8, "Yes, twice!", "Bob"), row(7, "Have you been to Kyoto?")
    hits, _ = filled(found(reply, asked, terms=3), 5)
    assert [(hit.seq, hit.reply_to) for hit in hits] == [(8, None), (7, None)]
