"""The stored order of the pack's global layer. Literals: docs/rules/values.md#pack-rank."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from decimal import Decimal, localcontext

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neve.domain.pack.rank import pack_rank
from neve.domain.records.memories import Kind, Priority
from neve.domain.times import iso
from neve.store.keys import rank_key

NOW = datetime(2026, 3, 10, 9, 30, tzinfo=UTC)
HIGH, MEDIUM, LOW = Priority.HIGH, Priority.MEDIUM, Priority.LOW


def rank(kind: Kind, priority: Priority, days_ago: float) -> float:
    return pack_rank(kind, priority, iso(NOW - timedelta(days=days_ago)))


def test_vectors_order() -> None:
    ranks = [
        rank(Kind.REFLECTION, HIGH, 0),
        rank(Kind.OBSERVATION, HIGH, 0),
        rank(Kind.OBSERVATION, MEDIUM, 0),
        rank(Kind.OBSERVATION, HIGH, 14),
    ]
    assert ranks == sorted(set(ranks), reverse=True)


def test_a_row_used_yesterday_outranks_one_never_used() -> None:
    """Both were created 14 days ago; ``last_used_at`` starts at ``created_at``."""
    assert rank(Kind.OBSERVATION, HIGH, 1) > rank(Kind.OBSERVATION, HIGH, 14)


@pytest.mark.parametrize(
    ("days_ago", "priority", "outranks"),
    [
        (40, HIGH, True),
        (46.4, HIGH, True),
        (46.6, HIGH, False),
        (40, LOW, False),
        (35.3, LOW, True),
        (35.5, LOW, False),
    ],
)
def test_a_manual_row_against_a_high_observation_of_today(days_ago: float, priority: Priority, outranks: bool) -> None:
    assert (rank(Kind.MANUAL, priority, days_ago) > rank(Kind.OBSERVATION, HIGH, 0)) is outranks


def test_one_half_life_is_seven_days() -> None:
    fresh, week, fortnight = (rank(Kind.OBSERVATION, HIGH, days) for days in (0, 7, 14))
    assert [2 ** (aged - fresh) for aged in (fresh, week, fortnight)] == [1, 0.5, 0.25]


def test_rank_literal() -> None:
    assert pack_rank(Kind.OBSERVATION, LOW, "1970-01-08T00:00:00.000Z") == 1.0
    assert pack_rank(Kind.OBSERVATION, MEDIUM, "1970-01-15T00:00:00.000Z") == 3.0
    assert pack_rank(Kind.OBSERVATION, HIGH, "2026-03-10T09:30:00.000Z") == 2933.355795834
    assert pack_rank(Kind.MANUAL, HIGH, "1970-01-01T00:00:00.000Z") == 8.2288186905


def test_key_literal() -> None:
    assert rank_key(1.0, "mem_01") == "09999990000000000#mem_01"
    assert rank_key(2933.355795834, "mem_02") == "09970666442041660#mem_02"
    assert rank_key(-3.0, "mem_03") == "10000030000000000#mem_03"


def test_equal_weights_tie_exactly() -> None:
    """A note used 0 days ago is a low one at 1.5; a high observation one half-life older is 3 · 0.5."""
    assert rank(Kind.NOTE, LOW, 3) == rank(Kind.OBSERVATION, HIGH, 10)
    assert rank(Kind.NOTE, MEDIUM, 3) == rank(Kind.OBSERVATION, HIGH, 3)


times = st.datetimes(min_value=datetime(1971, 1, 1), max_value=datetime(2199, 1, 1)).map(
    lambda at: iso(at.replace(tzinfo=UTC))
)
rows = st.tuples(st.sampled_from(list(Kind)), st.sampled_from(list(Priority)), times, st.text("mno_019", min_size=1))

WEIGHTS = {HIGH: 3, MEDIUM: 2, LOW: 1}
BIASES = {Kind.REFLECTION: "1.3", Kind.MANUAL: "100", Kind.NOTE: "1.5"}


def half_lives(kind: Kind, priority: Priority, at: str) -> Decimal:
    """log2 of ``P · K · 0.5^((now - t) / H)`` but for the constant ``now / H``, to 40 digits."""
    with localcontext() as context:
        context.prec = 40
        weight = WEIGHTS[priority] * Decimal(BIASES.get(kind, "1"))
        days = (datetime.fromisoformat(at) - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(milliseconds=1)
        return weight.ln() / Decimal(2).ln() + Decimal(int(days)) / (7 * 86_400_000)


@given(rows, rows)
def test_key_order_is_the_decayed_order_for_any_now(
    one: tuple[Kind, Priority, str, str], other: tuple[Kind, Priority, str, str]
) -> None:
    ahead = half_lives(*one[:3]) - half_lives(*other[:3])
    keys = [rank_key(pack_rank(*row[:3]), row[3]) for row in (one, other)]
    if abs(ahead) > Decimal("1e-9"):
        assert (keys[0] < keys[1]) == (ahead > 0)
    elif ahead == 0:
        assert (keys[0] < keys[1]) == (one[3] < other[3])


@given(rows)
def test_keys_are_as_wide_for_every_time(row: tuple[Kind, Priority, str, str]) -> None:
    assert rank_key(pack_rank(*row[:3]), row[3]).index("#") == 17


def test_keys_hold_their_width_at_the_ends_of_time() -> None:
    first = rank_key(pack_rank(Kind.FACT, LOW, "0001-01-01T00:00:00.000Z"), "x")
    last = rank_key(pack_rank(Kind.MANUAL, HIGH, "9999-12-31T23:59:59.999Z"), "x")
    assert (len(first), len(last)) == (19, 19)
    assert last < first


@given(rows)
def test_one_millisecond_is_seen(row: tuple[Kind, Priority, str, str]) -> None:
    later = iso(datetime.fromisoformat(row[2]) + timedelta(milliseconds=1))
    assert rank_key(pack_rank(row[0], row[1], later), "x") < rank_key(pack_rank(*row[:3]), "x")
